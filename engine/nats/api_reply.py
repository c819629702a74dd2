"""Replies of NATS and JetStream, decoded: values, or our errors where the server refuses.

Belongs here: reading the JSON of JetStream's replies, and which refusals pass. Does not: sending requests (`wire`).
"""

from typing import Any, Literal, NamedTuple

import msgspec

from phaseline.schemas.errors import ApiFailed, Fenced, NoAnswer, NoRoom, PhaselineError

EXPECTED = "Nats-Expected-Last-Subject-Sequence"
"""The header with the sequence that the last message of the subject must have."""
WRONG_LAST_SEQUENCE = 10071
"""The error code where the expected sequence of a subject's last message is another one."""

NOT_ENABLED = (10039, 10076)
"""The error codes where JetStream is not enabled: for the account, or at all."""

OBJECT = msgspec.json.Decoder(dict[str, Any])

Verdict = Literal["passing", "full", "permanent"]
"""Whether the same request can succeed later: by itself, once there is room, or never."""
VERDICTS: dict[int, Verdict] = {
    # No leader now, or a server that starts.
    10004: "passing",  # incomplete results
    10005: "passing",  # no suitable peers: servers of the cluster are missing
    10006: "passing",  # not in clustered mode: not yet
    10007: "passing",  # not assigned to this server
    10008: "passing",  # temporarily unavailable
    10009: "passing",  # not the leader
    10039: "passing",  # JetStream is not enabled for the account: a server that lost its disk, or starts
    10076: "passing",  # JetStream is not enabled: likewise
    10118: "passing",  # the stream is offline
    10194: "passing",  # the stream is offline, with a reason
    10202: "passing",  # a change of the cluster's members is in progress
    # The server is still busy with an earlier request.
    10158: "passing",  # a message of that id is in process (several replicas)
    10163: "passing",  # the last sequence of the subject is not known yet
    10164: "passing",  # the fence is in use (several replicas)
    10167: "passing",  # too many requests
    10176: "passing",  # the server dropped the batch
    10210: "passing",  # too many open batches
    10211: "passing",  # likewise
    # No room.
    10002: "full",  # limits of the account
    10023: "full",  # limits of the server: max_file_store
    10028: "full",  # memory
    10047: "full",  # storage
    10077: "full",  # the limits of the stream
    # Codes above 499 that no waiting cures.
    10010: "permanent",  # a cluster is required
    10035: "permanent",  # no such account
    10036: "permanent",  # not supported in a cluster
    10049: "permanent",  # the stream cannot be created
    10052: "permanent",  # the configuration is not valid
    10053: "permanent",  # the limits of the configuration
    10069: "permanent",  # the stream cannot be updated
    10074: "permanent",  # replicas need a cluster
    10111: "permanent",  # rollup is not permitted
}
"""What each refusal means that our requests can meet, by its error code."""
_BY_STATUS: dict[int, Verdict] = {409: "passing", 429: "passing"}


def verdict(code: int, err_code: int) -> Verdict:
    """What a refusal means. Unknown error codes are judged by their status: the server's own failures pass."""
    return VERDICTS.get(err_code) or _BY_STATUS.get(code) or ("passing" if code >= 500 else "permanent")


def can_pass(error: PhaselineError) -> bool:
    """Whether the same request can succeed later: there was no answer, or a refusal that can pass."""
    if isinstance(error, ApiFailed):
        return verdict(error.nats_code, error.err_code) != "permanent"
    return isinstance(error, NoAnswer)


class Reply(NamedTuple):
    """The reply to a request. `block`: its raw header block, or None."""

    data: bytes
    headers: dict[str, str]
    block: bytes | None = None


class Ack(NamedTuple):
    """A stream's confirmation that a message is stored. `duplicate`: it was stored before."""

    stream: str
    seq: int
    duplicate: bool


def read_ack(subject: str, data: bytes) -> Ack:
    """The `Ack` in a stream's reply; raises `Fenced` or `ApiFailed`."""
    reply = read_reply(subject, data)
    return Ack(reply["stream"], reply["seq"], reply.get("duplicate", False))


def read_reply(subject: str, data: bytes) -> dict[str, Any]:
    """The JSON object in a reply from `subject`; raises `Fenced` or `ApiFailed`, `ValueError` if it is none."""
    try:
        reply = OBJECT.decode(data)
    except msgspec.DecodeError as wrong:
        raise ValueError(f"the reply from {subject} is no JSON object: {data[:80]!r}") from wrong
    error = reply.get("error")
    if error is None:
        return reply
    if error.get("err_code") == WRONG_LAST_SEQUENCE:
        raise Fenced(subject=subject)
    code, number, description = error.get("code", 0), error.get("err_code", 0), error.get("description", "")
    full = verdict(code, number) == "full"
    failed = NoRoom if full else ApiFailed.jet_stream_off if number in NOT_ENABLED else ApiFailed
    raise failed(subject=subject, nats_code=code, err_code=number, description=description)
