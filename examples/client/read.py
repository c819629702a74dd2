"""Read states now and at a moment, ask why, follow the log."""

import asyncio

import phaseline


async def phases(client: phaseline.Client, root: str) -> dict[str, str]:
    return {entity.id: entity.facets[0].state.phase for entity in await client.tree(root)}


async def main(url: str, prefix: str) -> None:
    async with phaseline.connect(url, prefix=prefix) as client:
        view = await client.at("now")
        print("place", view.moment.place)
        print(await phases(client, "c1"))
        running = [node.id async for node in view.list("node", state="Running")]
        explanation = await view.why("node", running[0])
        for facet in explanation.facets:
            print(facet.facet, facet.state, [cause.role for cause in facet.causes])
        async for record in client.watch(start="start", rejections=True, follow=False):
            match record:
                case phaseline.Transition():
                    print(record.entity.id, record.before, "->", record.after)
                case phaseline.Rejection():
                    print("refused:", record.id, record.message)
        for change in await client.changes("start", view.moment):
            print(change.id, change.what)


if __name__ == "__main__":
    asyncio.run(main("nats://127.0.0.1:4222", "pl"))
