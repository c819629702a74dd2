"""What receivers get of a notice: what a person reads on a phone, and that nothing said by others becomes markup."""

import json
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import SMTP
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.products.notices.fold.bodies import shapes, wording
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage, word_now
from phaseline.schemas.records import SECOND, nanoseconds, timestamp

BEGAN = nanoseconds("2026-11-27T08:12:00Z")
MINUTE = 60 * SECOND


def data(**more: Any) -> dict[str, Any]:
    return {
        "severity": "critical", "about": "cluster/c1", "state": "Stopped [Balance]", "trigger": "stop", "number": 1,
        "said": {"reason": "Arrears", "message": "the account is empty"}, "most": 1, "below": 0, "names": ["cluster/c1"],
        "cause": {"source": "/billing", "actor": "mia"}, "because": {}, "kinds": {"cluster": 1}, "left": {},
        "since": timestamp(BEGAN), "opened": timestamp(BEGAN), "ended": "", "ended_as": "", "flapping": False, **more,
    }  # fmt: skip


def message(word: Any = "begin", late: int = 0, **more: Any) -> NoticeMessage:
    return NoticeMessage("cluster-down/17", "ops", word, data(**more), BEGAN, BEGAN + late)


ENDED: dict[str, Any] = {"ended": timestamp(BEGAN + 19 * MINUTE), "ended_as": "good", "number": 0, "left": {"good": 1}}
WELL_AGAIN = {
    "reason": "", "message": "", "was": {"state": "Stopped [Balance]", "reason": "Arrears", "message": "no money"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("told", "title"),
    [
        (message(), "CRITICAL: cluster c1 Stopped [Balance] (Arrears)"),
        (message(below=41), "CRITICAL: cluster c1 Stopped [Balance] (Arrears), and 41 below"),
        (message(number=12), "CRITICAL: cluster c1 Stopped [Balance] (Arrears), and 11 more"),
        (message(late=14 * MINUTE), "CRITICAL: cluster c1 Stopped [Balance] (Arrears) (told 14 min late)"),
        (message("flapping"), "FLAPPING: cluster c1 comes and goes (Arrears)"),
        (message("flapping", number=0, said=WELL_AGAIN), "FLAPPING: cluster c1 comes and goes (Arrears)"),
        (message("change", below=2), "CHANGED: cluster c1 Stopped [Balance] (Arrears), and 2 below"),
        (message("reminder")._replace(due=BEGAN + 240 * MINUTE, now=BEGAN + 240 * MINUTE),
         "STILL CRITICAL: cluster c1 Stopped [Balance] for 4 h"),
        (message("given_back", late=480 * MINUTE)._replace(due=BEGAN + 480 * MINUTE),
         "NOT DEALT WITH: cluster c1 Stopped [Balance] for 8 h"),
        (message("end", **ENDED), "OVER: cluster c1 good again after 19 min"),
        (message("end", **{**ENDED, "ended_as": "gone"}), "OVER: cluster c1 gone after 19 min"),
        (message("end", **{**ENDED, "ended_as": "gone", "state": "Deleted [NotSeen]"}),
         "OVER: cluster c1 gone (not seen) after 19 min"),
        (message("end", **{**ENDED, "ended_as": "excused", "most": 12}),
         "OVER: cluster c1 and 11 more excused after 19 min"),
        (message("end", **{**ENDED, "ended_as": "rule changed"}), "OVER: cluster c1 rule changed after 19 min"),
        (message("past", late=33 * MINUTE, **ENDED),
         "WAS CRITICAL: cluster c1, good again after 19 min (told 33 min late)"),
        (message("past", late=33 * MINUTE, **ENDED, said=WELL_AGAIN),
         "WAS CRITICAL: cluster c1 Stopped [Balance] (Arrears), good again after 19 min (told 33 min late)"),
        (message("happened", ended=timestamp(BEGAN), state="Deleted", said={}), "CRITICAL: cluster c1 Deleted"),
    ],
)  # fmt: skip
def test_a_title_is_a_sentence(told: NoticeMessage, title: str) -> None:
    assert wording.title(told) == title


def test_a_long_name_leaves_the_rest_of_the_title() -> None:
    title = wording.title(message(about=f"node/{'x' * 400}", below=41, late=14 * MINUTE))
    assert len(title) <= wording.TITLE
    assert title.startswith("CRITICAL: node xxx")
    assert title.endswith("Stopped [Balance], and 41 below (told 14 min late)")


def test_the_text_says_since_when_why_and_who() -> None:
    names = [f"node/c1/p/n{number}" for number in range(12)]
    told = message(number=12, below=3, names=names, because={"about": "account/a", "state": "Empty", "said": "no"})
    assert wording.lines(told) == [
        "Since 2026-11-27 08:12:00 UTC", "Arrears: the account is empty", "Because of account a Empty: no",
        "By stop from /billing, mia", f"12 concerned: {', '.join(f'node c1/p/n{one}' for one in range(10))} and 2 more",
        "And 3 below", "Notice cluster-down/17",
    ]  # fmt: skip
    over = message(
        "past", late=33 * MINUTE, window="patch", opened_by="mia", **{**ENDED, "left": {"good": 2, "gone": 1}}
    )
    assert wording.lines(over._replace(taken_by="lee"))[-6:] == [
        "By stop from /billing, mia", "Came and went 3 times: 2 good again, 1 gone", "Left by the window patch, opened by mia",
        "Taken by lee", "This was to be told at 2026-11-27 08:12:00 UTC: it is 33 min late", "Notice cluster-down/17",
    ]  # fmt: skip
    assert wording.lines(over)[0] == "From 2026-11-27 08:12:00 UTC to 2026-11-27 08:31:00 UTC"


def test_the_text_of_an_end_says_what_it_was() -> None:
    assert wording.lines(message("end", **ENDED, said=WELL_AGAIN))[1:3] == [
        "Was Stopped [Balance]: Arrears: no money", "By stop from /billing, mia",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (90, "1 min"), (3_600, "1 h"), (4_321, "1 h 12 min"), (90_000, "1 d 1 h"),
     (86_400, "1 d"), (-5, "0 s")],
)  # fmt: skip
def test_a_duration_in_two_units(seconds: int, text: str) -> None:
    assert wording.span(seconds * SECOND) == text


