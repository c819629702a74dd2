"""The command `why`: from the state of an entity back to the events behind it.

Belongs here: its options. Does not: the explanation (`log.explain.fetch`), its lines (`render_why`).
"""

import click

from phaseline.engine.log.explain.model import as_map
from phaseline.engine.log.explain.staleness import shown
from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import cells, entity_name, options, render, terminal, undecided
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render_why import ExplanationTree
from phaseline.machines.compiler.labels import Language


@click.command(
    cls=Page,
    examples=[
        ("phaseline why c1/pool-a/n7", ""),
        ("phaseline why c1/pool-a --at 03:12", "as it was at 03:12"),
        ("phaseline why component c1/dns", "if there is a node_pool c1/dns too"),
    ],
)
@entity_name.option
@options.at
@options.language
@cells.locating
@options.output("json", "yaml", "wide")
@entity_name.argument()
def why(
    settings: Settings, entity_id: str, *, kind: str | None, at: When | None, lang: Language, output: Output
) -> int | None:  # fmt: skip
    """Show why an entity is in its state, back to the events behind it.

    If a view shows another state than the base of the entity, the view comes first: the entities above or below that it
    looks at, and why they are in their states. Then come the causes of the base, each with the event that led to it.

    "because" is what the entity itself says of its state, and "condition" what its object said, since when. "to do"
    says what to do about the state. "but" is what another source says that does not decide, with its event.
    """

    async def work() -> None:
        async with undecided.reading(settings, entity_id, at) as client:
            view = await client.at(at)
            explanation = await view.why(await view.kind_of(entity_id, kind), entity_id)
            entity = explanation.entity
            stale = (await view.stale([entity])).get((entity.kind, entity.id))
            if output.is_data:
                output.show({**as_map(explanation), **shown(stale)})
            else:
                tree = ExplanationTree(client.kinds, render.time_of(view), stale, lang)
                output.tree(tree.whole(explanation))

    return terminal.run(work())
