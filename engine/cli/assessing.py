"""`assess`: what manifests say of health and sync, without any server (spec: GitOps).

Belongs here: options and layout. Does not: the rules (`machines`), reading files (`manifestfiles`).
"""

import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.text import Text

from phaseline.engine.cli import judging, looks, options, talk
from phaseline.engine.cli.pages import Page
from phaseline.engine.errors import BadManifest
from phaseline.engine.manifestfiles import Manifest, Pair, documents, is_owned, paired, read
from phaseline.engine.sandbox import Sandbox, Sandboxed
from phaseline.machines.assessing import Assessed, assessed
from phaseline.machines.compare.ignoring import pointless
from phaseline.machines.customs import BadCustom, Customs
from phaseline.machines.health import group_kind
from phaseline.machines.profiles import PROFILES, Profile
from phaseline.machines.rollup import Member, Rolled, rolled

Found = tuple[Pair, Assessed]
PLACE = click.Path(exists=True, allow_dash=True, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command(
    cls=Page,
    examples=[
        ("phaseline assess --live deployment.yaml", "its health, and why"),
        ("kubectl get deploy,svc -n shop -o json | phaseline assess --live - --desired ./shop", "against a directory"),
        ("phaseline assess --live live.yaml --desired git.yaml --rules argocd-cm.yaml", "with your ignore rules and scripts"),
        ("phaseline assess --live custom.yaml --rules health.lua", "with one health script"),
    ],
)  # fmt: skip
@click.option("--live", type=PLACE, help="What is in the cluster: a file, a directory, or - for standard input.")
@click.option("--desired", type=PLACE, help="What Git declares, likewise.")
@click.option(
    "--rules", type=FILE, multiple=True,
    help="Ignore rules and health scripts: Argo CD's settings ConfigMap, an Application, a .lua, a map of ours; may be repeated.",
)  # fmt: skip
@click.option("--dry-run", type=FILE, help="What the API server says that applying would make, for one resource.")
@click.option(
    "--profile", type=click.Choice([*PROFILES]), help="Whose reading; alauda where neither this nor --rules says."
)
@click.option("--check", is_flag=True, help="Exit code 1 where anything is not Healthy or not Synced.")
@options.as_json
@options.verbose
def assess(
    *, live: Path | None, desired: Path | None, rules: Sequence[Path], dry_run: Path | None, profile: str | None, check: bool,
    as_json: bool,
) -> int | None:  # fmt: skip
    """Say what manifests' health and sync are, and why, without any server.

    Objects may be YAML or JSON, many in a file, or lists as kubectl prints them; a live and a desired one belong together by
    group, kind, namespace and name. What another object made (a ReplicaSet's Pods) is not expected to be in Git. Of many,
    the last lines say what an application of them would be.
    """
    if live is None and desired is None:
        raise click.UsageError("say what to assess: --live FILE, --desired FILE, or both")
    if str(live) == str(desired) == "-":
        raise click.UsageError("only one of --live and --desired can be standard input")
    pairs = paired(*([*read(path)] if path is not None else [] for path in (live, desired)))
    if dry_run is not None and len(pairs) != 1:
        raise click.UsageError(f"--dry-run is about one resource, and there are {len(pairs)}")
    if not pairs:
        talk.say(f"nothing to assess: no manifest in {' and '.join(str(path) for path in (live, desired) if path)}")
    planned = next(read(dry_run), None) if dry_run is not None else None
    if dry_run is not None and planned is None:
        raise click.UsageError(f"no manifest in {dry_run}")
    customs = _customs(rules, pairs, profile)
    for rule in customs.rules:
        for problem in pointless(rule):
            talk.say(f"the rule for {rule.group or 'core'}/{rule.kind} can do nothing: {problem}")
    found = _found(pairs, customs, desired, planned)
    members = [Member(one.key[:2], one.key.short(), one.live is not None, said) for one, said in found]
    whole = rolled(members, customs.profile) if len(members) > 1 else None
    if as_json:
        for pair, said in found:
            looks.show_json({**pair.key._asdict(), **judging.as_map(said, customs.profile)})
        if whole is not None:
            looks.show_json({"application": {**whole._asdict(), "health": customs.profile.called(whole.health)}})
    else:
        _show(found, whole, customs.profile)
    return int(check and not all(judging.is_well(said) for _, said in found))


def _found(pairs: Sequence[Pair], customs: Customs, desired: Path | None, planned: Manifest | None) -> list[Found]:
    with Sandbox() as sandbox:
        programs, now = Sandboxed(sandbox), int(time.time())

        def said(pair: Pair) -> Assessed:
            known = _is_known(pair, desired)
            return assessed(
                pair.live, pair.desired, customs, programs, now=now, is_known=known, dry_run=planned, explains=True
            )

        return [(pair, said(pair)) for pair in pairs]


def _is_known(pair: Pair, desired: Path | None) -> bool:
    """Whether what Git declares of it is known: without --desired it is not, and of what others made there is nothing to know."""
    return desired is not None and not (pair.desired is None and pair.live is not None and is_owned(pair.live))


def _customs(rules: Sequence[Path], pairs: Sequence[Pair], profile: str | None) -> Customs:
    customs = Customs()
    for path in rules:
        if path.suffix == ".lua":
            kinds = {group_kind(side) for pair in pairs for side in (pair.live, pair.desired) if side is not None}
            if len(kinds) != 1:
                raise click.UsageError(
                    f"{path} is about one kind, and here are {len(kinds)}: put it into a map, by group/Kind"
                )
            customs = customs.and_({"health": {"/".join(next(iter(kinds))): path.read_text()}}, str(path))
            continue
        for where, found in documents(path):
            customs = _with(customs, where, found)
    return _with(customs, "--profile", {"profile": profile}) if profile else customs


def _with(customs: Customs, where: str, found: Manifest) -> Customs:
    try:
        return customs.and_(found, where)
    except BadCustom as error:
        raise BadManifest(where=where, problem=str(error).removeprefix(where).lstrip(".: ")) from error


def _show(found: Sequence[Found], whole: Rolled | None, profile: Profile) -> None:
    for place, (pair, said) in enumerate(found):
        if place:
            looks.show_line(Text())
        judging.show(looks.text_of(pair.key, "bold"), said, profile)
    if whole is not None:
        looks.show_line(Text())
        judging.show_whole(Text(f"all {len(found)}, as one application", "bold"), whole, profile)
