"""Which role may publish to a subject, as errors name it."""

import pytest

from phaseline.engine.nats.accounts import roles


@pytest.mark.parametrize(
    ("subject", "role"),
    [
        ("a.b.events.c1.cluster.create", "tree of c1"),
        ("a.b.events.c1.node.ready.p.n1", "tree of c1"),
        ("a.b.events.c1.~.ann.cluster.create", "operator"),
        ("a.b.read.DIRECT.GET.a_b-LOG", "reader"),
        ("a.b.status.c1", "reader"),
        ("$JS.API.STREAM.INFO.a_b-LOG", "reader"),
        ("$JS.API.DIRECT.GET.a_b-STATE.a.b.state.1.cluster.c1", "reader"),
        ("$JS.API.CONSUMER.CREATE.a_b-LOG.r1.a.b.log.>", "reader"),
        ("$JS.API.STREAM.PURGE.a_b-LOG", "operator"),
        ("a.b.tables.3.purged", "operator"),
        ("a.b.tables.operated", "operator"),
        ("a.b.tables.3", "engine"),
        ("a.b.log.1.transition.node.phase.Running.c1", "engine"),
        ("a.b.events", ""),
        ("elsewhere", ""),
    ],
)
def test_the_least_role_for_a_subject(subject: str, role: str) -> None:
    how = ", with api_prefix a.b.read" if role == "reader" and subject.startswith("$JS.") else ""
    assert roles.who_may(subject, "a.b") == (f"; the role {role} may{how}" if role else "")
