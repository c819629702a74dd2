"""What observes a cluster of Kubernetes: its parts, as their tests take them.

Belongs here: the names. Does not: the API server that they observe (`kubernetes_server`).
"""

from phaseline.engine.products.observe import bridge, cluster, discovery, kubernetes_api
from phaseline.engine.products.observe.discovery import Resource
from phaseline.engine.products.observe.events import ObservedEvent
from phaseline.engine.products.observe.kubernetes_api import AnswerTooLarge, Unavailable
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.owned import MAKES
from phaseline.engine.products.observe.ownership import Ownership
from phaseline.engine.products.observe.roots import Roots

__all__ = [
    "MAKES", "AnswerTooLarge", "ObservedEvent", "Observer", "Ownership", "Resource", "Roots", "Unavailable", "bridge",
    "cluster", "discovery", "kubernetes_api",
]  # fmt: skip
