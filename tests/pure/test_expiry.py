"""What ends by itself: a certificate whose time is over is not well, whatever its conditions say.

Belongs here: the fields that hold such a time, in every profile, and the timer of a resource. Does not: other rows of
the same kinds.
"""

from typing import Any

import pytest

from phaseline.engine.products.gitops import assess
from phaseline.machines.kinds.kubernetes.health import registry
from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart
from phaseline.machines.kinds.kubernetes.health.result import HealthResult
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.profiles import ALAUDA, PROFILES, Profile
from phaseline.schemas.records import SECOND, nanoseconds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.manifests import kubernetes_object
from tests.support.virtual_clock import Clock

END, LATER = "1970-03-01T00:00:00Z", "1970-04-01T00:00:00Z"
AT = nanoseconds(END) // SECOND
READY = [{"type": "Ready", "status": "True", "message": "it is up to date and has not expired"}]
RENEWING = [*READY, {"type": "Issuing", "status": "True", "reason": "Renewing"}]
HERE = "web/web/cert-manager.io:Certificate/shop/it"


def certificate(until: Any = END, conditions: Any = READY, **labels: str) -> dict[str, Any]:
    status = {"notAfter": until, "conditions": conditions}
    metadata = {"name": "it", "namespace": "shop", "labels": labels}
    return kubernetes_object("cert-manager.io/v1", "Certificate", metadata=metadata, status=status)


def judged(live: dict[str, Any], now: int, profile: Profile = ALAUDA) -> HealthResult:
    return registry.judge(ManifestPart(live), registry.rule_of(*group_kind(live), profile), profile, None, now=now)


@pytest.mark.parametrize(("api", "kind", "status"), [
    ("cert-manager.io/v1", "Certificate", {"notAfter": END, "conditions": READY}),
    ("cert-manager.io/v1", "Certificate", {"notAfter": END, "conditions": RENEWING}),
    ("acm.services.k8s.aws/v1alpha1", "Certificate", {"notAfter": END, "conditions": [*READY, {"type": "ACK.ResourceSynced", "status": "True"}]}),
    ("acm.aws.upbound.io/v1beta1", "Certificate", {"atProvider": {"notAfter": END}, "conditions": [*READY, {"type": "Synced", "status": "True"}]}),
    ("cluster.x-k8s.io/v1beta1", "Machine", {"phase": "Running", "certificatesExpiryDate": END, "conditions": READY}),
    ("networking.gke.io/v1", "ManagedCertificate", {"certificateStatus": "Active", "expireTime": END}),
    ("nobody.example/v1", "Cert", {"notAfter": END, "conditions": READY}),
])  # fmt: skip
def test_what_has_ended_is_degraded_from_then_on(api: str, kind: str, status: dict[str, Any]) -> None:
    live = kubernetes_object(api, kind, status=status)
    before, after = judged(live, AT - 1), judged(live, AT)
    assert before.status == ("Progressing" if status.get("conditions") == RENEWING else "Healthy")
    assert after.status == "Degraded"
    assert after.message.endswith(f" {END} has passed")
    assert after.evidence[0].status == END
    assert {str(one) for one in before.evidence} <= {str(one) for one in after.evidence}


@pytest.mark.parametrize("until", [None, "", "soon", 3, "2026-13-01T00:00:00Z", "2999-01-01T00:00:00Z"])
def test_what_says_no_time_that_is_over_has_not_ended(until: Any) -> None:
    assert judged(certificate(until), AT).status == "Healthy"


def test_who_follows_argo_cd_or_writes_the_rule_has_the_last_word() -> None:
    assert judged(certificate(), AT, PROFILES["argocd"]).status == "Healthy"
    rows = {"health": {"cert-manager.io/Certificate": {"rows": [{"when": "Ready = True", "health": "Healthy"}]}}}
    found, built_in = assess.assess(certificate(), rules=rows).health, assess.assess(certificate()).health
    assert found == ("Healthy", READY[0]["message"])
    assert built_in == ("Degraded", f"status.notAfter {END} has passed")
    failed = certificate(conditions=[{"type": "Ready", "status": "False", "message": "no"}])
    assert judged(failed, AT).message == "no"


def observe(clock: Clock, at: float, live: dict[str, Any]) -> tuple[str, list[float]]:
    clock.say(at, "resource", "observed", HERE, live=live)
    return clock.shown("resource", HERE), clock.due


