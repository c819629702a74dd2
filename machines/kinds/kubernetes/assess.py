"""Health and sync of one Kubernetes resource, from its live manifest and the one declared in Git.

Belongs here: `assess`, which combines health and comparison and honours Argo CD's annotations. Does not: health rules
(`health`), comparison (`diff`), many resources together (`rollup`), states that last (the tables).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from phaseline.machines.kinds.kubernetes.diff.compare import compare
from phaseline.machines.kinds.kubernetes.diff.differences import Difference
from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreEffect, apply_ignores, problems
from phaseline.machines.kinds.kubernetes.diff.normalize import last_applied
from phaseline.machines.kinds.kubernetes.diff.versions import another_version, incomparable
from phaseline.machines.kinds.kubernetes.health.plugins import Plugin, plugin_rules, run_plugin
from phaseline.machines.kinds.kubernetes.health.pods import HOOK, is_hook
from phaseline.machines.kinds.kubernetes.health.reader import ManifestPart, UnreadableManifest
from phaseline.machines.kinds.kubernetes.health.registry import BuiltIn, judge, rule_of
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, not_assessed, unknown
from phaseline.machines.kinds.kubernetes.kind_facts import UNTOLD, KindFacts
from phaseline.machines.kinds.kubernetes.known.table import KnownRule
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS, Manifest, group_kind, made_name
from phaseline.machines.kinds.kubernetes.masking import is_secret, masked, masked_differences, masked_effects
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.profiles import ALIASES, MISSING, SOURCE_ORDER, Profile
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.templates.shared_values import SHARED

SYNCED, OUT_OF_SYNC = "Synced", "OutOfSync"
NOT_COMPARED = "NotCompared"
"""Nothing was compared."""
IGNORE_HEALTH = "argocd.argoproj.io/ignore-healthcheck"
COMPARE_OPTIONS = "argocd.argoproj.io/compare-options"


class HiddenDifference(NamedTuple):
    """A difference that an ignore rule hides, and the effect of that rule."""

    difference: Difference
    by: IgnoreEffect


class Assessment(NamedTuple):
    """The health and sync of one resource.

    health: NotAssessed, with the reason, if nothing can be said; NoHealth if its kind has no status; None for a hook,
    and for what exists nowhere. sync:
    None if it is not compared; `why` says the reason. counts: whether its sync counts for its application.
    differences, hidden: where the manifests differ, and where ignore rules hide that. problems: ignore rules without
    any effect, and why. is_hook: it is a hook, not a part of the application. has_rule: whether a health rule exists
    for its kind.
    """

    health: HealthResult | None
    sync: str | None
    why: str = ""
    counts: bool = True
    differences: tuple[Difference, ...] = ()
    hidden: tuple[HiddenDifference, ...] = ()
    problems: tuple[str, ...] = ()
    is_hook: bool = False
    has_rule: bool = True


UNKNOWN_DESIRED = "what Git declares is not known"
ABSENT = "it is in Git, and not in the cluster"
SHOWN_APART = 3
"""How many fields are named that cannot be compared."""
MADE_ANEW = "Git gives it no name, only generateName: each apply makes another one"


def assess(
    live: Manifest | None,
    desired: Manifest | None,
    overrides: Overrides,
    scripts: ScriptRunner,
    *,
    now: int,
    is_known: bool = True,
    dry_run: Manifest | None = None,
    explains: bool = False,
    facts: KindFacts = UNTOLD,
) -> Assessment:
    """A resource's health and sync. None: not in the cluster, or not declared.

    is_known: whether `desired` is known at all; if not, nothing is compared. now: the time for scripts, whole seconds
    since 1970. dry_run: the API server's answer to a dry-run apply of `desired`. explains: also find which rule hides
    which difference. facts: what is known of its kind.
    """
    part = None if live is None else ManifestPart(masked(live))
    try:
        if _is_hook(part, desired):
            return Assessment(None, None, "a hook takes no part", is_hook=True)
    except UnreadableManifest as error:
        return Assessment(unknown(str(error)), None, str(error))
    if live is None and desired is not None and made_name(desired):
        return Assessment(not_assessed(MADE_ANEW), None, MADE_ANEW)
    rules = KindRules.of(live if live is not None else desired or {}, overrides)
    health = _health(part, desired, rules, overrides.profile, scripts, now, facts)
    has_rule = rules != NO_RULES
    if not is_known:
        return Assessment(health, None, UNKNOWN_DESIRED, has_rule=has_rule)
    sync = _sync(live, desired, overrides, scripts, dry_run, facts, explains=explains)
    return sync._replace(health=health, has_rule=has_rule)


class KindRules(msgspec.Struct, frozen=True):
    """The health rules for a kind: of the user, of an installed package, and the built-in one; the first counts."""

    script: str | None
    rows: KnownRule | None
    plugin: Plugin | None
    built_in: BuiltIn | None

    @classmethod
    def of(cls, found: Manifest, overrides: Overrides) -> "KindRules":
        """The rules for the kind of an object."""
        group, kind = group_kind(found)
        built_in = rule_of(group, kind, overrides.profile)
        own = overrides.script_of(group, kind), overrides.rows_of(group, kind)
        plugins = plugin_rules()
        return cls(*own, plugins.get(f"{group}/{kind}") if plugins else None, built_in)


NO_RULES = KindRules(None, None, None, None)


def _assess_live(
    live: ManifestPart, rules: KindRules, profile: Profile, scripts: ScriptRunner, now: int, facts: KindFacts
) -> HealthResult:
    """The health of a live object by the rules of its kind."""
    script, rows, plugin = rules.script, rules.rows, rules.plugin
    try:
        metadata = live.map("metadata")
        if "annotations" in metadata.found and metadata.map("annotations").text(IGNORE_HEALTH) == "true":
            return not_assessed(f"its annotation {IGNORE_HEALTH} asks for that")
    except UnreadableManifest as error:
        return unknown(str(error))
    if script is not None:
        found = judge(live, rules.built_in, profile, lambda it: script_health(scripts, script, it, now))
        return found if found.status else not_assessed("its health script says nothing of it")
    if rows is not None:
        return judge(live, rows, profile, None)
    own = None if plugin is None else lambda it: run_plugin(plugin, it)
    return judge(live, rules.built_in, profile, own, facts, now)


def script_health(scripts: ScriptRunner, script: str, live: Manifest, now: int) -> HealthResult:
    """The health by a user's script. A failure leads to Unknown with the reason, no answer to an empty status."""
    status, message = scripts.lua(script, live, now)
    status = ALIASES.get(status, status)
    if status and status not in SOURCE_ORDER:
        return unknown(f"health script: {status!r:.60} is no health; those are {', '.join(SOURCE_ORDER)}")
    return HealthResult(status, message)


