"""The command `assess`: health and sync of manifests, without any server.

Belongs here: its options and the layout of its results. Does not: the assessment (`kinds.kubernetes`), reading files
(`observe.manifest_files`).
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import click

from phaseline.engine.products.gitops.assess import assessed, merged
from phaseline.engine.products.observe.manifest_files import documents, read
from phaseline.engine.surfaces.cli import options, render_assessment, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED
from phaseline.machines.kinds.kubernetes.diff.ignore import no_effects
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest, group_kind
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.pairs import ApplicationAssessment, Pair, pair_up, repeats
from phaseline.machines.kinds.kubernetes.profiles import NOT_ASSESSED, PROFILES, Profile
from phaseline.machines.kinds.kubernetes.rollup import Rollup
from phaseline.schemas.errors import Exit

PLACE = click.Path(exists=True, allow_dash=True, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command(
    cls=Page,
    examples=[
        ("phaseline gitops assess --live deployment.yaml", "health, with the reason"),
        ("kubectl get deploy -n shop -o json | phaseline gitops assess --live - --desired ./shop", "beside a folder"),
        ("phaseline gitops assess --live live.yaml --desired git.yaml --rules argocd-cm.yaml", "with your own rules"),
        ("phaseline gitops assess --live custom.yaml --rules health.lua", "with a health script"),
        ("phaseline gitops assess --desired ./shop --server-side", "by the API server's own dry run"),
    ],
)  # fmt: skip
@click.option("--live", type=PLACE, help="Objects in the cluster: a file, a directory, or - for standard input.")
@click.option("--desired", type=PLACE, help="Objects in Git: a file, a directory, or - for standard input.")
@click.option(
    "--rules", type=FILE, multiple=True,
    help="Ignore rules and health scripts: Argo CD's settings ConfigMap, an Application, a .lua script, or a map in"
    " Phaseline's own format. Can be repeated.",
)  # fmt: skip
@click.option("--dry-run", type=FILE, help="The API server's answer to a dry-run apply, for one resource.")
@click.option(
    "--server-side", is_flag=True,
    help="Let the cluster's API server say what an apply of --desired would change (a dry run for each object)."
    " Without --live, the live objects come from there too. Needs phaseline[kubernetes].",
)  # fmt: skip
@click.option(
    "--kubeconfig", type=options.FILE,
    help="With --server-side: this kubeconfig.  [default: KUBECONFIG, ~/.kube/config, or in-cluster]",
)  # fmt: skip
@click.option(
    "--kube-context", "kube_context", metavar="NAME", help="With --server-side: this context of the kubeconfig."
)
@click.option(
    "-n", "--namespace", default="default", show_default=True, metavar="NAMESPACE",
    help="With --server-side: the namespace of objects that name none.",
)  # fmt: skip
@click.option(
    "--field-manager", default="phaseline", show_default=True, metavar="NAME",
    help="With --server-side: in whose name to ask. Fields that this manager applied before, and that Git does not have"
    " any more, are differences.",
)  # fmt: skip
@click.option(
    "--profile", type=click.Choice([*PROFILES]), help="Assessment profile. Default: alauda, unless --rules sets one."
)
@click.option(
    "--check", is_flag=True,
    help="Exit with 1 if any resource is not Healthy or not Synced, or if nothing was assessed or nothing compared.",
)  # fmt: skip
@click.option(
    "--allow-unknown", is_flag=True, help="With --check: take what is not known, as far as nothing known is wrong."
)
@options.verbose
@options.output("json", "yaml")
def assess(
    *, live: Path | None, desired: Path | None, rules: Sequence[Path], dry_run: Path | None, server_side: bool,
    kubeconfig: Path | None, kube_context: str | None, namespace: str, field_manager: str, profile: str | None,
    check: bool, allow_unknown: bool, output: Output,
) -> int | None:  # fmt: skip
    """Show the health and sync of manifests, with the reasons. Needs no server.

    The input is YAML or JSON: any number of objects in a file, or lists as kubectl prints them. A live and a desired
    object are paired by group, kind, namespace and name. An object that another object created (a Pod of a
    ReplicaSet) is not expected to be in Git. With several objects, the last lines show them as one application.
    """
    if live is None and desired is None:
        raise click.UsageError("nothing to assess: give --live FILE, --desired FILE, or both")
    if str(live) == str(desired) == "-":
        raise click.UsageError("only one of --live and --desired can be standard input")
    if server_side and (desired is None or dry_run is not None):
        raise click.UsageError("--server-side asks about --desired, and takes the place of --dry-run")
    if server_side:
        cluster = ClusterAccess(kubeconfig, kube_context, namespace, field_manager)
        pairs, planned = _of_server(live, cluster, [*read(cast("Path", desired), terminal.say)])
    else:
        pairs, planned = _pairs(live, desired), _planned(dry_run)
        if dry_run is not None and len(pairs) != 1:
            raise click.UsageError(f"--dry-run is for one resource, found {len(pairs)}")
    overrides = _overrides(rules, pairs, profile)
    for problem in (*overrides.notes, *no_effects(overrides.rules)):
        terminal.say(problem)
    application = assessed(pairs, overrides, is_declared=desired is not None, dry_runs=planned)
    if output.is_data:
        _show_data(application, overrides.profile, output)
    else:
        _show(application, overrides.profile, output)
    return Exit.NO if check and not _passes(application, allow_unknown=allow_unknown) else Exit.DONE


def _passes(application: ApplicationAssessment, *, allow_unknown: bool) -> bool:
    """Whether nothing known is wrong, and something is known."""
    unknown = [*_unknown(application.whole)] if not allow_unknown else []
    for what in unknown:
        terminal.say(f"{what}: --check fails; with --allow-unknown it does not")
    return not unknown and all(render_assessment.is_healthy(assessment) for _, assessment in application.resources)


def _unknown(whole: Rollup) -> Iterator[str]:
    """What is not known of any resource."""
    if whole.health == NOT_ASSESSED:
        yield render_assessment.NOTHING_ASSESSED
    if whole.sync == NOT_COMPARED:
        yield render_assessment.NOTHING_COMPARED


def _pairs(live: Path | None, desired: Path | None) -> list[Pair]:
    sides = [[*read(path, terminal.say)] if path is not None else [] for path in (live, desired)]
    for problem in (*repeats(sides[0], "live"), *repeats(sides[1], "in Git")):
        terminal.say(problem)
    pairs = pair_up(*sides)
    if not pairs:
        terminal.say(f"nothing to assess: no manifest in {' and '.join(str(path) for path in (live, desired) if path)}")
    return pairs


def _planned(dry_run: Path | None) -> list[Manifest | None]:
    if dry_run is None:
        return []
    planned = next(read(dry_run), None)
    if planned is None:
        raise click.UsageError(f"no manifest in {dry_run}")
    return [planned]


class ClusterAccess(NamedTuple):
    """The cluster to ask, the namespace of objects without one, and in whose name to ask."""

    kubeconfig: Path | None
    context: str | None
    namespace: str
    manager: str


def _of_server(
    live: Path | None, cluster: ClusterAccess, desired: Sequence[Manifest]
) -> tuple[list[Pair], list[Manifest | None]]:
    """The pairs, and the API server's answer for each."""
    from phaseline.engine.products.commands import server_side  # noqa: PLC0415  # an extra
    from phaseline.engine.products.observe import kubernetes_api  # noqa: PLC0415  # an extra

    async def work() -> list[server_side.ServerAnswer]:
        async with kubernetes_api.connected(cluster.kubeconfig, cluster.context) as api:
            return await server_side.ask(api, desired, cluster.namespace, cluster.manager)

    answers = asyncio.run(work())
    there = [one.live for one in answers if one.live is not None] if live is None else [*read(live, terminal.say)]
    pairs = pair_up(there, desired)
    by_desired = {id(one): answer for one, answer in zip(desired, answers, strict=True)}
    planned = []
    for pair in pairs:
        answer = by_desired.get(id(pair.desired))
        if answer is not None and answer.problem:
            terminal.say(f"{pair.key.short()} is compared without the API server: {answer.problem}")
        planned.append(None if answer is None else answer.applied)
    return pairs, planned


