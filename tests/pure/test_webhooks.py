"""Webhooks: the programs of examples/webhooks make events that are taken; signatures of bodies."""

import json
from pathlib import Path
from typing import Any

import jq  # type: ignore[import-not-found,unused-ignore]  # it ships no types
import pytest

from phaseline.engine.products.notices.sending import ways
from phaseline.engine.publish import compose
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import ROOT

EXAMPLES = ROOT / "examples" / "webhooks"


def events_of(name: str, body: Path) -> list[dict[str, Any]]:
    """The events that the program of that name makes of a body."""
    [found] = jq.compile((EXAMPLES / f"{name}.jq").read_text()).input_text(body.read_text())
    return list(found)


@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("alertmanager", [("node.not_ready", "node/c1/pool-a/n1"), ("node.ready", "node/c1/pool-a/n2")]),
        ("argocd", [("application.observed", "application/guestbook/guestbook-staging")]),
    ],
)
def test_the_examples_become_events(name: str, events: list[tuple[str, str]]) -> None:
    found = events_of(name, EXAMPLES / f"{name}.json")
    assert [(one["type"], one["subject"]) for one in found] == events
    assert found == events_of(name, EXAMPLES / f"{name}.json"), "a repeat has the same ids"
    for one in found:
        compose.pack(Subjects("pl"), one, BUILT_IN_KINDS)


def test_another_version_of_alertmanager_becomes_nothing(tmp_path: Path) -> None:
    (tmp_path / "body").write_text(json.dumps({"version": "3"}))
    assert events_of("alertmanager", tmp_path / "body") == []


def test_a_signature_fits_one_body_and_one_secret() -> None:
    known = "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
    body = b"The quick brown fox jumps over the lazy dog"
    assert ways.signed("key", body) == {"X-Hub-Signature-256": f"sha256={known}"}
    assert ways.signed("kez", body) != ways.signed("key", body) != ways.signed("key", body + b" ")
