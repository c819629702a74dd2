"""Ignore rules: what they are about, what they take out, what is wrong with them.

See docs/spec/gitops.md, Ignore rules.
"""

from typing import Any

import pytest

from phaseline.engine.scripts.runner import SandboxRunner
from phaseline.machines.kinds.kubernetes.assess import OUT_OF_SYNC, SYNCED, Assessment, assess
from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreRule, pointless
from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from tests.support.manifests import deployment, kubernetes_object

WEB = {"name": "web", "image": "web:1"}


NOW = 1_700_000_000


def told(programs: SandboxRunner, desired: Any, live: Any, *rules: IgnoreRule) -> Assessment:
    return assess(live, desired, Overrides(rules=rules), programs, now=NOW, explains=True)


@pytest.mark.parametrize(("glob", "word", "fit"), [
    ("*", "apps", True), ("*", "", True), ("**", "", True), ("", "", True), ("", "apps", False), ("apps", "Apps", False), ("a*", "apps", True),
    ("?pps", "apps", True), ("[ab]pps", "apps", True), ("[!a]pps", "apps", False), ("{apps,batch}", "batch", True), ("{apps,batch}", "core", False),
    ("*.io", "foo.example.io", True), ("apps", "", False), ("?", "", False),
])  # fmt: skip
def test_globs(glob: str, word: str, fit: bool) -> None:
    assert matches(glob, word) is fit


@pytest.mark.parametrize(("rule", "about"), [
    (IgnoreRule("apps", "Deployment"), True), (IgnoreRule("", "Deployment"), False), (IgnoreRule("*", "*"), True), (IgnoreRule("a*", "{Deployment,StatefulSet}"), True),
    (IgnoreRule("apps", "Deployment", name="it"), True), (IgnoreRule("apps", "Deployment", name="i*"), False),
    (IgnoreRule("apps", "Deployment", namespace="shop"), True), (IgnoreRule("apps", "Deployment", namespace="sh*"), False),
])  # fmt: skip
def test_what_a_rule_is_about(rule: IgnoreRule, about: bool) -> None:
    assert rule.is_about(deployment()) is about


def test_an_empty_group_is_the_core_group() -> None:
    assert IgnoreRule("", "Service").is_about(kubernetes_object("v1", "Service"))


