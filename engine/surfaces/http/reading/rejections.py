"""Rejected events: counted and listed, one with its event, sent again.

Belongs here: the handlers of these routes. Does not: storing events (`engine.publish`).
"""

import base64
import heapq
from typing import Any

from phaseline.engine.log import log_records
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.watch import RecordFilter
from phaseline.engine.publish import single
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.rejection_counts import RejectionCounts
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.schemas import codec
from phaseline.schemas.errors import NotFound
from phaseline.schemas.records import Rejection


async def rejections(call: Call) -> HttpAnswer:
    """The last rejections that fit, newest first, and how many there are by reason, kind, source and actor."""
    values, service = call.values, call.service
    view = await service.view(values["to"])
    wanted = [
        RecordFilter(kind=values["kind"], below=tree, reason=values["reason"], transitions=False, rejections=True)
        for tree in call.trees or (None,)
    ]
    source, actor = values["source"], values["actor"]
    after = await service.before(values["from"], values["to"], view.moment)
    counts, last, total = RejectionCounts(), list[Logged](), 0
    for one in wanted:
        one.check(service.kinds)
        for filter_ in one.filters(service.installation):
            async for logged in log_records.records(service.installation, filter_, after, view.moment.place):
                # Subjects shorten long ids: what they select may belong to another tree.
                if not one.selects(logged.record) or source not in (None, logged.record.cause.source):
                    continue
                if actor not in (None, logged.record.cause.actor):
                    continue
                assert isinstance(logged.record, Rejection)
                counts.take(logged.sequence, logged.record)
                total += 1
                # The heap keeps the last ones only: a log may hold more rejections than fit into memory.
                (heapq.heappush if len(last) < values["limit"] else heapq.heappushpop)(last, logged)
    body = {
        "total": total,
        "counts": [maps.count_map(one) for one in counts.sorted()],
        "items": [
            maps.record_map(service.kinds, one.sequence, one.record, one.wire) for one in sorted(last, reverse=True)
        ],
    }
    return HttpAnswer(body, view.moment, is_past=view.is_past)


async def rejection(call: Call) -> HttpAnswer:
    """One rejection, with its event as far as it is still stored."""
    service, place = call.service, call.values["place"]
    logged, record = await _found(call, place)
    kept = record.payload
    if record.reason != "secret":
        kept = await service.client.event(record.cause.sequence) or kept
    return HttpAnswer({
        "rejection": maps.record_map(service.kinds, place, record, logged.wire), "event": _event(kept),
        "way_out": await service.client.way_out(place),
    })  # fmt: skip


async def resend(call: Call) -> HttpAnswer:
    """Send the event of a rejection again, byte for byte, in the name of the caller."""
    call.charge()
    _, record = await _found(call, call.values["place"])
    call.caller.check_source(record.cause.source)
    service, actor = call.service, call.caller.actor
    receipt = await single.resend(
        service.installation, call.values["place"], service.settings.request_timeout, actor=actor
    )
    return HttpAnswer(receipt.shown(), status=202)


async def _found(call: Call, place: int) -> tuple[Logged, Rejection]:
    await call.service.fleet()
    logged = await _readable(call, place)
    if not isinstance(logged.record, Rejection):
        raise NotFound.not_rejected(place=place, actual="a transition")
    return logged, logged.record


async def _readable(call: Call, place: int) -> Logged:
    """The record at a place; a caller cannot tell what is in a tree that they may not read from what is not there."""
    try:
        logged = await call.service.client.record(place)
    except NotFound as error:
        if call.caller.trees and (NotFound.record_not_found.made(error) or NotFound.no_record.made(error)):
            raise NotFound.nothing_to_read(place=place) from None
        raise
    record = logged.record
    if not call.caller.may_read(record.id if isinstance(record, Rejection) else record.entity.id):
        raise NotFound.nothing_to_read(place=place)
    return logged


def _event(body: bytes | None) -> dict[str, Any] | None:
    """An event as far as it can be shown: decoded, or its bytes in base64."""
    if body is None:
        return None
    try:
        return {"decoded": codec.decode(body)}
    except codec.Undecodable as error:
        return {"undecodable": str(error), "base64": base64.b64encode(body).decode()}
