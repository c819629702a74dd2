"""Whose object an object of a cluster is: the entity that it is, or the application that it belongs to.

Belongs here: `Ownership.whose`, the only place that reads Argo CD's tracking marks, and their settings. Does not: the
events of an object (the adapters), Fleet's owners (`fleet`).
"""

from typing import NamedTuple

from phaseline.engine.products.observe.events import Manifest, mapping, maps, text
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey, key_of

GROUP = "argoproj.io"
APPLICATION, APPLICATION_SET, PROJECT = ((GROUP, kind) for kind in ("Application", "ApplicationSet", "AppProject"))
TRACKING, INSTALLATION = f"argocd.{GROUP}/tracking-id", f"argocd.{GROUP}/installation-id"
LABEL = "app.kubernetes.io/instance"
METHODS = ("annotation", "label", "annotation+label")
SETTINGS = "argocd-cm"
"""The ConfigMap that holds Argo CD's settings."""


class Tracking(NamedTuple):
    """How Argo CD marks its objects.

    namespace: where Argo CD itself runs; Applications elsewhere are called `<namespace>_<name>`. label: the key of the
    instance label. installation: the id of the installation; empty if it has none. method: one of `METHODS`; empty if
    it is not known: then the annotation counts, and the label of an object that has none.
    """

    namespace: str = "argocd"
    label: str = LABEL
    installation: str = ""
    method: str = ""


DEFAULT = Tracking()


class OwningEntity(NamedTuple):
    """An answer. id: the entity that the object is, or its application; None if it has none, and `why` says why not.

    instance: the name by which Argo CD marks the objects of that application; empty where no mark was read.
    known: whether that Application was seen; otherwise the id is a guess.
    """

    id: str | None
    why: str = ""
    instance: str = ""
    known: bool = False


class MovedApplication(NamedTuple):
    """An Application was seen for the first time, or in another set. before: the id that it, or its objects, had.

    kind, ends: the entity that is no more: the Application in its former place, or the set that held nothing else.
    """

    instance: str
    before: str | None = None
    kind: str = "application"
    ends: str = ""


class Ownership:
    """Knows the Applications that were seen, and tells whose each object is."""

    def __init__(self, tracking: Tracking = DEFAULT, application: str | None = None, *, complete: bool = False) -> None:
        """application: the application of all objects that are not Argo CD's own; None if their marks say it.

        complete: all Applications are seen, so a mark that names no known one makes nobody's object.
        """
        self.tracking, self.application, self.complete = tracking, application, complete
        self._known: dict[str, str] = {}
        """The ids of the Applications that were seen, by their instance names."""
        self._sets: set[str] = set()

    def whose(self, manifest: Manifest) -> OwningEntity:
        """The entity that an object is, or the application that it belongs to."""
        sort, metadata = group_kind(manifest), mapping(manifest, "metadata")
        namespace, name = text(metadata, "namespace"), text(metadata, "name")
        if sort == APPLICATION_SET:
            return OwningEntity(self._instance(namespace, name))
        if sort == APPLICATION:
            owners = maps(metadata, "ownerReferences")
            owner = next((text(one, "name") for one in owners if one.get("kind") == "ApplicationSet"), name)
            return OwningEntity(f"{self._instance(namespace, owner)}/{self._instance(namespace, name)}")
        if self.application is not None:
            return OwningEntity(self.application)
        instance, why = self._mark(manifest, metadata)
        if not instance:
            return OwningEntity(None, why)
        if instance in self._known:
            return OwningEntity(self._known[instance], instance=instance, known=True)
        if self.complete:
            return OwningEntity(
                None, f"it is marked as one of the Application {instance}, which is not there", instance
            )
        return OwningEntity(f"{instance}/{instance}", instance=instance)

    def note(self, manifest: Manifest, *, gone: bool) -> MovedApplication | None:
        """Learn from Argo CD's own objects. Says so if objects have another place from now on."""
        sort, metadata = group_kind(manifest), mapping(manifest, "metadata")
        if sort == APPLICATION:
            return self._note_application(self.whose(manifest).id or "", gone=gone)
        if sort == APPLICATION_SET:
            (self._sets.discard if gone else self._sets.add)(self.whose(manifest).id or "")
        elif sort == ("", "ConfigMap") and not gone:
            place = text(metadata, "namespace"), text(metadata, "name")
            if place == (self.tracking.namespace, SETTINGS):
                self._read_settings(mapping(manifest, "data"))
        return None

    def _note_application(self, entity_id: str, *, gone: bool) -> MovedApplication | None:
        instance = entity_id.rpartition("/")[2]
        lone = f"{instance}/{instance}"
        if gone:
            self._known.pop(instance, None)
            return None
        known = instance in self._known
        before = self._known.get(instance, lone)
        self._known[instance] = entity_id
        if before == entity_id:
            return None if known else MovedApplication(instance)
        if before == lone and instance not in self._sets:
            return MovedApplication(instance, before, "application_set", instance)
        return MovedApplication(instance, before, "application", before)

    def _read_settings(self, data: Manifest) -> None:
        method = text(data, "application.resourceTrackingMethod")
        self.tracking = self.tracking._replace(
            label=text(data, "application.instanceLabelKey") or self.tracking.label,
            installation=text(data, "installationID") or self.tracking.installation,
            method=method if method in METHODS else self.tracking.method,
        )

    def _instance(self, namespace: str, name: str) -> str:
        """The name of an Application or ApplicationSet that tells it from one of the same name elsewhere."""
        return name if namespace in ("", self.tracking.namespace) else f"{namespace}_{name}"

    def _mark(self, manifest: Manifest, metadata: Manifest) -> tuple[str, str]:
        """The instance name in the marks of an object; empty, and why, if it is no member of any application."""
        annotations, label = mapping(metadata, "annotations"), text(mapping(metadata, "labels"), self.tracking.label)
        tracking_id = text(annotations, TRACKING)
        if self.tracking.method == "label":
            return label, "" if label else UNMARKED
        installation = text(annotations, INSTALLATION)
        if self.tracking.installation and installation != self.tracking.installation and (tracking_id or installation):
            return "", f"it belongs to another installation of Argo CD: {installation or 'it names none'}"
        if not tracking_id:  # an object that was marked before Argo CD marked by annotation
            return label, "" if label else UNMARKED
        instance, named = _parts(tracking_id)
        if named is None or not _is(manifest, named):
            return "", f"it is a copy: its tracking id is that of another object, {tracking_id}"
        return instance.removeprefix(f"{self.tracking.namespace}_"), ""


def names_itself(manifest: Manifest) -> bool:
    """Whether an object has a tracking id of its own: not a copy of that of its owner."""
    tracking_id = text(mapping(manifest, "metadata", "annotations"), TRACKING)
    _, named = _parts(tracking_id)
    return named is not None and _is(manifest, named)


UNMARKED = "no mark names an application: name it with --application"


def _parts(tracking_id: str) -> tuple[str, ObjectKey | None]:
    """The application and the object that a tracking id names: `web:apps/Deployment:shop/it`."""
    parts = tracking_id.split(":", 2)
    if len(parts) != 3:
        return "", None
    instance, (group, _, kind), (namespace, _, name) = parts[0], parts[1].partition("/"), parts[2].partition("/")
    return instance, ObjectKey.of(group, kind, namespace, name) if kind and name else None


def _is(manifest: Manifest, named: ObjectKey) -> bool:
    """Whether a tracking id names this object. That of an object without a namespace has the application's."""
    key = key_of(manifest)
    return key == named or (not key.namespace and key == named._replace(namespace=""))
