"""The command `observe`: turns Kubernetes objects, as kubectl prints them, into events.

Belongs here: its options, its input and its pauses. Does not: the events (`products.observe`).
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from phaseline.engine.products.observe.generic import shortened
from phaseline.engine.products.observe.manifest_files import read
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.ownership import APPLICATION, LABEL, Ownership, Tracking
from phaseline.engine.products.observe.stream import ObjectChange, live, read_text
from phaseline.engine.publish import compose
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, publish_many, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.client.client import Client
from phaseline.schemas.errors import EventRefused
from phaseline.schemas.subjects import Subjects

PLACE = click.Path(exists=True, allow_dash=True, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
GET = "kubectl get -o json"
FLEET = "clusters.fleet.cattle.io,gitrepos,helmops,bundles,bundledeployments"
WINDOW = 256
LARGEST = 1_000_000
"""The largest size of an event in bytes. The server's limit for a message is a little higher."""
ANYWHERE = Subjects("pl")
"""Any prefix: the size of an event does not depend on it."""
LONG_TEXTS = (4_096, 256)
"""The characters of a text that an object keeps which is too large: at first only long texts go. No name has more."""
LONGEST = 200
"""The largest number of characters of a subject that are shown."""
SETTLE, HEARTBEAT = 5.0, 30.0
NAMELESS = (
    "the namespace kube-system may not be read, so this cluster cannot be told from others: what vanishes while nobody "
    "looks is noticed only below what is still there. Allow `get` of that namespace"
)


class ClusterWatch(NamedTuple):
    """The cluster and the resources to watch."""

    kubeconfig: Path | None
    context: str | None
    namespace: str | None
    resources: list[str]


@click.command(
    cls=Page,
    examples=[
        (
            f"{GET} deploy,svc,cm -n shop --watch --output-watch-events | phaseline observe --application shop/shop",
            "live, from one namespace",
        ),
        (
            f"{GET} deploy,svc,cm -n shop | phaseline observe --application shop/shop --desired ./shop",
            "once, compared with a directory",
        ),
        (f"{GET} applications,applicationsets -A --watch | phaseline observe", "applications of Argo CD"),
        (f"{GET} {FLEET} -A | phaseline observe", "objects of Fleet, once"),
        (f"phaseline observe --cluster --resources {FLEET}", "objects of Fleet, live"),
        ("phaseline observe --cluster --resources deploy,svc,cm -n shop --application shop/shop", "without kubectl"),
        ("phaseline observe --file dump.yaml --application shop/shop --print", "show the events only"),
    ],
)
@click.option(
    "--file", type=FILE, default="-", show_default=True, help="File with objects, JSON or YAML. - is standard input."
)
@click.option(
    "--application",
    metavar="SET/APP",
    help="The application of the objects.  [default: from Argo CD's tracking label or annotation]",
)
@click.option(
    "--applications",
    type=FILE,
    help="Argo CD's Applications of these objects, where the cluster does not hold them: which set each belongs to.",
)
@click.option("--argo-namespace", default="argocd", show_default=True, metavar="NAMESPACE",
              help="Where Argo CD runs. Applications elsewhere are called <namespace>_<name>.")  # fmt: skip
@click.option(
    "--label-key",
    default=LABEL,
    show_default=True,
    metavar="LABEL",
    help="Argo CD's instance label (instanceLabelKey).",
)
@click.option(
    "--installation-id", default="", metavar="ID", help="Argo CD's installation id: objects of others are left out."
)
@click.option("--desired", type=PLACE, help="Manifests in Git, to compare with the objects: a file or a directory.")
@click.option("--source", metavar="URI", help="Source of the events.  [default: /phaseline/observe/<user>]")
@click.option(
    "--cluster", is_flag=True, help="Watch a cluster instead of reading objects. Needs phaseline[kubernetes]."
)
@click.option(
    "--resources",
    metavar="NAMES",
    help="With --cluster: resources to watch, for example deploy,svc,applications.argoproj.io.",
)
@click.option("-n", "--namespace", metavar="NAMESPACE", help="With --cluster: only this namespace.  [default: all]")
@click.option(
    "--kubeconfig",
    type=FILE,
    help="With --cluster: this kubeconfig.  [default: KUBECONFIG, ~/.kube/config, or in-cluster]",
)
@click.option("--kube-context", "kube_context", metavar="NAME", help="With --cluster: this context of the kubeconfig.")
@click.option("--settle", type=options.Decimal(0), default=SETTLE, show_default=True, metavar="SECONDS",
              help="With --desired: after this long without input, objects not seen are reported missing.")  # fmt: skip
