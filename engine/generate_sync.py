"""Writes the client without asyncio, from the source of the client with asyncio.

Belongs here: `pages`, which the generator of pages and schemas calls too; how a method is turned. Does not: what runs
the calls (`client.portal`).
A method that gives an answer runs it to its end, an asynchronous iterator becomes an iterator, a watch becomes a watch.
Signatures, types and docstrings are copied, so both clients always take and give the same.
"""

import ast
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeGuard

from phaseline.machines.built_in import PRODUCTS

ENGINE = "phaseline.engine."


def _path(module: str) -> str:
    """`client/session` of `phaseline.engine.client.session`."""
    return module.removeprefix(ENGINE).replace(".", "/")


HERE = Path(__file__).parent
WIDTH = 120
COMMAND = "python -m phaseline.engine.generate"
VIEWS = [view for product in PRODUCTS for view in product.views if view.plain]
SOURCES = {
    "client/sync_views": ("client/entity_view",),
    "client/sync_client": ("client/connecting", "client/client"),
    **{_path(view.plain): (_path(view.client.partition(":")[0]),) for view in VIEWS},
}
"""By generated module, the modules that it is made from."""
WRAPPED = ("EntityView", "Watch")
"""The classes that need the portal too."""
LEFT_OUT = ("Connecting", "close")
"""Classes and methods for opening and closing: `portal` has its own."""
CHARTER = '''"""The client without asyncio: {what}.

Made by `{command}` from {sources}.
Belongs here: what `generate_sync` writes. Does not: anything written by hand, what runs the calls (`portal`).
"""
'''
WHATS = {"client/sync_views": "views of a moment", "client/sync_client": "connecting, publishing, reading"}
CLIENT_DOC = """One connection to one installation, for programs without asyncio: `phaseline.Client` with plain methods.

A call returns when its answer is there. `list`, `watch`, `history` and `rejections` give iterators. Use the client
in a `with` block, or call `close`. It runs asyncio in a thread of its own, so it also works in a notebook;
`progress` functions are called from that thread. Ctrl-C ends a call in good order."""
CLIENT_HEAD = '''
    def __init__(self, opened: Opened[client.Client]) -> None:
        """Use a connection that is open; `connect` makes one."""
        self._opened, self._portal, self._source = opened, opened.portal, opened.client

    @classmethod
    def open(cls, settings: Settings, *, source: str | None = None, kinds: Kinds | None = None) -> Self:
        """Connect by complete settings, as `connect` does."""
        return cls(Opened(client.Client.open(settings, source=source, kinds=kinds)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect. A second call does nothing."""
        self._opened.close()
'''
VIEW_HEAD = '''
    def __init__(self, portal: Portal, source: {source}) -> None:
        """Run the reads of `source` in the portal."""
        self._portal, self._source = portal, source
'''
CONNECT_DOC = """Connect to an installation: `with phaseline.sync.connect(...) as client`.

url: one server or several of one cluster. source: where the client's events come from. kinds: the tables to check
against; by default those installed here. Raises `BadSetting`, `NatsUnreachable`, `SetupError`."""

SKIP = "  # fmt: skip"
"""Stands after a head whose parameters fill several lines, which ruff would lay out one per line."""

READS = """
    if TYPE_CHECKING:  # of each product a name, which is looked up when it is asked for
{names}
    else:

        def __getattr__(self, name: str) -> Any:
            \"\"\"The reads of a product.\"\"\"
            return product_views.plain(self._portal, self._source, name)
"""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source(NamedTuple):
    """A module with asyncio: its name, its syntax tree, and where its names come from."""

    name: str
    package: str
    tree: ast.Module
    homes: dict[str, str]


def pages() -> dict[Path, str]:
    """The generated modules by their paths from the project's root."""
    return {Path("engine") / f"{name}.py": _module(name, made_from) for name, made_from in SOURCES.items()}


def _module(name: str, made_from: Sequence[str]) -> str:
    sources = [_source(one) for one in made_from]
    body = "\n\n".join(part for source in sources for part in _parts(source))
    named = " and ".join(f"`{one.name}`" for one in sources)
    charter = CHARTER.format(what=WHATS.get(name, "reads of one product"), command=COMMAND, sources=named)
    return f"{charter}\n{_imports(name, sources, body)}\n\n{body}"


