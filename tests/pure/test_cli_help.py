"""The command as a whole, without a server: its help, its page, its options."""

import json
import re

import click
import pytest
from click.testing import CliRunner

import phaseline
from phaseline.engine.surfaces.cli import reference
from phaseline.engine.surfaces.cli.help import GROUPS, Page, Shared
from phaseline.machines.built_in import installed
from phaseline.machines.docs import markdown, mermaid
from phaseline.schemas.errors import Exit
from tests.support.command import ROOT
from tests.support.command_line import cli, options
from tests.support.installation import Settings

TOP = click.Context(cli, info_name="phaseline", **cli.context_settings)


def commands(group: click.Group, context: click.Context) -> list[tuple[str, click.Command]]:
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append((f"{context.command_path} {name}", command))
        if isinstance(command, click.Group):
            found += commands(command, click.Context(command, info_name=name, parent=context))
    return found


COMMANDS = commands(cli, TOP)


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[path for path, _ in COMMANDS])
def test_every_command_has_a_page_that_helps(path: str, command: click.Command) -> None:
    assert isinstance(command, Page)
    assert command.help
    shown = CliRunner().invoke(cli, [*path.split()[1:], "--help"])
    assert shown.exit_code == 0
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert option.opts[-1] in shown.output
    for line, word in command.examples:
        assert line in shown.output
        assert word in shown.output
        assert " ".join(line.split("phaseline ")[1].split()[:1]) in cli.table, line


def test_no_option_names_a_type_of_a_program() -> None:
    pages = [CliRunner().invoke(cli, [*path.split()[1:], "--help"]).output for path, _ in COMMANDS]
    pages += [CliRunner().invoke(cli, ["help", group]).output for group in GROUPS]
    for page in pages:
        assert not re.search(r"\b(TEXT|INTEGER|FLOAT|RANGE)\b|[<>]=?x|x[<>]", page), page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("levels", "--objective", "nan"), "'--objective': 'nan' is not a number"),
        (("watch", "--limit", "0"), "'--limit': 0 is not in the range 1 or more"),
        (("watch", "--limit", "x"), "'--limit': 'x' is not a valid whole number"),
        (("up", "--workers", "65"), "65 is not in the range 1 to 64"),
        (("publish", "--wait", "0"), "0.0 is not in the range above 0"),
    ],
)
def test_a_number_out_of_bounds_is_refused_in_words(words: tuple[str, ...], said: str) -> None:
    found = CliRunner().invoke(cli, words)
    assert (found.exit_code, said in found.output) == (2, True), found.output


def test_options_of_the_connection_have_twins() -> None:
    for path, command in COMMANDS:
        for option in command.params:
            if option.name in (
                "nats",
                "creds",
                "nkey",
                "tls_ca",
                "tls_cert",
                "tls_key",
                "prefix",
                "verbose",
                "timeout",
            ):
                assert option.envvar == f"PHASELINE_{option.name.upper()}", path


def test_the_page_is_what_the_commands_say() -> None:
    assert (ROOT / reference.PAGE).read_text() == reference.page(), f"stale: run `{reference.COMMAND}`"


def test_version_and_exit_codes() -> None:
    runner = CliRunner()
    assert runner.invoke(cli, ["--version"]).output == f"phaseline {phaseline.__version__}\n"
    shown = runner.invoke(cli, ["-h"]).output
    for code in Exit:
        assert f"  {int(code)} " in shown
        assert code.meaning in " ".join(shown.split())


def test_machines_in_every_format() -> None:
    runner, kinds = CliRunner(), installed()
    for name, kind in kinds.items():
        assert runner.invoke(cli, ["kinds", "show", name, "--format", "markdown"]).output == markdown.page(
            kind, diagram=True
        )
        assert runner.invoke(cli, ["kinds", "show", name, "--format", "mermaid"]).output == mermaid.diagram(kind)
        table = runner.invoke(cli, ["kinds", "show", name]).output
        for trigger in kind.table.triggers:
            assert f"\n{trigger} " in table
        as_json = runner.invoke(cli, ["kinds", "show", name, "--json"])
        assert as_json.output.startswith(f'{{"kind":"{name}"')
        assert runner.invoke(cli, ["kinds", "show", name, "--format", "json"]).output == as_json.output
    assert runner.invoke(cli, ["kinds", "show", "--format", "markdown"]).output.startswith(
        "<!-- Written by `phaseline kinds show"
    )
    assert len(runner.invoke(cli, ["kinds", "show", "--json"]).output.splitlines()) == len(kinds)
    assert runner.invoke(cli, ["kinds", "show", "--format", "mermaid"]).exit_code == 2


