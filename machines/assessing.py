"""What a manifest in the cluster, and the one from Git, say of a resource: its health and its sync (spec: GitOps, Sync, Health).

Belongs here: putting health and comparison together. Does not: their rules (`health`, `compare`), states that last (tables).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.machines.compare import NONE, Difference, compare
from phaseline.machines.compare.ignoring import Effect, ignored, problems
from phaseline.machines.compare.normal import last_applied
from phaseline.machines.customs import Customs
from phaseline.machines.health import RULES, Health, Part, Unreadable, assess, group_kind, is_hook
from phaseline.machines.health.offered import judged, offered
from phaseline.machines.health.pods import HOOK
from phaseline.machines.health.verdict import unknown
from phaseline.machines.profiles import MISSING
from phaseline.machines.programs import Programs

Manifest = Mapping[str, Any]
SYNCED, OUT_OF_SYNC = "Synced", "OutOfSync"
IGNORE_HEALTH = "argocd.argoproj.io/ignore-healthcheck"
COMPARE_OPTIONS = "argocd.argoproj.io/compare-options"


SECRET = ("data", "stringData")


class Hidden(NamedTuple):
    """A difference that does not count, and what hides it."""

    difference: Difference
    by: Effect


class Assessed(NamedTuple):
    """What is to be said of a resource.

    health: None where no rule is about it, or it takes no part. sync: None where it is not compared, which `why` explains.
    counts: whether its sync is its application's concern. problems: ignore rules that did nothing, and why.
    is_hook: it is run around a synchronisation, and not a part of the application. has_rule: whether health knows its kind.
    """

    health: Health | None
    sync: str | None
    why: str = ""
    counts: bool = True
    differences: tuple[Difference, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    problems: tuple[str, ...] = ()
    is_hook: bool = False
    has_rule: bool = True


def assessed(
    live: Manifest | None,
    desired: Manifest | None,
    customs: Customs,
    programs: Programs,
    *,
    now: int,
    is_known: bool = True,
    dry_run: Manifest | None = None,
    explains: bool = False,
) -> Assessed:
    """A resource's health and sync. None: it is not there, or not declared; is_known: whether `desired` is known at all.

    now: whole seconds since 1970, for scripts that look at the clock. dry_run: what the API server says that applying `desired` would make. explains: also which rules hide what.
    """
    try:
        if _is_hook(live, desired):
            return Assessed(None, None, "a hook takes no part", is_hook=True)
    except Unreadable as error:
        return Assessed(unknown(str(error)), None, str(error))
    health = _health(live, desired, customs, programs, now)
    return _synced(live, desired, customs, programs, is_known, dry_run, explains)._replace(
        health=health, has_rule=_has_rule(live or desired, customs)
    )


def _synced(
    live: Manifest | None,
    desired: Manifest | None,
    customs: Customs,
    programs: Programs,
    is_known: bool,
    dry_run: Manifest | None,
    explains: bool,
) -> Assessed:
    """What is to be said of the sync alone."""
    if not is_known:
        return Assessed(None, None, "what Git declares is not known")
    if desired is None:
        extraneous = live is not None and "IgnoreExtraneous" in _options(live)
        return Assessed(None, OUT_OF_SYNC, "it is in the cluster, and not in Git", counts=not extraneous)
    if live is None:
        return Assessed(None, OUT_OF_SYNC, "it is in Git, and not in the cluster")
    found, hidden, wrong = _compared(live, desired, customs, programs, dry_run, explains=explains)
    if group_kind(desired) == ("", "Secret"):
        found = [_masked(one) for one in found]
        hidden = [one._replace(difference=_masked(one.difference)) for one in hidden]
    places = f"it differs at {len(found)} place{'s' * (len(found) != 1)}" if found else ""
    return Assessed(None, OUT_OF_SYNC if found else SYNCED, places, True, tuple(found), tuple(hidden), tuple(wrong))


def _has_rule(subject: Manifest | None, customs: Customs) -> bool:
    if subject is None:
        return False
    group, kind = group_kind(subject)
    return (group, kind) in RULES or f"{group}/{kind}" in offered() or customs.script_of(group, kind) is not None


def _health(
    live: Manifest | None, desired: Manifest | None, customs: Customs, programs: Programs, now: int
) -> Health | None:
    subject = live if live is not None else desired
    if subject is None:
        return None
    if live is None:
        return Health(MISSING, "it is in Git, and not in the cluster")
    if _annotation(live, IGNORE_HEALTH) == "true":
        return None
    group, kind = group_kind(live)
    script, rule = customs.script_of(group, kind), offered().get(f"{group}/{kind}")
    if script is not None:
        found = assess(live, customs.profile, lambda it: programs.lua(script, it, now))
        return found if found is None or found.status else None
    return assess(live, customs.profile, None if rule is None else lambda it: judged(rule, it))


def _masked(one: Difference) -> Difference:
    """A difference of a Secret, without what is secret."""
    if not one.path or one.path[0] not in SECRET:
        return one
    return Difference(one.path, *(side if side is NONE else "(secret)" for side in (one.wanted, one.found)))


def _is_hook(live: Manifest | None, desired: Manifest | None) -> bool:
    """Whether either side is a hook, or the desired one is to be skipped."""
    skipped = desired is not None and _annotation(desired, HOOK) == "Skip"
    return skipped or any(side is not None and is_hook(Part(side).map("metadata")) for side in (live, desired))


def _annotation(found: Manifest, name: str) -> str:
    return Part(found).map("metadata").map("annotations").text(name)


def _options(found: Manifest) -> Sequence[str]:
    return [word.strip() for word in _annotation(found, COMPARE_OPTIONS).split(",")]


def _compared(
    live: Manifest, desired: Manifest, customs: Customs, programs: Programs, dry_run: Manifest | None, *, explains: bool
) -> tuple[list[Difference], list[Hidden], list[str]]:
    last = last_applied(live)
    sides = [dict(side) for side in (desired, live, *([last] if last is not None else []))]
    told = {"aggregates": customs.aggregates, "typed": customs.typed_of(*group_kind(desired)), "dry_run": dry_run}
    freed, effects = ignored(customs.rules, sides, programs.jq)
    found = compare(freed[0], freed[1], last=freed[2] if last is not None else None, **told)  # type: ignore[arg-type]  # as named
    hidden: list[Hidden] = []
    if explains and any(effect.pointers for effect in effects):
        hidden = [*_hidden(compare(desired, live, last=last, **told), found, effects)]  # type: ignore[arg-type]  # as named
    return found, hidden, [*problems(effects)]


def _hidden(all_: list[Difference], left: list[Difference], effects: Sequence[Effect]) -> Iterator[Hidden]:
    """The differences that rules hide, each with the first that does."""
    seen = {one.pointer for one in left}
    for one in all_:
        if one.pointer in seen:
            continue
        by = next((effect for effect in effects for place in effect.pointers if _meet(place, one.pointer)), effects[0])
        yield Hidden(one, by)


def _meet(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