@click.option("--heartbeat", type=options.Decimal(0), default=HEARTBEAT, show_default=True, metavar="SECONDS",
              help="With --cluster: heartbeat of an application without other events. 0: none.")  # fmt: skip
@click.option("--print", "prints", is_flag=True, help="Print the events, one per line, instead of publishing them.")
@options.connected
@options.output("json", "yaml")
def observe(
    settings: Settings, *, file: Path, application: str | None, applications: Path | None, argo_namespace: str,
    label_key: str, installation_id: str, desired: Path | None, source: str | None, settle: float, heartbeat: float,
    cluster: bool, resources: str | None, namespace: str | None, kubeconfig: Path | None, kube_context: str | None,
    prints: bool, output: Output,
) -> int | None:  # fmt: skip
    """Publish events about Kubernetes objects, as kubectl prints them. Each real change is published once.

    An Application or ApplicationSet of Argo CD, and a GitRepo, HelmOp, Bundle, BundleDeployment or Cluster of Fleet,
    become events about entities of these kinds; a HelmOp is a git_repo. Any other object is observed as a resource of
    its application, or as an object that a resource owns. An Event is news of the object that it is about. A change of
    timestamps or counters alone is not published. Values of Secrets are replaced by fingerprints. Deletions are noticed
    with --output-watch-events, or with --cluster.
    """
    if application is not None and application.count("/") != 1:
        raise click.UsageError(f"--application must be <set>/<application>, found {application!r}")
    if cluster != (resources is not None):
        raise click.UsageError("--cluster and --resources go together: give both")
    watched = ClusterWatch(kubeconfig, kube_context, namespace, (resources or "").split(",")) if cluster else None
    whose = Ownership(Tracking(argo_namespace, label_key, installation_id), application)
    for found in () if applications is None else read(applications, terminal.say):
        whose.note(found, gone=False)
    observer = Observer(
        source or compose.default_source("observe"),
        application,
        None if desired is None else [*read(desired, terminal.say)],
        whose,
    )

    def events(client: Client | None) -> AsyncIterator[dict[str, Any]]:
        if watched is None:
            return _within_limit(_events(observer, file, settle))
        return _within_limit(_of_cluster(observer, watched, heartbeat, client))

    async def work() -> None:
        if prints:
            async for event in events(None):
                output.show(event)
                output.flush()
        else:
            async with Client.open(settings) as client:
                sent = await client.publish_many(events(client), window=WINDOW, check=False)
            if output.is_data:
                output.show(sent._asdict())
            else:
                render.show_line(render.text_of(publish_many.summary(sent)))
        _show_unowned(observer.unowned)

    return terminal.run(work())


