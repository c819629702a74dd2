"""YAML as Kubernetes reads it; files of objects, and which belong together."""

import os
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.products.gitops.assess import assess_all
from phaseline.engine.products.observe.manifest_files import read
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.machines.kinds.kubernetes.observation import ObservedPair
from phaseline.machines.kinds.kubernetes.pairs import is_owned, key_of, pair_up
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.yaml_text import NotYaml, document, documents, json_documents
from tests.support.gitops_history import APP
from tests.support.manifests import config, kubernetes_object
from tests.support.raising import raises


@pytest.mark.parametrize(("text", "value"), [
    ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"), ("2020-01-01", "2020-01-01"), ("12:30:45", "12:30:45"), ("1:30", "1:30"),
    ("y", True), ("No", False), ("on", True), ("off", False), ("TRUE", True), ("yEs", "yEs"),
    ("~", None), ("", None), ("null", None), ("'null'", "null"), ("0o14", 12), ("014", 12), ("0x1F", 31), ("0b11", 3), ("-7", -7), ("1_000", 1000),
    ("1e3", 1000.0), ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("09", 9.0), ("!!str 5", "5"), ("'5'", "5"), ("=", "="), ("5Gi", "5Gi"), ("1.2.3", "1.2.3"),
])  # fmt: skip
def test_values(text: str, value: Any) -> None:
    found = document(f"a: {text}\n")["a"]
    assert (found, type(found)) == (value, type(value))


def test_keys_are_words() -> None:
    assert document("1: a\nfalse: b\nnull: c\n") == {"1": "a", "false": "b", "null": "c"}


def test_documents() -> None:
    assert [*documents("---\n---\na: 1\n---\nb: 2\n")] == [{"a": 1}, {"b": 2}]
    assert document("") is None
    assert document('{"a": [1, null, true]}') == {"a": [1, None, True]}
    assert document("a: &x {b: 1}\nc: {<<: *x, d: 2}\n") == {"a": {"b": 1}, "c": {"b": 1, "d": 2}}


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(8)
)


@pytest.mark.parametrize(("text", "says"), [
    ("a: [", "line 2, column 1"), ("a: b: c", "line 1, column 5: mapping values are not allowed"), ("a: &a [*a]", "nested more than 100 levels deep"),
    (BOMB, "it expands to more than 1000000 values"), ("a: !!python/object:os.system x", "could not determine a constructor for the tag ..."), ("a: !!binary aGk=", "a manifest cannot hold a bytes"),
    ("a: !!timestamp 2020-01-01", "a manifest cannot hold a date"), ("a: \x00", ""),
])  # fmt: skip
def test_what_is_no_yaml(text: str, says: str) -> None:
    with pytest.raises(NotYaml) as refused:
        document(text)
    assert says in str(refused.value)


def test_files_directories_and_lists(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "c.json").write_text(
        '{"apiVersion": "v1", "kind": "PodList", "items": [{"apiVersion": "v1", "kind": "C"}, {"apiVersion": "v1", "kind": "D"}]}'
    )
    (tmp_path / "README.md").write_text("no manifest")
    assert [one["kind"] for one in read(tmp_path)] == ["A", "B", "C", "D"]
    assert [one["kind"] for one in read(tmp_path / "b.yaml")] == ["A", "B"]


