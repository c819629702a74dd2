"""`diff`: where a Kubernetes object differs from Git, by its last observation (docs/spec/gitops.md).

Belongs here: the command. Does not: reading the observation (`observation`), how it looks (`judging`).
"""

import click
from rich.text import Text

from phaseline.engine.cli import options, render, render_assessment, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import Client
from phaseline.engine.settings import Settings


@click.command(
    cls=Page,
    examples=[
        ("phaseline diff shop/shop/apps:Deployment/shop/web", "what differs, both sides, and what is ignored"),
        ("phaseline diff shop/shop/apps:Deployment/shop/web --json", "for programs, with both manifests' event"),
    ],
)
@click.argument("resource_id", metavar="ID")
@options.as_json
@options.connected
def diff(settings: Settings, resource_id: str, *, as_json: bool) -> int | None:
    """Show where a Kubernetes object differs from what Git declares, and which rule hides what.

    By its last observation, whose manifests the server keeps, and the settings of its application as they are now. ID is
    that of a resource: <set>/<application>/<group:Kind>/<namespace>/<name>.
    """

    async def work() -> None:
        async with Client.open(settings) as client:
            found = await client.gitops.diff(resource_id)
            seen = found.observation
            if as_json:
                event = {"id": seen.event[0], "source": seen.event[1], "time": seen.time}
                render.show_json(
                    {"id": resource_id, **render_assessment.as_map(found.assessment, found.profile), "event": event}
                )
                return
            when = f"  observed {render.moment(seen.time)}, {render.span(render.now_ns() - seen.time)} ago, by {seen.event[1]}"
            title = Text.assemble(render.text_of(resource_id, "bold"), render.text_of(when, "bright_black"))
            render_assessment.show(title, found.assessment, found.profile)

    return terminal.run(work())
