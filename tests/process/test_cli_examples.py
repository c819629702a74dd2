"""The examples in the help of each command, and so on docs/cli.md, run in order on one system.

Belongs here: what must be there before an example runs, and which examples can only be parsed. Does not: what they
print (`test_cli_pages`), the other pages (`test_docs_run`).
"""

import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest

from tests.support.command import ROOT
from tests.support.command_line import cli
from tests.support.pages.blocks import blocks, commands
from tests.support.pages.runner import PageRun

PAGE = ROOT / "docs" / "cli.md"
PARSED = {
    "phaseline demo --speed 0 --lang zh": "the one before it plays the same",
    "phaseline up --data ./phaseline-data": "another system runs already",
    "phaseline up": "another system runs already",
    "phaseline worker": "needs servers of that name",
    "PHASELINE_NATS=tls://nats.example:4222": "needs servers of that name",
    "phaseline doctor --nats nats://a:4222": "needs servers of that name",
    "phaseline list --cell": "needs servers of that name",
    "phaseline serve --cell": "needs servers of that name",
    "phaseline watch --cell": "needs servers of that name",
    "PHASELINE_NKEY=keys/tree-c1.nk": "a sketch of a command",
    "phaseline COMMAND": "a sketch of a command",
    "phaseline serve --listen 0.0.0.0": "needs a file of tokens",
    "phaseline observe --cluster": "needs a Kubernetes cluster",
    "phaseline gitops assess --desired ./shop --server-side": "needs a Kubernetes cluster",
    "phaseline admin sites add": "needs a server of an edge",
    "phaseline admin sites remove": "needs an edge",
    "phaseline log replay --with acme.tables:KINDS": "needs a package of the reader's",
    "phaseline kinds check --with backups/table.py:KINDS": "needs a table of the reader's",
    'eval "$(phaseline completion zsh)"': "needs zsh",
    "phaseline notify": "runs until it is stopped",
    "phaseline notices  ": "reads an installation of notices",
    "phaseline notices --": "reads an installation of notices",
    "phaseline notices why": "reads an installation of notices",
    "phaseline notices hold": "needs a notice",
    "phaseline notices take": "needs a notice",
    "phaseline notices release": "needs a notice",
    "phaseline admin backup": "writes outside the folder of the test",
    "phaseline admin restore": "reads that backup",
    "phaseline log archive": "writes outside the folder of the test, and nothing is that old",
    "phaseline get node c1/pool-a/n7 --at 90d --archive": "reads that archive",
    "phaseline log export all.plog.zst --records --archive": "reads that archive",
    "phaseline serve --archive": "reads that archive",
    "phaseline levels show --archive": "reads that archive",
}
"""By the beginning of an example, why it cannot run. Its options and arguments are parsed."""
ENDS = {
    "phaseline publish cluster create c1 --wait": {0, 1},  # the second time it is rejected
    "phaseline kinds new backup_job  ": {0, 2},  # the second time the folder is there
    "phaseline list node": {0, 1},
    "phaseline notices test": {1},  # nobody listens
    "phaseline doctor": {0, 1},
    "phaseline admin streams --replicas 3 --log": {1},  # something differs
    "phaseline admin streams --replicas 3 --apply": {6},  # this server is no member of a cluster
    "phaseline admin followers --remove pager": {2},  # nobody follows
    "phaseline counts --cluster 'edge-*'": {4},  # no cluster has such a name
}
MEANT = (
    ("proj+vfw+v1+group", "video+portal+v1+release"),
    ("--app sink", "--app web"),
    ("infra/web/c1", "infra/web/east"),
    ("show 4711", "show $REJECTED"),
    ("resend 4711", "resend $REJECTED"),
    ("withdraw 4711", "withdraw $EXCUSE"),
)
"""Names in examples, and what has this part in the system of this test."""
MOMENTS = ("03:00", "03:12", "03:30", "2h", "15m", "1d", "24h")
MANIFESTS = """cp -r examples/gitops/git shop
cp examples/gitops/git/web.yaml git.yaml
cp examples/gitops/rules.yaml argocd-cm.yaml
tee < examples/gitops/live/shop.yaml dump.yaml deployment.yaml live.yaml > /dev/null
echo '{kind: Widget, apiVersion: example.io/v1, metadata: {name: w}}' > custom.yaml
echo 'return {status = "Healthy"}' > health.lua"""
BEFORE = {
    "phaseline publish --file events.jsonl --wait": "head -1 examples/invoice.jsonl > events.jsonl",
    "phaseline publish node not_ready": "phaseline publish --file examples/invoice.jsonl",
    "phaseline publish cluster c1 --snapshot": 'echo \'[{"id": "pool-a/n8", "phase": "Running"}]\' | tee nodes.yaml > nodes.json; '
    "my-agent() { echo '[]'; }",
    "kubectl get -o json deploy,svc,cm -n shop --watch": MANIFESTS,
    "phaseline rejections show": "REJECTED=$(phaseline rejections --json | head -1 | jq .logsequence)",
    "phaseline log import day.plog.zst --prefix": "phaseline worker --prefix rehearsal",
    "phaseline admin purge": "phaseline publish resource observed shop/web/core:Secret/shop/mail --data '{\"live\": null}'",
    "phaseline log replay --file day.plog.zst": "phaseline log export day.plog.zst",
    "phaseline log export day.plog.zst": "mkdir tests",
    "phaseline levels --windows": "cp examples/notices.yaml notices.yaml",
    "phaseline levels withdraw": "EXCUSE=$(phaseline levels excuses --json | head -1 | jq .place)",
    "phaseline notices try": "cp examples/notices.yaml notices.yaml",
    "phaseline counts": "phaseline publish --file examples/fleet/infra.jsonl",
    "phaseline tree proj+vfw+v1+group": "phaseline publish --file examples/emco/deployment.jsonl",
    "phaseline completion fish": "mkdir -p ~/.config/fish/completions",
}
"""What the reader has done before the first example that begins so."""


