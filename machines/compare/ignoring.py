"""What people want left out of comparisons (spec: GitOps, Ignore rules; behaviour 3.4).

Belongs here: rules, what they are about, what they take out of both sides. Does not: running jq, which the caller does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from jsonpointer import JsonPointer, JsonPointerException
from wcmatch import fnmatch

from phaseline.machines.compare import owned
from phaseline.machines.compare.differences import differences, pointer
from phaseline.machines.compare.known import KNOWN
from phaseline.machines.compare.normal import group_of
from phaseline.machines.programs import Removed

Object = dict[str, Any]
GLOBS = fnmatch.CASE | fnmatch.BRACE
How = Literal["pointer", "jq", "manager"]


_ELSEWHERE: dict[str, list[str]] = {}
for _version, _kind in sorted(KNOWN):
    if "/" in _version and ("v1", _kind) not in KNOWN:
        _groups = _ELSEWHERE.setdefault(_kind, [])
        if (_group := _version.partition("/")[0]) not in _groups:
            _groups.append(_group)


RunJq = Callable[[str, Any], Removed]
"""jq's `del(<program>)` on an object."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One ignore rule. The group and kind are globs, an empty group means core; name and namespace are exact, empty means any.

    exact: managers count only where group and kind are spelt out, or both `*` (rules of a whole installation).
    """

    group: str = "*"
    kind: str = "*"
    name: str = ""
    namespace: str = ""
    pointers: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    managers: tuple[str, ...] = ()
    exact: bool = False

    def is_about(self, found: Mapping[str, Any]) -> bool:
        """Whether it is about this object."""
        metadata = found.get("metadata")
        named = metadata if isinstance(metadata, Mapping) else {}
        return (
            fits(self.group, group_of(found))
            and fits(self.kind, str(found.get("kind") or ""))
            and self.name in ("", named.get("name"))
            and self.namespace in ("", named.get("namespace"))
        )

    def managers_of(self, found: Mapping[str, Any]) -> tuple[str, ...]:
        """The managers whose fields are left out of this object."""
        spelt = (self.group, self.kind) in (("*", "*"), (group_of(found), found.get("kind")))
        return self.managers if spelt or not self.exact else ()


class Effect(NamedTuple):
    """What one word of a rule did: the paths it took out of either side; or why it could not."""

    rule: Rule
    how: How
    word: str
    pointers: tuple[str, ...] = ()
    problem: str = ""
    broken: bool = False


def fits(glob: str, word: str) -> bool:
    """Whether a word is as the glob (`*`, `?`, `[ab]`, `{a,b}`) has it; the case counts, an empty one fits the empty word."""
    if not glob or not word:
        return glob == word or (not word and set(glob) == {"*"})
    return bool(fnmatch.fnmatch(word, glob, flags=GLOBS))


def ignored(rules: Sequence[Rule], sides: Sequence[Object], run: RunJq) -> tuple[list[Object], list[Effect]]:
    """The sides (desired, live, what was applied last) without what the rules name, and what each word of them did.

    Rules are those about the desired object. Sides are not changed; those returned may share parts with them.
    """
    desired, live = sides[0], sides[1]
    about = [rule for rule in rules if rule.is_about(desired)]
    found, effects = list(sides), []
    for rule in about:
        for manager in rule.managers_of(desired):
            paths = [*owned.trusted(manager, found[0], live)]
            found[:2] = [owned.without(side, paths) for side in found[:2]]
            effects.append(Effect(rule, "manager", manager, tuple(pointer(path) for path in paths)))
    for how, words, take in (("pointer", "pointers", _pointed), ("jq", "programs", run)):
        named = [(rule, word) for rule in about for word in getattr(rule, words)]
        effects += [_applied(rule, how, word, found, take) for rule, word in named]
    return found, effects


def _applied(rule: Rule, how: Any, word: str, sides: list[Object], take: RunJq) -> Effect:
    paths: dict[str, None] = {}
    problems = []
    for place, side in enumerate(sides):
        removed = take(word, side)
        if removed.problem:
            problems.append(removed)
            continue
        if not isinstance(removed.found, dict):
            problems.append(Removed(None, "it takes out the whole object"))
            continue
        paths |= {one.pointer: None for one in differences(side, removed.found)}
        sides[place] = removed.found
    broken = any(one.broken for one in problems)
    # One side may lack what the other has, and that is what such a rule is for.
    problem = problems[0].problem if problems and (broken or not paths) else ""
    return Effect(rule, how, word, tuple(paths), problem, broken)


def _pointed(word: str, found: Object) -> Removed:
    """Without what a JSON pointer names."""
    try:
        steps = JsonPointer(word).parts
    except JsonPointerException as error:
        return Removed(found, f"it is no JSON pointer: {error}", broken=True)
    if not steps:
        return Removed(found, "it points at the whole object", broken=True)
    removed = _taken(found, steps)
    return Removed(found, "nothing is there") if removed is None else Removed(removed)


def _taken(found: Any, steps: Sequence[str]) -> Any:
    """A copy of the way without the end of it; None where the way leads nowhere."""
    step: Any = steps[0]
    if isinstance(found, list):
        if not (step.isdigit() and int(step) < len(found)):
            return None
        step = int(step)
    elif not isinstance(found, Mapping) or step not in found:
        return None
    if len(steps) > 1:
        inner = _taken(found[step], steps[1:])
        if inner is None:
            return None
        return [*found[:step], inner, *found[step + 1 :]] if isinstance(found, list) else {**found, step: inner}
    if isinstance(found, list):
        return found[:step] + found[step + 1 :]
    return {name: value for name, value in found.items() if name != step}


def pointless(rule: Rule) -> Iterator[str]:
    """Why a rule, or a word of it, can never do anything, in sentences."""
    for name in ("name", "namespace"):
        if set(getattr(rule, name)) & set("*?["):
            yield f"{name} {getattr(rule, name)!r} is no glob: it must be the {name} itself, or left out for any"
    if not rule.group and rule.kind in _ELSEWHERE:
        yield f"an empty group means the core group, and {rule.kind} is in {' and '.join(_ELSEWHERE[rule.kind])}"
    for word in rule.pointers:
        if {"*", "-"} & set(word.split("/")):
            yield f"pointer {word!r}: * and - are names there, not any member of a list; jq can say that: .path[].name"
    if rule.exact and rule.managers and "*" in rule.group + rule.kind and (rule.group, rule.kind) != ("*", "*"):
        yield f"managers of a whole installation are heeded for one kind or for all, not for {rule.group}/{rule.kind}"


def problems(effects: Sequence[Effect]) -> Iterator[str]:
    """What is wrong with rules, in sentences: Argo CD is silent about it."""
    for effect in effects:
        if effect.problem:
            yield f"{effect.how} {effect.word!r} of the rule for {effect.rule.group or 'core'}/{effect.rule.kind}: {effect.problem}"
