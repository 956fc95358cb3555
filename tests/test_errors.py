"""Every error of ours is the same after it crossed a process: Ray and pickle rebuild it from its arguments."""

import inspect
import pickle
from collections.abc import Iterator

import pytest

from cluster.errors import ClusterError
from evals.errors import EvalError
from serve_app.auth_errors import Forbidden, Unauthenticated
from serve_app.problems import Refused
from shards.errors import ShardError

VALUES = {int: 7, str: "text"}


def below(root: type[Exception]) -> Iterator[type[Exception]]:
    for kind in root.__subclasses__():
        yield kind
        yield from below(kind)


ERRORS = [kind for root in (ShardError, ClusterError, EvalError) for kind in below(root)]


@pytest.mark.parametrize("kind", [*ERRORS, Forbidden, Unauthenticated, Refused])
def test_an_error_that_crossed_a_process_has_its_type_its_fields_and_its_words(kind: type[Exception]) -> None:
    parameters = inspect.signature(kind).parameters.values()
    error = kind(*(VALUES.get(parameter.annotation, "text") for parameter in parameters))
    crossed = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert type(crossed) is kind
    assert (vars(crossed), crossed.args, str(crossed)) == (vars(error), error.args, str(error))
    assert error.args
