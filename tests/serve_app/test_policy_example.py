"""The commented example of the shipped policy takes away what it says, once it is uncommented."""

import re
from importlib.resources import files
from pathlib import Path

from cluster.local import LocalIndex
from cluster.scope import Policy, Principal
from serve_app.record_wire import parse_record
from shards.messages import DocumentRequest
from tests.endpoint import tool


def test_the_example_of_a_denial_denies_ids_and_namespaces_of_their_real_shape(tmp_path: Path) -> None:
    shipped = (files("configs") / "policy.yaml").read_text("utf-8")
    example = re.sub("^# ", "", shipped.split("Example:\n")[1], flags=re.MULTILINE)
    own = tmp_path / "policy.yaml"
    own.write_text(shipped.split("# Denials:")[0] + "denials:\n" + example.replace("denials: []", ""), "utf-8")
    caller = Principal(subject="ann", tenant="acme", roles=frozenset({"reader"}), mode="autonomous")
    ids = ("aws:iam:DeleteUser", "aws:iam:ListUsers", "old:tool")
    index = LocalIndex.from_records(
        [
            parse_record(tool(ids[0], namespace="aws/iam")),
            parse_record(tool(ids[1], namespace="aws/iam")),
            parse_record(tool(ids[2], namespace="legacy/mail")),
        ]
    )
    (shard,) = index.shards
    seen = {
        name: [document.id for document in shard.documents((DocumentRequest(scope=scope, ids=ids),))[0]]
        for name, path in (("shipped", None), ("own", own))
        if (scope := Policy.load(path).compile(caller))
    }
    assert seen == {"shipped": list(ids), "own": ["aws:iam:ListUsers"]}