def test_a_timer_ends_a_certificate_of_which_nothing_more_is_said() -> None:
    clock, later = Clock(BUILT_IN_KINDS), nanoseconds(LATER) / SECOND
    assert observe(clock, 100, certificate()) == ("Healthy", [AT])
    assert observe(clock, 200, certificate(a="b")) == ("Healthy", [AT])
    assert observe(clock, 300, certificate(LATER)) == ("Healthy", [later])
    assert observe(clock, 400, certificate()) == ("Healthy", [AT])
    clock.fire(AT)
    attributes = clock.processor.tree.entities["resource"][HERE].attributes
    assert clock.shown("resource", HERE) == "Degraded"
    assert attributes["health_message"] == f"status.notAfter {END} has passed"
    assert "expires" not in attributes
    assert observe(clock, AT + 10, certificate())[0] == "Degraded"
    assert observe(clock, AT + 20, certificate(LATER))[0] == "Healthy"
    assert clock.due[-1] == later


@pytest.mark.parametrize(("kind", "entity_id", "states"), [
    ("owned_object", "web/web/core:Service/shop/it/cert-manager.io:Certificate:shop:it", ("Healthy", "Degraded")),
    ("bundle_resource", "repo/bundle/c/cert-manager.io:Certificate/shop/it", ("Ready", "NotReady")),
])  # fmt: skip
def test_so_does_one_for_every_kind_of_observed_objects(kind: str, entity_id: str, states: tuple[str, str]) -> None:
    clock = Clock(BUILT_IN_KINDS)
    clock.say(100, kind, "observed", entity_id, live=certificate())
    assert (clock.shown(kind, entity_id), max(clock.due)) == (states[0], AT)
    clock.until(AT * SECOND)
    attributes = clock.processor.tree.entities[kind][entity_id].attributes
    assert clock.shown(kind, entity_id) == states[1]
    assert attributes.get("health_message", attributes.get("why")) == f"status.notAfter {END} has passed"
    clock.say(AT + 10, kind, "observed", entity_id, live=certificate(LATER))
    assert (clock.shown(kind, entity_id), max(clock.due)) == (states[0], nanoseconds(LATER) / SECOND)


def test_an_observation_that_says_the_same_makes_no_record() -> None:
    clock = Clock(BUILT_IN_KINDS)
    observe(clock, 100, certificate())
    before = clock.processor.tree.entities["resource"][HERE].version
    observe(clock, 5_000, certificate())
    assert clock.processor.tree.entities["resource"][HERE].version == before


def test_what_gets_well_again_ends_at_the_same_time() -> None:
    clock = Clock(BUILT_IN_KINDS)
    observe(clock, 100, certificate())
    waiting = certificate(conditions=[{"type": "Ready", "status": "Unknown"}, {"type": "Issuing", "status": "True"}])
    assert observe(clock, 200, waiting)[0] == "Progressing"
    assert observe(clock, 300, certificate()) == ("Healthy", [AT])


OWNER = "web/web/core:ConfigMap/shop/it"
OWNED = f"{OWNER}/cert-manager.io:Certificate:shop:it"


def test_a_renewal_that_hangs_ends_where_the_certificate_of_another_object_does() -> None:
    clock, later = Clock(BUILT_IN_KINDS), nanoseconds(LATER) / SECOND
    owner = kubernetes_object("v1", "ConfigMap", metadata={"name": "it", "namespace": "shop"})
    clock.say(50, "resource", "observed", OWNER, live=owner)

    def see(at: float, live: dict[str, Any]) -> tuple[str, list[float]]:
        clock.say(at, "owned_object", "observed", OWNED, live=live)
        return clock.shown("owned_object", OWNED), clock.due

    assert see(100, certificate()) == ("Healthy", [AT])
    assert see(200, certificate(conditions=RENEWING)) == ("Progressing", [AT])
    before = clock.processor.tree.entities["owned_object"][OWNED].attributes
    assert see(300, certificate(conditions=RENEWING, a="b")) == ("Progressing", [AT])
    assert clock.processor.tree.entities["owned_object"][OWNED].attributes == before
    assert see(400, certificate(LATER, RENEWING)) == ("Progressing", [later])
    assert see(500, certificate(conditions=RENEWING)) == ("Progressing", [AT])
    clock.fire(AT)
    assert clock.shown("owned_object", OWNED) == "Degraded"
    assert (
        clock.processor.tree.entities["owned_object"][OWNED].attributes["health_message"]
        == f"status.notAfter {END} has passed"
    )
