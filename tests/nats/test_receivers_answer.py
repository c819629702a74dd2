"""One message to one receiver, with real servers: what came of it, and what is never shown, followed or waited for."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import signal
import socket
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage
from phaseline.engine.products.notices.sending import addresses, attempts, bus, ways, web
from phaseline.engine.products.notices.sending.attempts import Attempt
from phaseline.schemas.records import SECOND, nanoseconds, timestamp
from tests.support.closed_port import ADDRESS
from tests.support.installation import EmbeddedServer, Settings, Wire
from tests.support.notified import Receiver
from tests.support.odd_receivers import (
    MailReceiver,
    OddReceiver,
    answer,
    close,
    drip,
    hang,
    never_end,
    receiving,
    receiving_mail,
)

BEGAN = nanoseconds("2026-11-27T08:12:00Z")
PRIVATE: dict[str, Any] = {"allow-private": True}


def message(word: Any = "begin", **more: Any) -> NoticeMessage:
    data = {
        "severity": "critical", "about": "cluster/c1", "state": "Stopped [Balance]", "number": 1, "most": 1,
        "since": timestamp(BEGAN), "opened": timestamp(BEGAN), "ended": "", "ended_as": "", **more,
    }  # fmt: skip
    return NoticeMessage("cluster-down/17", "ops", word, data, BEGAN, BEGAN)


END = {"ended": timestamp(BEGAN + 60 * SECOND), "ended_as": "good", "number": 0}


async def sent(type_: Any, told: NoticeMessage | None = None, handle: Any = None, **options: Any) -> Attempt:
    receiver = Receiver("ops", type_, {"timeout": "30s", **options})
    return await ways.send(receiver, told or message(), "phaseline/pl", handle=handle)


async def to_web(found: OddReceiver, **options: Any) -> Attempt:
    return await sent("webhook", **{"url": found.url, **PRIVATE, **options})


# ---- answers


@pytest.mark.parametrize(
    ("given", "outcome", "said", "wait"),
    [
        (answer(200, b"ok"), "sent", "200 Said: ok", 0),
        (answer(204), "sent", "204 Said", 0),
        (answer(500, b"no"), "failed", "500 Said: no", 0),
        (answer(429, Retry_After="7"), "failed", "429 Said", 7),
        (answer(503, Retry_After="99999999"), "failed", "503 Said", attempts.DAY),
        (answer(410), "refused", "410 Said; it wants nothing any more", 0),
        (answer(302, Location="http://127.0.0.1:1/"), "failed",
         "302 Said: it redirects, which is not followed: write the right url", 0),
        (answer(400, b"bad \x00 body"), "failed", "400 Said: bad ? body", 0),
        (answer(500, b"token=abcdefgh T0PSECRETPART"), "failed", "500 Said: token=*** ***", 0),
        (b"garbage\r\n\r\n", "failed", None, 0),
        (b"", "failed", None, 0),
        (close, "failed", None, 0),
    ],
)  # fmt: skip
async def test_what_came_of_a_try(given: Any, outcome: str, said: str | None, wait: float) -> None:
    async with receiving(given) as found:
        attempt = await to_web(found)
    assert (attempt.outcome, attempt.wait) == (outcome, wait)
    assert attempt.said
    assert "T0PSECRET" not in attempt.said
    if said is not None:
        assert attempt.said == said
    assert len(found.got) == 1


async def test_only_some_failures_are_about_the_message() -> None:
    async with receiving(answer(413), answer(401)) as found:
        assert [(await to_web(found)).about_message for _ in range(2)] == [True, False]


@pytest.mark.parametrize("behaviour", [hang, drip])
async def test_nobody_is_waited_for_without_end(behaviour: Any) -> None:
    async with receiving(behaviour) as found:
        attempt = await to_web(found, timeout="0.5s")
    assert (attempt.outcome, attempt.said) == ("failed", "no answer within 0.5 s")


async def test_an_answer_without_end_is_read_up_to_a_bound() -> None:
    async with receiving(never_end) as found:
        assert (await to_web(found)).outcome == "sent"


async def test_a_port_where_nobody_listens() -> None:
    attempt = await sent("webhook", url=f"http://{ADDRESS}/hook/T0PSECRETPART", **PRIVATE)
    assert attempt.outcome == "failed"
    assert "T0PSECRET" not in attempt.said


@pytest.mark.parametrize("header", ["", "soon", "-5", "Thu, 32 Foo", "9" * 5_000, "Fri, 27 Nov 2026 08:00:00 GMT"])
def test_a_header_that_asks_for_nothing_or_too_much(header: str) -> None:
    assert 0 <= attempts.retry_after(header, BEGAN / SECOND) <= attempts.DAY


def test_times_between_tries_grow_to_an_hour() -> None:
    assert attempts.retry_after("Fri, 27 Nov 2026 08:12:30 GMT", BEGAN / SECOND) == 30
    waits = [attempts.pause(failures) for failures in range(1, 2_000)]
    assert waits[:4] == [2, 4, 8, 16]
    assert waits[-1] == attempts.LONGEST
    assert waits == sorted(waits)


# ---- where nothing is sent


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
     "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2002:a00:1::", "::127.0.0.1", "no"],
)  # fmt: skip
def test_addresses_of_private_networks(address: str) -> None:
    assert not addresses.is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])
def test_addresses_of_the_internet(address: str) -> None:
    assert addresses.is_public(address)


async def test_a_private_address_gets_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as found:
        for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1"):
            with pytest.raises(web.NotReached):
                await web.post(f"http://{host}:{found.port}/", b"", {}, seconds=30, allow_private=False, secrets=())
        # A name that leads to a public address first, and to a private one when the connection is made.
        public = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 80))]
        private = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", found.port))]
        answers = [public, private]

        async def lying(*_: Any, **__: Any) -> Any:
            return answers.pop(0)

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", lying)
        assert await asyncio.get_running_loop().getaddrinfo("x.org", 80) == public
        with pytest.raises(web.NotReached, match="private network"):
            await web.post("http://x.org/", b"", {}, seconds=30, allow_private=False, secrets=())
        assert found.connections == 0


async def test_a_redirect_to_this_machine_is_not_followed() -> None:
    async with receiving() as inner, receiving(answer(307, Location=inner.url)) as outer:
        assert (await to_web(outer)).outcome == "failed"
        assert inner.got == []


# ---- secrets


async def test_secrets_come_from_the_environment_and_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with receiving(answer(500, b"Bearer abc-s3cret-word, from-a-file")) as found:
        file = tmp_path / "token"
        file.write_text("from-a-file\n")
        monkeypatch.setenv("HOOK", found.url)
        monkeypatch.setenv("WORD", "abc-s3cret-word")
        attempt = await sent("webhook", url="${HOOK}", **PRIVATE, headers={
            "Authorization": "Bearer ${WORD}", "X-Key": f"${{file:{file}}}",
        })  # fmt: skip
        assert found.got[0].headers["authorization"] == "Bearer abc-s3cret-word"
        assert found.got[0].headers["x-key"] == "from-a-file"
        assert attempt.said == "500 Said: ***, ***"
        file.write_text("renewed-key")
        await sent("webhook", url="${HOOK}", **PRIVATE, headers={"X-Key": f"${{file:{file}}}"})
        assert found.got[1].headers["x-key"] == "renewed-key"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("${NO_SUCH_NAME}", "the environment has no NO_SUCH_NAME"),
        ("${file:/no/such/file}", "/no/such/file cannot be read: No such file or directory"),
        ("${PLAIN}", "url must begin with https://; http:// is for your own network, with allow-private: true"),
        ("${LINES}", "LINES is empty, or has several lines"),
    ],
)
async def test_a_secret_that_is_not_there(monkeypatch: pytest.MonkeyPatch, url: str, said: str) -> None:
    monkeypatch.setenv("PLAIN", "http://example.org/hook")
    monkeypatch.setenv("LINES", "https://x.org/\r\nX-Evil: 1")
    assert await sent("webhook", url=url) == Attempt("failed", said)


# ---- what each type sends


async def test_a_webhook_gets_json_with_a_stable_id_and_a_signature() -> None:
    async with receiving() as found:
        await to_web(found, secret="hush-hush")
        await to_web(found)
    first, second = found.got
    assert first.json["title"] == "CRITICAL: cluster c1 Stopped [Balance]"
    assert first.json["id"] == second.json["id"] == first.headers["idempotency-key"]
    assert first.is_signed_by(b"hush-hush")
    assert "x-hub-signature-256" not in second.headers
    assert first.path == "/hook/T0PSECRETPART?x=1"


async def test_a_cloud_event_is_signed() -> None:
    async with receiving(answer(202)) as found:
        attempt = await sent("cloudevents", url=found.url, secret="hush-hush", **PRIVATE)
    assert attempt.outcome == "sent"
    [request] = found.got
    assert request.headers["content-type"].startswith("application/cloudevents+json")
    assert request.json["type"] == "notice.begin"
    assert request.is_signed_by(b"hush-hush")


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        ("feishu", b'{"code": 0}', b'{"code": 19024, "msg": "Key Words Not Found"}'),
        ("dingtalk", b'{"errcode": 0}', b'{"errcode": 310000, "errmsg": "keywords not in content"}'),
        ("wecom", b'{"errcode": 0}', b'{"errcode": 93000, "errmsg": "invalid webhook url"}'),
        ("feishu", b'{"code": 0}', b"{}"),
        ("wecom", b'{"errcode": 0}', b"<html>please log in</html>"),
    ],
)
async def test_a_service_that_answers_200_to_what_it_did_not_take(shape: str, good: bytes, bad: bytes) -> None:
    async with receiving(answer(200, good), answer(200, bad)) as found:
        assert [(await to_web(found, shape=shape)).outcome for _ in range(2)] == ["sent", "failed"]


async def test_signatures_of_chat_services() -> None:
    async with receiving(answer(200, b'{"code": 0, "errcode": 0}')) as found:
        await to_web(found, shape="feishu", secret="hush-hush")
        await to_web(found, shape="dingtalk", secret="hush-hush")
    feishu, dingtalk = found.got
    key = f"{feishu.json['timestamp']}\nhush-hush".encode()
    assert base64.b64decode(feishu.json["sign"]) == hmac.new(key, b"", hashlib.sha256).digest()
    assert "&timestamp=" in dingtalk.path
    assert "&sign=" in dingtalk.path


async def test_an_own_template() -> None:
    template = {"event_action": {"$by": "colour", "over": "resolve", "otherwise": "trigger"}, "dedup_key": "{thread}"}
    async with receiving() as found:
        for told in (message(), message("end", **END)):
            assert (await sent("webhook", told, url=found.url, template=template, **PRIVATE)).outcome == "sent"
    assert [one.json["event_action"] for one in found.got] == ["trigger", "resolve"]
    assert found.got[0].json["dedup_key"] == found.got[1].json["dedup_key"]


def slack_says(**words: Any) -> bytes:
    return answer(200, json.dumps(words).encode())


async def to_slack(found: OddReceiver, told: NoticeMessage, handle: Any = None) -> Attempt:
    options = {"token": "xoxb-s3cret-token", "channel": "C1", "url": f"http://127.0.0.1:{found.port}/api", **PRIVATE}
    return await ways.send(Receiver("ops", "slack", options), told, "phaseline/pl", handle=handle)


async def test_slack_has_one_message_that_changes() -> None:
    async with receiving(slack_says(ok=True, channel="C1", ts="17.1")) as found:
        begun = await to_slack(found, message())
        ended = await to_slack(found, message("end", **END), begun.handle)
        anew = await to_slack(found, message(opened=timestamp(BEGAN + 5)), ended.handle)
    assert begun.handle == ended.handle
    assert anew.handle != begun.handle
    assert [one.path for one in found.got] == [
        "/api/chat.postMessage", "/api/chat.update", "/api/chat.postMessage", "/api/chat.postMessage",
    ]  # fmt: skip
    post, update, reply, _ = (one.json for one in found.got)
    assert (post["channel"], update["ts"], reply["thread_ts"]) == ("C1", "17.1", "17.1")
    assert update["text"] == reply["text"] == "OVER: cluster c1 good again after 1 min"
    assert found.got[0].headers["authorization"] == "Bearer xoxb-s3cret-token"


async def test_slack_gets_a_new_message_when_the_old_one_is_gone() -> None:
    gone, taken = slack_says(ok=False, error="message_not_found"), slack_says(ok=True, channel="C1", ts="18.1")
    handle = {"channel": "C1", "at": "17.1", "thread": message().thread}
    async with receiving(gone, taken) as found:
        attempt = await to_slack(found, message("reminder"), handle)
    assert (attempt.outcome, (attempt.handle or {})["at"]) == ("sent", "18.1")


async def test_slack_says_no_with_200() -> None:
    async with receiving(slack_says(ok=False, error="invalid_auth")) as found:
        attempt = await to_slack(found, message())
    assert attempt == Attempt("failed", "Slack: invalid_auth")


async def test_an_alert() -> None:
    async with receiving() as found:
        await sent("alertmanager", url=f"http://127.0.0.1:{found.port}/", labels={"team": "a"}, **PRIVATE)
    [request] = found.got
    assert request.path == "/api/v2/alerts"
    assert request.json[0]["labels"] == {
        "alertname": "cluster-down", "notice": "cluster-down/17", "severity": "critical", "team": "a",
    }  # fmt: skip


# ---- e-mail


async def to_mail(found: MailReceiver, handle: Any = None, **options: Any) -> Attempt:
    given = {"host": "localhost", "port": found.port, "from": "Phaseline <p@x.org>", "to": ["a@x.org", "b@x.org"],
             "tls": "none", **PRIVATE, **options}  # fmt: skip
    return await sent("email", handle=handle, **given)


async def test_a_mail() -> None:
    async with receiving_mail() as found:
        assert await to_mail(found) == Attempt("sent", "taken as 17")
    [sent_mail] = found.mails
    read = message_from_bytes(sent_mail, policy=default)
    assert read["Subject"] == "CRITICAL: cluster c1 Stopped [Balance]"
    assert [one for one in found.commands if one.startswith("RCPT")] == ["RCPT TO:<a@x.org>", "RCPT TO:<b@x.org>"]


@pytest.mark.parametrize(
    ("refuses", "said", "about_message"),
    [
        ({"RCPT": "550 no such user"}, "a@x.org: 550 no such user; b@x.org: 550 no such user", True),
        ({"MAIL": "451 later"}, "451 later", False),
        ({"DATA": "554 spam, password=hush-hush"}, "554 spam, password=***", True),
        ({"EHLO": "500 no", "HELO": "500 no"}, "500 no", False),
    ],
)
async def test_a_mail_server_that_refuses(refuses: dict[str, str], said: str, *, about_message: bool) -> None:
    async with receiving_mail(**refuses) as found:
        assert await to_mail(found) == Attempt("failed", said, about_message=about_message)


async def test_who_is_refused_of_several_is_tried_again_and_nobody_else() -> None:
    async with receiving_mail(**{"RCPT TO:<b@x.org>": "451 later"}) as found:
        first = await to_mail(found)
        assert (first.outcome, first.said, first.about_message) == ("failed", "b@x.org: 451 later", True)
        found.refuses.clear()
        found.commands.clear()
        again = await to_mail(found, handle=first.handle)
    assert again == Attempt("sent", "taken as 17")
    assert [one for one in found.commands if one.startswith("RCPT")] == ["RCPT TO:<b@x.org>"]
    assert [message_from_bytes(one)["To"] for one in found.mails] == ["a@x.org, b@x.org"] * 2


async def test_a_mail_server_that_hangs_or_is_private_or_has_no_tls() -> None:
    async with receiving_mail(MAIL="hang") as found:
        assert (await to_mail(found, timeout="0.5s")).said == "the server did not take it within 0.5 s"
    async with receiving_mail() as found:
        attempt = await to_mail(found, **{"allow-private": False})
        assert "private network" in attempt.said
        assert found.commands == []
        assert (await to_mail(found, tls="starttls")).outcome == "failed"
        assert found.mails == []


async def test_a_mail_server_that_never_ends_its_answer() -> None:
    """Nothing would end it but the time that it may take, in which memory fills."""
    for command in ("EHLO", "MAIL", "DATA"):
        async with receiving_mail(**{command: "endless"}) as found:
            attempt = await to_mail(found, timeout="600s")
        assert attempt.outcome == "failed"
        assert "too long" in attempt.said


@pytest.mark.parametrize("methods", ["PLAIN", "LOGIN"])
async def test_a_mail_server_that_repeats_what_signs_in(methods: str) -> None:
    """In base64, as it was sent: PLAIN packs user and password into one word."""
    async with receiving_mail(EHLO=f"250-here\r\n250 AUTH {methods}", AUTH="echo") as found:
        attempt = await to_mail(found, user="phaseline", password="hush-hush-word")
    [word] = [one.split()[-1] for one in found.commands if one.startswith("AUTH")]
    assert attempt.outcome == "failed"
    assert b"hush-hush-word" in base64.b64decode(word) or methods == "LOGIN"
    assert "no AUTH" in attempt.said
    assert methods == "LOGIN" or word not in attempt.said


async def test_a_receiver_that_repeats_the_user_of_its_url() -> None:
    packed = base64.b64encode(b"phaseline:hush-hush-word").decode()
    async with receiving(answer(500, f"no such user {packed}".encode())) as found:
        attempt = await to_web(found, url=f"http://phaseline:hush-hush-word@127.0.0.1:{found.port}/")
        assert found.got[0].headers["authorization"] == f"Basic {packed}"
    assert attempt.said == "500 Said: no such user ***"


# ---- NATS


async def test_a_subject(wire: Wire) -> None:
    async def to(subject: str) -> Attempt:
        return await ways.send(Receiver("ops", "nats", {"subject": subject}), message(), "phaseline/pl", wire=wire)

    assert await to("told.nobody") == Attempt("failed", "nobody listens on told.nobody, and no stream stores it")
    got: asyncio.Queue[bytes] = asyncio.Queue()
    await wire.subscribe("told.ops", lambda _, data, *__: got.put_nowait(data))
    assert (await to("told.ops")).outcome == "sent"
    assert json.loads(await got.get())["type"] == "notice.begin"
    await wire.api("STREAM.CREATE.TOLD", {"name": "TOLD", "subjects": ["told.kept"], "storage": "memory"})
    for _ in range(2):
        assert await to("told.kept") == Attempt("sent", "stored in TOLD, message 1")
    await wire.api("STREAM.DELETE.TOLD")
    await wire.api(
        "STREAM.CREATE.TOLD", {"name": "TOLD", "subjects": ["told.kept"], "storage": "memory", "no_ack": True}
    )
    assert await to("told.kept") == Attempt("sent", "somebody listens")
    await wire.api("STREAM.DELETE.TOLD")


async def test_a_server_that_stands_still_has_taken_nothing(
    own_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus, "PATIENCE", 0.5)
    async with Wire.open(Settings(nats=(own_server.url,)), name="test") as wire:
        await wire.subscribe("told.ops", lambda *_: None)
        os.kill(own_server.pid, signal.SIGSTOP)
        try:
            receiver = Receiver("ops", "nats", {"subject": "told.ops"})
            attempt = await ways.send(receiver, message(), "phaseline/pl", wire=wire)
        finally:
            os.kill(own_server.pid, signal.SIGCONT)
    assert attempt == Attempt("failed", "no answer from PING within 0.5 s")
