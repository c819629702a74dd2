"""The client without asyncio: reads of one product.

Made by `python -m phaseline.engine.generate` from `views`.
Belongs here: what `generate_sync` writes. Does not: anything written by hand, what runs the calls (`portal`).
"""

from phaseline.engine.client.portal import Portal
from phaseline.engine.products.gitops import views
from phaseline.engine.products.gitops.last_observation import ObjectDiff


class Gitops:
    """Kubernetes objects and Git: `client.gitops`. The server keeps the last observation only, so no view has it."""

    def __init__(self, portal: Portal, source: views.Gitops) -> None:
        """Run the reads of `source` in the portal."""
        self._portal, self._source = portal, source

    def diff(self, resource_id: str) -> ObjectDiff:
        """The last observation of a Kubernetes object, assessed by the settings that its application has now.

        Raises `NotFound.not_observed`, `InvalidInput.invalid_id`.
        """
        return self._portal.run(self._source.diff(resource_id))
