"""The command as a whole: its help, its pages, what it loads."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import phaseline
from phaseline.engine.cli import cli, reference
from phaseline.engine.cli.help import Page
from phaseline.machines.built_in import installed
from phaseline.machines.docs import markdown, mermaid
from phaseline.schemas.errors import Exit
from tests.support.command import ROOT, Shell

TOP = click.Context(cli, info_name="phaseline", **cli.context_settings)
SLOW = ("nats", "transitions", "rich", "msgpack", "structlog", "asyncio", "phaseline.engine.client.client")


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


def test_help_loads_nothing_that_takes_time() -> None:
    code = (
        "import sys; from phaseline.engine.cli import cli\n"
        "cli.main(['--help'], standalone_mode=False)\n"
        f"sys.exit(str([name for name in {SLOW!r} if name in sys.modules]) if set({SLOW!r}) & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    for name, (_, help_) in cli.table.items():
        assert f"  {name} " in done.stdout
        assert " ".join(help_.split()) in " ".join(done.stdout.split())


def test_importing_the_package_loads_nothing_that_takes_time() -> None:
    code = f"import sys, phaseline; assert not set({SLOW!r}) & set(sys.modules); phaseline.connect"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_commands_and_workers_load_only_what_they_need() -> None:
    needed_by_few = ("aiohttp", "structlog", "rich.console", "yaml", "lupa", "jq", "nkeys", "cryptography")
    code = (
        "import sys, phaseline.engine.worker.system, phaseline.engine.client.client\n"
        "import phaseline.engine.cli.get, phaseline.engine.cli.publish, phaseline.engine.cli.list_\n"
        f"sys.exit(str(found) if (found := set({needed_by_few!r}) & set(sys.modules)) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


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


def test_the_page_is_what_the_commands_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(["--check", "--to", str(ROOT)]) == 0, f"stale: run `{reference.COMMAND}`"
    (tmp_path / "docs").mkdir()
    assert reference.main(["--check", "--to", str(tmp_path)]) == 1
    assert reference.main(["--to", str(tmp_path)]) == 0
    assert (tmp_path / reference.PAGE).read_text() == (ROOT / reference.PAGE).read_text()
    assert capsys.readouterr().out == "stale: docs/cli.md\nwritten: docs/cli.md\n"


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
        assert runner.invoke(cli, ["machines", name, "--format", "markdown"]).output == markdown.page(
            kind, diagram=True
        )
        assert runner.invoke(cli, ["machines", name, "--format", "mermaid"]).output == mermaid.diagram(kind)
        table = runner.invoke(cli, ["machines", name]).output
        for trigger in kind.table.triggers:
            assert f"\n{trigger} " in table
        as_json = runner.invoke(cli, ["machines", name, "--json"])
        assert as_json.output.startswith(f'{{"kind":"{name}"')
        assert runner.invoke(cli, ["machines", name, "--format", "json"]).output == as_json.output
    assert runner.invoke(cli, ["machines", "--format", "markdown"]).output.startswith(
        "<!-- Written by `phaseline machines"
    )
    assert len(runner.invoke(cli, ["machines", "--json"]).output.splitlines()) == len(kinds)
    assert runner.invoke(cli, ["machines", "--format", "mermaid"]).exit_code == 2


def test_the_rows_of_kubernetes_kinds() -> None:
    runner = CliRunner()
    shown = runner.invoke(cli, ["machines", "bitnami.com/SealedSecret"]).output
    assert "bitnami.com: SealedSecret" in shown
    assert "Synced = False  Degraded" in shown
    [found] = map(
        json.loads, runner.invoke(cli, ["machines", "bitnami.com/SealedSecret", "--json"]).output.splitlines()
    )
    assert found["rows"][0] == {"when": "Synced = False", "health": "Degraded"}
    assert len(runner.invoke(cli, ["machines", "*/*", "--json"]).output.splitlines()) > 200
    for name, said in (
        ("apps/Deployment", "a rule of its own judges it"),
        ("foo.io/Bar", "the general rule judges it"),
    ):
        wrong = runner.invoke(cli, ["machines", name])
        assert (wrong.exit_code, said in wrong.output) == (2, True)


async def test_the_module_is_the_command() -> None:
    shell = Shell()
    unknown = await shell("nonesuch")
    assert (unknown.code, unknown.out) == (2, "")
    assert "there is no command 'nonesuch'" in unknown.err
    assert (await shell()).code in (0, 2)


async def test_a_command_that_was_removed_names_what_to_use_instead() -> None:
    removed = await Shell()("repartition", "16", "--yes")
    assert (removed.code, removed.out) == (2, "")
    assert "'repartition' was removed; export the log and import it" in removed.err
    assert "times and durations are not kept" in removed.err