def _show_unowned(unowned: Mapping[str, str]) -> None:
    """Say which objects were left out, three for each reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in sorted(unowned.items()):
        by_reason.setdefault(why, []).append(name)
    for why, names in by_reason.items():
        more = f", and {len(names) - 3} more" if len(names) > 3 else ""
        terminal.say(f"left out: {', '.join(names[:3])}{more}: {why}")


async def _events(observer: Observer, file: Path, settle: float) -> AsyncIterator[dict[str, Any]]:
    """The events of the objects read; after the first pause, or at the end, also of missing objects."""
    if str(file) != "-":
        whole = [*read_text(await asyncio.to_thread(file.read_bytes), str(file))]
        for change in whole:
            observer.kinds.note(change.manifest)
        for change in whole:
            for event in observer.see(change):
                yield event
    else:
        async for found in _with_pauses(live(sys.stdin.fileno(), "standard input"), settle):
            for event in observer.missing() if found is None else observer.see(found):
                yield event
    for event in observer.missing():
        yield event


async def _of_cluster(
    observer: Observer, watched: ClusterWatch, heartbeat: float, client: Client | None
) -> AsyncIterator[dict[str, Any]]:
    """The events of a cluster, without end. client: tells what earlier runs reported."""
    # an extra
    from phaseline.engine.products.observe import bridge, cluster, discovery, kubernetes_api  # noqa: PLC0415

    async with kubernetes_api.connected(watched.kubeconfig, watched.context) as api:
        resources = await discovery.discover(api, watched.resources)
        followed = await discovery.followed(api, resources)
        beside = f", and {', '.join(one.plural for one in followed)} for what they own" if followed else ""
        terminal.say(f"watching {', '.join(one.plural for one in resources)}{beside}; stop with Ctrl-C")
        sorts = {resource.sort for resource in resources}
        observer.ownership.complete = APPLICATION in sorts and watched.namespace is None
        for resource in resources:
            observer.kinds.note_scope(*resource.sort, namespaced=resource.namespaced)
        for definition in await discovery.definitions(api, resources):
            observer.kinds.note(definition)
        observer.by_marks = APPLICATION not in sorts and observer.ownership.application is None
        past = None if client is None else bridge.Past(client.list, partial(cluster.is_gone, api))
        if past is not None:
            _name(observer, await discovery.cluster_of(api, watched.namespace), watched.namespace)
        away: set[str] = set()
        observer.placing.unnamed = frozenset(one.sort for one in followed)
        found = cluster.changes(api, resources, watched.namespace, away, followed)
        async for event in bridge.events(observer, found, watched.namespace, heartbeat=heartbeat, away=away, past=past):
            yield event


def _name(observer: Observer, cluster: str, namespace: str | None) -> None:
    """Name the observer, by its source and by what it looks at, so that it finds again what it has reported."""
    if cluster:
        observer.roots.observer = " ".join((observer.source, "/".join(filter(None, (cluster, namespace)))))
    else:
        terminal.say(NAMELESS)


async def _within_limit(events: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """The events, made to fit a message. Of each that cannot be, a line on stderr says that it is left out.

    An object that is left out would look as it did before, whatever has become of it. So first its long texts go.
    """
    async for event in events:
        try:
            found, size = _small_enough(event)
        except EventRefused as error:
            terminal.say(f"left out: {event['subject'][:LONGEST]}: {error.message}")
            continue
        if size > LARGEST:
            terminal.say(f"left out: {event['subject']} has {size:,} bytes, the limit is {LARGEST:,}")
        else:
            yield found


def _small_enough(event: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """An event and its size in bytes, with as many of its texts in full as a message can hold."""
    found, size = event, len(compose.pack(ANYWHERE, event).body)
    for longest in LONG_TEXTS:
        if size <= LARGEST:
            break
        found = {**event, "data": shortened(event.get("data"), longest)}
        size = len(compose.pack(ANYWHERE, found).body)
    return found, size


async def _with_pauses(source: AsyncIterator[ObjectChange], seconds: float) -> AsyncIterator[ObjectChange | None]:
    """The changes of `source`, and None after each pause of `seconds`."""
    pending = asyncio.ensure_future(anext(source, None))
    paused = True
    while True:
        done, _ = await asyncio.wait({pending}, timeout=None if paused else seconds)
        if not done:
            paused = True
            yield None
            continue
        found = pending.result()
        if found is None:
            return
        pending, paused = asyncio.ensure_future(anext(source, None)), False
        yield found
