"""What the client knows of single products, and manifests without a server."""

import phaseline


async def summary(client: phaseline.Client, resource: str) -> str:
    answer = await client.emco.status(resource, output="summary")
    return f"{answer['name']} {answer['state']} {answer.get('rsync-status', {})}"


async def ready(client: phaseline.Client, repository: str, when: phaseline.When) -> str:
    view = await client.at(when)
    counts = await view.fleet.counts(repository)
    return counts["display"]["ready_resources"]


async def drift(client: phaseline.Client, resource: str) -> list[str]:
    found = await client.gitops.diff(resource)
    return [difference.pointer for difference in found.assessment.differences]


def wanted(live: dict[str, object], desired: dict[str, object]) -> str | None:
    assessment = phaseline.gitops.assess(live, desired, profile="argocd")
    return assessment.sync
