"""Writes machines/kinds/kubernetes/diff/types.json: the published types of Kubernetes' own kinds, in a short form.

Belongs here: reading the OpenAPI definitions that the package kubernetes-validate ships (each minor version of
Kubernetes; the newest definition of a type counts), and which optional fields are pointers, which OpenAPI does not say.
Does not: the meaning of the form at run time (`kinds.kubernetes.diff.types`).

    python -m tests.support.kubernetes_types [GO ...]

GO: folders with the Go sources of k8s.io/api and k8s.io/apimachinery (Debian: `apt-get source golang-k8s-api
golang-k8s-apimachinery`), of k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator, named `<module>-<version>`. A
field that is no pointer there has no way to tell zero from absent. Without GO, what the table says about known fields
is kept; an optional field that is new counts as a pointer, as the API conventions ask.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

TABLE = Path(__file__).parents[2] / "machines" / "kinds" / "kubernetes" / "diff" / "types.json"
PACKAGE = "kubernetes-validate"
META = "io.k8s.apimachinery.pkg."
APIS = ("io.k8s.api.", "io.k8s.apiextensions-apiserver.pkg.apis.", "io.k8s.kube-aggregator.pkg.apis.")
"""How the names of definitions begin whose kinds come with Kubernetes."""
SCHEMA = f"{APIS[1]}apiextensions.v1.JSONSchemaProps"
LEFT_OUT = ("status",)
"""Parts that are never compared."""
FORMATS = {"byte": "y", "date-time": "t", "int-or-string": "x"}
SPECIAL = {
    f"{META}api.resource.Quantity": "q",
    f"{META}util.intstr.IntOrString": "x",
    f"{META}apis.meta.v1.Time": "t",
    f"{META}apis.meta.v1.MicroTime": "t",
    f"{META}apis.meta.v1.Duration": "d",
    f"{META}apis.meta.v1.FieldsV1": "j",
    f"{META}runtime.RawExtension": "j",
    f"{SCHEMA}OrArray": "@apiextensions.v1.JSONSchemaProps+",
    f"{SCHEMA}OrBool": "@apiextensions.v1.JSONSchemaProps+",
}
SCALARS = {"string": "s", "boolean": "b", "integer": "i", "number": "n"}
OLDER = {
    "admissionregistration.k8s.io/v1beta1": "admissionregistration.k8s.io/v1", "apps/v1beta1": "apps/v1",
    "apps/v1beta2": "apps/v1", "autoscaling/v2beta1": "autoscaling/v2", "batch/v1beta1": "batch/v1",
    "certificates.k8s.io/v1beta1": "certificates.k8s.io/v1", "coordination.k8s.io/v1beta1": "coordination.k8s.io/v1",
    "discovery.k8s.io/v1beta1": "discovery.k8s.io/v1", "events.k8s.io/v1beta1": "events.k8s.io/v1",
    "extensions/v1beta1": "apps/v1 networking.k8s.io/v1", "networking.k8s.io/v1beta1": "networking.k8s.io/v1",
    "node.k8s.io/v1beta1": "node.k8s.io/v1", "policy/v1beta1": "policy/v1",
    "rbac.authorization.k8s.io/v1alpha1": "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1": "rbac.authorization.k8s.io/v1",
    "scheduling.k8s.io/v1beta1": "scheduling.k8s.io/v1", "storage.k8s.io/v1beta1": "storage.k8s.io/v1",
}  # fmt: skip
"""Versions that were served before the oldest definitions, and the version whose shape they have."""
STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\t(?:(\w+)[ \t]+)?([\w.*\[\]]+)[ \t]+`json:\"([^\"]*)\"", re.MULTILINE)
PLAIN = re.compile(r"[A-Za-z]")

Definitions = Mapping[str, Any]
Fields = dict[str, str]


class GoField(NamedTuple):
    """A field of a Go struct: its name in JSON, empty for an embedded struct; its type."""

    name: str
    type: str


def definitions() -> dict[str, Any]:
    """The newest definition of each type in the installed package."""
    spec = find_spec("kubernetes_validate")
    if spec is None or spec.origin is None:
        raise SystemExit(f"{PACKAGE} is not installed: pip install '.[dev]'")
    folders = (Path(spec.origin).parent / "kubernetes-json-schema").glob("v1.*-local")
    found: dict[str, Any] = {}
    for folder in sorted(folders, key=lambda path: int(path.name.split(".")[1])):
        found |= json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    return found


def short(name: str) -> str:
    """`core.v1.Container` for the name of a definition."""
    for prefix in (*APIS, META, "apis."):
        name = name.removeprefix(prefix)
    return name


# ---- which fields are pointers


def go_structs(folders: Sequence[Path]) -> dict[str, list[GoField]]:
    """The structs of the Go sources, by their short name."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("types*.go")):
            *_, group, number = path.parent.parts
            for name, body in STRUCT.findall(path.read_text(encoding="utf-8")):
                members = [GoField(tag.partition(",")[0], type_) for _, type_, tag in FIELD.findall(body)]
                found[f"{group}.{number}.{name}"] = members
    return found


def plain_fields(structs: Mapping[str, list[GoField]], name: str) -> Iterator[str]:
    """The fields of a struct that are no pointers, also those of the structs that it embeds."""
    package = name.rpartition(".")[0]
    for one in structs.get(name, ()):
        if one.name and PLAIN.match(one.type):
            yield one.name
        elif not one.name:
            of = one.type.removeprefix("metav1.").removeprefix("v1.")
            home = package if "." not in one.type else ("meta.v1" if one.type.startswith("metav1.") else "core.v1")
            yield from plain_fields(structs, f"{home}.{of}")