def compare_sides(
    live: Manifest,
    desired: Manifest,
    overrides: Overrides,
    scripts: ScriptRunner,
    dry_run: Manifest | None = None,
    facts: KindFacts = UNTOLD,
    *,
    explains: bool = False,
) -> tuple[list[Difference], list[HiddenDifference], list[str]]:
    """The differences that count, the hidden ones (if `explains`), and the rules' problems. Secrets are masked."""
    last = last_applied(live)
    sides = [dict(side) for side in (desired, live, *([last] if last is not None else []))]
    how: dict[str, Any] = {
        "aggregates": overrides.aggregates, "dry_run": dry_run,
        "known_types": overrides.known_types_of(*group_kind(desired)), "schema": facts.type,
        "namespaced": facts.namespaced,
    }  # fmt: skip
    freed, effects = apply_ignores(overrides.rules, sides, scripts.jq)
    found = compare(freed[0], freed[1], last=freed[2] if last is not None else None, **how)
    hidden: list[HiddenDifference] = []
    if explains and any(effect.pointers for effect in effects):
        hidden = [*_hidden(compare(desired, live, last=last, **how), found, effects)]
    if is_secret(desired, live):
        effects = masked_effects(effects)
        hidden = [one._replace(by=masked_effects([one.by])[0]) for one in hidden]
    shown = masked_differences([one.difference for one in hidden], (desired, live))
    hidden = [one._replace(difference=other) for one, other in zip(hidden, shown, strict=True)]
    return masked_differences(found, (desired, live)), hidden, [*problems(effects)]


