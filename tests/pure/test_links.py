"""Links of the page to other tools (engine/surfaces/http/links)."""

import pytest

from phaseline.engine.surfaces.http.links import Link, read
from phaseline.schemas.errors import InvalidInput

KINDS = ("cluster", "node")


def test_a_link_has_a_kind_a_name_and_a_template() -> None:
    found = read(["node:Grafana=https://grafana.example/d?var-node={id}&x=a=b", "*:Ticket=http://t/{tree}"], KINDS)
    assert found == (
        Link("node", "Grafana", "https://grafana.example/d?var-node={id}&x=a=b"), Link("*", "Ticket", "http://t/{tree}"),
    )  # fmt: skip


@pytest.mark.parametrize(("text", "says"), [
    ("Grafana=https://g/{id}", "write KIND:NAME=https://"), ("node:Grafana", "write KIND:NAME=https://"),
    ("node:x=javascript:alert(1)", "write KIND:NAME=https://"), ("node:x=https://{id}", "write KIND:NAME=https://"),
    ("nod:x=https://g/{id}", "there is no kind nod"), ("node:x=https://g/{pod}", "{pod} is none of {kind}, {id}"),
])  # fmt: skip
def test_what_is_no_link_is_refused(text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read([text], KINDS)
    assert says in str(refused.value)
    assert text in str(refused.value)
