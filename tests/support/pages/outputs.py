"""What a page shows against what was printed: the same, apart from what differs in each run.

Belongs here: comparing, and writing what was printed into a page. Does not: running.
"""

import difflib
import re
from collections.abc import Sequence

REST = "..."
"""A line of a page that stands for any number of lines."""
CHANGING = (
    (r" --nats nats://127\.0\.0\.1:\d+", ""),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "<time>"),
    (r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(\.\d+)?", "<time>"),
    (r"\b[\d,.]+ (ms|s|m|h|d)\b( \d+ (s|m|h)\b)?", "<span>"),
    (r"(127\.0\.0\.1|localhost):\d+", "<server>"),
    (r"\b[\d,.]+ (bytes|[kMG]?B)\b", "<size>"),
    (r"(?m)^(pl-[A-Z]+) +[\d,]+ +<size>", r"\1  <n>  <size>"),
    (r"\b[0-9a-f]{12,64}\b", "<digest>"),
    (r"\bU[A-Z0-9]{55}\b", "<key>"),
    (r"\b[\w-]+-\d+-[0-9a-f]{4}\b", "<worker>"),
    (r"\bNATS \d+\.\d+\.\d+\b", "NATS <version>"),
    (r"\b\d+ messages\b", "<n> messages"),
    (r"/phaseline/(\w+)/\w+", r"/phaseline/\1/<user>"),
    (r"(?m)^ *\d+  <time>", "  <place>  <time>"),
    (r"\bplaces? \d[\d,]*", "place <place>"),
    (r"(?m)(?<=\S) {2,}", "  "),
    (r"(?m) +$", ""),
)
"""What differs from run to run, and what stands for it."""
CLOCK = re.compile("|".join(f"(?:{pattern})" for pattern, stands in CHANGING if stands in ("<time>", "<span>")))


def calm(text: str) -> str:
    """The text without what differs from run to run: times, spans, ports, sizes, versions, digests, places, widths."""
    for pattern, stands in CHANGING:
        text = re.sub(pattern, stands, text)
    return text


def fits(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the printed lines are those shown."""
    wanted, found = calm("\n".join(shown)).split("\n"), calm("\n".join(printed)).split("\n")
    parts = [re.escape(line) if line.strip() != REST else None for line in wanted]
    pattern = "".join(r"(?:[^\n]*\n)*?" if part is None else f"{part}\n" for part in parts)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in found)) is not None


def follows(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the printed lines begin with those shown."""
    return fits([*shown, REST], printed)


def difference(shown: Sequence[str], printed: Sequence[str]) -> str:
    """What differs, for a person."""
    return "\n".join(difflib.unified_diff(calm("\n".join(shown)).split("\n"), calm("\n".join(printed)).split("\n"),
                                          "the page shows", "it printed", lineterm="", n=1))  # fmt: skip


def renewed(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The printed lines, with the page's times and spans wherever a line has as many of them."""
    left, right = [calm(line) for line in shown], [calm(line) for line in printed]
    lines: list[str] = []
    for word, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if word == "equal":
            lines += shown[a:b]
        elif b - a == d - c:
            lines += [_timed(*pair) for pair in zip(shown[a:b], printed[c:d], strict=True)]
        else:
            lines += printed[c:d]
    return lines


def _timed(shown: str, printed: str) -> str:
    kept = [found[0] for found in CLOCK.finditer(shown)]
    return CLOCK.sub(lambda _: kept.pop(0), printed) if len(kept) == len(CLOCK.findall(printed)) else printed
