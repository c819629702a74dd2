"""The command `phaseline readiness`: whether a release may start, as the workers' service says."""

import click

import phaseline.sync


@click.command()
@click.argument("release")
@click.option("--nats", envvar="PHASELINE_NATS", default="nats://127.0.0.1:4222", help="The NATS server.")
@click.option("--prefix", envvar="PHASELINE_PREFIX", default="pl", help="The prefix of the installation.")
def readiness(release: str, nats: str, prefix: str) -> None:
    """Show whether a release may start, and what is missing."""
    with phaseline.sync.connect(nats, prefix=prefix) as client:
        found = client.ask("release", release)
    click.echo(f"{release} may start" if found["may_start"] else f"{release} must wait: {', '.join(found['missing'])}")
