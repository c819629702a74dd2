"""What people say about judging and comparing, in Argo CD's words and in ours; what is wrong with it, and where."""

from typing import Any

import pytest

from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreRule
from phaseline.machines.kinds.kubernetes.diff.known_types import KnownType
from phaseline.machines.kinds.kubernetes.overrides import BadOverride, Overrides

SCRIPT = "hs = {}\nhs.status = 'Healthy'\nreturn hs\n"
SETTINGS = {
    "kind": "ConfigMap",
    "data": {
        "admin.enabled": "false",
        "resource.customizations.health.cert-manager.io_Certificate": SCRIPT,
        "resource.customizations.health._PersistentVolumeClaim": "return nil",
        "resource.customizations.health.*.upbound.io_*": "return {}",
        "resource.customizations.ignoreDifferences.all": "managedFieldsManagers: [kube-controller-manager]\n",
        "resource.customizations.ignoreDifferences.apps_Deployment": "jsonPointers:\n- /spec/replicas\njqPathExpressions: ['.spec.x']\n",
        "resource.customizations.knownTypeFields.some.io_Thing": "- field: spec.ram\n  type: core/Quantity\n",
        "resource.customizations.actions.apps_Deployment": "x",
        "resource.compareoptions": "ignoreAggregatedRoles: true\n",
        "resource.customizations": "argoproj.io/Rollout:\n  health.lua: return {}\n  ignoreDifferences: |\n    jsonPointers: [/status]\n",
    },
}


def test_argo_cds_settings() -> None:
    found = Overrides(aggregates=False).merge(SETTINGS, "cm")
    assert found.script_of("cert-manager.io", "Certificate") == SCRIPT
    assert found.script_of("", "PersistentVolumeClaim") == "return nil"
    assert found.script_of("aws.upbound.io", "Bucket") == "return {}"
    assert found.script_of("argoproj.io", "Rollout") == "return {}"
    assert found.script_of("upbound.io", "Bucket") is None
    assert found.rules == (
        IgnoreRule("*", "*", managers=("kube-controller-manager",), exact=True),
        IgnoreRule("apps", "Deployment", pointers=("/spec/replicas",), programs=(".spec.x",), exact=True),
        IgnoreRule("argoproj.io", "Rollout", pointers=("/status",), exact=True),
    )
    assert found.known_types_of("some.io", "Thing") == (KnownType("spec.ram", "core/Quantity"),)
    assert found.aggregates


def test_an_application_and_a_set() -> None:
    rules = [
        {"kind": "Deployment", "group": "apps", "name": "web", "jsonPointers": ["/spec/replicas"]},
        {"group": "*", "kind": "*", "managedFieldsManagers": ["m"]},
    ]
    expected = (
        IgnoreRule("apps", "Deployment", "web", pointers=("/spec/replicas",)),
        IgnoreRule("*", "*", managers=("m",)),
    )
    assert Overrides().merge({"kind": "Application", "spec": {"ignoreDifferences": rules}}, "app").rules == expected
    assert (
        Overrides()
        .merge({"kind": "ApplicationSet", "spec": {"template": {"spec": {"ignoreDifferences": rules}}}}, "set")
        .rules
        == expected
    )
    assert Overrides().merge({"kind": "Application"}, "app").rules == ()


def test_ours_and_one_after_the_other() -> None:
    first = Overrides().merge(
        {
            "profile": "argocd",
            "health": {"a.io/*": "1", "a.io/B": "2"},
            "ignore_differences": [{"kind": "Pod", "jsonPointers": ["/a"]}],
        },
        "one",
    )
    both = first.merge(
        {
            "health": {"a.io/C": "3"},
            "known_type_fields": {"a.io/B": [{"field": "f", "type": "t"}]},
            "ignore_aggregated_roles": False,
        },
        "two",
    )
    assert (both.profile.name, both.aggregates) == ("argocd", False)
    assert [both.script_of("a.io", kind) for kind in "BCD"] == ["2", "3", "1"]
    assert both.rules == (IgnoreRule("", "Pod", pointers=("/a",)),)
    assert both.known_types_of("a.io", "B") == (KnownType("f", "t"),)