@pytest.mark.parametrize("rule", [
    IgnoreRule("apps", "*", pointers=("/spec/replicas",)),
    IgnoreRule("apps", "*", programs=(".spec.replicas",)),
    IgnoreRule("*", "*", managers=("scaler",)),
])  # fmt: skip
def test_replicas_that_an_autoscaler_sets(programs: SandboxRunner, rule: IgnoreRule) -> None:
    fields = [{"manager": "scaler", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
    live = deployment(metadata={"managedFields": fields}, replicas=7)
    assert told(programs, deployment(replicas=3), live).sync == OUT_OF_SYNC
    found = told(programs, deployment(replicas=3), live, rule)
    assert (found.sync, found.problems) == (SYNCED, ())
    [hidden] = found.hidden
    assert (hidden.difference.pointer, hidden.difference.wanted, hidden.difference.found) == ("/spec/replicas", 3, 7)
    assert hidden.by.rule is rule


def test_a_secret_that_an_operator_fills(programs: SandboxRunner) -> None:
    desired, live = (
        kubernetes_object("v1", "Secret", data={"a": "eA=="}),
        kubernetes_object("v1", "Secret", data={"a": "eQ=="}),
    )
    found = told(programs, desired, live)
    assert [(one.pointer, one.wanted, one.found) for one in found.differences] == [("/data/a", "(secret)", "(secret)")]
    found = told(programs, desired, live, IgnoreRule("", "Secret", pointers=("/data",)))
    assert (found.sync, [one.difference.wanted for one in found.hidden]) == (SYNCED, ["(secret)"])


def test_what_was_applied_before_is_freed_too(programs: SandboxRunner) -> None:
    last = deployment(replicas=3)
    live = deployment(
        replicas=3,
        metadata={"annotations": {"kubectl.kubernetes.io/last-applied-configuration": str(last).replace("'", '"')}},
    )
    assert told(programs, deployment(), live).sync == OUT_OF_SYNC
    assert told(programs, deployment(), live, IgnoreRule("apps", "*", pointers=("/spec/replicas",))).sync == SYNCED


def test_paths_of_many_kinds(programs: SandboxRunner) -> None:
    desired = deployment(
        containers=[{**WEB, "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}],
        metadata={"annotations": {"a/b": "x"}},
    )
    live = deployment(
        containers=[{**WEB, "env": [{"name": "A", "value": "9"}, {"name": "B", "value": "2"}]}],
        metadata={"annotations": {"a/b": "y"}},
    )
    rules = IgnoreRule(
        "apps",
        "*",
        pointers=("/metadata/annotations/a~1b",),
        programs=('.spec.template.spec.containers[].env[] | select(.name == "A")',),
    )
    assert told(programs, desired, live, rules).sync == SYNCED
    assert (
        told(
            programs,
            desired,
            live,
            IgnoreRule("apps", "*", pointers=("/spec/template/spec/containers/0/env/0", "/metadata/annotations")),
        ).sync
        == SYNCED
    )


@pytest.mark.parametrize(("rule", "problem"), [
    (IgnoreRule(pointers=("/nothing",)), "pointer '/nothing' of the rule for */*: nothing is there"),
    (IgnoreRule(pointers=("/spec/template/spec/containers/-",)), "nothing is there"),
    (IgnoreRule(pointers=("/spec/template/spec/containers/9",)), "nothing is there"),
    (IgnoreRule(pointers=("spec",)), "it is no JSON pointer"),
    (IgnoreRule(pointers=("",)), "it points at the whole object"),
    (IgnoreRule(programs=(".",)), "it takes out the whole object"),
    (IgnoreRule(programs=(".spec.foo[]",)), "Cannot iterate over null"),
    (IgnoreRule(programs=('.metadata.labels | del(."x")',)), "Invalid path expression"),
    (IgnoreRule(programs=("foo(.)",)), "foo is not allowed in an ignore rule"),
    (IgnoreRule(programs=(".a[",)), "syntax error"),
    (IgnoreRule(programs=("until(false; .)",)), "until is not allowed in an ignore rule"),
    (IgnoreRule(programs=("., .) | (",)), ""),
])  # fmt: skip
def test_a_rule_that_does_nothing_says_why(programs: SandboxRunner, rule: IgnoreRule, problem: str) -> None:
    labelled = {"labels": {"a": "b"}}
    found = told(programs, deployment(replicas=3, metadata=labelled), deployment(replicas=4, metadata=labelled), rule)
    assert found.sync == OUT_OF_SYNC
    assert len(found.problems) == 1
    assert problem in found.problems[0]


def test_a_rule_that_helps_one_side_has_no_problem(programs: SandboxRunner) -> None:
    found = told(programs, deployment(), deployment(replicas=4), IgnoreRule(pointers=("/spec/replicas",)))
    assert found.problems == ()


def test_managers_inside_lists(programs: SandboxRunner) -> None:
    fields: Any = {"f:webhooks": {'k:{"name":"w"}': {"f:clientConfig": {"f:caBundle": {}}}}}
    desired = kubernetes_object(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        webhooks=[{"name": "w", "clientConfig": {"caBundle": "Q0E="}}],
    )
    live = kubernetes_object(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        metadata={"managedFields": [{"manager": "certs", "fieldsV1": fields}]},
        webhooks=[{"name": "w", "clientConfig": {"caBundle": "abcd"}}],
    )
    assert told(programs, desired, live, IgnoreRule(managers=("certs",))).sync == SYNCED
    assert told(programs, desired, live, IgnoreRule(managers=("others",))).sync == OUT_OF_SYNC


def test_managers_own_only_what_they_own(programs: SandboxRunner) -> None:
    broken = [
        {"manager": "m"},
        3,
        {"manager": "m", "fieldsV1": {"f:spec": {"k:{": {"f:x": {}}, "f:replicas": 3, "v:1": {}}}},
    ]
    live = deployment(metadata={"managedFields": broken}, replicas=4)
    assert told(programs, deployment(replicas=3), live, IgnoreRule(managers=("m",))).sync == OUT_OF_SYNC


@pytest.mark.parametrize(("rule", "heeded"), [
    (IgnoreRule("apps", "Deployment", managers=("m",), exact=True), True), (IgnoreRule("*", "*", managers=("m",), exact=True), True),
    (IgnoreRule("apps", "*", managers=("m",), exact=True), False), (IgnoreRule("apps", "*", managers=("m",)), True),
])  # fmt: skip
def test_an_installations_managers_need_the_kind_spelt_out(rule: IgnoreRule, heeded: bool) -> None:
    assert bool(rule.managers_of(deployment())) is heeded


@pytest.mark.parametrize(("rule", "why"), [
    (IgnoreRule("", "Deployment"), "an empty group means the core group, and Deployment is in apps and extensions"),
    (IgnoreRule("apps", "Deployment", name="web-*"), "name 'web-*' is no glob"),
    (IgnoreRule("apps", "Deployment", namespace="sh?p"), "namespace 'sh?p' is no glob"),
    (IgnoreRule("apps", "Deployment", pointers=("/spec/template/spec/containers/*/image",)), "* and - are names there"),
    (IgnoreRule("apps", "*", managers=("m",), exact=True), "managers of a whole installation"),
    (IgnoreRule("", "Event", pointers=("/a",)), None),
    (IgnoreRule("core", "Secret", pointers=("/data",)), "group 'core' matches nothing"),
    (IgnoreRule("apps/v1", "Deployment", pointers=("/a",)), "group 'apps/v1' matches nothing"),
    (IgnoreRule("apps", "Service", pointers=("/a",)), "Service is in core"),
    (IgnoreRule("apps", "deployments", pointers=("/a",)), "apps has no kind 'deployments': write Deployment"),
    (IgnoreRule("", "ConfigMaps", pointers=("/a",)), "the core group has no kind 'ConfigMaps': write ConfigMap"),
    (IgnoreRule("example.io", "Widget", pointers=("/a",)), None),
    (IgnoreRule("apps", "Deployment", pointers=("spec",)), "it must begin with /"),
    (IgnoreRule("apps", "Deployment", pointers=("",)), "the whole object"),
    (IgnoreRule("apps", "Deployment", pointers=("/a~2",)), "write ~0 for ~ and ~1 for /"),
    (IgnoreRule("apps", "Deployment", pointers=("/a~1b~0", "/", "//")), None),
    (IgnoreRule("apps", "Deployment", name="web", pointers=("/a",)), None),
])  # fmt: skip
def test_what_can_never_do_anything(rule: IgnoreRule, why: str | None) -> None:
    found = [*pointless(rule)]
    assert (why in found[0]) if why else not found
