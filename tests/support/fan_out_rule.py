"""A rule of a fan-out for small tables: it returns `fell` if the data names the descendant."""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule


@rule("house.says", revision=1)
def says(scene: Scene, entity_id: str, data: Mapping[str, Any], below: str) -> str | None:
    return "fell" if scene.above(entity_id, "house") and below in data else None
