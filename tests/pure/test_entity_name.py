"""The entity that a command is about, as one word or two."""

import pytest

from phaseline.engine.surfaces.cli.entity_name import is_part_of, read
from phaseline.machines.built_in import installed
from tests.support.built_in_kinds import KINDS_OF_PRODUCT


@pytest.mark.parametrize(
    ("words", "kind", "entity_id"),
    [
        (("cluster", "c1"), "cluster", "c1"),
        (("Clusters", "c1"), "cluster", "c1"),
        (("node-pools", "c1/a"), "node_pool", "c1/a"),
        (("pod", "c1"), "pod", "c1"),  # the command says that there is no such kind
        (("cluster/c1", None), "cluster", "c1"),
        (("nodes/c1/a/n1", None), "node", "c1/a/n1"),
        (("resource/set/app/apps:Deployment/shop/web", None), "resource", "set/app/apps:Deployment/shop/web"),
        (("c1/a/n1", None), None, "c1/a/n1"),
        (("cluster", None), None, "cluster"),
        (("cluster/", None), None, "cluster/"),
        (("node/n1", None), None, "node/n1"),  # ids of nodes have three parts
        (("application/web", None), None, "application/web"),
    ],
)
def test_words_are_read(words: tuple[str, str | None], kind: str | None, entity_id: str) -> None:
    assert read(installed(), *words) == (kind, entity_id)


def test_a_kind_is_part_of_itself_and_of_those_above() -> None:
    kinds = installed()
    found = {name for name in kinds if is_part_of(kinds, name, "cluster")}
    assert found == set(KINDS_OF_PRODUCT["edge-hosting"])
    assert is_part_of(kinds, "unknown", "unknown")
    assert not is_part_of(kinds, "unknown", "cluster")
    assert not is_part_of(kinds, "cluster", "node")
