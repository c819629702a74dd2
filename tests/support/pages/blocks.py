"""What a page asks to run: its fenced blocks, with the marks in front of them.

Belongs here: reading a page. Does not: running it (`runner`).

A mark is an HTML comment, which readers do not see:

- `not run: REASON` in front of a block that cannot run;
- `ends with N` in front of commands of which the last one has that exit code;
- `raises NAME` in front of Python that ends with this exception;
- `now: WORD` wherever the page's commands say WORD (a time, a span, a place) for the moment that has been reached;
- `run` or `python`, then commands or code that readers need not see.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

LANGUAGES = {"console", "python", "js", "json", "yaml", "toml", "conf", "text", "mermaid"}
COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
MARK = re.compile(r"(not run|ends with|raises|now|run|python)(?::\s*|\s+)(.*)", re.DOTALL)


class Mark(NamedTuple):
    """A mark: its word, and what follows."""

    word: str
    text: str


class Block(NamedTuple):
    """A fenced block, or a mark that stands for itself. line: of its first line of text, counted from 0."""

    language: str
    name: str
    text: str
    line: int
    marks: dict[str, str]
    indent: str = ""


class Command(NamedTuple):
    """A command of a block, and the lines that the page shows as its output."""

    text: str
    shown: list[str]
    line: int


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page in order. `now`, `run` and `python` are blocks of their own, without a language."""
    waiting: dict[str, str] = {}
    for token in MarkdownIt("commonmark").parse(page):
        line = token.map[0] if token.map else 0
        if token.type == "html_block":
            for mark in marks(token.content):
                if mark.word in ("run", "python", "now"):
                    yield Block("", mark.word, mark.text, line, {})
                else:
                    waiting[mark.word] = mark.text
        elif token.type == "fence":
            yield _fence(token, line, waiting, page)
            waiting = {}
        elif token.type == "heading_open":
            assert not waiting, f"no block follows the mark {waiting}"


def marks(text: str) -> Iterator[Mark]:
    """The marks in the comments of a text."""
    for comment in COMMENT.findall(text):
        if found := MARK.fullmatch(comment.strip()):
            yield Mark(found[1], found[2].strip())


def _fence(token: Token, line: int, waiting: dict[str, str], page: str) -> Block:
    language, _, name = token.info.strip().partition(" ")
    first = page.splitlines()[line]
    return Block(language, name.strip(), token.content, line + 1, waiting, first[: len(first) - len(first.lstrip())])


def commands(block: Block) -> list[Command]:
    """The commands of a console block: lines that begin with `$ `, continued after a backslash or by `> `."""
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        last = found[-1] if found else None
        if line.startswith("$ "):
            found.append(Command(line[2:], [], number))
        elif last and not last.shown and (last.text.endswith("\\") or line.startswith("> ")):
            found[-1] = last._replace(text=f"{last.text}\n{line.removeprefix('> ')}", line=number)
        else:
            assert last, f"line {number + 1} stands in front of the first command"
            last.shown.append(line)
    return found


def not_run(text: str) -> Iterator[tuple[str, str]]:
    """The blocks of a page that cannot run: the reason, and the first line."""
    for block in blocks(text):
        if "not run" in block.marks:
            yield block.marks["not run"], block.text.partition("\n")[0]


def pages(root: Path) -> list[Path]:
    """README and the pages of docs: what users read."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]
