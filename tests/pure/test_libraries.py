"""Libraries of single features: what says that one is missing, and that nothing is decided differently then."""

import sys
import tomllib
from importlib import import_module, metadata
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import phaseline
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.surfaces.testing.histories import SUBJECTS, event
from phaseline.machines.built_in import BUILT_IN, PRODUCTS, installed
from phaseline.machines.compiler.fingerprint import declarations
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.packages import check_libraries
from phaseline.machines.kinds.gitops import resource
from phaseline.machines.language.product import Product
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import libraries
from phaseline.schemas.errors import NotInstalled
from tests.support import sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import ROOT

LIVE: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}}
WANTED: dict[str, Any] = {**LIVE, "data": {"a": "2"}}


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a library look as if it were not installed."""

    def remove(module: str) -> None:
        monkeypatch.setitem(sys.modules, module, None)
        for name in [name for name in sys.modules if name.startswith(f"{module}.")]:
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, "phaseline.schemas.yaml_text", raising=False)
        monkeypatch.delattr("phaseline.schemas.yaml_text", raising=False)
        monkeypatch.setattr(shared_runner(), "_checked", False)

    return remove


def rule(**selectors: list[str]) -> dict[str, Any]:
    return {"ignore_differences": [{"group": "*", "kind": "Config*", **selectors}]}


@pytest.mark.parametrize(
    ("module", "rules", "says"),
    [
        ("jsonpointer", rule(jsonPointers=["/data/a"]), "needs jsonpointer"),
        ("jq", rule(jqPathExpressions=[".data"]), "needs jq"),
        ("lupa", {"health": {"ConfigMap": "return {}"}}, "needs lupa"),
        ("yaml", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "argocd-cm"},
                  "data": {"resource.customizations.ignoreDifferences.all": "jsonPointers: [/a]"}}, "needs PyYAML"),
    ],
)  # fmt: skip
def test_the_error_says_what_to_install(without: Any, module: str, rules: dict[str, Any], says: str) -> None:
    without(module)
    with pytest.raises(NotInstalled, match=rf"{says}, which is not installed here: pip install 'phaseline\[gitops\]'"):
        phaseline.gitops.assess(LIVE, WANTED, rules=rules)


@pytest.mark.parametrize("module", ["lupa", "jq", "jsonpointer", "yaml"])
def test_kinds_are_checked_before_anything_is_decided(without: Any, module: str) -> None:
    check_libraries(installed())
    without(module)
    with pytest.raises(NotInstalled, match=r"the kind \w+ needs .*phaseline\[gitops\]"):
        check_libraries(BUILT_IN_KINDS)
    check_libraries(
        Kinds(tuple(table for table in BUILT_IN if table.kind in ("cluster", "node_pool", "node", "component")))
    )
    check_libraries(sample_kinds.KINDS)


def test_an_event_is_not_rejected_because_a_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error leaves the processor, so that the partition stops. Other errors of rules become rejections."""

    def fails(*_: object) -> None:
        raise libraries.not_installed("jq", "a rule")

    processor = Processor(Tree(sample_kinds.KINDS, NoScripts()), SUBJECTS, 0)
    sent = event("orchard", "plant", "o")
    monkeypatch.setattr("phaseline.engine.core.process.decide", fails)
    with pytest.raises(NotInstalled, match="a rule needs jq"):
        processor.process([StoredEvent(sent.subject, sent.body, 1, 1)], 0)
    assert processor.counts.faults == processor.counts.events == 0


def test_each_library_belongs_to_the_extra_that_installs_it() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for library, extra in libraries.EXTRAS.values():
        assert any(line.startswith(library) for line in extras[extra]), (library, extra)
    needed = {module for product in PRODUCTS for modules in product.libraries.values() for module in modules}
    assert {"yaml", "jq"} < needed <= libraries.EXTRAS.keys()


def test_another_import_that_fails_is_not_taken_for_the_library() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), libraries.needed("jq", "a test"):
        import_module("no_such_module")


def test_a_library_of_another_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "forecast", None)
    rules = {one.revision.name for one in declarations(resource.RESOURCE)}
    weather = Product("weather", libraries=dict.fromkeys(rules, ("forecast",)))
    with pytest.raises(NotInstalled, match="the kind resource needs forecast, which is not installed here"):
        check_libraries(Kinds(BUILT_IN, checked=BUILT_IN, products=(weather,)))


def test_entry_points_are_searched_only_where_a_package_has_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Python finds them: in folders, and in archives, of which nobody knows what is in them."""

    def names() -> list[str]:
        found = [one.name for one in libraries.registered("phaseline.nothing")]
        assert found == [one.name for one in metadata.entry_points(group="phaseline.nothing")]
        return found

    def search(group: str) -> metadata.EntryPoints:
        searched.append(group)
        return real(group=group)

    searched, real = list[str](), metadata.entry_points
    monkeypatch.setattr(metadata, "entry_points", search)
    others = any(hasattr(one, "find_distributions") for one in sys.meta_path if one is not PathFinder)
    assert libraries.registered("phaseline.nothing") == []
    assert bool(searched) is others  # a finder of another package knows of packages that no folder shows
    monkeypatch.syspath_prepend(str(tmp_path))
    about = tmp_path / "Mine.DIST-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: mine")
    assert names() == []
    (about / "entry_points.txt").write_text("[phaseline.nothing]\none = mine:one\n")
    assert names() == ["one"]
    archive = tmp_path / "mine.zip"
    with ZipFile(archive, "w") as file:
        file.writestr("other.dist-info/METADATA", "Name: other")
        file.writestr("other.dist-info/entry_points.txt", "[phaseline.nothing]\ntwo = other:two\n")
    (about / "entry_points.txt").unlink()
    assert names() == []
    monkeypatch.syspath_prepend(str(archive))
    assert names() == ["two"]
    del searched[:]
    libraries.registered("phaseline.nothing")
    assert searched == ["phaseline.nothing"]