@pytest.mark.parametrize(
    ("asked", "told", "more", "is_closed", "word"),
    [
        ("begin", "", {}, False, "begin"),
        ("reminder", "", {}, False, "begin"),
        ("begin", "", {"flapping": True}, False, "flapping"),
        ("reminder", "begin", {}, False, "reminder"),
        ("flapping", "begin", {}, False, "flapping"),
        ("begin", "begin", {}, False, "change"),
        ("end", "begin", ENDED, True, "end"),
        ("reminder", "begin", ENDED, True, "end"),
        ("begin", "", ENDED, True, "past"),
        ("begin", "", {"ended": timestamp(BEGAN)}, True, "happened"),
        ("begin", "end", {}, False, "begin"),  # it began anew
        ("begin", "past", ENDED, True, "past"),
    ],
)
def test_what_is_told_fits_what_is_so_now(asked: str, told: str, more: Any, is_closed: bool, word: str) -> None:
    assert word_now(asked, told, data(**more), is_closed=is_closed) == word


def test_what_was_given_back_is_told_once() -> None:
    found = [
        word_now("reminder", told, data(), is_closed=False, is_given_back=True) for told in ("begin", "given_back")
    ]
    assert found == ["given_back", "reminder"]


def test_an_id_is_the_same_for_the_same_message_only() -> None:
    one = message()
    assert one.id == message(late=MINUTE, below=7).id
    others = [message("end"), one._replace(receiver="b"), one._replace(notice="r/2"), one._replace(due=1)]
    assert len({one.id, *(other.id for other in others)}) == 5
    assert one.thread == message("end", **ENDED).thread != message(opened=timestamp(BEGAN + 1)).thread


# ---- nothing of others is markup

HOSTILE = st.one_of(st.text(max_size=300), st.sampled_from([
    "<!channel>", "*b* _i_ `c`", "[a](http://x)", "a\r\nBcc: all@x.org", "{title} {secret} ${HOME}", "<b>x</b>&amp;",
    "\u202egnp.exe", "\ud800", "{" * 900, '"}],"x":[{"', "@all <at>all</at>", "\x00\x1b[31m",
]))  # fmt: skip
ANY = st.builds(
    data, about=HOSTILE, state=HOSTILE, trigger=HOSTILE, ended_as=HOSTILE, severity=HOSTILE,
    said=st.one_of(st.fixed_dictionaries({"reason": HOSTILE, "message": HOSTILE}), HOSTILE),
    cause=st.fixed_dictionaries({"source": HOSTILE, "actor": st.one_of(HOSTILE, st.none())}),
    because=st.fixed_dictionaries({"about": HOSTILE, "said": HOSTILE, "state": HOSTILE}),
    number=st.integers(0, 10**9), below=st.integers(0, 10**9), names=st.lists(HOSTILE, max_size=12),
    since=st.one_of(HOSTILE, st.just(timestamp(BEGAN))), ended=st.one_of(HOSTILE, st.just(timestamp(BEGAN + 1))),
    opened_by=HOSTILE, window=HOSTILE, left=st.dictionaries(HOSTILE, st.integers(0, 99), max_size=3),
)  # fmt: skip
WORDS = st.sampled_from(["begin", "flapping", "change", "reminder", "given_back", "end", "past", "happened"])