@pytest.mark.parametrize(("found", "says"), [
    ({"ignoreDifferences": []}, "here: 'ignoreDifferences' is none of profile, health, ignore_differences"),
    ({"profile": "flux"}, "here.profile must be one of alauda, argocd, argocd-3.3, found 'flux'"),
    ({"health": []}, "here.health must be a map, found list"),
    ({"health": {"a/B": 3}}, "here.health.a/B must be a script in Lua, or a map with `rows`, found int"),
    ({"ignore_differences": {}}, "here.ignore_differences must be a list, found dict"),
    ({"ignore_differences": [3]}, "here.ignore_differences[0] must be a map, found int"),
    ({"ignore_differences": [{"jsonPointers": ["/a"]}]}, "here.ignore_differences[0].kind must be a kind, or a glob such as *"),
    ({"ignore_differences": [{"kind": "Pod", "jsonPointer": "/a"}]}, "here.ignore_differences[0]: 'jsonPointer' is none of group, kind"),
    ({"ignore_differences": [{"kind": "Pod", "jsonPointers": "/a"}]}, "here.ignore_differences[0].jsonPointers must be a list of strings, found str"),
    ({"ignore_differences": [{"kind": "Pod", "jsonPointers": [1]}]}, "here.ignore_differences[0].jsonPointers[0] must be a string, found int"),
    ({"known_type_fields": {"a/B": {}}}, "here.known_type_fields.a/B must be a list of {field, type}, found dict"),
    ({"known_type_fields": {"a/B": [{"field": "x"}]}}, "here.known_type_fields.a/B.type must be a string, found NoneType"),
    ({"kind": "ConfigMap", "data": {"resource.customizations.ignoreDifferences.all": "a: ["}}, "here.data['resource.customizations.ignoreDifferences.all']: line 2"),
    ({"kind": "ConfigMap", "data": {"resource.customizations": "[]"}}, "here.data['resource.customizations'] must be a map, found list"),
    ({"kind": "Application", "spec": []}, "here.spec must be a map, found list"),
])  # fmt: skip
def test_what_is_wrong_and_where(found: dict[str, Any], says: str) -> None:
    with pytest.raises(BadOverride) as refused:
        Overrides().merge(found, "here")
    assert says in str(refused.value)


def test_keys_that_match_nothing_and_keys_given_twice_are_told_and_the_others_hold() -> None:
    data = {
        "resource.customizations.health.a_b_C": "return {}",
        "resource.customizations.health.ConfigMap": SCRIPT,
        "resource.customizations.ignoreDifferences.apps_Deployment": "jsonPointers: [/a]\njsonPointers: [/spec/replicas]\n",
    }
    found = (
        Overrides().merge({"kind": "ConfigMap", "data": data}, "cm").merge({"health": {"a/b/C": "return {}"}}, "own")
    )
    assert [one.partition(" matches nothing")[0].partition(": line 2")[0] for one in found.notes] == [
        "cm.data['resource.customizations.health.a_b_C']",
        "cm.data['resource.customizations.ignoreDifferences.apps_Deployment']",
        "own: the key 'a/b/C'",
    ]
    assert "the key 'jsonPointers' is given twice in one map; the last one counts" in found.notes[1]
    assert found.rules[0].pointers == ("/spec/replicas",)
    assert found.script_of("", "ConfigMap") == SCRIPT


@pytest.mark.parametrize("exact", ["ConfigMap", "/ConfigMap"])
def test_an_exact_key_comes_before_a_glob_for_core_kinds_too(exact: str) -> None:
    found = Overrides().merge({"health": {"*/*": "glob", exact: "exact"}}, "own")
    assert found.script_of("", "ConfigMap") == "exact"
    assert found.script_of("apps", "ConfigMap") == "glob"
