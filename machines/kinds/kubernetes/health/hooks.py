"""Hooks: objects that run around a synchronisation and are not part of the application.

Belongs here: the annotations that make an object a hook.
"""

from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart

HOOK, HELM_HOOK = "argocd.argoproj.io/hook", "helm.sh/hook"


def is_hook(metadata: ManifestPart) -> bool:
    """Whether an object is a hook. Argo CD's annotation takes precedence over Helm's."""
    if "annotations" not in metadata.found:
        return False
    annotations = metadata.map("annotations")
    if annotations.has(HOOK):
        words = [word.strip() for word in annotations.text(HOOK).split(",")]
        return words != ["Skip"]
    return annotations.has(HELM_HOOK) and annotations.text(HELM_HOOK) != "crd-install"