def texts(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for value in part.values():
            yield from texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from texts(value)
    elif isinstance(part, str):
        yield part


def skeleton(part: Any) -> Any:
    """A body without its texts."""
    if isinstance(part, dict):
        return {name: skeleton(value) for name, value in part.items()}
    if isinstance(part, list):
        return [skeleton(value) for value in part]
    return "" if isinstance(part, str) else part


@given(ANY, WORDS)
def test_what_others_say_stays_text(found: dict[str, Any], word: Any) -> None:
    hostile = NoticeMessage(f"r/{found['about']}", "ops", word, found, BEGAN, BEGAN + 99 * MINUTE, str(found["about"]))
    tame = message(word)
    for shape in shapes.SHAPES.values():
        body = shapes.filled(shape, hostile)
        assert skeleton(body) == skeleton(shapes.filled(shape, tame))
        for one in texts(body):
            assert all(line.isprintable() for line in one.split("\n"))
        assert len(json.dumps(body)) < 30_000
    assert len(wording.title(hostile)) <= wording.TITLE
    assert len(wording.text(hostile)) <= wording.TEXT
    slack = shapes.filled(shapes.SHAPES["slack"], hostile)["text"]
    assert "<" not in slack
    assert ">" not in slack


@given(ANY, WORDS)
def test_what_others_say_is_no_header(found: dict[str, Any], word: Any) -> None:
    hostile = NoticeMessage(f"r/{found['about']}", "ops", word, found, BEGAN, BEGAN)
    sent = shapes.mail(hostile, "Phaseline <a@x.org>", ("b@x.org",), "x.org").as_bytes()
    read = message_from_bytes(sent, policy=SMTP)
    tame = shapes.mail(message(), "a@x.org", ("b@x.org",), "x.org")
    assert {*read.keys()} == {*tame.keys()} | ({"Content-Transfer-Encoding"} & {*read.keys()})
    assert read["To"] == "b@x.org"


def test_wecom_counts_bytes() -> None:
    told = message(
        said={"reason": "", "message": "余额不足" * 100}, names=[f"node/节点{one}" for one in range(99)], number=99
    )
    body = shapes.filled(shapes.SHAPES["wecom"], told)["text"]["content"]
    assert len(body.encode()) <= 2_048
    assert body.startswith("CRITICAL: cluster c1 ")


def test_a_mail_is_in_the_thread_of_its_notice() -> None:
    begin, end = (shapes.mail(one, "a@x.org", ("b@x.org",), "x.org") for one in (message(), message("end", **ENDED)))
    assert begin["References"] == end["References"]
    assert begin["Message-ID"] != end["Message-ID"]
    assert begin["Subject"] == "CRITICAL: cluster c1 Stopped [Balance] (Arrears)"
    assert (begin["Importance"], end["Importance"]) == ("high", "normal")


def test_own_templates_name_fields_and_choose() -> None:
    body = {
        "routing_key": "k", "dedup_key": "{thread}", "n": "{number}", "more": ["{title}!", 1, None],
        "event_action": {"$by": "colour", "over": "resolve", "otherwise": "trigger"},
    }  # fmt: skip
    assert [*shapes.mistakes(body)] == []
    begin, end = (shapes.filled(shapes.MessageShape(body), one) for one in (message(), message("end", **ENDED)))
    assert (begin["event_action"], end["event_action"]) == ("trigger", "resolve")
    assert begin["dedup_key"] == end["dedup_key"]
    assert (begin["n"], begin["more"][1:]) == (1, [1, None])
    told = message(said={"reason": "{thread}", "message": ""})
    assert shapes.filled(shapes.MessageShape({"a": "{reason}"}), told) == {"a": "{thread}"}
    assert "did you mean title" in next(shapes.mistakes({"a": ["{titel}"]}))
    assert "names no field" in next(shapes.mistakes({"a": {"$by": "colou", "x": 1}}))


def test_an_alert_keeps_its_labels_and_ends_by_itself() -> None:
    begin = shapes.alert(message(), {"team": "a"})
    later = shapes.alert(message("reminder", late=60 * MINUTE, about="node/x", below=7), {"team": "a"})
    assert begin["labels"] == later["labels"]
    assert (begin["startsAt"], begin["endsAt"]) == (timestamp(BEGAN), timestamp(BEGAN + 4 * MINUTE))
    assert shapes.alert(message("end", **ENDED), {})["endsAt"] == timestamp(BEGAN + 19 * MINUTE)
    assert shapes.alert(message("happened", ended=timestamp(BEGAN)), {})["endsAt"] > timestamp(BEGAN)


def test_a_cloud_event_holds_the_whole() -> None:
    event = shapes.cloud_event(message(late=14 * MINUTE), "phaseline/pl-notices")
    assert (event["type"], event["subject"], event["id"]) == ("notice.begin", "notice/cluster-down/17", message().id)
    assert event["data"]["late_seconds"] == 840
    assert event["data"]["cause"] == {"source": "/billing", "actor": "mia"}
