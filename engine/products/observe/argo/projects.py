"""AppProjects of Argo CD: their sync windows belong to the settings of each of their Applications.

Belongs here: joining both, whichever is seen first. Does not: deciding by windows (`kinds.gitops.sync_windows`).
"""

from collections.abc import Iterator
from typing import Any

from phaseline.engine import logs
from phaseline.engine.products.observe.argo.objects import settings
from phaseline.engine.products.observe.events import Manifest, ObservedEvent, mapping, maps, text
from phaseline.machines.kinds.gitops.sync_windows import FIELDS, MOST, read

log = logs.get_logger(__name__)
DEFAULT = "default"
"""The project of an Application that names none."""


class Projects:
    """The windows of the projects, and the settings of the Applications, that were seen."""

    def __init__(self) -> None:
        self._windows: dict[str, list[dict[str, Any]]] = {}
        self._applications: dict[str, tuple[str, dict[str, Any]]] = {}

    def application(self, manifest: Manifest, entity_id: str, *, gone: bool) -> dict[str, Any]:
        """The windows that an Application has from its project; nothing while the project is not known."""
        if gone:
            self.forget(entity_id)
            return {}
        project = text(mapping(manifest, "spec"), "project") or DEFAULT
        self._applications[entity_id] = project, settings(manifest)
        return self._from(project)

    def forget(self, entity_id: str) -> None:
        """Forget an Application."""
        self._applications.pop(entity_id, None)

    def project(self, manifest: Manifest, *, gone: bool) -> Iterator[ObservedEvent]:
        """The settings of the Applications of a project, if its windows have changed."""
        name = text(mapping(manifest, "metadata"), "name")
        windows = [] if gone else [*_windows(name, manifest)]
        if self._windows.get(name) == windows:
            return
        self._windows[name] = windows
        for entity_id, (project, found) in self._applications.items():
            if project == name:
                yield ObservedEvent("application", "configure", entity_id, {**found, **self._from(name)})

    def _from(self, project: str) -> dict[str, Any]:
        return {"sync_windows": self._windows[project]} if project in self._windows else {}


def _windows(project: str, manifest: Manifest) -> Iterator[dict[str, Any]]:
    """The windows of a project that can be read. Argo CD denies every sync by one that cannot."""
    for number, found in enumerate([*maps(mapping(manifest, "spec"), "syncWindows")], 1):
        given = {name: value for name, value in found.items() if name in FIELDS}
        try:
            problem = next(read(given).problems(), "") if number <= MOST else f"at most {MOST} windows are read"
        except ValueError as error:
            problem = str(error)
        if problem:
            log.warning("window_left_out", project=project, window=number, error=problem)
        else:
            yield given
