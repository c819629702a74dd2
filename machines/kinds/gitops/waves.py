"""Where an object stands in a synchronisation: its phase, its wave, and whether it is a hook.

Belongs here: reading the annotations of Argo CD and Helm, the order in which phases run. Does not: which hooks take
part in health (`kubernetes.health.pods`), results of hooks (`controller`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.kubernetes.manifest_id import MAPS

PHASES = ("PreSync", "Sync", "PostSync", "SyncFail", "PreDelete", "PostDelete")
"""The phases in the order in which they run. Objects that are no hooks are in Sync."""
SYNC_PHASE = PHASES.index("Sync")
HOOK, WAVE = "argocd.argoproj.io/hook", "argocd.argoproj.io/sync-wave"
HELM_HOOK, HELM_WEIGHT = "helm.sh/hook", "helm.sh/hook-weight"
MARKS = frozenset({HOOK, WAVE, HELM_HOOK, HELM_WEIGHT})
OF_HELM = {
    "pre-install": "PreSync", "pre-upgrade": "PreSync", "post-install": "PostSync", "post-upgrade": "PostSync",
    "pre-delete": "PreDelete", "post-delete": "PostDelete",
}  # fmt: skip
LONGEST = 9
"""The most digits of a wave."""


def place_of(manifest: Mapping[str, Any]) -> tuple[str, int]:
    """The phases in which an object is a hook, joined by commas (empty if it is none), and its wave."""
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, MAPS) else None
    if not isinstance(annotations, MAPS) or MARKS.isdisjoint(annotations):
        return "", 0
    words = _words(annotations, HOOK) or [OF_HELM.get(word, "") for word in _words(annotations, HELM_HOOK)]
    hooks = ",".join(phase for phase in PHASES if phase in words)
    return hooks, _number(annotations.get(WAVE)) or _number(annotations.get(HELM_WEIGHT))


def rank(hook: str) -> int:
    """The number of the first phase in which an object with this `hook` runs."""
    first = hook.partition(",")[0]
    return PHASES.index(first) if first in PHASES else SYNC_PHASE


def _words(annotations: Mapping[str, Any], name: str) -> list[str]:
    text = annotations.get(name)
    return [word.strip() for word in text.split(",")] if isinstance(text, str) and text else []


def _number(text: object) -> int:
    """A whole number, also a negative one; 0 for anything else, as in Argo CD."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return 0
    digits = text.removeprefix("-").removeprefix("+") if text[:1] in "+-" else text
    return int(text) if digits.isascii() and digits.isdigit() else 0
