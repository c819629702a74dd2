"""Users' overrides of health and comparison: health scripts and rows, ignore rules, a profile.

Belongs here: `Overrides`, reading it from Argo CD's documents or from Phaseline's own, the errors for wrong documents.
Does not: the effect of an override (`assess`, `diff`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreRule
from phaseline.machines.kinds.kubernetes.diff.known_types import KnownType
from phaseline.machines.kinds.kubernetes.globs import matches, problem
from phaseline.machines.kinds.kubernetes.known.rows import KnownKind, StatusRow, problems
from phaseline.machines.kinds.kubernetes.known.table import KnownRule
from phaseline.machines.kinds.kubernetes.profiles import ALAUDA, PROFILES, Profile

T = TypeVar("T")
PREFIX = "resource.customizations"


class BadOverride(ValueError):
    """A document of overrides is wrong. The message says where, what is expected and what was found."""


class IgnoreEntry(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """An ignore rule as a document holds it."""

    group: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    json_pointers: tuple[str, ...] | None = None
    jq_path_expressions: tuple[str, ...] | None = None
    managed_fields_managers: tuple[str, ...] | None = None


class OwnDocument(msgspec.Struct, forbid_unknown_fields=True):
    """A document in Phaseline's own format. A field that is left out changes nothing."""

    profile: Any = msgspec.UNSET
    health: dict[str, Any] | None = None
    ignore_differences: list[Any] | None = None
    known_type_fields: dict[str, Any] | None = None
    ignore_aggregated_roles: Any = msgspec.UNSET


class RowsEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A health rule of a document that is written as rows, in the language of the table of known kinds."""

    rows: list[Any] = msgspec.field(default_factory=list)
    message: str = ".status.message"


OWN_FIELDS = OwnDocument.__struct_fields__
"""The fields of a document in Phaseline's own format."""
SELECTORS = IgnoreEntry.__struct_encode_fields__[4:]
"""The fields of an ignore rule that say what to ignore; each is a list of strings."""


class Overrides(msgspec.Struct, frozen=True):
    """All overrides that apply.

    scripts, rows, known_types: by `group/Kind`, globs allowed; for scripts and rows an exact key comes first.
    aggregates: leave out the rules of aggregated ClusterRoles. notes: what of the documents has no effect, in
    sentences.
    """

    profile: Profile = ALAUDA
    scripts: Mapping[str, str] = msgspec.field(default_factory=dict)
    rows: Mapping[str, KnownKind] = msgspec.field(default_factory=dict)
    rules: tuple[IgnoreRule, ...] = ()
    known_types: Mapping[str, tuple[KnownType, ...]] = msgspec.field(default_factory=dict)
    aggregates: bool = True
    notes: tuple[str, ...] = ()

    def script_of(self, group: str, kind: str) -> str | None:
        """The health script for a kind. A core kind has the key `/Kind` or `Kind`."""
        return _of_kind(self.scripts, group, kind)

    def rows_of(self, group: str, kind: str) -> KnownRule | None:
        """The user's rows for a kind, ready to be asked. Its key is as for a script."""
        found = _of_kind(self.rows, group, kind)
        return None if found is None else _rule_of(found)

    def known_types_of(self, group: str, kind: str) -> tuple[KnownType, ...]:
        """The fields of a kind whose types are known."""
        return tuple(one for key, fields in self.known_types.items() if _matches(key, group, kind) for one in fields)

    def problems(self) -> Iterator[str]:
        """The globs that are beyond the limits, in sentences. They match nothing."""
        globs = [glob for rule in self.rules for glob in (rule.group, rule.kind)]
        for glob in dict.fromkeys((*globs, *self.scripts, *self.rows, *self.known_types)):
            if said := problem(glob):
                yield said

    def merge(self, document: Mapping[str, Any], where: str) -> "Overrides":
        """These overrides with those of a document added; raises `BadOverride`.

        The document is Argo CD's settings ConfigMap, an Application, an ApplicationSet, or a map in Phaseline's own
        format. where: the document's name for errors.
        """
        kind = document.get("kind")
        if kind == "ConfigMap":
            return _with_settings(self, _map(document.get("data"), f"{where}.data"), where)
        if kind in ("Application", "ApplicationSet"):
            spec, path = _map(document.get("spec"), f"{where}.spec"), f"{where}.spec"
            if kind == "ApplicationSet":
                template = _map(spec.get("template"), f"{path}.template")
                path = f"{path}.template.spec"
                spec = _map(template.get("spec"), path)
            rules = _convert(spec.get("ignoreDifferences"), list[Any] | None, f"{path}.ignoreDifferences") or []
            return replace(self, rules=(*self.rules, *_rules(rules, f"{path}.ignoreDifferences")))
        return _with_own(self, document, where)


