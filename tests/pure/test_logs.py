"""Log events go to `logging`, with their fields, and through structlog once that is switched on."""

import logging

import pytest
from structlog.testing import capture_logs

from phaseline.engine import logs

NAME = "phaseline.engine.somewhere"


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> logs.Logger:
    """A logger of a program that is not the command."""
    monkeypatch.setattr(logs.Logger, "_least", None)
    return logs.get_logger(NAME)


def test_an_event_is_a_line_and_its_fields_are_attributes(plain: logs.Logger, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, NAME)
    plain.warning("nats_disconnected", error="it broke", port=4222, why="", rules=["a b"])
    [record] = caplog.records
    assert record.getMessage() == "nats_disconnected error='it broke' port=4222 why='' rules=['a b']"
    assert (record.name, record.levelname, record.filename) == (NAME, "WARNING", "test_logs.py")
    assert {"event": "nats_disconnected", "error": "it broke", "port": 4222}.items() <= vars(record).items()
    for level in ("debug", "info", "error"):
        getattr(plain, level)("said")
    assert [one.levelname for one in caplog.records[1:]] == ["DEBUG", "INFO", "ERROR"]


def test_what_others_sent_is_bounded(plain: logs.Logger, caplog: pytest.LogCaptureFixture) -> None:
    plain.warning("nats_trouble", error="x" * 10_000, names=["y" * 10_000], port=4222)
    logs.through_structlog()
    with capture_logs() as logged:
        plain.warning("nats_trouble", error="x" * 10_000, names=["y" * 10_000], port=4222)
    assert len(caplog.records[0].getMessage()) < 3 * logs.LONGEST
    [line] = logged
    assert line["error"] == "x" * logs.LONGEST + "... (10,000 characters)"
    assert len(line["names"]) < 2 * logs.LONGEST
    assert line["port"] == 4222


def test_what_a_library_logs_is_a_line_of_ours(plain: logs.Logger) -> None:
    """A server that is sent nonsense lets uvicorn log each piece of it."""
    logs.through_structlog()
    uvicorn = logging.getLogger("uvicorn.error")
    with capture_logs() as logged:
        for _ in range(500):
            uvicorn.warning("Invalid HTTP request received: %s", "x" * 100_000)
        logging.getLogger("other").error("odd %d", 7)
    lines = [one for one in logged if one["library"] == "uvicorn.error"]
    assert 1 <= len(lines) < 50
    assert lines[0]["event"] == "library_told"
    assert len(lines[0]["text"]) < 2 * logs.LONGEST
    assert [one["text"] for one in logged if one["library"] == "other"] == ["odd 7"]


def test_a_traceback_follows(plain: logs.Logger, caplog: pytest.LogCaptureFixture) -> None:
    error = ValueError("boom")
    plain.error("request_unanswered", exc_info=error)
    try:
        raise error
    except ValueError:
        plain.exception("subscriber_failed", subject="a")
    first, second = caplog.records
    assert first.exc_info is not None
    assert second.exc_info is not None
    assert first.exc_info[1] is second.exc_info[1] is error
    assert (first.getMessage(), second.getMessage()) == ("request_unanswered", "subscriber_failed subject=a")


def test_no_text_makes_a_second_line(plain: logs.Logger, caplog: pytest.LogCaptureFixture) -> None:
    plain.error("nats_trouble", error="a\nERROR:root:forged \x1b[31m\u202e")
    assert caplog.records[0].getMessage().isprintable()


def test_nothing_is_printed_by_itself(plain: logs.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    assert any(isinstance(one, logging.NullHandler) for one in logging.getLogger("phaseline").handlers)
    plain.error("nats_trouble", error="x")
    assert capfd.readouterr() == ("", "")


def test_the_command_sends_events_through_structlog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs.Logger, "_least", None)
    log = logs.get_logger(NAME)
    with capture_logs() as found:
        log.info("nats_reconnected", url="nats://a")
        logs.through_structlog()
        log.info("nats_reconnected", url="nats://b")
        try:
            raise ValueError  # noqa: TRY301  # it must have been raised
        except ValueError:
            log.exception("subscriber_failed", subject="a")
    assert found == [
        {"event": "nats_reconnected", "url": "nats://b", "log_level": "info"},
        {"event": "subscriber_failed", "subject": "a", "exc_info": True, "log_level": "error"},
    ]


def test_structlog_is_set_up_before_the_first_event_that_is_printed() -> None:
    done: list[str] = []
    logs.through_structlog(logging.WARNING, lambda: done.append("configured"))
    log = logs.get_logger(NAME)
    with capture_logs() as found:
        log.info("nats_reconnected")
        log.debug("nats_reconnected")
        assert done == []
        log.warning("nats_disconnected")
        log.error("nats_trouble")
    assert [one["event"] for one in found] == ["nats_disconnected", "nats_trouble"]
    assert done == ["configured"]
