"""Receivers in a file of rules: what is wrong with one is said before anything is sent."""

from pathlib import Path

import pytest

from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.sending.secret_options import looked_up
from phaseline.errors import InvalidInput
from phaseline.machines.built_in import installed

ROOT = Path(__file__).parents[2]
RULE = "\nrules: [{name: r, when: {kinds: [node]}, to: [ops]}]"


@pytest.mark.parametrize(
    ("receiver", "problem"),
    [
        ("{}", "receiver ops: name one type, such as webhook: {url: ...}"),
        ("{webhok: {url: 'https://x'}}", "there is no 'webhok' (did you mean webhook?)"),
        ("{webhook: {}}", "receiver ops, webhook: it needs url"),
        ("{webhook: {url: 'https://x', shpae: slack}}", "there is no 'shpae' (did you mean shape?)"),
        ("{webhook: {url: 'https://x', shape: slak}}", "shape must be one of plain, slack, "),
        ("{webhook: {url: 'https://x', shape: slack, template: {a: b}}}", "give either shape or template"),
        ("{webhook: {url: 'https://x', template: text}}", "template must be a map"),
        ("{webhook: {url: 'https://x', template: {a: '{titel}'}}}", "no field {titel} (did you mean title?)"),
        ("{webhook: {url: 'https://x', shape: slack, secret: s}}", "secret is of no use: slack checks no signature"),
        ("{webhook: {url: 'http://x'}}", "url must begin with https://; http:// is for your own network"),
        ("{webhook: {url: 'ftp://x', allow-private: true}}", "url must begin with https:// and name a host"),
        ("{webhook: {url: 'https://x:99999'}}", "webhook: url is none"),
        ("{webhook: {url: 'https://x/a b'}}", "url holds a blank"),
        ("{webhook: {url: [1]}}", "url must be a text, found list"),
        ("{webhook: {url: 'https://x', allow-private: perhaps}}", "allow-private must be true or false"),
        ("{webhook: {url: 'https://x', timeout: 5m}}", "timeout must be 60s or less"),
        ("{webhook: {url: 'https://x', headers: {Host: y}}}", "headers: 'Host' can be no header of yours"),
        ("{webhook: {url: 'https://x', headers: {'a b': y}}}", "headers: 'a b' can be no header of yours"),
        ("{slack: {token: t}}", "receiver ops, slack: it needs channel"),
        ("{alertmanager: {url: 'https://x', labels: {severity: y}}}", "labels: 'severity' can be no label of yours"),
        ("{nats: {subject: 'a.*'}}", "subject must be a subject of NATS without wildcards, found 'a.*'"),
        ("{nats: {subject: $JS.API.STREAM.DELETE.x}}", "subject must be a subject of NATS"),
        ("{email: {host: h, from: nobody, to: [a@x.org]}}", "'nobody' is no address"),
        ("{email: {host: h, from: a@x.org, to: ['b@x.org\\r\\nBcc: c@x.org']}}", "is no address"),
        ("{email: {host: h, from: a@x.org, to: [b@x.org], user: u}}", "user and password go together"),
        ("{email: {host: h, from: a@x.org, to: [b@x.org], user: u, password: p, tls: none}}", "in the clear"),
    ],
)
def test_a_mistake_in_a_receiver(receiver: str, problem: str) -> None:
    text = f"receivers: {{ops: {receiver}}}{RULE}".replace("'b@x.org\\r\\n", '"b@x.org\\r\\n').replace(
        "c@x.org'", 'c@x.org"'
    )
    with pytest.raises(InvalidInput) as raised:
        read_rules.read(text, installed())
    assert problem in str(raised.value)


def test_a_url_is_not_repeated() -> None:
    with pytest.raises(InvalidInput) as raised:
        read_rules.read(f"receivers: {{ops: {{webhook: {{url: 'http://x/T0PSECRET'}}}}}}{RULE}", installed())
    assert "T0PSECRET" not in str(raised.value)


def test_the_example_has_all_that_it_says() -> None:
    found = read_rules.read_file(ROOT / "examples" / "receivers.yaml", installed())
    assert {one.type for one in found.receivers.values()} == {
        "webhook", "slack", "cloudevents", "alertmanager", "nats", "email",
    }  # fmt: skip
    given = {"PAGER_KEY": "key-of-the-pager", "SLACK_URL": "https://hooks.example.org/T1/B2/longsecret"}
    pager = looked_up(found.receivers["pager"], given)
    assert pager.options["template"]["routing_key"] == "key-of-the-pager"
    assert "key-of-the-pager" in pager.secrets
    assert {"/T1/B2/longsecret", "longsecret"} <= {*looked_up(found.receivers["ops"], given).secrets}