def _of_kind(found: Mapping[str, T], group: str, kind: str) -> T | None:
    """The value for a kind: that of its own key, else of the first glob that fits."""
    if not found:
        return None
    exact = found.get(f"{group}/{kind}")
    if exact is None and not group:
        exact = found.get(kind)
    if exact is not None:
        return exact
    return next((one for key, one in found.items() if _matches(key, group, kind)), None)


_rule_of = lru_cache(maxsize=1_024)(KnownRule)


def _matches(key: str, group: str, kind: str) -> bool:
    group_glob, _, kind_glob = key.rpartition("/")
    return matches(group_glob, group) and matches(kind_glob, kind)


def _with_own(before: Overrides, document: Mapping[str, Any], where: str) -> Overrides:
    if unknown := sorted(set(document) - set(OWN_FIELDS)):
        known = ", ".join(OWN_FIELDS)
        raise BadOverride(f"{where}: {unknown[0]!r} is none of {known}, and it is no ConfigMap or Application either")
    found = _convert(document, OwnDocument, where)
    profile = before.profile.name if found.profile is msgspec.UNSET else found.profile
    if not isinstance(profile, str) or profile not in PROFILES:
        raise BadOverride(f"{where}.profile must be one of {', '.join(PROFILES)}, found {profile!r}")
    health = {name: _health_rule(name, one, f"{where}.health.{name}") for name, one in (found.health or {}).items()}
    scripts = {name: one for name, one in health.items() if isinstance(one, str)}
    rows = {name: one for name, one in health.items() if isinstance(one, KnownKind)}
    types = found.known_type_fields or {}
    aggregates = found.ignore_aggregated_roles
    return replace(
        before,
        profile=PROFILES[profile],
        scripts={**{name: one for name, one in before.scripts.items() if name not in rows}, **scripts},
        rows={**{name: one for name, one in before.rows.items() if name not in scripts}, **rows},
        rules=(*before.rules, *_rules(found.ignore_differences or [], f"{where}.ignore_differences")),
        notes=(*before.notes, *_keys_in_vain((*health, *types), where)),
        known_types={
            **before.known_types,
            **{name: _known_types(one, f"{where}.known_type_fields.{name}") for name, one in types.items()},
        },
        aggregates=before.aggregates if aggregates is msgspec.UNSET else bool(aggregates),
    )


def _health_rule(key: str, found: Any, where: str) -> str | KnownKind:
    """A health rule: a script in Lua, or rows."""
    if not isinstance(found, Mapping):
        if not isinstance(found, str):
            kinds = "a script in Lua, or a map with `rows`"
            raise BadOverride(f"{where} must be {kinds}, found {type(found).__name__}")
        return found
    entry = _convert(found, RowsEntry, where)
    rows = (_convert(one, StatusRow, f"{where}.rows[{index}]") for index, one in enumerate(entry.rows))
    group, _, kind = key.rpartition("/")
    known = KnownKind(group, kind, tuple(rows), entry.message)
    if wrong := next(problems(known, where), ""):
        raise BadOverride(wrong)
    return known


def _keys_in_vain(keys: Iterable[str], where: str) -> Iterator[str]:
    """The keys of kinds that can match nothing, in sentences."""
    for key in keys:
        if key.count("/") > 1:
            yield f"{where}: the key {key!r:.200} matches nothing: a kind is <group>/<kind>"


