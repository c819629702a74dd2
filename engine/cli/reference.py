"""`python -m phaseline.engine.cli.reference`: docs/cli.md, made from the commands themselves, written or checked.

Belongs here: the layout of that page. Does not: any word about a command (each command's own help).
"""

import argparse
import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from phaseline.engine.cli import EXIT_CODES, cli
from phaseline.engine.cli.help import Page, Shared

COMMAND = "python -m phaseline.engine.cli.reference"
PAGE = Path("docs/cli.md")


def page() -> str:
    """The whole page."""
    top = click.Context(cli, info_name="phaseline", **cli.context_settings)
    commands = [found for name in cli.list_commands(top) if (found := cli.get_command(top, name)) is not None]
    contexts = [click.Context(command, info_name=command.name, parent=top) for command in commands]
    lines = [
        f"<!-- Made by `{COMMAND}` from the commands. Change those, not this page. -->",
        "",
        "# The command `phaseline`",
        "",
        *_paragraphs(cli),
        *_examples(cli),
        *[
            f"- [{context.command_path}](#{_anchor(context)}): {cli.table[str(context.info_name)][1]}"
            for context in contexts
        ],
        "",
        "## Exit codes",
        "",
        *_table(("code", "means"), EXIT_CODES.items()),
        "## The connection",
        "",
        "Every command that talks to NATS takes these; each has a twin in the environment.",
        "",
        *_table(("option", "twin", "what for"), _shared(contexts)),
    ]
    for context in contexts:
        lines += _section(context)
    return "\n".join(lines)


def _section(context: click.Context, depth: int = 2) -> list[str]:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"{'#' * depth} {context.command_path}", "", *_paragraphs(command), "```console", f"$ {usage}", "```", ""]
    rows = [_row(context, option) for option in command.params if isinstance(option, click.Option)]
    lines += _table(("option", "what for"), [row for row, option in zip(rows, _options(command), strict=True)
                                             if not isinstance(option, Shared)])  # fmt: skip
    lines += _examples(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                lines += _section(click.Context(below, info_name=name, parent=context), depth + 1)
    return lines


def _options(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option)]


def _row(context: click.Context, option: click.Option) -> tuple[str, str]:
    record = option.get_help_record(context) or ("", "")
    return f"`{record[0]}`", record[1].replace("  [", " [")


def _shared(contexts: Sequence[click.Context]) -> list[tuple[str, str, str]]:
    context = max(contexts, key=lambda found: sum(isinstance(p, Shared) for p in found.command.params))
    rows = []
    for option in context.command.params:
        if isinstance(option, Shared):
            default = f" [default: {option.default}]" if option.show_default and option.default is not None else ""
            words = (option.get_help_record(context) or ("", ""))[0]
            rows.append((f"`{words}`", f"`{option.envvar}`", f"{option.help}{default}"))
    return rows


def _paragraphs(command: click.Command) -> Iterator[str]:
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield paragraph
        yield ""


def _examples(command: click.Command) -> list[str]:
    if not isinstance(command, Page) or not command.examples:
        return []
    width = max(len(line) for line, _ in command.examples)
    shown = [f"$ {line:<{width}}  # {word}" if word else f"$ {line}" for line, word in command.examples]
    return ["```console", *shown, "```", ""]


def _table(titles: Sequence[str], rows: Any) -> list[str]:
    found = [" | ".join(_cell(cell) for cell in row) for row in rows]
    if not found:
        return []
    return [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}", *(f"| {row} |" for row in found), ""]


def _cell(text: str) -> str:
    """Text as a cell of a table takes it; what stands in backquotes keeps its angle brackets."""
    escaped = text.replace("|", "\\|")
    return escaped if text.startswith("`") else escaped.replace("<", "\\<")


def _anchor(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; 1 where `--check` finds the page stale."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=f"Write {PAGE}.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where the page is stale")
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="the project's root (default: here)")
    chosen = parser.parse_args(arguments)
    path, wanted = chosen.to / PAGE, page()
    if path.is_file() and path.read_text(encoding="utf-8") == wanted:
        return 0
    if not chosen.check:
        path.write_text(wanted, encoding="utf-8")
    sys.stdout.write(f"{'stale' if chosen.check else 'written'}: {PAGE}\n")
    return 1 if chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
