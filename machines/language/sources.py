"""Sources: the phases from which a row starts, narrowed by conditions or by the base.

Belongs here: `At`, `Live`, `Source`. Does not: rows (`table`), the steps of a row (`compiler.machine`).
"""

from phaseline.schemas.value import Value


class At(Value, frozen=True):
    """A phase as the source of a row, narrowed by conditions or by the base.

    phase: the phase.
    has: a condition that must be there.
    lacks: conditions that must not be there.
    base: the phase that the base must have; it differs from `phase` if a view shows.
    """

    phase: str
    has: str | None = None
    lacks: tuple[str, ...] = ()
    base: str | None = None


class Live(Value, frozen=True):
    """Every phase but Absent and Deleted, as the source of a row.

    but: further phases that are left out.
    has: a condition that must be there.
    """

    but: tuple[str, ...] = ()
    has: str | None = None


def source_text(source: "Source") -> str:
    """A source as a rejection names it: `Failed [NotReady]`, `any live state but Creating`."""
    if isinstance(source, Live):
        but = f" but {', '.join(source.but)}" if source.but else ""
        return f"any live state{but}{f' with {source.has}' if source.has else ''}"
    if isinstance(source, At):
        has = f" [{source.has}]" if source.has else ""
        lacks = f" without {', '.join(source.lacks)}" if source.lacks else ""
        return f"{source.phase}{has}{lacks}{f' with the base {source.base}' if source.base else ''}"
    return source


LIVE = Live()
"""Every phase but Absent and Deleted."""
Source = str | At | Live
"""A phase, a narrowed phase, or all live phases."""
