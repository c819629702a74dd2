"""Plays the command `kubectl get -o json`: prints objects of the examples, and those in `tests/support`.

Belongs here: that program, as far as pages use it. Does not: starting it (`forwarder`).
"""

import json
import sys
from pathlib import Path

import yaml

EXAMPLES = Path("examples")


def objects(resources: str) -> list[object]:
    """The objects that there are of these resources."""
    if "resourcebundlestate" in resources:
        return [json.loads((EXAMPLES / "emco" / "resourcebundlestate.json").read_text())]
    if resources.startswith("deploy"):
        return list(yaml.safe_load_all((EXAMPLES / "gitops" / "live" / "shop.yaml").read_text()))
    return []


def main(words: list[str]) -> None:
    assert words[0] == "get", f"kubectl {words[0]} is not played here"
    resources = next(word for word in words[1:] if not word.startswith("-") and word != "json")
    found = objects(resources)
    if "--output-watch-events" in words:
        for one in found:
            print(json.dumps({"type": "ADDED", "object": one}))
    elif "--watch" in words:
        for one in found:
            print(json.dumps(one))
    else:
        print(json.dumps({"apiVersion": "v1", "kind": "List", "items": found}))


if __name__ == "__main__":
    main(sys.argv[1:])
