"""Who may: roles, tokens, hosts and sites (engine/surfaces/http/access)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from phaseline.engine.surfaces.http.access import origin, tokens, trees
from phaseline.engine.surfaces.http.access.access import Access, AccessSettings
from phaseline.engine.surfaces.http.access.budgets import Budgets
from phaseline.engine.surfaces.http.access.caller import LOCAL, NOBODY, TRY, BadRole, Caller, named, with_roles
from phaseline.engine.surfaces.http.call import CallOf
from phaseline.engine.surfaces.http.routes import ROUTES
from phaseline.schemas.errors import BadSetting, EntityUnknown, InvalidInput, TreeUnknown
from tests.support.raising import raises


def request(method: str = "GET", path: str = "/v1/entities", client: str = "10.0.0.7", **headers: str) -> Request:
    given = {"host": "localhost:8223", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Request({
        "type": "http", "method": method, "path": path, "client": (client, 5), "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    })  # fmt: skip


def test_roles() -> None:
    caller = with_roles("ci", ["read:c1", "read:c2", "publish:my%20tree"])
    assert caller == Caller("ci", frozenset({"read", "publish"}), frozenset({"c1", "c2"}), frozenset({"my tree"}))
    assert with_roles("x", ["read:c1", "read"]).trees == frozenset()
    assert [caller.may_read(one) for one in ("c1/pool-a", "c2", "c11/p")] == [True, True, False]
    caller.check_publish("my tree/x")
    with raises(InvalidInput.not_allowed, match="it needs the role publish:c1"):
        caller.check_publish("c1/n")
    with raises(InvalidInput.not_allowed, match="it needs the role operate"):
        caller.check("operate")


def test_who_is_named_as_a_token_spends_nothing_of_it() -> None:
    def sender(caller: Caller) -> str:
        return CallOf[Any](None, request(), {}, caller, (), Budgets()).sender

    token = named(with_roles("agent", ["read", "publish"]))
    namesake = replace(named(with_roles("agent", ["read"])), actor="", nameless="a token has the name")
    assert sender(token) == "agent"
    assert sender(namesake) not in {"agent", "10.0.0.7"}
    assert (sender(LOCAL), sender(NOBODY)) == ("10.0.0.7", "10.0.0.7")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("reed", "did you mean read?"), ("operate:c1", "operate is for all trees"), ("read:c1/p", "write read:c1"),
        ("read:", "has an empty part"), ("", "is no role"),
    ],
)  # fmt: skip
def test_wrong_roles(word: str, says: str) -> None:
    with pytest.raises(BadRole) as refused:
        with_roles("x", [word])
    assert says in str(refused.value)


def test_a_token_is_made_found_and_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    first, second = tokens.add(path, "alice", ["read", "operate"]), tokens.add(path, "ci", ["publish:c1"])
    assert (path.stat().st_mode & 0o777, first in path.read_text()) == (0o600, False)
    known = tokens.Tokens(path, look=-1.0)
    alice = known.caller(first)
    assert alice is not None
    assert alice == Caller("alice", frozenset({"read", "operate"}))
    assert known.caller("phl_nothing") is None
    path.write_text("\n".join(line for line in path.read_text().splitlines() if " ci " not in line))
    assert (known.caller(second), known.caller(first)) == (None, alice)
    path.write_text("broken")
    assert known.caller(first) == alice


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("secret ci read", "line 1: a line is DIGEST NAME ROLE..., and 'secret' is no SHA-256"),
        (f"{'0' * 64} ci", "a line is DIGEST NAME ROLE..."), (f"\n{'0' * 64} ci rd", "line 2: 'rd' is no role"),
        (f"{'0' * 64} a read\n{'0' * 64} b read", "line 2: the token of a again"),
    ],
)  # fmt: skip
def test_wrong_files_of_tokens(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(text)
    with pytest.raises(BadSetting) as refused:
        tokens.read(path)
    assert says in str(refused.value)
    with pytest.raises(BadSetting, match="cannot read"):
        tokens.read(tmp_path / "nothing")


def test_only_our_hosts_are_answered() -> None:
    for host in (
        "localhost",
        "localhost:8223",
        "127.0.0.1:1",
        "[::1]:8223",
        "10.1.2.3",
        "x.localhost",
        "a.example.com",
    ):
        origin.check_host(request(host=host), ["*.example.com"])
    for host in (
        "evil.example", "example.com", "localhost.evil.example", "", "[", "127.0.0.1.evil.example", "a@b",
        "me@localhost", "me:pw@127.0.0.1:8223", "evil.example@a.example.com", "localhost/x", "localhost?x", "localhost#x",
        "localhost:x", "localhost:8223:1", "localhost, evil.example", "local host", "[::1", "::1", "localhost\\@evil.example",
    ):  # fmt: skip
        with raises(InvalidInput.host_unknown, match="--allowed-host"):
            origin.check_host(request(host=host), ["*.example.com"])


@pytest.mark.parametrize(
    ("headers", "is_ours"),
    [
        ({}, True), ({"sec_fetch_site": "same-origin"}, True), ({"sec_fetch_site": "none"}, True),
        ({"sec_fetch_site": "cross-site"}, False), ({"sec_fetch_site": "same-site"}, False),
        ({"origin": "http://localhost:8223"}, True), ({"origin": "http://localhost:9"}, False),
        ({"origin": "http://me@localhost:8223"}, False), ({"origin": "localhost:8223"}, False),
        ({"origin": "null"}, False), ({"origin": "https://evil.example"}, False),
        ({"origin": "https://evil.example", "sec_fetch_site": "cross-site"}, False),
    ],
)  # fmt: skip
def test_only_our_page_changes_something(headers: dict[str, str], is_ours: bool) -> None:
    origin.check_site(request("GET", **headers), [])
    if is_ours:
        origin.check_site(request("POST", **headers), [])
    else:
        with raises(InvalidInput.other_site):
            origin.check_site(request("POST", **headers), [])


async def test_without_tokens_everybody_is_local_and_only_this_machine_may_ask() -> None:
    assert await Access().admit(request(), "operate") == LOCAL
    for host in ("127.0.0.1", "::1", "localhost"):
        Access().check_listen(host)
    for host in ("0.0.0.0", "::", "10.0.0.1", "example.com"):
        with pytest.raises(BadSetting, match="give --tokens FILE"):
            Access().check_listen(host)


async def test_a_token_in_the_header_or_the_cookie(tmp_path: Path) -> None:
    token = tokens.add(tmp_path / "tokens", "ci", ["read"])
    access = Access(AccessSettings(tmp_path / "tokens"))
    access.check_listen("0.0.0.0")
    ways: list[dict[str, Any]] = [{"authorization": f"bearer {token}"}, {"cookie": f"a=b; phaseline={token}"}]
    for headers in ways:
        assert (await access.admit(request(**headers), "read")).name == "ci"
        with raises(InvalidInput.not_allowed):
            await access.admit(request(**headers), "operate")
    for headers in ({}, {"authorization": "Bearer x"}, {"authorization": f"Basic {token}"}):
        with raises(InvalidInput.no_token):
            await access.admit(request(**headers), "read")
        assert (await access.admit(request(**headers), "")).roles == frozenset()


async def test_a_trusted_proxy_names_the_user() -> None:
    access = Access(AccessSettings(proxies=("10.0.0.0/8",), user_header="X-User", user_roles=("read", "publish:c1")))
    assert (await access.admit(request(x_user="alice"), "read")).published == {"c1"}
    for asked in (request(x_user="alice", client="192.168.0.1"), request(), request(x_user="")):
        with raises(InvalidInput.no_token):
            await access.admit(asked, "read")
    wrong = [
        AccessSettings(proxies=("10.0.0.1",)), AccessSettings(user_header="X"),
        AccessSettings(proxies=("x",), user_header="X"), AccessSettings(user_roles=("rd",)),
    ]  # fmt: skip
    for settings in wrong:
        with pytest.raises(BadSetting):
            Access(settings)


def test_a_budget_is_used_up_and_fills_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("phaseline.engine.surfaces.http.access.budgets.time.monotonic", lambda: now[0])
    budgets = Budgets(200)
    budgets.take("a", 1_500)
    budgets.take("b", 2_000)
    with raises(InvalidInput.too_many_events, match=r"a sends more than 200 events per second: wait 2.5 s"):
        budgets.take("a", 1_000)
    budgets.take("a", 500)  # what was refused has taken nothing
    now[0] += 2.5
    budgets.take("a", 500)
    with raises(InvalidInput.too_many_events):
        budgets.take("a", 1)
    now[0] += 1e6
    with raises(InvalidInput.too_many_events):
        budgets.take("a", 2_001)
    budgets.take("a", 2_000)
    for _ in range(3):
        Budgets(0).take("a", 1_000_000)
    for number in range(10_001):
        budgets.take(str(number))
    budgets.take("a", 2_000)  # forgotten, so full


def test_requests_are_narrowed_to_a_tree() -> None:
    one, two = with_roles("a", ["read:c1"]), with_roles("b", ["read:c1", "read:c2"])
    assert trees.narrow(LOCAL, "x", "read", [], [], {}) == []
    assert trees.narrow(one, "listEntities", "read", ["tree"], [("kind", "node")], {}) == [
        ("kind", "node"),
        ("tree", "c1"),
    ]
    assert trees.narrow(two, "x", "read", ["tree"], [("tree", "c2/p")], {}) == [("tree", "c2/p")]
    assert trees.narrow(two, "x", "read", ["tree"], [], {}) == [("tree", "c1"), ("tree", "c2")]
    with pytest.raises(TreeUnknown):
        trees.narrow(one, "x", "read", ["tree"], [("tree", "c2")], {})
    with pytest.raises(EntityUnknown):
        trees.narrow(one, "x", "read", [], [], {"kind": "node", "id": "c2/p/n"})
    with raises(InvalidInput.not_allowed, match="read of all trees"):
        trees.narrow(one, "x", "read", [], [], {"kind": "x", "id": "c1"}, across=True)


def test_a_dry_run_needs_what_reading_or_publishing_needs() -> None:
    [route] = [one for one in ROUTES if one.name == "publishEvents"]
    assert [route.needs([("dry-run", value)]) for value in ("1", "true", "", "0")] == [TRY, TRY, TRY, "publish"]
    assert route.needs([]) == "publish"
    for word, needed in (("read:c1", "publish:c2"), ("publish:c1", "publish:c2"), ("operate", "publish:c1")):
        caller = with_roles("x", [word])
        if word == "operate":
            with raises(InvalidInput.not_allowed, match="the role read"):
                caller.check(TRY)
        else:
            caller.check(TRY)
            caller.check_try("c1/p/n")
        with raises(InvalidInput.not_allowed, match=needed):
            caller.check_try(needed.partition(":")[2])
