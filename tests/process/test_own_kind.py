"""The example of a kind of one's own: built and installed as its README says, found by its entry point, and it works.

Belongs here: `examples/own_kind`. Does not: what makes tables wrong.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator

from phaseline.machines import built_in
from phaseline.schemas.errors import EntityUnknown, Exit, PhaselineError
from tests.support import forked_process
from tests.support.command import ENVIRONMENT, LIMIT, MODULE, Answer, ended
from tests.support.free_ports import side_by_side
from tests.support.installation import Settings
from tests.support.own_installation import Client

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "own_kind"
BUILT_IN = [table.kind for table in built_in.BUILT_IN]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example installed, as an installer would: its wheel, unpacked."""
    folder = tmp_path_factory.mktemp("own_kind")
    source = shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    building = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(building, cwd=source, check=True, capture_output=True)
    [wheel] = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


def run(site: Path, *arguments: str) -> str:
    """What a fresh interpreter with the example installed prints."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    found = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_is_found_beside_the_built_in_kinds(site: Path) -> None:
    program = "from phaseline.machines import built_in; print(*built_in.installed())"
    assert run(site, "-c", program).split() == [*BUILT_IN, "release"]


def test_lives_as_its_table_says(site: Path) -> None:
    assert run(site, str(EXAMPLE / "try_it.py")).splitlines() == [
        f"kinds: {', '.join(BUILT_IN)}, release",
        "create: rollout unknown -> Pending [Ok] (Pending)",
        "create: approval Absent -> Waiting [Ok] (Waiting for approval)",
        "start: rejected, release v2 is Pending [Ok], Waiting [Ok]: the release is Waiting [Ok], start needs Approved",
        "approve: approval Waiting [Ok] -> Approved [Ok] (Approved)",
        "start: rollout Pending [Ok] -> Rolling [Progressing] (Rolling out)",
        "checks_failed: rollout Rolling [Progressing] -> Failed [ChecksFailed] (Checks failed)",
        "timed_out: rollout Failed [ChecksFailed] -> Failed [ChecksFailed, TimedOut] (Checks failed)",
        "checks_passed: rollout Failed [ChecksFailed, TimedOut] -> Failed [TimedOut] (Timed out)",
        "resumed: rollout Failed [TimedOut] -> Rolling [Progressing] (Rolling out)",
        "finished: rollout Rolling [Progressing] -> Done [Ok] (Done)",
    ]


RECORDS = """
import json, sys
from phaseline.engine.core.process import Processor
from phaseline.engine.nats.reader import Stored
from phaseline.engine.core.tree import Tree
from phaseline.machines import built_in
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects
from phaseline.tables import NoScripts
processor = Processor(Tree(built_in.installed(), NoScripts()), Subjects("pl"), 0)
for number, trigger in enumerate(sys.argv[1:], 1):
    body = {"specversion": "1.0", "id": str(number), "source": "/ci", "type": f"release.{trigger}", "data": {"reason": "Because"}}
    event = Stored(f"pl.inbox.0.v2.release.{trigger}", codec.encode(body), number, number, 0, None)
    for message in processor.process([event], 0).messages:
        print(codec.encode_json(codec.decode(message.body)).decode())