def _with_settings(before: Overrides, data: Mapping[str, Any], where: str) -> Overrides:
    """Add Argo CD's settings, which are split by kind in the keys' names, or hold all kinds in one text."""
    scripts, types, rules = dict(before.scripts), dict(before.known_types), [*before.rules]
    aggregates, notes = before.aggregates, [*before.notes]
    for what, key, value, at in _settings(data, where, notes):
        if key.count("/") > 1:
            notes.append(f"{at} matches nothing: a kind is <group>/<kind>, or <group>_<kind> in the name of a key")
        elif what in ("health", "health.lua"):
            scripts[key] = _convert(value, str, at)
        elif what == "ignoreDifferences":
            group, _, kind = key.rpartition("/")
            rules.append(_rule({"group": group, "kind": kind, **_map(_yaml(value, at, notes), at)}, at, exact=True))
        elif what == "knownTypeFields":
            types[key] = _known_types(_yaml(value, at, notes), at)
        elif what == "resource.compareoptions":
            aggregates = bool(_map(_yaml(value, at, notes), at).get("ignoreAggregatedRoles", False))
    return replace(
        before, scripts=scripts, known_types=types, rules=tuple(rules), aggregates=aggregates, notes=tuple(notes)
    )


def _settings(data: Mapping[str, Any], where: str, notes: list[str]) -> Iterator[tuple[str, str, Any, str]]:
    """Each setting that concerns us: its name, its kind (`group/Kind`), its value, and its path for errors."""
    for name, value in data.items():
        at = f"{where}.data[{name!r}]"
        if name == PREFIX:
            for key, settings in _map(_yaml(value, at, notes), at).items():
                yield from ((what, key, one, f"{at}[{key!r}].{what}") for what, one in _map(settings, at).items())
        elif name.startswith(f"{PREFIX}."):
            what, _, key = name.removeprefix(f"{PREFIX}.").partition(".")
            parts = key.split("_")
            yield what, "*/*" if key == "all" else "/".join(parts), value, at
        elif name == "resource.compareoptions":
            yield name, "", value, at


def _rules(found: list[Any], where: str) -> Iterator[IgnoreRule]:
    for index, one in enumerate(found):
        yield _rule(one, f"{where}[{index}]")


def _rule(found: Any, where: str, *, exact: bool = False) -> IgnoreRule:
    entry = _convert(found, IgnoreEntry, where)
    if not entry.kind:
        raise BadOverride(f"{where}.kind must be a kind, or a glob such as *")
    selectors = (entry.json_pointers or (), entry.jq_path_expressions or (), entry.managed_fields_managers or ())
    return IgnoreRule(entry.group, entry.kind, entry.name, entry.namespace, *selectors, exact)


def _known_types(found: Any, where: str) -> tuple[KnownType, ...]:
    if not isinstance(found, list):
        raise BadOverride(f"{where} must be a list of {{field, type}}, found {type(found).__name__}")
    return tuple(_convert(one, KnownType, where) for one in found)


def _map(found: Any, where: str) -> Mapping[str, Any]:
    return _convert(found, dict[str, Any] | None, where) or {}


def _yaml(text: Any, where: str, notes: list[str]) -> Any:
    """The document in a text of YAML; anything but a text as it is. notes: gets what to say of keys given twice."""
    if not isinstance(text, str):
        return text
    from phaseline.schemas import yaml_text  # noqa: PLC0415  # its library may be missing

    told: list[str] = []
    try:
        return yaml_text.document(text, told)
    except yaml_text.NotYaml as error:
        raise BadOverride(f"{where}: {error}") from error
    finally:
        notes += [f"{where}: {one}" for one in told]


_WRONG_TYPE = re.compile(r"Expected `(\w+)(?: \| null)?`, got `(\w+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_EXPECTED = {"str": "a string", "object": "a map", "array": "a list"}
_FOUND = {"array": "list", "object": "dict", "null": "NoneType"}


def _convert(found: Any, type_: Any, where: str) -> Any:
    """`found` as a value of a type; raises `BadOverride` with the path of what is wrong."""
    try:
        return msgspec.convert(found, type_)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        raise BadOverride(_sentence(problem, where + path.rstrip("`"), type_)) from error


def _sentence(problem: str, at: str, type_: Any) -> str:
    """Msgspec's error as a sentence about a document, in the types that users write."""
    if wrong := _WRONG_TYPE.fullmatch(problem):
        expected = "a list of strings" if at.endswith(SELECTORS) else _EXPECTED.get(wrong[1], wrong[1])
        return f"{at} must be {expected}, found {_FOUND.get(wrong[2], wrong[2])}"
    if unknown := _UNKNOWN.fullmatch(problem):
        return f"{at}: {unknown[1]!r} is none of {', '.join(type_.__struct_encode_fields__)}"
    if missing := _MISSING.fullmatch(problem):
        return f"{at}.{missing[1]} must be a string, found NoneType"
    return f"{at}: {problem}"
