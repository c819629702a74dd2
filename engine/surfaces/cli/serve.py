"""The commands `serve` and `token`: the page and the API of an installation, by HTTP; a token for them.

Belongs here: their options and messages. Does not: the server (`surfaces.http`), the file of tokens
(`http.access.tokens`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click

from phaseline.engine.replay.archive.open_archive import store_at
from phaseline.engine.settings import DEFAULT_HISTORY, Settings
from phaseline.engine.surfaces.cli import cells, options, terminal
from phaseline.engine.surfaces.cli.cells import Installations
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.http.access.budgets import RATE
from phaseline.engine.surfaces.telemetry.listening import HTTP_LISTEN
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed
from phaseline.schemas import libraries

NEEDED = ("starlette", "uvicorn", "httptools")


@click.command(
    cls=Page,
    examples=[
        ("phaseline serve", f"the page is at http://{HTTP_LISTEN}"),
        ("phaseline serve --nats nats://nats.example:4222 --listen 127.0.0.1:9000", ""),
        ("phaseline serve --listen 127.0.0.1:0 -v", "on any free port, with all log lines"),
        ("phaseline serve --archive /backup/pl", "with the past that was archived"),
        ("phaseline serve --cell east=nats://east:4222 --cell west=@west", "the page and the API of two installations"),
        ("phaseline serve --listen 0.0.0.0:8223 --tokens tokens --allowed-host phaseline.example", ""),
        (
            "phaseline serve --link 'node:Grafana=https://grafana.example/d/node?var-node={id}'",
            "with links to other tools",
        ),
        (
            "phaseline serve --listen 0.0.0.0:8223 --jwks https://id.example/keys --jwt-issuer https://id.example "
            "--jwt-audience phaseline",
            "users of an identity provider",
        ),
    ],
)
@click.option("--listen", default=HTTP_LISTEN, metavar="HOST:PORT", envvar="PHASELINE_LISTEN", show_envvar=True,
              show_default=True, help="Where to listen. Port 0 picks a free one.")  # fmt: skip
@click.option("--history", type=options.WholeNumber(0), default=DEFAULT_HISTORY, metavar="N",
              envvar="PHASELINE_HISTORY", show_envvar=True, show_default=True,
              help="Transitions of the past that are kept in memory, 30 bytes each.")  # fmt: skip
@click.option("--tokens", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              envvar="PHASELINE_TOKENS", show_envvar=True,
              help="Who may do what: the digests of tokens, which `phaseline admin token` makes.")  # fmt: skip
@click.option("--allowed-host", "hosts", multiple=True, metavar="NAME", envvar="PHASELINE_ALLOWED_HOST",
              show_envvar=True,
              help="A host name of this server beside localhost; *.example.com is all below.")  # fmt: skip
@click.option("--trusted-proxy", "proxies", multiple=True, metavar="ADDRESS", envvar="PHASELINE_TRUSTED_PROXY",
              show_envvar=True, help="The address or network of a proxy that says who asks.")  # fmt: skip
@click.option("--user-header", metavar="NAME", envvar="PHASELINE_USER_HEADER", show_envvar=True,
              help="The header in which that proxy names the user.")  # fmt: skip
@click.option("--user-role", "user_roles", multiple=True, default=("read",), show_default=True, metavar="ROLE",
              help="What the users of that proxy may.")  # fmt: skip
@click.option("--jwks", metavar="URL|FILE", envvar="PHASELINE_JWKS", show_envvar=True,
              help="The keys of an identity provider, whose JWTs are taken as tokens.")  # fmt: skip
@click.option("--jwt-issuer", default="", metavar="NAME", envvar="PHASELINE_JWT_ISSUER", show_envvar=True,
              help="What those JWTs must have as `iss`.")  # fmt: skip
@click.option("--jwt-audience", default="", metavar="NAME", envvar="PHASELINE_JWT_AUDIENCE", show_envvar=True,
              help="What those JWTs must have in `aud`.")  # fmt: skip
@click.option("--jwt-roles", default="roles", show_default=True, metavar="CLAIM", envvar="PHASELINE_JWT_ROLES",
              show_envvar=True, help="The claim of those JWTs with the roles, such as realm_access.roles.")  # fmt: skip
@click.option("--jwt-role", "jwt_given", multiple=True, metavar="WORD=ROLE", envvar="PHASELINE_JWT_ROLE",
              show_envvar=True,
              help="A role for a word of that claim, such as a group: platform=operate. Others give none.")  # fmt: skip
@click.option("--jwt-user", default="sub", show_default=True, metavar="CLAIM", envvar="PHASELINE_JWT_USER",
              show_envvar=True, help="The claim of those JWTs that names the user, such as email.")  # fmt: skip
@click.option("--event-rate", type=options.Decimal(0), default=int(RATE), show_default=True, metavar="N",
              envvar="PHASELINE_EVENT_RATE", show_envvar=True,
              help="Events per second that each token, or address without one, may send; 0: any number.")  # fmt: skip
@click.option("--link", "links", multiple=True, metavar="KIND:NAME=URL", envvar="PHASELINE_LINK", show_envvar=True,
              help="A link of the page from each entity of a kind (* is any) to another tool. {id}, {kind}, {tree} and "
              "{name} stand for parts of the entity's name.")  # fmt: skip
@cells.reading
def serve(
    installations: Installations, *, listen: str, history: int, tokens: Path | None,
    hosts: tuple[str, ...], proxies: tuple[str, ...], user_header: str | None, user_roles: tuple[str, ...],
    jwks: str | None, jwt_issuer: str, jwt_audience: str, jwt_roles: str, jwt_given: tuple[str, ...], jwt_user: str,
    event_rate: float, links: tuple[str, ...],
) -> int | None:  # fmt: skip
    """Serve the page and the API of an installation by HTTP, until Ctrl-C.

    The process keeps nothing. It folds the log into memory and follows it; run as many as you like. Without NATS it
    waits, and answers as soon as there is an installation.

    Whoever can reach it may do everything, so it listens on this machine only. To listen elsewhere, say by --tokens,
    --jwks or --trusted-proxy who may do what.

    With --archive, everything that was archived can be asked for too: earlier places, histories, the time bar of the
    page. The archive may grow meanwhile.

    With --cell, serve several installations: /v1/entities, /v1/counts, /v1/columns and /v1/transitions take in all of
    them, and /v1/cells/NAME/... is the whole API of one. The page shows all of them, or one with its past.
    Cells are read without archives: serve one that has an archive in a process of its own too.
    """
    check_libraries()
    from phaseline.engine.surfaces.http import links as of_page  # noqa: PLC0415  # likewise
    from phaseline.engine.surfaces.http import server  # noqa: PLC0415  # it needs the libraries that were looked for
    from phaseline.engine.surfaces.http.access.access import AccessSettings, JwtSettings  # noqa: PLC0415  # likewise

    jwt = None if jwks is None else JwtSettings(jwks, jwt_issuer, jwt_audience, jwt_roles, jwt_user, jwt_given)
    access = AccessSettings(tokens, hosts, proxies, user_header, user_roles, jwt, event_rate)

    terminal.log_like_a_server(quiet=True)

    async def work() -> None:
        leads = of_page.read(links, installed())
        stop = system.stopped_by_signals()
        if installations.cells:
            serving = server.serving_cells(installations.cells, installations.kinds, listen, history, access, leads)
            async with serving as found:
                names = ", ".join(installations.cells)
                terminal.say(f"The page and the API of {names} are at {found.url}. Stop with Ctrl-C.")
                await stop.wait()
            return
        settings = installations.settings
        if settings.archive is not None:
            await asyncio.to_thread(store_at(settings.archive).existing_manifest)
        kinds = installed(settings.prefix)
        async with server.serving(settings, kinds, listen, history, access, leads) as found:
            terminal.say(f"The page and the API are at {found.url}. Stop with Ctrl-C.")
            await stop.wait()

    return terminal.run(work())


@asynccontextmanager
async def served(settings: Settings, port: int | None) -> AsyncIterator[str]:
    """The page and the API on this machine while the block runs: where they are. Empty without a port."""
    if port is None:
        yield ""
        return
    if settings.archive is not None:
        await asyncio.to_thread(store_at(settings.archive).existing_manifest)
    from phaseline.engine.surfaces.http import server  # noqa: PLC0415  # it needs libraries that not everybody has

    async with server.serving(settings, installed(settings.prefix), f"127.0.0.1:{port}", setting="http") as serving:
        yield serving.url


def check_libraries() -> None:
    """Raise `NotInstalled` unless all libraries of the extra `http` are there."""
    for module in NEEDED:
        libraries.require(module, "HTTP")


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin token --tokens tokens alice read operate", "Alice may read everything and send events again"),
        ("phaseline admin token --tokens tokens agent-c1 read:c1 publish:c1", "only the tree c1"),
        ("phaseline admin token --tokens tokens agent-c2 publish:c2 'source:/agent/c2*'", "only these sources"),
    ],
)
@click.argument("name")
@click.argument("roles", nargs=-1, required=True, metavar="ROLE...")
@click.option("--tokens", "path", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
              envvar="PHASELINE_TOKENS", show_envvar=True, help="The file of `phaseline serve --tokens`.")  # fmt: skip
def token(path: Path, *, name: str, roles: tuple[str, ...]) -> None:
    """Make a token for NAME, print it, and add its digest to the file of tokens.

    Roles: read, read:TREE, publish, publish:TREE, operate (send rejected events again). source:PATTERN limits the
    sources of its events. Records name NAME as the actor of what the token is used for. The token is shown this once.
    To take it away, delete its line; the server notices.
    """
    check_libraries()
    from phaseline.engine.surfaces.http.access import tokens  # noqa: PLC0415  # likewise

    print(tokens.add(path, name, roles))
    terminal.say(f"the token of {name}: send it as `Authorization: Bearer TOKEN`, or open the page with /#token=TOKEN")
