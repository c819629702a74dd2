"""Raw Secrets are found wherever they stand in an event; masked ones pass; the answer holds nothing of a raw one."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.core import intake
from phaseline.engine.publish import compose
from phaseline.machines.kinds.kubernetes.secret_values import COPIES, raw_secret, raw_secret_in
from phaseline.schemas import codec, wire_codec
from phaseline.schemas import envelope as schemas_envelope
from phaseline.schemas.errors import EventRefused
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import Subjects
from phaseline.schemas.templates.shared_values import SharedValues
from tests.support.built_in_kinds import BUILT_IN_KINDS

VALUE = "hunter2-of-the-shop"
CODED = base64.b64encode(VALUE.encode()).decode()
PLAIN = {f"key-{number}": CODED for number in range(40)}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mail", "namespace": "shop"}, "data": PLAIN}
CONFIG_LINE = {"kind": "ConfigMap"}
MASKED = "masked:0123456789abcdef0123456789abcdef"
ID = "shop/shop/core:Secret/shop/mail"


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mail", "namespace": "shop"}, **more}


def annotated(name: str, text: str) -> dict[str, Any]:
    whole = secret(data={"password": coded(MASKED)})
    whole["metadata"]["annotations"] = {name: text}
    return whole


RAW = secret(data={"password": CODED})
LINES = f"apiVersion: v1\nkind: Secret\nstringData:\n  a: {VALUE}\n"
TEXTS = {
    "in lines": LINES, "with CRLF": LINES.replace("\n", "\r\n"), "with CR": LINES.replace("\n", "\r"),
    "with a comment": LINES.replace("Secret", "Secret # of the shop"), "quoted": LINES.replace("kind", '"kind"'),
    "quoted values": LINES.replace("stringData", "'stringData'"), "with a tag": LINES.replace("Secret", "!!str Secret"),
    "in braces": f"{{apiVersion: v1, kind: Secret, stringData: {{a: {VALUE}}}}}",
    "in braces in a list": f"items:\n- {{kind: Secret, data: {{a: {CODED}}}}}\n",
    "a list": LINES.replace("kind: Secret", "kind: SecretList"), "inside YAML": f"a.yaml: |\n  {LINES.replace(chr(10), chr(10) + '  ')}",
    "the second document": f"kind: ConfigMap\n---\n{LINES}", "JSON behind a line": f"---\n{json.dumps(RAW)}",
    "lines of JSON": f"{json.dumps(CONFIG_LINE)}\n{json.dumps(RAW)}\n", "JSON with a mark": f"\ufeff{json.dumps(RAW)}",
    "JSON in prose": f"denied: {json.dumps(RAW)}, try again", "JSON without an end": json.dumps(RAW)[:-1],
    "braces in prose": f"cannot take {{kind: Secret, data: {{a: {CODED}}}}}", "after many documents": "---\nkind: Pod\n" * 200 + f"---\n{LINES}",
}  # fmt: skip
RAW_PLACES: dict[str, tuple[dict[str, Any], str]] = {
    "live": ({"live": RAW}, "live"),
    "desired": ({"live": None, "desired": RAW}, "desired"),
    "stringData": ({"live": secret(stringData={"password": VALUE})}, "live"),
    "a number": ({"live": secret(stringData={"pin": 4711})}, "live"),
    "no map": ({"live": secret(data=[CODED])}, "live"),
    "no base64": ({"live": secret(data={"password": "!" + VALUE})}, "live"),
    "32 hexadecimal digits": ({"live": secret(data={"token": coded("0123456789abcdef" * 2)})}, "live"),
    "without a version": ({"live": {"kind": "Secret", "data": {"a": CODED}}}, "live"),
    "a list": ({"live": {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}, RAW]}}, "live.items[1]"),
    "a list of Secrets": ({"live": {"kind": "SecretList", "items": [{"data": {"a": CODED}}]}}, "live.items[0]"),
    "a report": ({"status": {"secretStatuses": [{"data": {"a": CODED}}]}}, "status.secretStatuses[0]"),
    "a packed resource": (
        {"resourceStatuses": [{"group": "", "version": "v1", "kind": "Secret", "res": coded(json.dumps(RAW))}]},
        "resourceStatuses[0].res",
    ),
    "JSON in a text": ({"live": {"liveState": json.dumps(RAW)}}, "live.liveState"),
    **{f"YAML in a text, {what}": ({"values": text}, "values") for what, text in TEXTS.items()},
    **{f"a copy in {name}": ({"live": annotated(name, json.dumps(RAW))}, "live") for name in COPIES},
    "a copy that cannot be read": ({"live": annotated(COPIES[2], "H4sIAAAAAAAA")}, "live"),
}


@pytest.mark.parametrize("what", RAW_PLACES)
@pytest.mark.parametrize("form", ["msgpack", "json", "json with escapes"])
def test_a_raw_secret_is_found(what: str, form: str) -> None:
    data, where = RAW_PLACES[what]
    assert raw_secret_in(data) == where
    text = json.dumps({"data": data})
    if form == "json with escapes":
        text = text.replace("Secret", "\\u0053ecret").replace("secretStatuses", "\\u0073ecretStatuses")
        text = text.replace("\\\\u0053", "\\u0053")
    body = codec.encode({"data": data}) if form == "msgpack" else text.encode()
    assert raw_secret(body) == f"data.{where}"


@pytest.mark.parametrize(
    "data",
    [
        {"live": secret(data={"password": coded(MASKED), "user": MASKED})},
        {"live": secret(stringData={"password": MASKED, "a": None, "b": ""})},
        {"live": secret(data={"password": "++++++++", "b": "********", "c": "(secret)", "d": None})},
        {"live": secret()},
        {"live": annotated(COPIES[0], json.dumps(secret(data={"password": "+++++"})))},
        {"live": {"apiVersion": "example.io/v1", "kind": "Secret", "data": {"a": "of another group"}}},
        {"live": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "Secret"}}},
        {"refs": [{"kind": "Secret", "name": "mail", "group": "", "version": "v1"}]},
        {"message": "kind: Secret was not found"},
        {"message": "data: of the kind: Secret, which was not found"},
        {"values": "valuesFrom:\n- kind: Secret\n  name: mail\n---\nkind: ConfigMap\ndata: {a: b}\n"},
        {"values": json.dumps({"valuesFrom": [{"kind": "Secret", "name": "mail"}], "data": {"a": "b"}})},
        {"ignore": [{"kind": "Secret", "jsonPointers": ["/data/password"]}]},
        {"message": 'denied {"data":[{"remoteRef":"x"}],"target":{"kind":"Secret","name":"x"}}'},
        {"message": "cannot resolve {kind: Secret, name: db}; plugin says {data: none}"},
        {"message": 'involvedObject {"kind":"Secret","name":"db"}, "data": missing'},
        {"message": 'seen {"kind":"Secret","name":"db"}\n{"kind":"ConfigMap","data":{"a":"b"}}'},
    ],
)
def test_what_is_masked_or_no_secret_passes(data: dict[str, Any]) -> None:
    assert raw_secret_in(data) is None
    assert raw_secret(codec.encode({"data": data})) is None


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"data": {"live": RAW}})[:-2].encode(),
        codec.encode({"data": {"live": RAW}})[:-1],
        json.dumps(json.dumps(RAW)).encode(),
        f"apiVersion: v1\nkind: Secret\nstringData: {{a: {VALUE}}}\n".encode(),
    ],
)
def test_a_body_that_cannot_be_decoded_is_judged_by_its_looks(body: bytes) -> None:
    assert raw_secret(body) == "the body, which cannot be decoded,"


def envelope(data: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"specversion": "1.0", "id": "e1", "source": "/me", "type": "resource.observed", "data": data, **more}


BODIES = {
    "a right event": codec.encode(envelope({"live": RAW})),
    "another kind": codec.encode(envelope({"live": RAW}, type="nothing.here")),
    "a wrong envelope": codec.encode(envelope({"live": RAW}, specversion="2.0")),
    "not whole": json.dumps(envelope({"live": RAW})).encode()[:-1],
    "in the id": codec.encode(envelope({}, id=json.dumps(RAW))),
    "in the source": json.dumps(envelope({}, source=f"kind: Secret\nstringData:\n  a: {VALUE}\n")).encode(),
    "in an attribute": codec.encode(envelope({}, note=json.dumps(RAW))),
}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize(
    "subject", ["pl.inbox.0.shop.resource.observed.shop.core:Secret.shop.mail", "pl.inbox.0.%zz.a.b"]
)
def test_the_answer_holds_nothing_of_it(what: str, subject: str) -> None:
    answer = intake.read(BUILT_IN_KINDS, Subjects("pl"), subject, BODIES[what], 7, 1)
    assert isinstance(answer, Rejection)
    assert (answer.reason, answer.payload, answer.cause.sequence) == ("secret", None, 7)
    assert "values are not masked" in answer.message
    wire = wire_codec.write(answer, 0, 1, "phaseline/pl", "")
    assert VALUE.encode() not in wire
    assert CODED.encode() not in wire


@pytest.mark.parametrize(
    "live",
    {
        "becomes a Secret": {"apiVersion": "v1", "kind": "Secret", "data": PLAIN},
        "gets one in an annotation": {**CONFIG, "metadata": {"annotations": {COPIES[0]: json.dumps(RAW)}}},
        "gets one beside its data": {**CONFIG, "status": {"secretStatuses": [{"data": {"a": CODED}}]}},
        "becomes a list of Secrets": {"kind": "SecretList", "items": [{"data": PLAIN}], "data": PLAIN},
    }.items(),
    ids=lambda one: one[0],
)
def test_it_is_found_in_an_event_that_repeats_most_of_the_last_one(live: tuple[str, dict[str, Any]]) -> None:
    subject = "pl.inbox.0.shop.resource.observed.shop.core:ConfigMap.shop.mail"
    for found, reason in ((CONFIG, None), (CONFIG, None), (live[1], "secret"), (CONFIG, None)):
        body = codec.encode(envelope({"live": found, "desired": CONFIG}))
        answer = intake.read(BUILT_IN_KINDS, Subjects("pl"), subject, body, 7, 1)
        assert (answer.reason if isinstance(answer, Rejection) else None) == reason


def test_nothing_of_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = SharedValues()
    monkeypatch.setattr(schemas_envelope, "SHARED", kept)
    monkeypatch.setattr(intake, "SHARED", kept)
    whole = secret(data={f"key-{number}": CODED for number in range(99)})
    subject = "pl.inbox.0.shop.resource.observed.shop.core:Secret.shop.mail"
    body = codec.encode(envelope({"live": whole, "desired": whole}))
    assert isinstance(intake.read(BUILT_IN_KINDS, Subjects("pl"), subject, body, 7, 1), Rejection)
    assert not kept._by_bytes
    assert not kept._noted


def test_it_is_not_even_sent() -> None:
    event = envelope({"live": RAW}, subject=f"resource/{ID}")
    with pytest.raises(EventRefused, match=r"data\.live is a Secret"):
        compose.pack(Subjects("pl"), event, BUILT_IN_KINDS)


def test_the_function_in_the_docs_masks() -> None:
    page = Path(__file__).parents[2].joinpath("docs/gitops.md").read_text()
    code = page.partition("```python\nimport base64, hashlib")[2].partition("```")[0]
    namespace: dict[str, Any] = {}
    exec("import base64, hashlib" + code, namespace)
    for whole in (RAW, secret(stringData={"a": VALUE}), annotated(COPIES[0], json.dumps(RAW))):
        assert raw_secret_in(whole) is not None or "annotations" in whole["metadata"]
        assert raw_secret_in(namespace["masked"](whole)) is None
