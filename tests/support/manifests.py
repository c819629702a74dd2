"""Small manifests for tests of health and comparison."""

from typing import Any

from phaseline.machines.kinds.kubernetes.diff.compare import compare

Manifest = dict[str, Any]


def kubernetes_object(api: str, kind: str, *, metadata: Manifest | None = None, **parts: Any) -> Manifest:
    """An object with a name and these parts."""
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "it", "namespace": "shop", **(metadata or {})},
        **parts,
    }


def pod_template(**spec: Any) -> Manifest:
    """A template with one container `web` and further parts of its spec."""
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web:1"}], **spec},
    }


def deployment(*, metadata: Manifest | None = None, containers: list[Manifest] | None = None, **spec: Any) -> Manifest:
    """A Deployment with these containers, or one, and further parts of its spec."""
    pods = pod_template(**({"containers": containers} if containers is not None else {}))
    whole = {"selector": {"matchLabels": {"app": "web"}}, "template": pods, **spec}
    return kubernetes_object("apps/v1", "Deployment", metadata=metadata, spec=whole)


def places(desired: Manifest, live: Manifest, **how: Any) -> list[str]:
    """The paths at which the two differ."""
    return [one.pointer for one in compare(desired, live, **how)]


def config(name: str = "it", **rest: Any) -> dict[str, Any]:
    """A ConfigMap in the namespace of the tests."""
    return kubernetes_object("v1", "ConfigMap", metadata={"name": name, **rest.pop("metadata", {})}, **rest)


def condition(word: str) -> dict[str, Any]:
    """A condition that is written `Type=Status:Reason@generation`."""
    kind, _, rest = word.partition("=")
    rest, _, seen = rest.partition("@")
    status, _, reason = rest.partition(":")
    found: dict[str, Any] = {"type": kind, "status": status}
    return found | ({"reason": reason} if reason else {}) | ({"observedGeneration": int(seen)} if seen else {})
