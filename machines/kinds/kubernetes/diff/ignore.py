"""Ignore rules: fields that users exclude from comparison.

Belongs here: `IgnoreRule`, which objects a rule applies to, removing its fields from both sides. Does not: running jq
(the caller passes a function), reading rules from documents (`kubernetes.overrides`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from phaseline.machines.kinds.kubernetes.diff import managed_fields
from phaseline.machines.kinds.kubernetes.diff.differences import differences, pointer
from phaseline.machines.kinds.kubernetes.diff.types import groups_of_kinds
from phaseline.machines.kinds.kubernetes.globs import matches, problem
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.language.scripts import JqResult
from phaseline.schemas import libraries

Object = dict[str, Any]
How = Literal["pointer", "jq", "manager"]

GLOB_SIGNS = frozenset("*?[{\\")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
"""An index of a list in a JSON pointer: without leading zeros (RFC 6901)."""
_WRONG_ESCAPE = re.compile(r"~(?![01])")
RunJq = Callable[[Sequence[str], Sequence[Any]], Sequence[Sequence[JqResult]]]
"""Deletes the paths that jq programs select from objects: for each program one result for each object."""


class IgnoreRule(msgspec.Struct, frozen=True):
    """One ignore rule. Group and kind are globs, an empty group is core; name and namespace are exact, empty means any.

    pointers: JSON pointers. programs: jq path expressions. managers: managers whose fields are ignored. exact: managers
    count only if group and kind are literal, or both `*` (for the rules of a whole installation).
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
        """Whether the rule applies to an object."""
        metadata = found.get("metadata")
        named = metadata if isinstance(metadata, Mapping) else {}
        return (
            matches(self.group, group_kind(found)[0])
            and matches(self.kind, str(found.get("kind") or ""))
            and self.name in ("", named.get("name"))
            and self.namespace in ("", named.get("namespace"))
        )

    def managers_of(self, found: Mapping[str, Any]) -> tuple[str, ...]:
        """The managers whose fields are ignored in an object."""
        spelt = (self.group, self.kind) in (("*", "*"), (group_kind(found)[0], found.get("kind")))
        return self.managers if spelt or not self.exact else ()


class IgnoreEffect(NamedTuple):
    """The effect of one selector of a rule: the paths that it removed from either side, or why it removed none.

    word: the selector itself. broken: it is invalid on every object.
    """

    rule: IgnoreRule
    how: How
    word: str
    pointers: tuple[str, ...] = ()
    problem: str = ""
    broken: bool = False


def apply_ignores(
    rules: Sequence[IgnoreRule], sides: Sequence[Object], run: RunJq
) -> tuple[list[Object], list[IgnoreEffect]]:
    """The sides (desired, live, last applied) without ignored fields, and the effect of each selector.

    A rule is used if it applies to the desired object. The inputs are not changed; the results may share parts with
    them.
    """
    desired, live = sides[0], sides[1]
    about = [rule for rule in rules if rule.is_about(desired)]
    found, effects = list(sides), []
    for rule in about:
        for manager in rule.managers_of(desired):
            paths = [*managed_fields.differing_paths(manager, found[0], live)]
            found[:2] = [managed_fields.without_paths(side, paths) for side in found[:2]]
            effects.append(IgnoreEffect(rule, "manager", manager, tuple(pointer(path) for path in paths)))
    for rule in about:
        effects += [
            _applied(rule, "pointer", word, found, [_pointed(word, side) for side in found]) for word in rule.pointers
        ]
    programs = [(rule, program) for rule in about for program in rule.programs]
    if programs:
        results = run([program for _, program in programs], found)
        for (rule, program), removed in zip(programs, results, strict=True):
            effects.append(_applied(rule, "jq", program, found, removed))
    return found, effects


def _applied(rule: IgnoreRule, how: How, word: str, sides: list[Object], results: Sequence[JqResult]) -> IgnoreEffect:
    """Put the results of one selector in the place of the sides; return its effect."""
    paths: dict[str, None] = {}
    problems = []
    for index, (side, removed) in enumerate(zip(sides, results, strict=True)):
        if removed.problem:
            problems.append(removed)
            continue
        if removed.value is not side:
            paths |= {one.pointer: None for one in differences(side, removed.value)}
        sides[index] = removed.value
    broken = any(one.broken for one in problems)
    # A path that exists on one side only is what such a rule is for: no problem.
    said = problems[0].problem if problems and (broken or not paths) else ""
    return IgnoreEffect(rule, how, word, tuple(paths), said, broken)


