"""`python3 dev.py`: what it lists and says, and what pages say of it and of skipped tests.

Belongs here: dev.py without starting anything. Does not: what its commands do.
"""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import dev

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
OF_TESTS = (ROOT / "docs" / "developing" / "tests.md").read_text(encoding="utf-8")
BY_PYTEST = {"got empty parameter set"}


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("a program would start")

    for name in ("become", "install", "lint", "run_beside_lint"):
        monkeypatch.setattr(dev, name, refuse)


def test_an_old_python_can_read_it_and_say_what_is_needed() -> None:
    """What is evaluated when it is loaded is known to Python 3.6: annotations that are not are texts."""
    tree = ast.parse((ROOT / "dev.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    said = [one.returns for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    said += [one.annotation for one in ast.walk(tree) if isinstance(one, ast.arg | ast.AnnAssign)]
    assert [ast.unparse(one) for one in said if isinstance(one, ast.Subscript | ast.BinOp)] == []


def test_golden_runs_every_test_that_can_write_its_pages() -> None:
    """Not those that write what a release promises, or that need programs of other makers."""
    tests = ROOT / "tests"
    can = {
        str(path.relative_to(tests))
        for path in tests.rglob("test_*.py")
        if 'get("PHASELINE_GOLDEN")' in path.read_text()
    }
    assert can - {"pure/test_dev.py"} == {
        *dev.GOLDEN,
        "pure/test_upcasting.py",
        "pure/test_former_clients.py",
        "process/test_foreign_charts.py",
    }


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help_lists_every_command_with_one_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    dev.main([word])
    listed = re.findall(r"^  (\w+) +(\S.*)$", capsys.readouterr().out, re.MULTILINE)
    assert [name for name, _ in listed] == list(dev.COMMANDS) == list(dev.HELP)


def test_without_a_command_it_lists_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    dev.main([])
    assert "usage: python3 dev.py COMMAND" in capsys.readouterr().out


@pytest.mark.parametrize("name", dev.COMMANDS)
def test_every_command_answers_help(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(dev, "become", started.append)
    monkeypatch.setattr(dev, "is_installed", lambda _: True)
    dev.main([name, "--help"])
    assert capsys.readouterr().out.startswith(f"python3 dev.py {name}: {dev.HELP[name]}.\n")
    assert started == ([[*dev.COMMANDS[name][2], "--help"]] if name in dev.ANSWER_HELP else [])


def test_an_unknown_command_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        dev.main(["blub"])
    assert "there is no command 'blub'; there are demo, test," in capsys.readouterr().err


@pytest.mark.parametrize("name", dev.COMMANDS)
def test_what_a_command_runs_is_there_and_contributing_names_it(name: str) -> None:
    _, _, command = dev.COMMANDS[name]
    if command[:2] == ["python", "-m"]:
        assert find_spec(command[2]) is not None
    assert name == "demo" or f"| `python3 dev.py {name}" in CONTRIBUTING


def reasons(tree: ast.AST) -> Iterator[str]:
    """The reasons for which tests of a file are skipped; `...` stands for what depends on the machine."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        given = [word.value for word in node.keywords if word.arg == "reason"]
        if node.func.attr == "skip":
            given += node.args[:1]
        if node.func.attr in ("skip", "skipif"):
            yield from map(_text, given)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)
    assert isinstance(node, ast.Constant), ast.dump(node)
    return str(node.value).replace("`", "")


def test_the_page_says_what_skipped_tests_need() -> None:
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    texts = [text for path in files if "skip" in (text := path.read_text(encoding="utf-8"))]
    given = {reason for text in texts for reason in reasons(ast.parse(text))}
    section = OF_TESTS.partition("## Skipped tests")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `(.+?)` \|", section, re.MULTILINE))
    assert listed == given | BY_PYTEST


def test_reasons_are_found() -> None:
    source = "pytest.skip(f'no {x} here')\nmark = pytest.mark.skipif(True, reason='never')\nother.skipped('x')"
    assert list(reasons(ast.parse(source))) == ["no ... here", "never"]
    assert sys.version_info >= dev.OLDEST