@cache
def examples() -> list[str]:
    """The commands of the page, in order."""
    page = PAGE.read_text(encoding="utf-8")
    return [command.text for block in blocks(page) if block.language == "console" for command in commands(block)]


def reason(example: str) -> str | None:
    return next((reason for start, reason in PARSED.items() if example.startswith(start)), None)


async def test_the_examples_run(tmp_path: Path) -> None:
    wrong, before = [], dict(BEFORE)
    async with PageRun.opened("cli.md", tmp_path / "reader") as run:
        for example in examples():
            if reason(example) and run.shell.url:
                continue
            for start in [start for start in before if example.startswith(start)]:
                code, printed = await run.do(before.pop(start))
                assert code == 0, (start, printed)
                for moment in MOMENTS:
                    await run.remember(moment)
            meant = example
            for word, means in MEANT:
                meant = meant.replace(word, means)
            code, printed = await run.do(meant)
            if code not in next((codes for start, codes in ENDS.items() if example.startswith(start)), {0}):
                wrong.append("\n".join([f"$ {example}", f"ended with {code}", *printed]))
    assert not before, "these examples are gone"
    if wrong:
        pytest.fail("\n\n".join(wrong), pytrace=False)


@pytest.mark.parametrize("example", [one for one in examples() if reason(one)])
def test_the_others_are_parsed(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "notices.yaml").touch()
    words = shlex.split(re.sub(r"\s+#.*$", "", example).removeprefix('eval "$(').removesuffix(')"'))
    words = words[words.index("phaseline") + 1 :]
    if "..." in words or "COMMAND" in words:
        return
    with click.Context(cli) as top:
        command = cli.get_command(top, words[0])
        assert command is not None
        command.make_context(words[0], words[1:], parent=top)


def test_every_reason_is_needed() -> None:
    for start in PARSED:
        assert any(example.startswith(start) for example in examples()), start
