"""`observe`: Kubernetes objects, as kubectl prints them, become events (docs/spec/gitops.md, What observe publishes).

Belongs here: the command, its pipe and its pauses. Does not: what objects say (`phaseline.engine.observe`).
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from phaseline.engine.cli import options, publish_many, render, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import Client
from phaseline.engine.errors import Unsendable
from phaseline.engine.observe.manifest_files import read
from phaseline.engine.observe.observer import Observer
from phaseline.engine.observe.stream import ObjectChange, live, read_text
from phaseline.engine.publish import compose
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.settings import Settings
from phaseline.schemas.subjects import Subjects

PLACE = click.Path(exists=True, allow_dash=True, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
GET = "kubectl get -o json"
WINDOW = 256
LARGEST = 1_000_000
"""Bytes of an event: the server's limit for a message is a little more."""
ANYWHERE = Subjects("pl")
"""Whether an event fits does not depend on the prefix that it goes to."""
MOST = 200
"""Characters of a subject that are shown where it may be what is wrong."""
SETTLE = 5.0


class Watched(NamedTuple):
    """What is watched of which cluster."""

    kubeconfig: Path | None
    context: str | None
    namespace: str | None
    resources: list[str]


@click.command(
    cls=Page,
    examples=[
        (
            f"{GET} deploy,svc,cm -n shop --watch --output-watch-events | phaseline observe --application shop/shop",
            "live",
        ),
        (
            f"{GET} deploy,svc,cm -n shop | phaseline observe --application shop/shop --desired ./shop",
            "against a directory",
        ),
        (f"{GET} applications,applicationsets -A --watch | phaseline observe", "Argo CD's own objects"),
        (f"{GET} gitrepos,bundles,bundledeployments -A --watch | phaseline observe", "Fleet's"),
        ("phaseline observe --cluster --resources deploy,svc,cm -n shop --application shop/shop", "without kubectl"),
        ("phaseline observe --file dump.yaml --application shop/shop --print", "what would be published"),
    ],
)
@click.option("--file", type=FILE, default="-", show_default=True, help="Objects, JSON or YAML; - is standard input.")
@click.option(
    "--application", metavar="SET/APP", help="Whose the objects are; what Argo CD's tracking says where left out."
)
@click.option(
    "--desired", type=PLACE, help="What Git declares: manifests in a file or a directory, compared with each object."
)
@click.option("--source", metavar="URI", help="Whom the events come from.  [default: /phaseline/observe/<user>]")
@click.option(
    "--cluster", is_flag=True, help="Watch a cluster instead of reading objects; needs phaseline[kubernetes]."
)
@click.option(
    "--resources",
    metavar="NAMES",
    help="With --cluster: what to watch, as deploy,svc,configmaps,applications.argoproj.io.",
)
@click.option("-n", "--namespace", help="With --cluster: only this namespace; all where left out.")
@click.option(
    "--kubeconfig", type=FILE, help="With --cluster: instead of KUBECONFIG, ~/.kube/config, or the cluster we run in."
)
@click.option("--context", help="With --cluster: a context of the kubeconfig.")
@click.option("--settle", type=click.FloatRange(0), default=SETTLE, show_default=True, metavar="SECONDS",
              help="With --desired: what has not come when nothing came for so long is missing.")  # fmt: skip
@click.option("--print", "prints", is_flag=True, help="Print the events, one a line, instead of publishing them.")
@options.as_json
@options.connected
def observe(
    settings: Settings, *, file: Path, application: str | None, desired: Path | None, source: str | None, settle: float,
    cluster: bool, resources: str | None, namespace: str | None, kubeconfig: Path | None, context: str | None,
    prints: bool, as_json: bool,
) -> int | None:  # fmt: skip
    """Publish what Kubernetes objects say, as kubectl prints them: each real change once.

    Argo CD's Application and ApplicationSet and Fleet's GitRepo, Bundle and BundleDeployment speak for themselves; any other
    object is observed as a resource of its application. Fields that only tick leave no event. Values of Secrets are
    replaced by fingerprints. Deletions are seen with --output-watch-events, and with --cluster.
    """
    if application is not None and application.count("/") != 1:
        raise click.UsageError(f"--application must be <set>/<application>, found {application!r}")
    if cluster != (resources is not None):
        raise click.UsageError("--cluster and --resources need each other: --resources says what to watch")
    watched = Watched(kubeconfig, context, namespace, (resources or "").split(",")) if cluster else None
    observer = Observer(
        source or compose.default_source("observe"), application, None if desired is None else [*read(desired)]
    )
    events = _that_fit(_events(observer, file, settle) if watched is None else _of_cluster(observer, watched))

    async def work() -> None:
        if prints:
            async for event in events:
                render.show_json(event)
        else:
            async with Client.open(settings) as client:
                sent = await client.publish_many(events, window=WINDOW, check=False)
                _tell(sent, as_json=as_json)
        for name in sorted(observer.unowned)[:3]:
            terminal.say(f"left out: {name} names no application it belongs to; give one with --application")
        if len(observer.unowned) > 3:
            terminal.say(f"left out for the same reason: {len(observer.unowned) - 3} more objects")

    return terminal.run(work())


def _tell(sent: PublishResult, *, as_json: bool) -> None:
    if as_json:
        render.show_json(sent._asdict())
    else:
        render.show_line(render.text_of(publish_many.summary(sent)))


async def _events(observer: Observer, file: Path, settle: float) -> AsyncIterator[dict[str, Any]]:
    """The events of all that comes; after a first pause, or at the end, of what has not come too."""
    if str(file) != "-":
        for change in read_text(await asyncio.to_thread(file.read_bytes), str(file)):
            for event in observer.see(change):
                yield event
    else:
        async for found in _with_pauses(live(sys.stdin.fileno(), "standard input"), settle):
            for event in observer.missing() if found is None else observer.see(found):
                yield event
    for event in observer.missing():
        yield event


async def _of_cluster(observer: Observer, watched: Watched) -> AsyncIterator[dict[str, Any]]:
    """The events of a cluster, for ever; once all that there is has come, of what has not come too."""
    from phaseline.engine.observe import cluster, discovery, kubernetes_api  # noqa: PLC0415  # its packages are an extra

    async with kubernetes_api.connected(watched.kubeconfig, watched.context) as api:
        resources = await discovery.discover(api, watched.resources)
        terminal.say(f"watching {', '.join(resource.plural for resource in resources)}; Ctrl-C stops it")
        async for found in cluster.changes(api, resources, watched.namespace):
            for event in observer.missing() if found is None else observer.see(found):
                yield event


async def _that_fit(events: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """Events that a message can hold; of others it is said that they are left out."""
    async for event in events:
        try:
            size = len(compose.pack(ANYWHERE, event).body)
        except Unsendable as error:
            terminal.say(f"left out: {event['subject'][:MOST]}: {error.message}")
            continue
        if size > LARGEST:
            terminal.say(f"left out: {event['subject']} has {size:,} bytes, more than the {LARGEST:,} of a message")
        else:
            yield event


async def _with_pauses(source: AsyncIterator[ObjectChange], seconds: float) -> AsyncIterator[ObjectChange | None]:
    """What comes, and None each time when nothing came for so long after something had."""
    coming = asyncio.ensure_future(anext(source, None))
    rested = True
    while True:
        done, _ = await asyncio.wait({coming}, timeout=None if rested else seconds)
        if not done:
            rested = True
            yield None
            continue
        found = coming.result()
        if found is None:
            return
        coming, rested = asyncio.ensure_future(anext(source, None)), False
        yield found