def _pointed(word: str, found: Object) -> JqResult:
    """The object without the path of a JSON pointer."""
    with libraries.needed("jsonpointer", "an ignore rule with JSON pointers"):
        from jsonpointer import JsonPointer, JsonPointerException  # noqa: PLC0415  # the extra `gitops` installs it
    try:
        steps = JsonPointer(word).parts
    except JsonPointerException as error:
        return JqResult(found, f"it is no JSON pointer: {error}", broken=True)
    if not steps:
        return JqResult(found, "it points at the whole object", broken=True)
    removed = _taken(found, steps)
    return JqResult(found, "nothing is there") if removed is None else JqResult(removed)


def _taken(found: Any, steps: Sequence[str]) -> Any:
    """A copy without the value at a path; None if the path does not exist."""
    step: Any = steps[0]
    if isinstance(found, list):
        if not _INDEX.fullmatch(step) or int(step) >= len(found):
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


def no_effects(rules: Sequence[IgnoreRule]) -> Iterator[str]:
    """The rules, or selectors of rules, that can never have an effect, in sentences. The others hold."""
    for rule in rules:
        for one in pointless(rule):
            yield f"the rule for {rule.group or 'core'}/{rule.kind} can do nothing: {one}"


def pointless(rule: IgnoreRule) -> Iterator[str]:
    """Why a rule, or one of its selectors, can never have an effect, in sentences."""
    for glob in dict.fromkeys((rule.group, rule.kind)):
        if said := problem(glob):
            yield said
    for name in ("name", "namespace"):
        if set(getattr(rule, name)) & set("*?["):
            yield f"{name} {getattr(rule, name)!r} is no glob: it must be the {name} itself, or left out for any"
    yield from _no_such_kind(rule)
    for word in rule.pointers:
        if why := _pointless_pointer(word):
            yield f"pointer {word!r}: {why}"
    if rule.exact and rule.managers and "*" in rule.group + rule.kind and (rule.group, rule.kind) != ("*", "*"):
        yield f"managers of a whole installation are heeded for one kind or for all, not for {rule.group}/{rule.kind}"
    if not (rule.pointers or rule.programs or rule.managers):
        yield "it names none of jsonPointers, jqPathExpressions, managedFieldsManagers"


def _no_such_kind(rule: IgnoreRule) -> Iterator[str]:
    """Why no object can have the group and kind of a rule, as far as both are spelt out."""
    if "/" in rule.group or rule.group in ("core", "v1"):
        yield f"group {rule.group!r} matches nothing: it is the part of apiVersion before the /, empty for core"
        return
    if GLOB_SIGNS & set(rule.group + rule.kind):
        return
    groups = groups_of_kinds().get(rule.kind, ())
    built_in = rule.group in {group for each in groups_of_kinds().values() for group in each}
    if groups and built_in and rule.group not in groups:
        where = " and ".join(group or "core" for group in groups)
        before = "an empty group means the core group, and " if not rule.group else ""
        yield f"{before}{rule.kind} is in {where}"
    elif built_in and not groups:
        near = [kind for kind in groups_of_kinds() if kind.lower() == rule.kind.lower().removesuffix("s")]
        yield f"{rule.group or 'the core group'} has no kind {rule.kind!r}" + "".join(f": write {one}" for one in near)


def _pointless_pointer(word: str) -> str:
    """Why a JSON pointer can remove nothing; empty if it may."""
    if not word.startswith("/"):
        return "it points at the whole object" if not word else "it is no JSON pointer: it must begin with /"
    if _WRONG_ESCAPE.search(word):
        return "it is no JSON pointer: write ~0 for ~ and ~1 for /"
    steps = [step.replace("~1", "/").replace("~0", "~") for step in word[1:].split("/")]
    if {"*", "-"} & set(steps):
        return "* and - are names there, not any member of a list; jq can say that: .path[].name"
    return ""


def problems(effects: Sequence[IgnoreEffect]) -> Iterator[str]:
    """The problems of rules, in sentences. Argo CD does not report them."""
    for effect in effects:
        if effect.problem:
            about = f"{effect.rule.group or 'core'}/{effect.rule.kind}"
            yield f"{effect.how} {effect.word!r} of the rule for {about}: {effect.problem}"
