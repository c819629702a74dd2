"""Writes the types of the client without asyncio, for type checkers, from the source of the client with asyncio.

Belongs here: `pages`, which the generator of pages and schemas calls too. Does not: what happens in a call
(`sync_client`).
"""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
BY_HAND, MIRRORED = "sync_client", ("products", "entity_view", "client")
"""The module with the classes, and the modules whose classes they mirror."""
HEAD = "# Written by `python -m phaseline.engine.generate` from {}.\n"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def pages() -> dict[Path, str]:
    """The stub by its path from the project's root."""
    trees = {name: _tree(name) for name in (BY_HAND, *MIRRORED)}
    classes = {node.name: node for name in MIRRORED for node in trees[name].body if isinstance(node, ast.ClassDef)}
    own = [node for node in trees[BY_HAND].body if _is_public(node)]
    taken = {node.name for node in own if isinstance(node, ast.ClassDef | Function)}
    body: list[ast.stmt] = [_stub(node, classes.get(node.name)) for node in own if isinstance(node, ast.ClassDef)]
    body += [_plain(node, ast.get_docstring(node)) for node in own if isinstance(node, Function)]
    used = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)} - taken
    homes = _homes(trees) | {"Watch": "phaseline.engine.client.portal"}
    lines = sorted(f"from {homes[name]} import {name}" for name in used & homes.keys())
    lines += (f"\n{ast.unparse(part)}" for part in body)
    made_from = ", ".join(f"{name}.py" for name in trees)
    return {Path("engine/client") / f"{BY_HAND}.pyi": HEAD.format(made_from) + "\n".join(lines) + "\n"}


def _tree(name: str) -> ast.Module:
    return ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))


def _is_public(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_") and node.name != "mirrors"


def _homes(trees: dict[str, ast.Module]) -> dict[str, str]:
    """The module of each name that the sources import, and of their constants."""
    found: dict[str, str] = {}
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {one.name: node.module for one in node.names}
            elif isinstance(node, ast.Assign):
                constants = (one.id for one in node.targets if isinstance(one, ast.Name))
                found |= dict.fromkeys(constants, f"phaseline.engine.client.{name}")
    return found


def _stub(own: ast.ClassDef, source: ast.ClassDef | None) -> ast.ClassDef:
    """A class with the methods of its own and those that it mirrors."""
    there = {node.name for node in own.body if isinstance(node, Function)}
    mirrored = [node for node in (source.body if source else []) if isinstance(node, Function)]
    methods = [node for node in own.body if isinstance(node, Function)]
    methods += [node for node in mirrored if not node.name.startswith("_") and node.name not in there]
    bases = [base for base in own.bases if not (isinstance(base, ast.Name) and base.id.startswith("_"))]
    overloaded = {node.name for node in methods if _is_overload(node)}
    docs = {node.name: ast.get_docstring(node) for node in methods if not _is_overload(node)}
    methods = [node for node in methods if _is_overload(node) or node.name not in overloaded]
    doc = ast.get_docstring(own) or ast.get_docstring(source or own) or ""
    body: list[ast.stmt] = [ast.Expr(ast.Constant(doc)), *(_plain(node, docs[node.name]) for node in methods)]
    return ast.ClassDef(own.name, bases, [], body, [])


def _is_overload(method: Function) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "overload" for one in method.decorator_list)


def _plain(function: Function, doc: str | None) -> ast.FunctionDef:
    """A method that waits, without its body."""
    arguments = (*function.args.args, *function.args.kwonlyargs)
    for argument in arguments:
        argument.annotation = _rewritten(argument.annotation, r" \| AsyncIterable\[.*", "")
    body: list[ast.stmt] = [ast.Expr(ast.Constant(doc or ...))]
    returns = _rewritten(function.returns, r"\bAsyncIterator\[", "Iterator[")
    made = ast.FunctionDef(function.name, function.args, body, function.decorator_list, returns)
    return ast.fix_missing_locations(made)


def _rewritten(annotation: ast.expr | None, pattern: str, by: str) -> ast.expr | None:
    return annotation and ast.parse(re.sub(pattern, by, ast.unparse(annotation)), mode="eval").body