def _sync(
    live: Manifest | None,
    desired: Manifest | None,
    overrides: Overrides,
    scripts: ScriptRunner,
    dry_run: Manifest | None,
    facts: KindFacts,
    *,
    explains: bool,
) -> Assessment:
    """The sync alone; the health is filled in by the caller."""
    if desired is None:
        extraneous = live is not None and "IgnoreExtraneous" in _options(live)
        return Assessment(None, OUT_OF_SYNC, "it is in the cluster, and not in Git", counts=not extraneous)
    if live is None:
        return Assessment(None, OUT_OF_SYNC, _absence(desired))
    found, hidden, wrong = compare_sides(live, desired, overrides, scripts, dry_run, facts, explains=explains)
    places, version = _places(found) if found else "", another_version(desired, live)
    apart = [*islice(incomparable(desired, live), SHOWN_APART)] if version and not found else []
    if apart:
        places = f"not all of it can be compared ({', '.join(apart)})"
    sync = OUT_OF_SYNC if found else None if apart else SYNCED
    why = "; ".join(filter(None, (places, version)))
    return Assessment(None, sync, why, True, tuple(found), tuple(hidden), tuple(wrong))


def _places(found: Sequence[Difference]) -> str:
    """`it differs at 3 places (2 would be removed)`."""
    notes = Counter(one.note.partition(":")[0] for one in found if one.note)
    told = ", ".join(note if len(found) == 1 else f"{count} {note}" for note, count in notes.items())
    return f"it differs at {len(found)} place{'s' * (len(found) != 1)}" + (f" ({told})" if told else "")


def _health(
    live: ManifestPart | None, desired: Manifest | None, rules: KindRules, profile: Profile, scripts: ScriptRunner,
    now: int, facts: KindFacts,
) -> HealthResult | None:  # fmt: skip
    if live is not None:
        return _assess_live(live, rules, profile, scripts, now, facts)
    return None if desired is None else HealthResult(MISSING, _absence(desired))


def _absence(desired: Manifest) -> str:
    """What to say of an object that is not in the cluster; of a Job that removes itself, that it may have ended."""
    spec = desired.get("spec")
    seconds = spec.get("ttlSecondsAfterFinished") if isinstance(spec, MAPS) else None
    if group_kind(desired) != ("batch", "Job") or type(seconds) is not int:
        return ABSENT
    return f"{ABSENT}: it removes itself {seconds} s after it has ended (ttlSecondsAfterFinished)"


def _is_hook(live: ManifestPart | None, desired: Manifest | None) -> bool:
    """Whether either side is a hook, or the desired side is marked to be skipped."""
    if desired is not None and SHARED.once(desired, "skipped", _is_skipped):
        return True
    if live is not None and is_hook(live.map("metadata")):
        return True
    return desired is not None and SHARED.once(desired, "hook", _calls_itself_hook)


def _is_skipped(side: Manifest) -> bool:
    return _annotation(side, HOOK) == "Skip"


def _calls_itself_hook(side: Manifest) -> bool:
    return is_hook(ManifestPart(masked(side)).map("metadata"))


def _annotation(found: Manifest, name: str) -> str:
    return ManifestPart(masked(found)).map("metadata").map("annotations").text(name)


def _options(found: Manifest) -> Sequence[str]:
    """The words of an annotation; none if it holds no text."""
    try:
        return [word.strip() for word in _annotation(found, COMPARE_OPTIONS).split(",")]
    except UnreadableManifest:
        return []


def _hidden(
    before: list[Difference], left: list[Difference], effects: Sequence[IgnoreEffect]
) -> Iterator[HiddenDifference]:
    """The differences that rules hide, each with the first rule that hides it."""
    seen = {one.pointer for one in left}
    at: dict[str, int] = {}
    """By path, the first effect at this path."""
    below: dict[str, int] = {}
    """By path, the first effect at this path or below it."""
    for index, effect in enumerate(effects):
        for place in effect.pointers:
            at.setdefault(place, index)
            for above in _and_above(place):
                below.setdefault(above, index)
    for one in before:
        if one.pointer not in seen:
            found = [at[above] for above in _and_above(one.pointer) if above in at]
            by = min([*found, below.get(one.pointer, len(effects))])
            yield HiddenDifference(one, effects[by if by < len(effects) else 0])


def _and_above(path: str) -> Iterator[str]:
    """A path, and every path above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield ""