def _source(path: str) -> Source:
    """A module by its path: `client/session`."""
    tree = ast.parse((HERE / f"{path}.py").read_text(encoding="utf-8"))
    homes: dict[str, str] = {}
    for node in [*tree.body, *(part for guard in tree.body if _is_guard(guard) for part in guard.body)]:
        if isinstance(node, ast.ImportFrom) and node.module:
            homes |= {alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.Assign):
            homes |= {one.id: ENGINE + path.replace("/", ".") for one in node.targets if isinstance(one, ast.Name)}
    package, _, name = path.rpartition("/")
    return Source(name, ENGINE + package.replace("/", "."), tree, homes)


def _is_guard(node: ast.stmt) -> TypeGuard[ast.If]:
    """Whether a statement is `if TYPE_CHECKING`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _imports(name: str, sources: Sequence[Source], body: str) -> str:
    """The import statements for the names that `body` uses, in the order that ruff wants."""
    homes = {
        "Self": "typing", "TYPE_CHECKING": "typing", "Any": "typing",
        "Iterator": "collections.abc", "Iterable": "collections.abc",
        "Opened": "phaseline.engine.client.portal",
        "Portal": "phaseline.engine.client.portal",
        **{name: home for source in sources for name, home in source.homes.items()},
        "Watch": "phaseline.engine.client.portal",
        **{source.name: source.package for source in sources},
    }  # fmt: skip
    if name == "client/sync_client":
        homes |= {one: "phaseline.engine.client.sync_views" for one in WRAPPED if one != "Watch"}
    tree = ast.parse(body)
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    typed = {one for node in tree.body if isinstance(node, ast.ClassDef) for one in _names_of_reads(node).values()}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & homes.keys() - defined
    plain = {one: homes[one].replace(".views", ".plain_views") for one in typed}
    found = _import_lines({one: homes[one] for one in used - typed})
    guarded = textwrap.indent(_import_lines(plain), "    ")
    return f"{found}\nif TYPE_CHECKING:\n{guarded}" if typed else found


def _import_lines(homes: Mapping[str, str]) -> str:
    wanted: dict[str, list[str]] = {}
    for one, home in homes.items():
        wanted.setdefault(home, []).append(one)
    groups: list[list[str]] = [[], []]
    for module in sorted(wanted):
        names = sorted(wanted[module], key=lambda one: (not one.isupper(), not one[0].isupper(), one))
        groups[module.startswith("phaseline")].append(f"from {module} import {', '.join(names)}\n")
    return "\n".join("".join(group) for group in groups if group)


def _names_of_reads(node: ast.ClassDef) -> dict[str, str]:
    """The names of products' reads that a class has for type checkers, and the classes."""
    guards = [part for part in node.body if _is_guard(part)]
    return {
        ast.unparse(one.target): ast.unparse(one.annotation)
        for guard in guards for one in guard.body if isinstance(one, ast.AnnAssign)
    }  # fmt: skip


def _parts(source: Source) -> Iterator[str]:
    """The classes and functions of one module."""
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef) and node.name not in LEFT_OUT:
            yield _class(source, node)
        elif isinstance(node, ast.FunctionDef) and node.name == "connect":
            call = _call(f"{source.name}.connect", node)
            head = _signature(node, "Client", "", "def connect", quoted=True)
            yield f"{head}{_doc(CONNECT_DOC, '    ')}    return Client(Opened({call}))\n"


def _class(source: Source, node: ast.ClassDef) -> str:
    bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
    is_client = node.name == "Client"
    doc = CLIENT_DOC if is_client else str(ast.get_docstring(node))
    generic = next((ast.unparse(base) for base in node.bases), "").removeprefix("Generic")
    head = CLIENT_HEAD if is_client else VIEW_HEAD.format(source=f"{source.name}.{node.name}{generic}")
    return f"class {node.name}{bases}:\n{_doc(doc, '    ')}{head}" + "".join(_members(node))


def _members(node: ast.ClassDef) -> Iterator[str]:
    """The parts of a class, in their order."""
    for part in node.body:
        if _is_guard(part):
            names = "\n".join(f"        {name}: {of}" for name, of in _names_of_reads(node).items())
            yield READS.format(names=names)
        elif isinstance(part, Function) and part.name == "__dir__":
            yield f"\n{textwrap.indent(ast.unparse(part), '    ')}\n".replace("'''", '"""')
        elif isinstance(part, Function) and _is_public(part):
            yield f"\n{_method(part)}"