def test_the_rows_of_kubernetes_kinds() -> None:
    runner = CliRunner()
    shown = runner.invoke(cli, ["kinds", "show", "bitnami.com/SealedSecret"]).output
    assert "bitnami.com: SealedSecret" in shown
    assert "Synced = False  Degraded" in shown
    [found] = map(
        json.loads, runner.invoke(cli, ["kinds", "show", "bitnami.com/SealedSecret", "--json"]).output.splitlines()
    )
    assert found["rows"][0] == {"when": "Synced = False", "health": "Degraded"}
    assert len(runner.invoke(cli, ["kinds", "show", "*/*", "--json"]).output.splitlines()) > 200
    for name, said in (
        ("apps/Deployment", "a rule of its own judges it"),
        ("foo.io/Bar", "the general rule judges it"),
    ):
        wrong = runner.invoke(cli, ["kinds", "show", name])
        assert (wrong.exit_code, said in wrong.output) == (2, True)


def test_options_of_a_group_are_described_once() -> None:
    page = (ROOT / reference.PAGE).read_text()
    told = [line for line in page.splitlines() if line.startswith("| `-")]
    for path, command in COMMANDS:
        for option in command.params:
            if isinstance(option, Shared):
                assert option.group in GROUPS, path
                rows = [line for line in told if f"`{option.opts[0]}" in line and str(option.help)[:30] in line]
                assert len(rows) <= 1, (path, option.opts, rows)


def test_help_of_groups_and_of_commands() -> None:
    runner = CliRunner()
    for name, group in GROUPS.items():
        shown = runner.invoke(cli, ["help", name])
        assert shown.exit_code == 0
        assert group.title in shown.output
        options = {
            one.opts[-1] for _, command in COMMANDS for one in command.params if getattr(one, "group", "") == name
        }
        assert options
        assert all(one in shown.output for one in options)
    for words in ([], ["list"], ["rejections", "show"]):
        assert runner.invoke(cli, ["help", *words]).output == runner.invoke(cli, [*words, "--help"]).output
    wrong = runner.invoke(cli, ["help", "conection"])
    assert (wrong.exit_code, "did you mean connection?" in wrong.output) == (2, True)


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[path for path, _ in COMMANDS])
def test_help_fits_a_terminal(path: str, command: click.Command) -> None:
    assert isinstance(command, Page)
    shown = CliRunner().invoke(cli, [*path.split()[1:], "--help"], terminal_width=80)
    if isinstance(command, click.Group):
        assert [line for line in shown.output.splitlines()[1:] if line.endswith("...")] == []
    examples = {line for line, _ in command.examples}
    assert [line for line in shown.output.splitlines() if len(line) > 80 and line.strip() not in examples] == []


def settings_of(*words: str) -> Settings:
    """The settings with which `get` would begin."""
    with cli.make_context("phaseline", [*words]) as top:
        name, command, rest = cli.resolve_command(top, [*top._protected_args, *top.args])
        assert command is not None
        with command.make_context(name, rest, parent=top) as context:
            return options.settings_of(dict(context.params))


def test_options_of_the_connection_may_stand_before_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHASELINE_PREFIX", "of_environment")
    for words in (
        ("--server", "nats://a", "--timeout", "3", "get", "cluster", "c1"),
        ("get", "--nats", "nats://a", "--timeout", "3", "cluster", "c1"),
        ("--timeout", "3", "get", "--nats", "nats://a", "cluster", "c1"),
        ("--nats", "nats://b", "--timeout", "3", "get", "cluster", "c1", "--nats", "nats://a"),
    ):
        found = settings_of(*words)
        assert (found.nats, found.request_timeout, found.prefix) == (("nats://a",), 3.0, "of_environment"), words
    assert settings_of("--prefix", "x", "get", "c1").prefix == "x"
    monkeypatch.setenv("PHASELINE_TIMEOUT", "soon")
    assert CliRunner().invoke(cli, ["kinds", "show", "node"]).exit_code == 0
    wrong = CliRunner().invoke(cli, ["get", "c1"])
    assert (wrong.exit_code, " get [OPTIONS]" in wrong.output, "--timeout" in wrong.output) == (2, True, True)