def _overrides(rules: Sequence[Path], pairs: Sequence[Pair], profile: str | None) -> Overrides:
    overrides = Overrides()
    for path in rules:
        if path.suffix == ".lua":
            kinds = {group_kind(side) for pair in pairs for side in (pair.live, pair.desired) if side is not None}
            if len(kinds) != 1:
                raise click.UsageError(
                    f"{path} is a script for one kind, found {len(kinds)} kinds: put it into a map, by group/Kind"
                )
            overrides = merged(overrides, str(path), {"health": {"/".join(next(iter(kinds))): path.read_text()}})
            continue
        for where, document in documents(path, terminal.say):
            overrides = merged(overrides, where, document)
    return merged(overrides, "--profile", {"profile": profile}) if profile else overrides


def _show_data(application: ApplicationAssessment, profile: Profile, output: Output) -> None:
    for pair, assessment in application.resources:
        output.show({**pair.key._asdict(), **render_assessment.as_map(assessment, profile)})
    if len(application.resources) > 1:
        output.show(
            {"application": {**application.whole._asdict(), "health": profile.called(application.whole.health)}}
        )


def _show(application: ApplicationAssessment, profile: Profile, output: Output) -> None:
    for index, (pair, assessment) in enumerate(application.resources):
        if index:
            output.line()
        render_assessment.show(output, Text(str(pair.key), "bold"), assessment, profile)
    if len(application.resources) > 1:
        output.line()
        title = Text(f"all {len(application.resources)} as one application", "bold")
        render_assessment.show_whole(output, title, application.whole, profile)