def _is_public(method: Function) -> bool:
    return not method.name.startswith("_") and method.name not in LEFT_OUT and "classmethod" not in _decorators(method)


def _decorators(method: Function) -> list[str]:
    return [ast.unparse(one) for one in method.decorator_list]


def _method(method: Function) -> str:
    decorators = "".join(f"    @{one}\n" for one in _decorators(method))
    returns = ast.unparse(method.returns) if method.returns else "None"
    shown = returns.replace("AsyncIterator[", "Iterator[")
    head = decorators + _signature(method, shown, "    ", f"def {method.name}")
    if "overload" in _decorators(method):
        line, skip, _ = head.rstrip("\n").partition(SKIP)
        return f"{line} ...{skip}\n"
    target = f"self._source.{method.name}"
    call = target if "property" in _decorators(method) else _call(target, method)
    if isinstance(method, ast.AsyncFunctionDef):
        runs = "iterate" if any(isinstance(part, ast.Yield) for part in ast.walk(method)) else "run"
        call = f"self._portal.{runs}({call})"
    wrapper = returns.partition("[")[0]
    body = f"        return {call}\n"
    if wrapper in WRAPPED:
        body = f"        source = {call}\n        return {wrapper}(self._portal, source)\n"
    return f"{head}{_doc(str(ast.get_docstring(method)), '        ')}{_broken(body)}"


def _broken(body: str) -> str:
    """The statements; the first one over three lines if it is too long, as ruff lays it out."""
    line, _, others = body.partition("\n")
    if len(line) <= WIDTH:
        return body
    outer, _, inner = line.partition("(")
    second = f"            {inner[:-1]}"
    if len(second) > WIDTH and "(" not in inner:
        second = "\n".join(f"            {one}," for one in inner[:-1].split(", "))
    elif len(second) > WIDTH:
        call, _, arguments = inner[:-2].partition("(")
        spread = "".join(f"                {one},\n" for one in arguments.split(", "))
        second = f"            {call}(\n{spread}            )"
    return f"{outer}(\n{second}\n        )\n{others}"


def _signature(method: Function, returns: str, indent: str, start: str, *, quoted: bool = False) -> str:
    """The head of a function: on one line, with all parameters on a second one, or with several lines of them."""
    parameters = _parameters(method.args)
    end = f' -> "{returns}":' if quoted else f" -> {returns}:"
    line = f"{indent}{start}({', '.join(parameters)}){end}"
    if len(line) <= WIDTH - (len(" ...") if "overload" in _decorators(method) else 0):
        return line + "\n"
    second = f"{indent}    {', '.join(parameters)}"
    if len(second) <= WIDTH:
        return f"{indent}{start}(\n{second}\n{indent}){end}\n"
    lines = [""]
    for one in parameters:
        if lines[-1] and len(indent) + 4 + len(f"{lines[-1]} {one},") > WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{one},"
    filled = "".join(f"{indent}    {line}\n" for line in lines)
    return f"{indent}{start}(\n{filled}{indent}){end}{SKIP}\n"


def _parameters(arguments: ast.arguments) -> list[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    found = [_parameter(one, default) for one, default in zip(positional, defaults, strict=True)]
    if arguments.posonlyargs:
        found.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        found.append(f"*{_parameter(arguments.vararg, None)}")
    elif arguments.kwonlyargs:
        found.append("*")
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    found += [_parameter(one, default) for one, default in named]
    return found + ([f"**{_parameter(arguments.kwarg, None)}"] if arguments.kwarg else [])


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    if argument.annotation is None:
        return argument.arg
    alternatives = ast.unparse(argument.annotation).partition(" | AsyncIterable[")[0]
    value = "" if default is None else f" = {ast.unparse(default)}"
    return f"{argument.arg}: {alternatives}{value}"


def _call(target: str, method: Function) -> str:
    arguments = method.args
    given = [one.arg for one in (*arguments.posonlyargs, *arguments.args) if one.arg != "self"]
    given += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    given += [f"{one.arg}={one.arg}" for one in arguments.kwonlyargs]
    given += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return f"{target}({', '.join(given)})"


def _doc(text: str, indent: str) -> str:
    if "\n" not in text:
        return f'{indent}"""{text}"""\n'
    return textwrap.indent(f'"""{text}\n"""\n', indent, lambda line: bool(line.strip()))
