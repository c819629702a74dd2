"""Writes the types of the client without asyncio, for type checkers, from the source of the client with asyncio.

Belongs here: `pages`, which the generator of pages and schemas calls too; which reads of products have types. Does not:
what happens in a call (`client.sync_client`).
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from phaseline.machines.built_in import PRODUCTS

ENGINE = "phaseline.engine."
BY_HAND = "phaseline.engine.surfaces.client.sync_client"
MIRRORED = (
    ("phaseline.engine.surfaces.client.entity_view", "EntityView", "view"),
    ("phaseline.engine.surfaces.client.numbered_source", "NumberedSource", ""),
    ("phaseline.engine.surfaces.client.client", "Client", "client"),
)
"""The modules and classes that stand by hand in `sync_client`, and the field of a `ClientView` that adds to each.

It is empty where none does."""
READING = ("phaseline.engine.surfaces.client.reading_client", "ReadingClient")
"""The module and the class from which `Client` has its reads."""
VIEWS = [view for product in PRODUCTS for view in product.views]
READS = dict.fromkeys(text.partition(":")[::2] for view in VIEWS for text in (view.client, view.view) if text)
"""The module and the name of each class of reads. Those of installed packages have no types here."""
AT_RUN_TIME = ("__getattr__", "__dir__")
"""How the reads of products are found by name; type checkers know the names."""
WATCHES = ("DwellWatch", "Follow", "Watch")
"""The classes of this client that have the name of the class that they mirror."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def pages() -> dict[Path, str]:
    """The stub by its path from the project's root."""
    modules = dict.fromkeys((BY_HAND, *(at[0] for at in (*MIRRORED, READING, *READS))))
    trees = {module: _tree(module) for module in modules}
    body = list(_body(trees))
    taken = {node.name for node in body} | {*WATCHES}
    used = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)} - taken
    own = (f"from phaseline.engine.surfaces.client.portal import {name} as {name}" for name in WATCHES)
    imports = sorted([*_imports(used, trees), *own])
    made_from = ", ".join(str(_file(module)) for module in modules)
    head = f"# Written by `python -m phaseline.engine.surfaces.generate` from {made_from} in engine.\n\n"
    text = "\n\n".join(["\n".join(imports), "__all__: list[str]", *map(ast.unparse, body)])
    return {Path("src/phaseline/sync.pyi"): f"{head}{text}\n"}


def _file(module: str) -> Path:
    """`client/session.py` of `client.session`."""
    return Path(f"{module.removeprefix(ENGINE).replace('.', '/')}.py")


def _tree(module: str) -> ast.Module:
    return ast.parse((Path(__file__).parents[1] / _file(module)).read_text(encoding="utf-8"))


def _imports(used: set[str], trees: dict[str, ast.Module]) -> Iterator[str]:
    """The import of each name that has a home; raises `ValueError` if two modules mean different things by it."""
    homes = defaultdict[str, set[str]](set)
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    homes[one.name].add(node.module)
        for node in tree.body:
            for name in _defined(node):
                homes[name].add(module)
    for name in used & homes.keys():
        if len(homes[name]) > 1:
            raise ValueError(f"{name} comes from {' and '.join(sorted(homes[name]))}: give one of them another name")
        yield from (f"from {home} import {name}" for home in homes[name])


def _defined(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from [node.name] if isinstance(node, ast.ClassDef) else []
    yield from (one.id for one in targets if isinstance(one, ast.Name))


def _body(trees: dict[str, ast.Module]) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """The classes of the client, those of products, and `connect`."""
    parts = [(module, node) for module, tree in trees.items() for node in tree.body]
    classes = {(module, node.name): node for module, node in parts if isinstance(node, ast.ClassDef)}
    base = classes[BY_HAND, "_Mirror"]
    yield _class(base, None)
    for at in READS:
        yield _class(ast.ClassDef(at[1], [ast.Name(base.name)], [], [], []), classes[at])
    docs = {at[1]: ast.get_docstring(classes[at]) or "" for at in READS}
    classes[MIRRORED[-1][:2]].body += classes[READING].body
    for module, name, field in MIRRORED:
        yield _class(classes[BY_HAND, name], classes[module, name], _of_products(field, docs))
    for module, node in parts:
        if module == BY_HAND and isinstance(node, Function) and node.name == "connect":
            yield _plain(node, ast.get_docstring(node))


def _of_products(field: str, docs: dict[str, str]) -> list[ast.stmt]:
    """The properties with the reads of products."""
    named = [(view.name, getattr(view, field).partition(":")[2]) for view in VIEWS if field and getattr(view, field)]
    return [
        node for name, reads in named
        for node in ast.parse(f"@property\ndef {name}(self) -> {reads}:\n    {docs[reads]!r}").body
    ]  # fmt: skip


def _class(own: ast.ClassDef, source: ast.ClassDef | None, more: Iterable[ast.stmt] = ()) -> ast.ClassDef:
    """A class with the methods of its own, those that it mirrors, and more."""
    methods = [node for node in own.body if isinstance(node, Function) and node.name not in AT_RUN_TIME]
    there = {node.name for node in methods}
    mirrored = [node for node in (source.body if source else []) if isinstance(node, Function)]
    methods += [node for node in mirrored if not node.name.startswith("_") and node.name not in there]
    overloaded = {node.name for node in methods if _is_overload(node)}
    docs = {node.name: ast.get_docstring(node) for node in methods if not _is_overload(node)}
    methods = [node for node in methods if _is_overload(node) or node.name not in overloaded]
    doc = ast.get_docstring(own) or ast.get_docstring(source or own) or ""
    body: list[ast.stmt] = [ast.Expr(ast.Constant(doc)), *(_plain(node, docs[node.name]) for node in methods), *more]
    return ast.ClassDef(own.name, own.bases, [], body, [])


def _is_overload(method: Function) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "overload" for one in method.decorator_list)


def _plain(function: Function, doc: str | None) -> ast.FunctionDef:
    """A method that waits, without its body."""
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        argument.annotation = _rewritten(argument.annotation, r" \| AsyncIterable\[.*", "")
    body: list[ast.stmt] = [ast.Expr(ast.Constant(doc or ...))]
    returns = _rewritten(function.returns, r"\bAsyncIterator\[", "Iterator[")
    made = ast.FunctionDef(function.name, function.args, body, function.decorator_list, returns)
    return ast.fix_missing_locations(made)


def _rewritten(annotation: ast.expr | None, pattern: str, by: str) -> ast.expr | None:
    return annotation and ast.parse(re.sub(pattern, by, ast.unparse(annotation)), mode="eval").body
