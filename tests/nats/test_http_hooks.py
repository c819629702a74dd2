"""Webhooks by HTTP: secrets, signatures, and the events that the shipped examples make (engine/http/intake)."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from phaseline.engine.client.client import Client
from phaseline.engine.errors import BadSetting
from phaseline.engine.http.intake import mapping
from phaseline.engine.http.intake.hook_file import Hooks
from phaseline.engine.request_errors import BadBody, HookFailed, HookUnknown
from phaseline.engine.settings import Settings
from tests.support.command import plain
from tests.support.http_server import Api, http_server

EXAMPLES = Path(__file__).parents[2] / "examples" / "hooks"
BODIES = {name: (EXAMPLES / f"{name}.json").read_bytes() for name in ("alertmanager", "argocd")}
SIGNED = """
hooks:
  signed:
    hmac: {file: secret}
    program: '.body.events'
"""


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", "content-type": "application/json"}


@pytest_asyncio.fixture
async def api(client: Client, working: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Api]:
    """A server with the hooks of the examples."""
    monkeypatch.setenv("ALERTMANAGER_TOKEN", "alert")
    monkeypatch.setenv("ARGOCD_TOKEN", "argo")
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish_and_wait("node_pool", "adopt", "c1/pool-a", {"phase": "Running"})
    for node in ("n1", "n2"):
        await client.publish_and_wait("node", "adopt", f"c1/pool-a/{node}", {"phase": "Running"})
    async with http_server(working, hooks=Hooks.read(EXAMPLES / "hooks.yaml")) as served:
        yield served


async def call(api: Api, name: str, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
    return await api.http.post(f"/v1/hooks/{name}", content=body, headers=headers)


async def test_an_alert_makes_a_node_fail(api: Api) -> None:
    answer = await call(api, "alertmanager", BODIES["alertmanager"], bearer("alert"))
    assert (answer.status_code, [one["duplicate"] for one in answer.json()["results"]]) == (202, [False, False])
    outcome = await api.service.client.event(answer.json()["results"][0]["sequence"])
    assert outcome is not None
    async for record in api.service.client.watch("node", state="Failed", start="start"):
        assert (record.entity.id, record.after.conditions) == ("c1/pool-a/n1", ("NotReady",))
        break
    again = await call(api, "alertmanager", BODIES["alertmanager"], bearer("alert"))
    assert [one["duplicate"] for one in again.json()["results"]] == [True, True]


async def test_argo_cd_tells_of_an_application(api: Api) -> None:
    answer = await call(api, "argocd", BODIES["argocd"], bearer("argo"))
    [result] = answer.json()["results"]
    assert answer.status_code == 202, answer.text
    async for record in api.service.client.watch("application", start="start"):
        assert (record.entity.id, record.cause.sequence) == ("guestbook/guestbook-staging", result["sequence"])
        assert record.entity.attributes["reported_health"] == "Degraded"
        break


async def test_who_may_call_a_hook(api: Api) -> None:
    for headers in (bearer("argo"), bearer(""), {"authorization": "Basic alert"}, {"authorization": "Bearer \u00e4"}):
        try:
            answer = await call(api, "alertmanager", b"{}", headers)
        except (httpx2.LocalProtocolError, UnicodeEncodeError):
            continue
        assert (answer.status_code, answer.json()["type"]) == (401, "urn:phaseline:problem:signature-wrong")
    unknown = await call(api, "alertmanger", b"{}", bearer("alert"))
    assert (unknown.status_code, "did you mean alertmanager?" in unknown.json()["detail"]) == (404, True)
    broken = await call(api, "alertmanager", b"\xff", bearer("alert"))
    assert (broken.status_code, broken.json()["type"]) == (400, "urn:phaseline:problem:bad-body")
    wrong = await call(api, "alertmanager", b'{"version": "4", "alerts": 7}', bearer("alert"))
    assert (wrong.status_code, "Cannot iterate over number" in wrong.json()["detail"]) == (422, True)
    assert (await call(api, "alertmanager", b'{"version": "3"}', bearer("alert"))).json() == {"results": []}


def signed(tmp_path: Path, text: str = SIGNED) -> Hooks:
    (tmp_path / "secret").write_text("s3cret\n")
    (tmp_path / "hooks.yaml").write_text(text)
    return Hooks.read(tmp_path / "hooks.yaml")


async def test_a_signature(client: Client, working: Settings, tmp_path: Path) -> None:
    events = [{"type": "cluster.create", "subject": "cluster/c1"}, {"type": "nod.x", "subject": "nod/y"}]
    body = json.dumps({"events": events}).encode()
    signature = hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
    async with http_server(working, hooks=signed(tmp_path)) as api:
        for given in (f"sha256={signature}", signature.upper()):
            answer = await call(api, "signed", body, {"x-hub-signature-256": given})
            assert answer.status_code == 422  # one of the two events is refused, the other is stored
            first, second = answer.json()["results"]
            assert (first["source"], second["problem"]["status"]) == ("/hooks/signed", 422)
        assert first["duplicate"]
        assert (await call(api, "signed", body + b" ", {"x-hub-signature-256": signature})).status_code == 401
        assert (await call(api, "signed", body, {})).status_code == 401


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hooks: []", "must be a map `hooks`"), ("a: b", "must be a map `hooks`"), ("hooks: {a: {}}", "with `program`"),
        ("hooks: {a: {program: .}}", "needs one of `bearer` and `hmac`, has none"),
        ("hooks: {a: {program: ., bearer: text}}", "must be {env: NAME} or {file: PATH}"),
        ("hooks: {a: {program: ., bearer: {env: NOT_SET_HERE}}}", "env NOT_SET_HERE is empty or not set"),
        ("hooks: {a: {program: ., hmac: {file: nothing}}}", "cannot read nothing"),
        ("hooks: {a: {progam: ., program: ., hmac: {file: secret}}}", "no key 'progam' (did you mean program?)"),
    ],
)  # fmt: skip
def test_wrong_files_of_hooks(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadSetting) as refused:
        signed(tmp_path, text)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("7", "gives '7', an event is an object"), (".body | .x.y.z[", "its program: "), ("range(2000) | {}", "2,000 events"),
        ("def f: f; f", "it was stopped after 0.25 s of computing"), ("env.HOME | error", "its program: "),
        ('"0123456789" * 500000', "more than 4 MB"),
    ],
)  # fmt: skip
def test_programs_that_fail(program: str, says: str) -> None:
    with pytest.raises(HookFailed) as refused:
        mapping.events("h", program, {}, b"{}")
    assert says in str(refused.value)


def test_what_a_program_gets_and_what_its_events_have() -> None:
    found = mapping.events("h", '{subject: .headers.x, type: .body.t}, [{id: "own"}], null', {"x": "y"}, b'{"t": 1}')
    assert [one["subject"] for one in found[:1]] == ["y"]
    assert found[0]["id"] == hashlib.sha256(b'{"t": 1}').hexdigest()[:24] + "-0"
    assert found[1] == {"specversion": "1.0", "id": "own", "source": "/hooks/h"}
    with pytest.raises(BadBody):
        mapping.events("h", ".", {}, b"{")
    with pytest.raises(HookUnknown, match="names none"):
        Hooks({}).find("x")


async def test_hook_try(tmp_path: Path) -> None:
    path = str(EXAMPLES / "hooks.yaml")
    code, out, said = await plain()("hook", "try", "--hooks", path, "alertmanager", stdin=BODIES["alertmanager"])
    events: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert (code, said, [one["type"] for one in events]) == (0, "", ["node.not_ready", "node.ready"])
    (tmp_path / "h.yaml").write_text("hooks: {a: {bearer: {env: X}, program: '{type: .body, subject: .headers.s}'}}")
    code, _, said = await plain()(
        "hook", "try", "--hooks", str(tmp_path / "h.yaml"), "a", "--header", "S: nod/x", stdin=b'"nod.y"'
    )
    assert (code, "did you mean node?" in said) == (1, True)
