"""The command `counts`: how many resources of Fleet are ready, and which are not.

Belongs here: its options and layout. Does not: counting (`phaseline.engine.client.fleet_counts`).
"""

from collections.abc import Mapping
from typing import Any

import click
from rich.text import Text

from phaseline.engine.cli import names, options, render, terminal
from phaseline.engine.cli.as_of import time_of
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import Client
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.machines.fleet.counts import fraction


@click.command(
    cls=Page,
    examples=[
        ("phaseline counts infra", "a git repository"),
        ("phaseline counts infra/web", "a bundle"),
        ("phaseline counts infra/web/c1 --json", "a bundle on one cluster, for programs"),
        ("phaseline counts infra --at 15m", "15 minutes ago"),
        ("phaseline counts --cluster east", "a cluster, over all repositories"),
    ],
)
@click.argument("entity_id", type=names.ID, metavar="[ID]", required=False)
@click.option("--cluster", metavar="NAME", help="Count over all repositories on this cluster, instead of ID.")
@options.at
@options.as_json
@options.connected
def counts(
    settings: Settings, entity_id: str | None, *, cluster: str | None, at: When | None, as_json: bool
) -> int | None:
    """Show how many deployments and resources of a Fleet repository, bundle or cluster are ready, and which are not.

    ID is <repo>, <repo>/<bundle> or <repo>/<bundle>/<cluster>. Declared resources are counted. A declared resource that
    somebody deleted counts as not ready. A resource that is no longer declared does not count.
    """
    if (entity_id is None) is (cluster is None):
        raise click.UsageError("give either ID or --cluster")

    async def work() -> None:
        async with Client.open(settings) as client:
            view = await client.at(at)
            found: Mapping[str, Any]
            if cluster is not None:
                found = await view.fleet.cluster_counts(cluster)
            else:
                found = await view.fleet.counts(str(entity_id))
            if as_json:
                render.show_json(found)
                return
            time_of(view)
            _show(found)

    return terminal.run(work())


def _show(found: Mapping[str, Any]) -> None:
    display, parts = found["display"], found.get("per_cluster") or found.get("per_git_repo") or {}
    conditions = f" [{', '.join(found['conditions'])}]" if found.get("conditions") else ""
    kind, name = (found["kind"], found["id"]) if "kind" in found else ("cluster", found["cluster"])
    head = Text.assemble(render.text_of(f"{kind} ", "bright_black"), render.text_of(name, "bold"))
    render.show_line(Text.assemble(head, f"  {found['state']}{conditions}"))
    pairs = [
        ("  deployments", _line(display["ready_deployments"], found["deployments"])),
        ("  resources", _line(display["ready_resources"], found["resources"])),
    ]
    if len(parts) > 1:
        counted = ((name, one["resources"]) for name, one in parts.items())
        pairs += [(f"    {name}", _line(fraction(one), one)) for name, one in counted]
    render.show_pairs(pairs)
    for line in filter(None, display["message"].split("; ")):
        render.show_line(render.text_of(f"  {line}"))


def _line(ready: str, counted: Mapping[str, int]) -> Text:
    """`10/11 ready, 1 missing`."""
    others = [
        f"{count:,} {word.replace('_', ' ')}"
        for word, count in counted.items()
        if count and word not in ("desired_ready", "ready")
    ]
    style = "red" if others else "green"
    return Text.assemble(render.text_of(f"{ready} ready", style), ", ".join(["", *others]))
