"""What refusals of the server mean."""

import json

import pytest

from phaseline.engine.nats.api_reply import Verdict, can_pass, read_ack, verdict
from phaseline.schemas.errors import ApiFailed, Fenced, NoRoom, NotFound, RequestTimedOut


@pytest.mark.parametrize(
    ("code", "err_code", "means"),
    [
        (409, 10158, "passing"),
        (503, 10008, "passing"),
        (500, 10009, "passing"),
        (400, 10164, "passing"),
        (400, 10176, "passing"),
        (429, 10210, "passing"),
        (503, 10023, "full"),
        (400, 10002, "full"),
        (503, 10077, "full"),
        (400, 10054, "permanent"),
        (500, 10074, "permanent"),
        (404, 10059, "permanent"),
        # The table does not name these, so the status decides.
        (409, 1, "passing"),
        (429, 1, "passing"),
        (500, 1, "passing"),
        (400, 1, "permanent"),
    ],
)
def test_a_refusal_passes_or_not(code: int, err_code: int, means: Verdict) -> None:
    assert verdict(code, err_code) == means
    body = {"error": {"code": code, "err_code": err_code, "description": "because"}}
    with pytest.raises(ApiFailed) as caught:
        read_ack("x", json.dumps(body).encode())
    assert can_pass(caught.value) == (means != "permanent")
    assert isinstance(caught.value, NoRoom) == (means == "full")


def test_no_answer_passes_and_other_errors_do_not() -> None:
    assert can_pass(RequestTimedOut(subject="x", seconds=1, hint=""))
    assert not can_pass(Fenced(subject="x"))
    assert not can_pass(NotFound())
