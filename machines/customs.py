"""What people say about judging and comparing: health scripts, ignore rules, a profile, in Argo CD's words or in ours.

Belongs here: the shapes they bring it in, and what is wrong with them (spec: GitOps, Ignore rules, Custom health; behaviour 3.3).
Does not: what it does (`health`, `compare`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from phaseline.machines.compare.ignoring import Rule, fits
from phaseline.machines.compare.typed import Typed
from phaseline.machines.profiles import ALAUDA, PROFILES, Profile
from phaseline.schemas import manifests

PREFIX = "resource.customizations"
OURS = ("profile", "health", "ignore_differences", "known_type_fields", "ignore_aggregated_roles")
WORDS = ("jsonPointers", "jqPathExpressions", "managedFieldsManagers")


class BadCustom(ValueError):
    """What is wrong with what somebody said, and where."""


@dataclass(frozen=True, slots=True)
class Customs:
    """All that was said. scripts, typed: by `group/Kind`, globs allowed, the exact one first."""

    profile: Profile = ALAUDA
    scripts: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    typed: Mapping[str, tuple[Typed, ...]] = field(default_factory=dict)
    aggregates: bool = True

    def script_of(self, group: str, kind: str) -> str | None:
        """The health script about a kind."""
        exact = self.scripts.get(f"{group}/{kind}")
        if exact is not None:
            return exact
        return next((script for key, script in self.scripts.items() if _fits(key, group, kind)), None)

    def typed_of(self, group: str, kind: str) -> tuple[Typed, ...]:
        """The fields of a kind whose type is known."""
        return tuple(one for key, fields in self.typed.items() if _fits(key, group, kind) for one in fields)

    def and_(self, found: Mapping[str, Any], where: str) -> "Customs":
        """With what a document says as well: a settings ConfigMap or an Application of Argo CD, or a map of ours."""
        kind = found.get("kind")
        if kind == "ConfigMap":
            return _settings(self, _map(found.get("data"), f"{where}.data"), where)
        if kind in ("Application", "ApplicationSet"):
            spec = _map(found.get("spec"), f"{where}.spec")
            if kind == "ApplicationSet":
                spec = _map(
                    _map(spec.get("template"), f"{where}.spec.template").get("spec"), f"{where}.spec.template.spec"
                )
            rules = spec.get("ignoreDifferences")
            return replace(self, rules=(*self.rules, *_rules(rules, f"{where}.spec.ignoreDifferences")))
        return _ours(self, found, where)


def _fits(key: str, group: str, kind: str) -> bool:
    ours, _, theirs = key.rpartition("/")
    return fits(ours, group) and fits(theirs, kind)


def _ours(so_far: Customs, found: Mapping[str, Any], where: str) -> Customs:
    if odd := sorted(set(found) - set(OURS)):
        raise BadCustom(
            f"{where}: {odd[0]!r} is none of {', '.join(OURS)}, and it is no ConfigMap or Application either"
        )
    profile = found.get("profile", so_far.profile.name)
    if profile not in PROFILES:
        raise BadCustom(f"{where}.profile must be one of {', '.join(PROFILES)}, found {profile!r}")
    scripts = _map(found.get("health"), f"{where}.health")
    typed = _map(found.get("known_type_fields"), f"{where}.known_type_fields")
    return replace(
        so_far,
        profile=PROFILES[profile],
        scripts={**so_far.scripts, **{key: _text(script, f"{where}.health.{key}") for key, script in scripts.items()}},
        rules=(*so_far.rules, *_rules(found.get("ignore_differences"), f"{where}.ignore_differences")),
        typed={**so_far.typed, **{key: _typed(one, f"{where}.known_type_fields.{key}") for key, one in typed.items()}},
        aggregates=bool(found.get("ignore_aggregated_roles", so_far.aggregates)),
    )


def _settings(so_far: Customs, data: Mapping[str, Any], where: str) -> Customs:
    """Argo CD's settings, split by kind in the keys' names, or all in one text."""
    scripts, typed, rules = dict(so_far.scripts), dict(so_far.typed), [*so_far.rules]
    aggregates = so_far.aggregates
    for what, key, said, place in _said(data, where):
        if what in ("health", "health.lua"):
            scripts[key] = _text(said, place)
        elif what == "ignoreDifferences":
            group, _, kind = key.rpartition("/")
            rules.append(_rule({"group": group, "kind": kind, **_map(_read(said, place), place)}, place, exact=True))
        elif what == "knownTypeFields":
            typed[key] = _typed(_read(said, place), place)
        elif what == "resource.compareoptions":
            aggregates = bool(_map(_read(said, place), place).get("ignoreAggregatedRoles", False))
    return replace(so_far, scripts=scripts, typed=typed, rules=tuple(rules), aggregates=aggregates)


def _said(data: Mapping[str, Any], where: str) -> Iterator[tuple[str, str, Any, str]]:
    """What is set, of which kind (`group/Kind`), how, and where that stands."""
    for name, said in data.items():
        place = f"{where}.data[{name!r}]"
        if name == PREFIX:
            for key, one in _map(_read(said, place), place).items():
                yield from ((what, key, value, f"{place}[{key!r}].{what}") for what, value in _map(one, place).items())
        elif name.startswith(f"{PREFIX}."):
            what, _, key = name.removeprefix(f"{PREFIX}.").partition(".")
            parts = key.split("_")
            if len(parts) > 2:
                raise BadCustom(f"{place}: write the kind as <group>_<kind>, found {key!r}")
            yield what, "*/*" if key == "all" else "/".join(parts), said, place
        elif name == "resource.compareoptions":
            yield name, "", said, place


def _rules(found: Any, where: str) -> Iterator[Rule]:
    if found is not None and not isinstance(found, list):
        raise BadCustom(f"{where} must be a list, found {type(found).__name__}")
    for place, one in enumerate(found or ()):
        yield _rule(_map(one, f"{where}[{place}]"), f"{where}[{place}]")


def _rule(found: Mapping[str, Any], where: str, *, exact: bool = False) -> Rule:
    known = ("group", "kind", "name", "namespace", *WORDS)
    if odd := sorted(set(found) - set(known)):
        raise BadCustom(f"{where}: {odd[0]!r} is none of {', '.join(known)}")
    group, kind, name, namespace = (_text(found.get(name, ""), f"{where}.{name}") for name in known[:4])
    if not kind:
        raise BadCustom(f"{where}.kind must be a kind, or a glob such as *")
    pointers, programs, managers = (_words(found.get(name), f"{where}.{name}") for name in WORDS)
    if not (pointers or programs or managers):
        raise BadCustom(f"{where} must have at least one of {', '.join(WORDS)}")
    return Rule(group, kind, name, namespace, pointers, programs, managers, exact)


def _typed(found: Any, where: str) -> tuple[Typed, ...]:
    if not isinstance(found, list):
        raise BadCustom(f"{where} must be a list of {{field, type}}, found {type(found).__name__}")
    fields = (_map(one, f"{where}[{place}]") for place, one in enumerate(found))
    return tuple(Typed(*(_text(one.get(name), f"{where}.{name}") for name in ("field", "type"))) for one in fields)


def _words(found: Any, where: str) -> tuple[str, ...]:
    if found is not None and not isinstance(found, list):
        raise BadCustom(f"{where} must be a list of strings, found {type(found).__name__}")
    return tuple(_text(one, f"{where}[{place}]") for place, one in enumerate(found or ()))


def _text(found: Any, where: str) -> str:
    if not isinstance(found, str):
        raise BadCustom(f"{where} must be a string, found {type(found).__name__}")
    return found


def _map(found: Any, where: str) -> Mapping[str, Any]:
    if found is not None and not isinstance(found, Mapping):
        raise BadCustom(f"{where} must be a map, found {type(found).__name__}")
    return found or {}


def _read(text: Any, where: str) -> Any:
    """A text that is YAML itself."""
    if not isinstance(text, str):
        return text
    try:
        return manifests.document(text)
    except manifests.NotYaml as error:
        raise BadCustom(f"{where}: {error}") from error
