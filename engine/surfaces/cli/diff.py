"""The command `diff`: where a Kubernetes object differs from Git, by its last observation.

Belongs here: its options. Does not: reading the observation (`products.gitops.last_observation`), layout
(`render_assessment`).
"""

import click

from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import entity_name, options, render, render_assessment, terminal, undecided
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text


@click.command(
    cls=Page,
    examples=[
        ("phaseline gitops diff shop/shop/apps:Deployment/shop/web", "differences and ignored differences"),
        ("phaseline gitops diff shop/shop/apps:Deployment/shop/web --json", "for programs, with the event observed"),
    ],
)
@options.connected
@options.output("json", "yaml")
@entity_name.argument(only=("resource",))
def diff(settings: Settings, entity_id: str, *, output: Output) -> int | None:
    """Show where a Kubernetes object differs from Git, and which rules ignore differences.

    It compares the manifests of the last observation, with the current settings of the application. ID is the id of a
    resource: <set>/<application>/<group:Kind>/<namespace>/<name>.
    """

    async def work() -> None:
        async with undecided.reading(settings, entity_id, None) as client:
            found = await client.gitops.diff(entity_id)
            seen = found.observation
            if output.is_data:
                event = {"id": seen.event[0], "source": seen.event[1], "time": seen.time_ns}
                output.show(
                    {"id": entity_id, **render_assessment.as_map(found.assessment, found.profile), "event": event}
                )
                return
            ago = render.duration(render.now_ns() - seen.time_ns)
            when = f"  observed {render.local_time(seen.time_ns)}, {ago} ago, by {seen.event[1]}"
            title = Text.assemble(render.text_of(entity_id, "bold"), render.text_of(when, "bright_black"))
            render_assessment.show(output, title, found.assessment, found.profile)

    return terminal.run(work())
