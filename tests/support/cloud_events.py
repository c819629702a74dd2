"""Numbered events as maps, for tests that publish many."""

from typing import Any


def event(number: int, **attributes: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": str(number),
        "source": "/many",
        "type": "node.ready",
        "subject": f"node/c{number % 7}/p/n{number}",
        **attributes,
    }
