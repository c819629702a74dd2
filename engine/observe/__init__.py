"""From Kubernetes objects, as `kubectl` prints them, to lifecycle events: the bridge for what has no agent of ours.

Belongs here: whose object is what, and that the same thing is not told twice. Does not: reading objects (`incoming`), what each
sort of object says (`plain`, `argo`, `fleet`), sending.
"""

from phaseline.engine.observe.observer import Observer

__all__ = ["Observer"]