@pytest.mark.parametrize(("text", "says"), [
    ("- a", "document 1: it must be an object, found list"), ("a: 1", "document 1: it must have apiVersion and kind, each a string"),
    ("apiVersion: v1\nkind: List\nitems: [3]", "document 1, item 0: it must be an object, found int"), ("a: [", "line 2, column 1"),
    ("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: n}}", "document 1: metadata.namespace is false, as YAML reads it: write it in quotes"),
    ("{apiVersion: v1, kind: Secret, metadata: {name: 1.0}}", "document 1: metadata.name is 1.0, as YAML reads it: write it in quotes"),
    ("apiVersion: v1\nkind: PodList\nmetadata: {continue: abc}\nitems: []", "document 1: it is only a part of a list (metadata.continue): give the whole"),
])  # fmt: skip
def test_what_is_no_manifest(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with raises(InvalidInput.bad_manifest) as refused:
        [*read(tmp_path / "x.yaml")]
    assert says in str(refused.value)
    assert "x.yaml" in str(refused.value)


CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\n"


def test_files_that_are_no_manifests_are_left_out_and_named(tmp_path: Path) -> None:
    for name, text in {
        "a.yaml": CONFIG, "kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
        "values.yaml": "replicas: 3\n", "Chart.yaml": "apiVersion: v2\nname: web\n", "list.yaml": "- a\n",
        "config.yml": "apiVersion: v1\nkind: Config\n", "templates.yaml": "kind: {{ .Values.kind }}: x\n",
        "package.json": '{"name": "web"}',
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    told: list[str] = []
    assert [one["kind"] for one in read(tmp_path, told.append)] == ["ConfigMap"]
    assert [one.partition(" is left out")[0].partition(",")[0].rpartition("/")[2] for one in told] == [
        "Chart.yaml", "config.yml", "kustomization.yaml", "list.yaml", "package.json", "templates.yaml", "values.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize("ending", [".yaml", ".json"])
def test_a_folder_that_leads_elsewhere(tmp_path: Path, ending: str) -> None:
    """A checkout of Git is by others: a pipe or a device in it keeps nobody waiting, and no link leads out of it."""
    folder, private = tmp_path / "checkout", tmp_path / f"private{ending}"
    folder.mkdir()
    private.write_text('{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}')
    (folder / f"a{ending}").write_text('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}')
    (folder / f"b{ending}").symlink_to(f"a{ending}")
    assert [one["metadata"]["name"] for one in read(folder)] == ["a", "a"]
    odd = folder / f"c{ending}"
    for says, make in (
        ("no regular file", os.mkfifo), ("leads out of the folder", lambda path: path.symlink_to("/dev/zero")),
        ("leads out of the folder", lambda path: path.symlink_to(private)),
    ):  # fmt: skip
        make(odd)
        with raises(InvalidInput.bad_manifest, match=says):
            list(read(folder))
        odd.unlink()
    assert [one["kind"] for one in read(private)] == ["Secret"]


def test_a_broken_file_is_not_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [")
    with raises(InvalidInput.bad_manifest, match="line 2"):
        [*read(tmp_path)]


def test_json_is_read_as_json(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"apiVersion": "v1",\t"kind": "ConfigMap", "n": 1e3, "o": 017}'.replace("017", "17") + "\n{}\n")
    with raises(InvalidInput.bad_manifest, match="must have apiVersion and kind"):
        [*read(file)]
    assert [*json_documents('{"n": 1e3, "yes": "no", "t": "\\u00e9"} [2]')] == [
        {"n": 1000.0, "yes": "no", "t": "é"},
        [2],
    ]


@pytest.mark.parametrize(("text", "says"), [
    ("{'a': 1}", "line 1, column 2"), ('{"a": 1e999}', "a number is too large"), ('{"a": NaN}', "NaN is no JSON"),
    ('{"a": ' + "9" * 400 + "}", "a number is too large"), ("[" * 300 + "]" * 300, "levels deep"), ("{", "line 1"),
    ("[" * 100_000, "levels deep"),
])  # fmt: skip
def test_what_is_no_json(text: str, says: str) -> None:
    with pytest.raises(NotYaml, match=says):
        [*json_documents(text)]


def test_keys_given_twice_are_told() -> None:
    told: list[str] = []
    assert document("a: 1\nb:\n  c: 1\n  c: 2\n", told) == {"a": 1, "b": {"c": 2}}
    assert told == ["line 4: the key 'c' is given twice in one map; the last one counts"]
    assert next(json_documents('{"a": 1, "a": 2}', told)) == {"a": 2}
    assert told[1:] == ["the key 'a' is given twice in one map; the last one counts"]
    merged = "x: &x {a: 1}\nv: {<<: *x, a: 2}\nz: *x\nw: {<<: *x, b: 1}\n"
    assert document(merged, told)["v"] == {"a": 2}
    assert len(told) == 2


def test_objects_given_twice_are_told() -> None:
    one = kubernetes_object("v1", "ConfigMap")
    found = assess_all([one], [one, {**one, "data": {"a": "b"}}])
    assert found.problems == ("ConfigMap:shop/it is given 2 times in Git; the last one counts",)
    assert found.whole.sync == "OutOfSync"


def named(name: str, namespace: str | None = "shop", kind: str = "ConfigMap") -> dict[str, Any]:
    return kubernetes_object("v1", kind, metadata={"name": name, "namespace": namespace})


def test_pairs() -> None:
    live = [named("a"), named("b"), named("c", "one"), named("c", "two"), named("d")]
    desired = [named("a"), named("b", None), named("c", None), named("e")]
    found = {str(pair.key): (pair.live is not None, pair.desired is not None) for pair in pair_up(live, desired)}
    assert found == {
        "core:ConfigMap/shop/a": (True, True), "core:ConfigMap/shop/b": (True, True), "core:ConfigMap/-/c": (False, True),
        "core:ConfigMap/shop/e": (False, True), "core:ConfigMap/one/c": (True, False), "core:ConfigMap/two/c": (True, False),
        "core:ConfigMap/shop/d": (True, False),
    }  # fmt: skip


def test_one_of_each_is_a_pair_whatever_they_are_called() -> None:
    [pair] = pair_up([named("a-x7f")], [named("a")])
    assert (pair.live, pair.desired, pair.key.name) == (named("a-x7f"), named("a"), "a")


def test_keys_and_owners() -> None:
    assert (
        str(key_of({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}})) == "apps:Deployment/-/x"
    )
    assert key_of({"metadata": 3}).name == ""
    assert is_owned(kubernetes_object("v1", "Pod", metadata={"ownerReferences": [{"kind": "ReplicaSet"}]}))
    assert not is_owned(kubernetes_object("v1", "Pod", metadata={"ownerReferences": []}))


# ---- one object under two names


def kind_in(api: str, kind: str, uid: str = "", **metadata: Any) -> dict[str, Any]:
    named = {"namespace": "shop", **metadata, **({"uid": uid} if uid else {})}
    return {"apiVersion": api, "kind": kind, "metadata": named}


@pytest.mark.parametrize(("before", "now", "kind"), [
    ("extensions/v1beta1", "apps/v1", "Deployment"), ("extensions/v1beta1", "networking.k8s.io/v1", "Ingress"),
    ("extensions/v1beta1", "networking.k8s.io/v1", "NetworkPolicy"), ("extensions/v1beta1", "apps/v1", "DaemonSet"),
])  # fmt: skip
def test_an_object_is_the_same_in_the_group_to_which_its_kind_was_moved(before: str, now: str, kind: str) -> None:
    git, live = [config(), kind_in(before, kind, name="web")], [kind_in(now, kind, "u", name="web"), config()]
    pairs = pair_up(live, git)
    assert [(pair.live is not None, pair.desired is not None) for pair in pairs] == [(True, True), (True, True)]
    assert [one.sync for _, one in assess_all(live, git).resources] == ["Synced", "Synced"]
    data = {"live": live[0], "desired": git[1]}
    assert ObservedPair.of(data).mismatch(f"a/b/{now.partition('/')[0]}:{kind}/shop/web") is None
    assert ObservedPair.of(data).mismatch(f"a/b/{now.partition('/')[0]}:Other/shop/web") is not None
    [event] = Observer("/o", APP, [git[1]]).see(ObjectChange(live[0]))
    assert event["data"]["desired"] == git[1]


def test_what_has_no_name_in_git_is_neither_missing_nor_too_much() -> None:
    git = [config(), kind_in("batch/v1", "Job", generateName="migrate-")]
    made = kind_in("batch/v1", "Job", "u", name="migrate-x7k2p", generateName="migrate-")
    other = kind_in("batch/v1", "Job", "v", name="clean-x7k2p", generateName="clean-")
    found = assess_all([config(), made, other], git)
    assert [(pair.key.name, one.sync) for pair, one in found.resources] == [
        ("it", "Synced"), ("migrate-*", None), ("migrate-x7k2p", None), ("clean-x7k2p", "OutOfSync"),
    ]  # fmt: skip
    [_, (_, unnamed), *_] = found.resources
    assert unnamed.health is not None
    assert (unnamed.health.status, "generateName" in unnamed.why) == ("NotAssessed", True)
    assert found.whole.health == "Progressing"
    observer = Observer("/o", APP, git)
    told = [event for one in (config(), made, other) for event in observer.see(ObjectChange(one))]
    assert ["desired" in event["data"] for event in told] == [True, False, True]
    assert [*observer.missing()] == []


def test_a_job_that_removes_itself_may_have_ended() -> None:
    job = {**kind_in("batch/v1", "Job", name="migrate"), "spec": {"ttlSecondsAfterFinished": 100}}
    [_, (_, found)] = assess_all([config()], [config(), job]).resources
    assert found.health is not None
    assert (found.health.status, found.sync) == ("Missing", "OutOfSync")
    assert found.why == found.health.message
    assert "it removes itself 100 s after it has ended" in found.why
