"""The same without asyncio: for scripts and notebooks."""

import phaseline


def main(url: str, prefix: str) -> None:
    with phaseline.sync.connect(url, prefix=prefix, source="/script") as client:
        client.publish_and_wait("cluster", "adopt", "c2", {"phase": "Running"})
        outcome = client.publish_and_wait("node", "adopt", "c2/pool-a/n1", {"phase": "Running"})
        print([str(transition.after) for transition in outcome.transitions])
        for entity in client.list("node", tree="c2"):
            print(entity.id, entity.facets[0].state)
        with client.watch("node", tree="c2", start="start", follow=False) as watch:
            for transition in watch:
                print(watch.sequence, transition.entity.id)
        try:
            client.get("node", "c2/pool-a/n9")
        except phaseline.errors.EntityUnknown as error:
            print(error)


if __name__ == "__main__":
    main("nats://127.0.0.1:4222", "pl")
