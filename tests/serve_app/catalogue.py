"""The small catalogue of the endpoint's tests: what acme's readers see, and what they must never see."""

from typing import Final

from tests.endpoint import SENTINEL, tool

SEEN: Final[tuple[dict[str, object], ...]] = (
    tool("mail:send_email", "Send an email to a person", parameters={"type": "object", "properties": {"to": {}}}),
    tool("mail:read_inbox", "Read the emails in an inbox", capability="mail"),
    tool("mail:delete_email", "Delete an email for good", access={"side_effect": "destructive"}),
    tool("calendar:create_event", "Create an event in a calendar", product="suite", locale="en", domain="office"),
    tool("files:list_files", "List the files of a folder", tenant="*", release="v2"),
    {
        "id": "kb:refunds",
        "kind": "passage",
        "title": "How refunds work",
        "text": "Refunds are paid within ten days. Send an email to support for questions.",
        "namespace": "kb",
        "source_url": "https://example.com/refunds",
        "section": "Billing",
        "access": {"tenant": "acme"},
    },
)

HIDDEN: Final[tuple[dict[str, object], ...]] = (
    *(
        tool(
            f"{SENTINEL}:send_email_{number}",
            f"Send an email to a colleague fast {SENTINEL}",
            tenant="globex",
            aliases=[f"send an email {SENTINEL}"],
            parameters={"type": "object", "properties": {f"{SENTINEL}_to": {"type": "string"}}},
            tags=[SENTINEL],
        )
        for number in range(30)
    ),
    tool(f"mail:{SENTINEL}_locked", f"Send an email {SENTINEL}", access={"permissions": ["admin"]}),
    tool(f"mail:{SENTINEL}_disabled", f"Send an email {SENTINEL}", status="disabled"),
    tool(f"mail:{SENTINEL}_deprecated", f"Send an email {SENTINEL}", status="deprecated"),
    tool(f"mail:{SENTINEL}_autonomous", f"Send an email {SENTINEL}", access={"modes": ["autonomous"]}),
    tool(f"mail:{SENTINEL}_writes", f"Send an email {SENTINEL}", access={"side_effect": "write"}),
)
"""Each is hidden from a reader of acme in mode ``analyzer``, for another reason."""

CATALOGUE: Final[tuple[dict[str, object], ...]] = (*SEEN, *HIDDEN)
