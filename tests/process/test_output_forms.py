"""The forms of `-o`: JSON and YAML that hold what the page shows, names, and pages for terminals of any width."""

import asyncio
import json
from typing import Any

import yaml

from phaseline.schemas.records import nanoseconds
from tests.support.command import Shell
from tests.support.command_line import render
from tests.support.own_installation import Client
from tests.support.terminal import on_a_terminal, without_codes

MESSAGE = "the volume API timed out \u202e三次"
EVENTS: list[tuple[str, str, str, dict[str, Any] | None]] = [
    ("cluster", "adopt", "c1", {"phase": "Running"}),
    ("cluster", "configure", "c1", {"silence_after": 600}),
    ("node_pool", "adopt", "c1/p", {"phase": "Running", "default": True}),
    ("node", "adopt", "c1/p/node-with-a-long-name", {"phase": "Running"}),
    ("node", "not_ready", "c1/p/node-with-a-long-name", {"reason": "KubeletStopped", "message": MESSAGE}),
    ("component", "adopt", "c1/dns", {"phase": "Running"}),
]
NODE = ("node", "c1/p/node-with-a-long-name")


async def seed(client: Client) -> None:
    for kind, trigger, name, data in EVENTS:
        assert (await client.publish_and_wait(kind, trigger, name, data, source="/agent")).records
    await client.publish_and_wait("node", "stop", NODE[1], source="/console")


NAME = f"{NODE[0]}/{NODE[1]}"
NAMED: list[tuple[tuple[str, ...], str | None]] = [
    (("get", *NODE), NAME),
    (("list", "node"), NAME),
    (("tree", NODE[1]), NAME),
    (("changes", "--from", "start", "--kind", "node"), NAME),
    (("watch", "node", "--from", "start", "--no-follow", "--state", "Failed"), NAME),
    (("rejections",), NAME),
    (("history", *NODE), None),
    (("timeline", NODE[1]), None),
    (("why", NODE[1]), None),
    (("rejections", "show", "REJECTION"), None),
]
"""Commands that only read, and the name that each of their lines is about, if they have the form `name`."""


async def test_the_forms_say_the_same(shell: Shell, client: Client) -> None:
    await seed(client)
    rejected = str(await rejection(client))
    for words, name in NAMED:
        await say_the_same(shell, tuple(rejected if word == "REJECTION" else word for word in words), name)


async def say_the_same(shell: Shell, words: tuple[str, ...], name: str | None) -> None:
    """The forms of this command hold the same; its lines are about the entity of that name."""
    whole, short, as_yaml, wide = await asyncio.gather(
        shell(*words, "-o", "json"), shell(*words, "--json"), shell(*words, "-o", "YAML"), shell(*words, "-o", "wide")
    )
    found = whole.lines
    if words[0] != "timeline":  # its last interval ends now
        assert short.lines == found
        assert [*yaml.safe_load_all(as_yaml.out)] == found
    else:
        assert [lane["id"] for lane in yaml.safe_load_all(as_yaml.out)] == [lane["id"] for lane in found]
    assert "\u202e" not in whole.out + as_yaml.out + wide.out
    assert as_yaml.out.startswith("---\n")
    assert wide.out
    assert wide.out != whole.out
    if name is not None:
        assert (await shell(*words, "-o", "name")).out == f"{name}\n" * len(found)


async def rejection(client: Client) -> int:
    async with client.rejections() as found:
        async for _ in found:
            return found.sequence
    raise AssertionError("nothing was rejected")


async def test_json_holds_what_the_page_shows(shell: Shell, client: Client) -> None:
    await seed(client)
    page, node = await shell("get", *NODE), (await shell("get", *NODE, "-o", "json")).json
    facet = node["facets"]["phase"]
    for said in (node["reason"], facet["label"], *facet["conditions"], facet["state"], node["trigger"]):
        assert said in page.out
    assert node["message"] == MESSAGE
    assert (node["cause"]["source"], facet["schedulable"]) == ("/agent", False)
    for time in (facet["since"], node["time"]):
        assert render.local_time(nanoseconds(time))[:10] in page.out
    listed = [one for one in (await shell("list", "-o", "json")).lines if one["kind"] == "node"]
    assert node.pop("said")[0]["reason"] == node["reason"]
    assert listed == [node]
    cluster = (await shell("get", "cluster", "c1", "--json")).json
    assert cluster["attributes"]["heard_at"].endswith("Z")
    assert nanoseconds(cluster["attributes"]["heard_at"]) > 10**18
    records = (await shell("watch", "--tree", "c1", "--from", "start", "--no-follow", "--json")).lines
    heard = [one["data"]["entity"]["attributes"].get("heard_at") for one in records]
    assert {type(one) for one in heard} == {type(None), str}
    failed = [one for one in records if one["data"]["kind"] == "node" and one["data"]["to"]["state"] == "Failed"]
    assert [one["label"] for one in failed] == [facet["label"]]
    chinese = (await shell("get", *NODE, "--lang", "zh", "--json")).json
    assert not chinese["facets"]["phase"]["label"].isascii()
    assert "heard_at" not in page.out
    assert str(nanoseconds(cluster["attributes"]["heard_at"])) not in (await shell("get", "cluster", "c1")).out