# ---- the short form


def code_of(field: Mapping[str, Any], names: Definitions) -> str:
    """The form of a field without what its struct says about it."""
    target = field.get("$ref", "").rpartition("/")[2]
    if target:
        return SPECIAL.get(target) or reference(target, names)
    kinds = [one for one in as_list(field.get("type")) if one != "null"]
    kind = kinds[0] if kinds else ""
    if kind == "array":
        return f"[{merge_key(field)}]{code_of(field['items'], names)}"
    if kind == "object":
        inner = field.get("additionalProperties")
        whole = "!" * (field.get("x-kubernetes-map-type") == "atomic")
        return f"{whole}{{}}{code_of(inner, names)}" if isinstance(inner, Mapping) else "j"
    return FORMATS.get(field.get("format", "")) or SCALARS.get(kind, "j")


def as_list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


def reference(target: str, names: Definitions) -> str:
    """The form of a field that has a type of its own."""
    definition = names[target]
    if "properties" not in definition:
        plain = {name: value for name, value in definition.items() if name != "$ref"}
        return code_of(plain, names)
    whole = "!" if definition.get("x-kubernetes-map-type") == "atomic" else ""
    return f"{whole}@{short(target)}"


def merge_key(field: Mapping[str, Any]) -> str:
    """The keys by which members of a list are merged, `=` for members that are merged as they are, or nothing."""
    if "merge" not in field.get("x-kubernetes-patch-strategy", "").split(","):
        return ""
    if len(keys := field.get("x-kubernetes-list-map-keys", ())) > 1:  # one key alone does not tell ports apart
        return ",".join(keys)
    return str(field.get("x-kubernetes-patch-merge-key", "="))


def is_choice(definition: Mapping[str, Any], names: Definitions) -> bool:
    """Whether a struct holds one of several parts: then an empty part says which. A name may stand beside them."""
    members = {name: one for name, one in definition["properties"].items() if name != "name"}
    if len(members) < 2 or {"metadata", *definition.get("required", ())} & set(members):
        return False
    return all(code_of(one, names).lstrip("!").startswith("@") for one in members.values())


def fields_of(name: str, names: Definitions, plain: set[str]) -> Fields:
    """The forms of the fields of a struct."""
    definition = names[name]
    choice, needed = is_choice(definition, names), set(definition.get("required", ()))
    found = {}
    for field, one in definition["properties"].items():
        code = code_of(one, names)
        if field in LEFT_OUT and "@" in code:
            continue
        if code.lstrip("!").startswith("@"):
            code += "+" * (choice or code.endswith("meta.v1.LabelSelector"))
        elif len(code) == 1 and code != "y" and field not in needed and field not in plain:
            code += "?"
        found[field] = "=" * (one.get("x-kubernetes-patch-strategy") == "replace") + code
    return dict(sorted(found.items()))


def kinds_of(names: Definitions) -> dict[str, str]:
    """The definition of each kind that can be stored, by `<apiVersion> <kind>`."""
    found = {}
    for name, definition in names.items():
        identities = definition.get("x-kubernetes-group-version-kind", ())
        if len(identities) != 1 or "metadata" not in definition.get("properties", {}) or not name.startswith(APIS):
            continue
        group, number, kind = (identities[0][part] for part in ("group", "version", "kind"))
        if not kind.endswith("List"):
            found[f"{group}/{number} {kind}".lstrip("/")] = name
    for older, shapes in OLDER.items():
        for shape in shapes.split():
            same = {one.partition(" ")[2]: target for one, target in found.items() if one.startswith(f"{shape} ")}
            for kind, target in same.items():
                found.setdefault(f"{older} {kind}", target)
    return found


def table(folders: Sequence[Path] = (), before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The whole table. folders: Go sources; without them, `before` says which known fields are no pointers."""
    names, structs = definitions(), go_structs(folders)
    known: Mapping[str, Fields] = (before or {}).get("types", {})
    kinds = kinds_of(names)
    types: dict[str, Fields] = {}
    waiting = list(kinds.values())
    while waiting:
        name = waiting.pop()
        if short(name) in types:
            continue
        kept = {field for field, code in known.get(short(name), {}).items() if not code.endswith("?")}
        plain = set(plain_fields(structs, short(name))) if short(name) in structs else kept
        types[short(name)] = fields_of(name, names, plain)
        long = {short(one): one for one in names}
        targets = {code.rpartition("@")[2].rstrip("+") for code in types[short(name)].values() if "@" in code}
        waiting.extend(long[target] for target in targets)
    used = (before or {}).get("source", {})
    read = dict(path.name.rpartition("-")[::2] for path in folders)
    return {
        "source": {**used, PACKAGE: version(PACKAGE), **read},
        "kinds": {kind: short(target) for kind, target in sorted(kinds.items())},
        "types": dict(sorted(types.items())),
    }


def written(found: Mapping[str, Any]) -> str:
    """The table as text: one line for each kind and each type."""
    parts = []
    for section, members in found.items():
        lines = [f"  {json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}" for name, value in members.items()]
        parts.append(f" {json.dumps(section)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: Sequence[str]) -> None:
    """Write the table."""
    before = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else None
    TABLE.write_text(written(table([Path(one) for one in arguments], before)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
