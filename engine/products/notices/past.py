"""Rules at work on the past of an installation: nothing is stored, and nobody is told.

Belongs here: reading the states at the beginning and the records after it. Does not: counting
(`fold.dry_run`).
"""

from phaseline.engine.log.when import When
from phaseline.engine.products.notices.fold.dry_run import TriedRules
from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.surfaces.client.client import Client


async def tried(client: Client, rules: Rules, start: When, tree: str | None = None) -> TriedRules:
    """What rules would have told from a moment on. What was so before is told no more.

    tree: only this id and those below it. Raises `NameUnknown`, `InvalidInput`.
    """
    view = await client.at(start)
    end = (await client.at(None)).now_ns
    fold, result = Fold(client.kinds, rules), TriedRules(rules)
    before = [record async for record in view.unsorted(tree=tree, deleted=True)]
    result.take(fold.know(view.moment.place, before, lambda _: False))
    async with client.watch(tree=tree, start=view.moment, rejections=True, follow=False) as watch:
        while some := await watch.batch():
            for one in some:
                result.take(fold.take(one.sequence, one.record))
    result.take(fold.advance(end + 1))
    result.told.sort(key=lambda one: one.time_ns)  # what fell due last was found tree by tree
    return result