"""


def test_its_schemas_page_and_document_are_made_too(site: Path, tmp_path: Path) -> None:
    run(site, "-m", "phaseline.machines.docs.pages", "--installed", "--to", str(tmp_path))
    schema: dict[str, Any] = json.loads((tmp_path / "schemas/json/records.json").read_text())
    document = json.loads((tmp_path / "schemas/asyncapi.json").read_text())
    assert document["channels"]["events.release"]["address"] == "pl.events.{release}.release.{trigger}"
    assert "## release: id `<release>`" in (tmp_path / "docs/machines.md").read_text()
    assert "checks_failed" in json.loads((tmp_path / "schemas/json/kinds/release.json").read_text())["$defs"]
    records = run(site, "-c", RECORDS, "create", "approve", "start", "checks_failed", "withdraw").splitlines()
    assert len(records) == 7
    for record in records:
        Draft202012Validator(schema).validate(json.loads(record))


def run_tests(site: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Its tests by themselves, so that nothing but what is installed is found."""
    shutil.copy(EXAMPLE / "test_release.py", folder)
    command = [sys.executable, "-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    seen = str(ROOT / ".hypothesis")  # what Hypothesis has read of our sources: to read them again takes seconds
    environment = {**os.environ, "PYTHONPATH": str(site), "HYPOTHESIS_STORAGE_DIRECTORY": seen}
    return subprocess.run(command, env=environment, check=False, capture_output=True, text=True, cwd=folder)


def test_its_own_tests_pass(site: Path, tmp_path: Path) -> None:
    done = run_tests(site, tmp_path)
    assert (done.returncode, "\n6 passed in " in done.stdout) == (0, True), done.stdout


@pytest.mark.slow
def test_its_own_tests_notice_a_guard_that_is_gone(site: Path, tmp_path: Path) -> None:
    changed = shutil.copytree(site, tmp_path / "site")
    table = changed / "acme_kinds" / "release.py"
    assert ", when=IS_APPROVED" in table.read_text()
    table.write_text(table.read_text().replace(", when=IS_APPROVED", ""))
    done = run_tests(changed, tmp_path)
    assert (done.returncode, "\n1 failed, 5 passed in " in done.stdout) == (1, True), done.stdout
    assert "expected release start v2 to be rejected as guard with the message 'start needs Approved'" in done.stdout


def test_the_readme_shows_the_code_that_there_is() -> None:
    sources = (*(EXAMPLE / "acme_kinds").glob("*.py"), EXAMPLE / "test_release.py")
    table = "".join(source.read_text() for source in sources)
    readme = (EXAMPLE / "README.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL):
        for line in block.splitlines():
            assert line.strip() in table, line
    [shown] = re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)
    real = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    assert tomllib.loads(shown)["project"]["entry-points"] == real["project"]["entry-points"]


def test_taking_a_row_out_is_refused_as_the_readme_says(site: Path) -> None:
    program = """
import dataclasses
from acme_kinds.release import APPROVAL, RELEASE, ROLLOUT
from phaseline.tables import Kinds, WrongTable
rows = tuple(row for row in ROLLOUT.rows if row.trigger != "start")
intents = tuple(intent for intent in RELEASE.intents if intent != "start")
try:
    Kinds((dataclasses.replace(RELEASE, intents=intents, facets=(dataclasses.replace(ROLLOUT, rows=rows), APPROVAL)),))
except WrongTable as error:
    print(error)
"""
    assert "rollout: no row leads to Rolling: add one, or remove its label" in run(site, "-c", program)


async def call(site: Path, settings: Settings, *words: str) -> Answer:
    """A command in a process of its own, in whose environment the example is installed."""
    environment = {
        **ENVIRONMENT, "NO_COLOR": "1", "PHASELINE_NATS": settings.nats[0], "PHASELINE_PREFIX": settings.prefix,
    }  # fmt: skip
    server = forked_process.started("tests.support.forked_with_package", str(site))
    process = await forked_process.start(MODULE, *words, environment=environment, folder=site, server=server)
    async with ended(process) as started, asyncio.timeout(LIMIT):
        out, err = await started.communicate()
    assert started.returncode is not None
    return Answer(started.returncode, out.decode(), err.decode())


async def until_owned(settings: Settings, working: asyncio.Task[Answer]) -> None:
    """Wait until a worker owns the tree v2: before, there is no answer. A process for each try would cost more."""
    async with Client.open(settings) as client, asyncio.timeout(LIMIT):
        while not working.done():
            try:
                await client.get("cluster", "v2")
            except EntityUnknown:
                return
            except PhaselineError:
                await asyncio.sleep(0.1)
    pytest.fail(f"the worker has ended: {working.result()}")


async def test_its_service_and_its_command_work(site: Path, settings: Settings) -> None:
    working = asyncio.create_task(call(site, settings, "worker", "--partitions", "2"))
    try:
        await until_owned(settings, working)
        assert (await call(site, settings, "get", "release", "v2")).code == Exit.NOT_FOUND
        created = await call(site, settings, "publish", "release", "create", "v2", "--data", '{"notes": "n"}', "--wait")
        assert (created.code, "new -> Pending" in created.out) == (0, True), created.err
        waits = await call(site, settings, "readiness", "v2")
        assert (waits.code, waits.out) == (0, "v2 must wait: the approval is Waiting\n"), waits.err
        assert (await call(site, settings, "publish", "release", "approve", "v2", "--wait")).code == 0
        assert (await call(site, settings, "readiness", "v2")).out == "v2 may start\n"
        unknown = await call(site, settings, "readiness", "v3")
        assert (unknown.code, "there is no release 'v3'" in unknown.err) == (4, True)
        shown = await call(site, settings, "--help")
        assert "Commands of installed packages:" in shown.out
        assert "Show whether a release of Acme's may start." in shown.out
        meant = await call(site, settings, "readines", "v2")
        assert "did you mean readiness?" in meant.err
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


READS = """
import asyncio, sys
import phaseline, phaseline.sync
from acme_kinds.reads import Acme

async def main(nats, prefix):
    async with phaseline.connect(nats, prefix=prefix) as client:
        assert "acme" in dir(client) and isinstance(client.acme, Acme)
        print((await client.acme.readiness("v2"))["may_start"], [one async for one in client.acme.waiting()])
        view = await client.at("now")
        assert not hasattr(view, "acme") and not hasattr(client, "acne") and "acme" not in dir(view)

asyncio.run(main(*sys.argv[1:]))
with phaseline.sync.connect(sys.argv[1], prefix=sys.argv[2]) as client:
    print(client.acme.readiness("v2")["may_start"], list(client.acme.waiting()), "acme" in dir(client))
    assert not hasattr(client, "acne") and not hasattr(client.at("now"), "acme") and type(client.acme) is not Acme
"""


async def test_its_route_and_its_reads_work(site: Path, settings: Settings, tmp_path: Path) -> None:
    working = asyncio.create_task(call(site, settings, "worker", "--partitions", "2"))
    serving = None
    try:
        await until_owned(settings, working)
        for words in (("create", "v2"), ("create", "v3"), ("approve", "v3")):
            assert (await call(site, settings, "publish", "release", *words, "--wait")).code == 0
        reads = await asyncio.to_thread(run, site, "-c", READS, settings.nats[0], settings.prefix)
        assert reads.splitlines() == ["False ['v2']", "False ['v2'] True"]
        port = side_by_side(1)
        serving = asyncio.create_task(call(site, settings, "serve", "--listen", f"127.0.0.1:{port}"))
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http, asyncio.timeout(LIMIT):
            while not await answers(http):
                assert not serving.done(), serving.result()
                await asyncio.sleep(0.2)
            waits, starts = [(await http.get(f"/v1/readiness/{one}")).json() for one in ("v2", "v3")]
            assert waits == {"release": "v2", "may_start": False, "missing": ["the approval is Waiting"]}
            assert starts["may_start"]
            unknown = await http.get("/v1/readiness/v4")
            assert (unknown.status_code, unknown.json()["type"]) == (404, "urn:phaseline:problem:entity-unknown")
            described = (await http.get("/openapi.json")).json()["paths"]["/v1/readiness/{id}"]["get"]
            assert described["operationId"] == "getReadiness"
    finally:
        for task in filter(None, (working, serving)):
            task.cancel()
        await asyncio.gather(*filter(None, (working, serving)), return_exceptions=True)


async def answers(http: httpx2.AsyncClient) -> bool:
    """Whether the server has loaded the states."""
    try:
        return (await http.get("/readyz")).status_code == 200
    except httpx2.TransportError:
        return False
