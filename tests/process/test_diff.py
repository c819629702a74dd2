"""`phaseline gitops diff`: the last observation, by the settings as they are now; on the real server."""

import asyncio

from phaseline.gitops import ObjectDiff
from phaseline.schemas.errors import InvalidInput, NotFound
from tests.support.command import Shell
from tests.support.gitops_history import APP, resource_id
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.manifests import deployment, kubernetes_object
from tests.support.own_installation import Client
from tests.support.raising import raises

WEB = resource_id(deployment())


async def diffed(client: Client, resource_id: str) -> ObjectDiff:
    """Its difference, once the server has copied the observation."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await client.gitops.diff(resource_id)
            except NotFound as error:
                assert NotFound.not_observed.made(error)  # noqa: PT017  # any other ends the wait
                await asyncio.sleep(0.02)


async def test_what_differs_and_what_is_ignored(working: Settings, wire: Wire) -> None:
    async with Client.open(working) as client:
        await client.publish(
            "resource",
            "observed",
            WEB,
            {"live": deployment(replicas=7), "desired": deployment(replicas=3)},
            source="/agent",
        )
        await until_decided(wire, await inspect(wire, working))
        found = await diffed(client, WEB)
        assert [one.pointer for one in found.assessment.differences] == ["/spec/replicas"]
        await client.publish(
            "application",
            "configure",
            APP,
            {"ignore_differences": [{"group": "apps", "kind": "*", "jsonPointers": ["/spec/replicas"]}]},
        )
        await until_decided(wire, await inspect(wire, working))
        found = await client.gitops.diff(WEB)
        assert (found.assessment.sync, [one.difference.wanted for one in found.assessment.hidden]) == ("Synced", [3])
        await client.publish("application_set", "configure", "shop", {"profile": "argocd"})
        await client.publish(
            "resource", "observed", WEB, {"live": None, "desired": deployment(replicas=3)}, source="/agent"
        )
        await until_decided(wire, await inspect(wire, working))
        found = await client.gitops.diff(WEB)
        assert (found.assessment.sync, found.assessment.why, found.profile.name) == (
            "OutOfSync",
            "it is in Git, and not in the cluster",
            "argocd",
        )
        assert found.observation.event[1] == "/agent"


async def test_names_that_need_encoding(working: Settings, wire: Wire) -> None:
    found = kubernetes_object(
        "rbac.authorization.k8s.io/v1",
        "ClusterRole",
        metadata={"name": "system:a.b", "namespace": None},
        rules=[{"verbs": ["get"]}],
    )
    async with Client.open(working) as client:
        await client.publish("resource", "observed", resource_id(found), {"live": found, "desired": found})
        await until_decided(wire, await inspect(wire, working))
        assert (await diffed(client, resource_id(found))).assessment.sync == "Synced"


async def test_what_was_never_observed(working: Settings) -> None:
    async with Client.open(working) as client:
        with raises(NotFound.not_observed, match="no observation of"):
            await client.gitops.diff(WEB)
        with raises(InvalidInput.wrong_id_length, match="does not fit resource"):
            await client.gitops.diff("shop/shop")


async def test_the_command(shell: Shell, client: Client, working: Settings, wire: Wire) -> None:
    await client.publish(
        "resource",
        "observed",
        WEB,
        {"live": deployment(replicas=7), "desired": deployment(replicas=3)},
        source="/agent",
    )
    await until_decided(wire, await inspect(wire, working))
    await diffed(client, WEB)
    first, *rest = (await shell("gitops", "diff", WEB)).out.splitlines()
    assert first.startswith(f"{WEB}  observed 2")
    assert first.endswith("ago, by /agent")
    assert rest == [
        "  health  Progressing: Waiting for rollout to finish: 0 of 7 replicas are new", "  sync    OutOfSync: it differs at 1 place", "  differences",
        "    PATH            GIT  CLUSTER", "    /spec/replicas  3    7",
    ]  # fmt: skip
    told = (await shell("gitops", "diff", WEB, "--json")).json
    assert (told["id"], told["differences"]) == (WEB, [{"path": "/spec/replicas", "desired": 3, "live": 7}])
    missing = await shell("gitops", "diff", f"{APP}/core:Pod/a/b")
    assert (missing.code, "no observation of 'shop/shop/core:Pod/a/b' is stored" in missing.err) == (4, True)