STRUCTURED: list[tuple[str, ...]] = [
    ("doctor",),
    ("publish", "cluster", "update", "c1", "--time", "2026-03-02T08:00:00Z", "--id", "e-1", "--dry-run"),
    ("log", "replay"),
    ("log", "replay", "--audit"),
    ("log", "replay", "--with", "installed"),
    ("rejections", "--summary"),
    ("admin", "purge", "--dry-run", *NODE),
    ("gitops", "assess", "--live", "examples/gitops/live", "--desired", "examples/gitops/git"),
    ("publish", "cluster", "update", "c1", "--id", "e-1", "--wait"),
]
"""Commands without the form `name`, but for one. The last one changes what there is."""


async def test_what_json_says_yaml_says(shell: Shell, client: Client) -> None:
    await seed(client)
    for words in STRUCTURED:
        if "--wait" in words:
            await shell(*words)  # the two below are duplicates of it
        as_json, as_yaml = await shell(*words, "-o", "json"), await shell(*words, "-o", "yaml")
        assert as_yaml.out.startswith("---\n"), words
        assert (as_json.code, as_yaml.code) == (0, 0), words
        if words[0] != "doctor" and words[-1] != "--dry-run":  # the one measures times, the other decides now
            assert [*yaml.safe_load_all(as_yaml.out)] == as_json.lines, words
        unknown = await shell(*words, "-o", "name")
        if words[0] != "rejections":
            assert "this command has no form 'name'; there are: json, yaml" in " ".join(unknown.err.split()), words


async def test_unknown_and_contradicting_forms(shell: Shell) -> None:
    wrong = await shell("list", "-o", "jsno")
    assert (wrong.code, wrong.out) == (2, "")
    assert "there is no form 'jsno' (did you mean json?); there are: json, yaml, wide, name" in " ".join(
        wrong.err.split()
    )
    both = await shell("list", "--json", "-o", "yaml")
    assert (both.code, "give either --json or -o yaml" in both.err) == (2, True)
    assert "there are: json, yaml, wide\n" in (await shell("why", "c1", "-o", "name")).err


async def test_a_terminal_of_any_width(shell: Shell, client: Client) -> None:
    await seed(client)
    for words in (("list",), ("history", *NODE), ("watch", "--from", "start", "--no-follow", "--rejections")):
        whole = {word.rstrip(":") for line in (await shell(*words)).out.splitlines() for word in line.split()}
        for width in (60, 80, 120):
            await fits(shell, words, whole, width)
    for width in (60, 80, 120):
        assert "the volume API timed out" in await on_a_terminal(shell, "list", "-o", "wide", width=width), width


async def fits(shell: Shell, words: tuple[str, ...], whole: set[str], width: int) -> None:
    """On a terminal of that width the command shows words of the whole page, and no line is wider."""
    lines = without_codes(await on_a_terminal(shell, *words, width=width))
    assert max(map(len, lines)) <= width
    assert max(map(len, lines)) > width // 2
    text = "\n".join(lines)
    assert "c1/p/node-with-a-long-name" in text or words[0] == "history"
    strange = {word for word in text.split() if word.rstrip(":") not in whole} - {"…"}
    assert [word for word in strange if word.isalpha() and len(word) > 2 and word != "entities"] == []


async def test_a_page_without_a_terminal_is_whole(shell: Shell, client: Client) -> None:
    await seed(client)
    plain, wide = await shell("list", "node"), await shell("list", "node", "-o", "wide")
    columns = {page: page.out.split("\n")[0].split() for page in (plain, wide)}
    assert {"KIND", "ID", "STATE", "LABEL", "FOR", "VERSION"} <= {*columns[plain]} < {*columns[wide]}
    assert {"CLASS", "REASON", "MESSAGE", "CAUSE"} == {*columns[wide]} - {*columns[plain]}
    assert "…" not in plain.out
    assert r"the volume API timed out \u202e三次" in wide.out
    assert json.loads((await shell("list", "node", "--json")).out)["message"] == MESSAGE
