"""The scenarios of CloudEvents' own conformance suite for HTTP (features/http-protocol-binding.feature), as tests."""

import json

import pytest
from starlette.requests import Request

from phaseline.engine.surfaces.http.intake import bodies

ATTRIBUTES = {
    "id": "1234-1234-1234", "specversion": "1.0", "type": "com.example.someevent", "source": "/mycontext/subcontext",
    "time": "2018-04-05T03:56:24Z",
}  # fmt: skip
DATA = {"message": "Hello World!"}


def request(headers: dict[str, str], body: bytes) -> Request:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    given = {"host": "example.com", "content-length": str(len(body)), **headers}
    raw = [(name.lower().encode(), value.encode()) for name, value in given.items()]
    return Request({"type": "http", "method": "POST", "path": "/someresource", "headers": raw}, receive)


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8"])
async def test_binary_content_mode(content_type: str) -> None:
    headers = {f"ce-{name}": value for name, value in ATTRIBUTES.items()}
    found = await bodies.given(request({**headers, "content-type": content_type}, json.dumps(DATA, indent=4).encode()))
    assert found.events == [{**ATTRIBUTES, "datacontenttype": content_type, "data": DATA}]


@pytest.mark.parametrize(
    "content_type", ["application/cloudevents+json", "application/cloudevents+json; charset=utf-8"]
)
async def test_structured_content_mode(content_type: str) -> None:
    event = {**ATTRIBUTES, "datacontenttype": "application/json", "data": DATA}
    found = await bodies.given(request({"content-type": content_type}, json.dumps(event, indent=4).encode()))
    assert (found.events, found.is_batch) == ([event], False)


async def test_batched_content_mode() -> None:
    events = [{**ATTRIBUTES, "id": str(number)} for number in range(3)]
    found = await bodies.given(request({"content-type": bodies.BATCH_JSON}, json.dumps(events).encode()))
    assert (found.events, found.is_batch) == (events, True)


async def test_values_of_headers_are_decoded_once() -> None:
    """Section 3.1.3.2 of the binding: in quotes or not, percent-decoded once, UTF-8."""
    headers = {f"ce-{name}": value for name, value in ATTRIBUTES.items()}
    for sent, meant in (("Euro%20%E2%82%AC", "Euro \u20ac"), ("%2525", "%25"), ('"a \\"b\\" c"', 'a "b" c')):
        found = await bodies.given(request({**headers, "ce-extra": sent}, b""))
        assert found.events[0]["extra"] == meant
