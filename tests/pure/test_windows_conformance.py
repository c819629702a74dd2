"""Argo CD's own cases of sync windows, where they are at hand."""

from datetime import datetime
from typing import Any

import pytest

from phaseline.machines.kinds.gitops.sync_windows import App, Window, decide, read, select
from tests.support.conformance import cases
from tests.support.windows_at import is_open

CASES = cases("syncwindows.json")


def app(case: dict[str, Any]) -> App:
    to = case["app"]["spec"]["destination"]
    return App(case["app"]["name"], to.get("namespace", ""), to.get("server", ""), to.get("name", ""))


def windows(case: dict[str, Any]) -> list[Window]:
    return [read(one) for one in case["windows"] or ()]


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def answered(case: dict[str, Any]) -> dict[str, Any]:
    found, at = windows(case), moment(case["instant"])
    match case["operation"]:
        case "matches":
            return {"indices": [place for place, window in enumerate(found) if window.selects(app(case))]}
        case "validate":
            return {"valid": not [*found[0].problems()]}
        case "deny_allows_overrun":
            return {"result": all(window.overruns for window in found if window.kind == "deny")}
    assert at is not None
    match case["operation"]:
        case "active":
            return {"indices": [place for place, window in enumerate(found) if is_open(window, at)]}
        case "inactive_allows":
            return {
                "indices": [
                    place
                    for place, window in enumerate(found)
                    if window.kind == "allow" and not window.problem and not is_open(window, at)
                ]
            }
        case "window_active":
            return {"active": is_open(found[0], at)}
    mine, began = select(found, app(case)), moment(case["operation_start"])
    said = {name: decide(mine, at, manual=name == "manual", began=began).allowed for name in ("auto", "manual")}
    return {**said, "matched": [place for place, window in enumerate(found) if window in mine]}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_windows(case: dict[str, Any]) -> None:
    expected = {name: value for name, value in case["expected"].items() if not name.endswith("error")}
    found = answered(case)
    assert {name: found.get(name) for name in expected} == expected
