"""The table of known kinds, and the polarity of the general rule, as a page and as cells.

Belongs here: the page docs/known-kinds.md, the cells of one kind. Does not: the rows (`kinds.kubernetes.known`), the
words of the general rule (`kinds.kubernetes.health`), printing on a terminal.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.health import words
from phaseline.machines.kinds.kubernetes.known import tests_of_rows
from phaseline.machines.kinds.kubernetes.known.families import families
from phaseline.machines.kinds.kubernetes.known.rows import Family, KnownKind, StatusRow

COLUMNS = ("when", "health", "argo cd", "each", "message")
INTRODUCTION = """\
What the status of an object says of its health, for each kind that Phaseline knows. The first row that holds decides.
If none does, the object is Progressing, and the message says what is missing. *argo cd* is Argo CD's own verdict where
it differs, in the profiles `argocd` and `argocd-3.3`; `-` means that the row does not exist there. *each* names a list:
the row holds if it holds for one of its members. *message* is the reason that is shown; otherwise the object's own
words are. [gitops.md](gitops.md#rows) says how to write such rows yourself. Kubernetes' own workloads have rules that
count and compare more ([spec/gitops.md](spec/gitops.md#health-by-kind)).

In the profile `alauda` a success that is of an older generation is Progressing, whatever the row says, and what has
ended ([a certificate](spec/gitops.md#what-ends-by-itself)) is Degraded."""
GENERAL = """\
A kind that is not in this table is judged by what its status says in the usual words. Failure decides before pause,
pause before work, work before success. Words that are not here decide nothing."""


class KnownSection(NamedTuple):
    """A family, and those of its kinds that were asked for."""

    family: Family
    kinds: tuple[KnownKind, ...]


def sections(name: str = "*/*") -> Iterator[KnownSection]:
    """The families with the kinds that fit `<group>/<Kind>`, which may be a glob; the exact ones first."""
    group, _, kind = name.rpartition("/")
    for family in sorted(families(), key=lambda one: one.name.casefold()):
        found = tuple(one for one in family.kinds if name == "*/*" or _fits(one, group, kind))
        if found:
            yield KnownSection(family, found)


def _fits(known: KnownKind, group: str, kind: str) -> bool:
    groups, kinds = ([one.strip() for one in globs.split("|")] for globs in (known.group, known.kind))
    return any(matches(group, one) or matches(one, group) for one in groups) and any(
        matches(kind, one) or matches(one, kind) for one in kinds
    )


def cells(row: StatusRow) -> tuple[str, ...]:
    """A row as the cells of a table."""
    return row.when or "otherwise", row.health, row.argo, row.each, row.message


def as_map(section: KnownSection, kind: KnownKind) -> dict[str, Any]:
    """A kind as JSON shows it."""
    rows = [{name: value for name, value in structs.asdict(row).items() if value} for row in kind.rows]
    return {
        "family": section.family.name,
        "source": section.family.source,
        "group": kind.group,
        "kind": kind.kind,
        "message": kind.message,
        **({"beside": kind.beside} if kind.beside else {}),
        "rows": rows,
    }


def page(command: str) -> str:
    """The page with all known kinds and the words of the general rule. command: the command that writes it."""
    lines = [
        f"<!-- Written by `{command}` from machines/kinds/kubernetes/known. Edit the rows, not this page. -->",
        "",
        "# Known kinds",
        "",
        INTRODUCTION,
        "",
        "```text",
        *(tests_of_rows.__doc__ or "").partition("rows.\n\n")[2].rstrip().splitlines(),
        "```",
        "",
        *(f"- [{one.family.name}](#{_anchor(one.family.name)})" for one in sections()),
        "- [Any other kind](#any-other-kind)",
    ]
    for section in sections():
        lines += ["", f"## {section.family.name}", "", f"Source: <{section.family.source}>"]
        for kind in section.kinds:
            lines += ["", f"### {_named(kind)}", "", *_table(COLUMNS, [cells(row) for row in kind.rows])]
            if kind.beside:
                lines += ["", f"Told beside a success, and not held against it: `{kind.beside}`."]
    return "\n".join([*lines, "", *_general(), ""])


def _general() -> Iterator[str]:
    yield from ("## Any other kind", "", GENERAL)
    types = [(f"`{kind}`", true, false or "") for kind, true, false in words.CONDITIONS]
    yield from ("", "### Types of conditions", "", *_table(("type", "True says", "False says"), types))
    near = dict.fromkeys(words.RIGHT_BEFORE, " (only right before it)")
    ahead = [(", ".join(f"`{name}`{near.get(name, '')}" for name in names), means) for names, means in words.AHEAD]
    yield from ("", "### Words in front of a success", "", *_table(("word", "True says"), ahead))
    reasons = [(f"`{reason}`", means) for reason, means in words.REASONS]
    yield from ("", "### Reasons", "", *_table(("reason", "means"), reasons))
    phases = [(f"`{word}`", means) for word, means in words.PHASES]
    yield from ("", "### Phases", "", *_table(("word", "means"), phases))
    yield from ("", "### Phases, flags and errors by field", "", *_table(("field", "holds"), [*_fields()]))
    paused = [(f"`{path}`", ", ".join(pausing)) for path, pausing in words.PAUSED_BY]
    paused += [
        (f"annotation `{name}`", ", ".join(word or '""' for word in pausing)) for name, pausing in words.ANNOTATIONS
    ]
    yield from ("", "### Pauses", "", *_table(("field", "value"), paused))


def _fields() -> Iterator[tuple[str, str]]:
    """The fields of a status that are read, and what stands in them."""
    yield from ((f"`{name}`, and fields that end so", "a phase") for name in words.PHASE_FIELDS)
    for name, (yes, no) in words.FLAGS.items():
        told = [f"{word} means {means}" for word, means in (("yes", yes), ("no", no)) if means]
        yield f"`{name}`", f"yes or no; {', '.join(told)}"
    yield ", ".join(f"`{name}`" for name in words.COUNTS), "how many of how many, as `2/3`; fewer are work"
    yield ", ".join(f"`{name}`" for name in words.PAST), "in any case, what is over: nothing counts there"
    for wanted, names in words.WANTED:
        yield ", ".join(f"`{name}`" for name in names), f"how many there are; fewer than `{wanted}` is work"
    counted = ", ".join(f"`{name}`" for name in words.COUNTED)
    well, not_well = (", ".join(f"`{name}`" for name in names) for names in (words.WELL, words.NOT_WELL))
    serving = ", ".join(f"`{name}`" for name in words.SERVING)
    yield (
        f"{well} with {counted} behind it, of `available` only {serving}",
        "how many are well; fewer than the field of that name, here or in the spec, are work",
    )
    yield f"{not_well} with one of these behind it", "how many are not well; any are work"
    yield ", ".join(f"`{name}`" for name in words.ALONE), "how many are not well; any are work"
    verbs = ", ".join(f"`{name}`" for name in words.OBSERVED_IN)
    yield f"{verbs} with `Generation` behind it, and perhaps `last` in front", "the generation that the status is of"
    none = ", ".join(f"`{word}`" if word else "nothing" for word in words.NO_ERROR)
    yield ", ".join(f"`{name}`" for name in words.ERRORS), f"an error, in any case, unless it holds {none}"
    yield "`message` of a success that is False", f"a failure, if it begins with {', '.join(words.SAID)}"


def _named(kind: KnownKind) -> str:
    """`cert-manager.io: Issuer, ClusterIssuer`."""
    groups, kinds = (", ".join(one.strip() for one in globs.split("|")) for globs in (kind.group or "core", kind.kind))
    return f"{groups}: {kinds}".replace("*", "\\*")


def _table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    used = [place for place, _ in enumerate(titles) if place < 2 or any(row[place] for row in rows)]
    yield f"| {' | '.join(titles[place] for place in used)} |"
    yield f"|{'---|' * len(used)}"
    for row in rows:
        words = (_cell(row[place], is_code=place in (0, 3) and "`" not in row[place]) for place in used)
        yield f"| {' | '.join(words)} |"


def _cell(word: str, *, is_code: bool) -> str:
    if not word or word == "otherwise":
        return word
    escaped = word.replace("|", "\\|")
    return f"`{escaped}`" if is_code else escaped.replace("*", "\\*") if "`" not in word else escaped


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-").replace("'", "")
