"""The chart and the kustomize base with the real Helm and kubectl: linted, rendered, checked by Kubernetes' schemas.

Belongs here: what needs these programs. Does not: reading the files without them (`tests/pure/test_deploy.py`).
`python3 dev.py foreign` installs Helm and kubectl; without them these tests are skipped. After a change of the chart,
`PHASELINE_GOLDEN=write pytest tests/process/test_foreign_charts.py` writes the kustomize base. Read the diff.
"""

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from tests.support.command_line import parsed, unread
from tests.support.deploy_files import (
    BASE,
    CHART,
    DEPLOY,
    KUBERNETES,
    Manifest,
    base,
    check,
    documents,
    environment,
    pods,
    unsafe,
)
from tests.support.foreign_programs import FOREIGN, failing, run

VALUES = sorted((FOREIGN / "charts").glob("*.yaml"))
KUSTOMIZED = DEPLOY / "kustomize" / "values.yaml"
BY_HELM = ("helm.sh/chart", "app.kubernetes.io/managed-by")
"""Labels that say how an object came about."""


async def rendered(helm: str, *files: Path, **settings: str) -> list[Manifest]:
    """What the chart makes of values."""
    words = [word for path in files for word in ("--values", path)]
    words += [word for name, value in settings.items() for word in ("--set", f"{name.replace('__', '.')}={value}")]
    text = await run(helm, "template", "phaseline", CHART, "--namespace", "phaseline", *words)
    return documents(text.decode())


@pytest.mark.parametrize("path", VALUES, ids=lambda path: path.stem)
async def test_helm_finds_nothing_wrong(helm: str, path: Path) -> None:
    assert b"0 chart(s) failed" in await run(helm, "lint", "--strict", CHART, "--values", path)


@pytest.mark.parametrize("path", [CHART / "values.yaml", KUSTOMIZED, *VALUES], ids=lambda path: path.stem)
async def test_every_kubernetes_takes_what_is_rendered(helm: str, path: Path) -> None:
    found = await rendered(helm, path)
    assert len(found) > 3
    for version in KUBERNETES:
        for manifest in found:
            check(manifest, version)
    assert [text for pod in pods(found) for text in unsafe(pod)] == []


@pytest.mark.parametrize("path", [CHART / "values.yaml", *VALUES], ids=lambda path: path.stem)
async def test_the_command_takes_what_is_rendered(helm: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    containers = [container for pod in pods(await rendered(helm, path)) for container in pod["containers"]]
    ours = [container for container in containers if "command" not in container]
    assert len(ours) > 1
    for container in ours:
        variables = environment(container)
        assert unread(" ".join(container["args"]), variables) == set()
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            parsed(container["args"])


async def test_large_numbers_stay_numbers(helm: str) -> None:
    """In a file of values each number is a float, which Go would print as 5e+06."""
    found = await rendered(helm, FOREIGN / "charts" / "all.yaml")
    variables = {
        name: value for pod in pods(found) for one in pod["containers"] for name, value in environment(one).items()
    }
    assert (variables["PHASELINE_HISTORY"], variables["PHASELINE_EVENTS_MAX_AGE"]) == ("5000000", "2592000")
    assert one(found, "ScaledObject", "phaseline-worker")["spec"]["triggers"][0]["metadata"]["threshold"] == "1000000"


async def test_the_monitor_finds_what_it_scrapes(helm: str) -> None:
    found = await rendered(helm, FOREIGN / "charts" / "all.yaml")
    monitor = one(found, "ServiceMonitor", "phaseline")["spec"]
    services = [one for one in found if one["kind"] == "Service"]
    assert {one["metadata"]["name"] for one in services} == {"phaseline-gateway", "phaseline-worker"}
    for service in services:
        assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    named = [{port["name"] for port in service["spec"]["ports"]} for service in services]
    assert {endpoint["port"] for endpoint in monitor["endpoints"]} == set().union(*named)
    [gateway] = [endpoint for endpoint in monitor["endpoints"] if endpoint["port"] == "http"]
    assert {service["metadata"]["labels"][monitor["jobLabel"]] for service in services} == {"phaseline"}
    assert gateway["authorization"]["credentials"] == {"name": "phaseline-scraper", "key": "token"}


async def test_rules_and_dashboards_are_those_of_the_repository(helm: str) -> None:
    found = await rendered(helm, FOREIGN / "charts" / "all.yaml")
    monitoring = DEPLOY / "monitoring"
    rules = yaml.safe_load((monitoring / "rules.yaml").read_text())
    assert one(found, "PrometheusRule", "phaseline")["spec"] == rules
    maps = [one for one in found if one["kind"] == "ConfigMap"]
    assert {one["metadata"]["name"] for one in maps} == {"phaseline-dashboard-fleet", "phaseline-dashboard-operation"}
    assert all(one["metadata"]["labels"]["grafana_dashboard"] == "1" for one in maps)
    shown = {name: json.loads(text) for one in maps for name, text in one["data"].items()}
    assert shown == {path.name: json.loads(path.read_text()) for path in (monitoring / "dashboards").glob("*.json")}


async def test_an_upgrade_is_checked_by_the_new_image(helm: str) -> None:
    found = await rendered(helm, FOREIGN / "charts" / "all.yaml")
    job = one(found, "Job", "phaseline-upgrade-check")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-upgrade"
    [replay] = job["spec"]["template"]["spec"]["containers"]
    given = parsed(replay["args"])
    assert (given["changed"], given["fail"]) == ("installed", True)
    assert environment(replay)["PHASELINE_INBOX_PREFIX"] == "_INBOX_operator"


async def test_the_archive_is_written_to_the_claim(helm: str) -> None:
    found = await rendered(helm, FOREIGN / "charts" / "all.yaml")
    [pod] = pods([one(found, "CronJob", "phaseline-archive")])
    [archive] = pod["containers"]
    given = parsed(archive["args"])
    [mount] = [mount for mount in archive["volumeMounts"] if mount["mountPath"] == str(given["where"])]
    [volume] = [volume for volume in pod["volumes"] if volume["name"] == mount["name"]]
    assert volume["persistentVolumeClaim"] == {"claimName": "phaseline-archive"}
    assert given["keep"] == 90 * 86_400


async def test_workers_are_scaled_by_the_events_that_wait(helm: str) -> None:
    found = await rendered(helm, FOREIGN / "charts" / "all.yaml")
    worker = one(found, "Deployment", "phaseline-worker")
    assert "replicas" not in worker["spec"]  # the autoscaler sets them
    scaled = one(found, "ScaledObject", "phaseline-worker")["spec"]
    assert scaled["scaleTargetRef"]["name"] == worker["metadata"]["name"]
    assert (scaled["minReplicaCount"], scaled["maxReplicaCount"]) == (2, 32)
    assert (
        'phaseline_partition_lag_events{namespace="phaseline", job="phaseline"}'
        in scaled["triggers"][0]["metadata"]["query"]
    )


async def test_the_way_in_leads_to_the_gateway_or_to_the_proxy_before_it(helm: str) -> None:
    direct = await rendered(helm, gateway__ingress__enabled="true", gateway__ingress__host="page.example")
    proxied = await rendered(helm, FOREIGN / "charts" / "all.yaml")
    for found, service in (
        (direct, {"name": "phaseline-gateway", "port": {"name": "http"}}),
        (proxied, {"name": "oauth2-proxy", "port": {"number": 80}}),
    ):
        way_in = one(found, "Ingress", "phaseline-gateway")
        [rule] = way_in["spec"]["rules"]
        [path] = rule["http"]["paths"]
        assert (rule["host"], path["path"], path["backend"]["service"]) == ("page.example", "/", service)
        [gateway] = one(found, "Deployment", "phaseline-gateway")["spec"]["template"]["spec"]["containers"]
        assert "page.example" in parsed(gateway["args"])["hosts"]
    assert way_in["spec"]["tls"] == [{"hosts": ["page.example"], "secretName": "page-tls"}]
    assert (way_in["spec"]["ingressClassName"], way_in["metadata"]["annotations"]) == (
        "public", {"example.com/buffering": "off"},
    )  # fmt: skip
    assert parsed(gateway["args"])["jwt_given"] == ("platform=read", "platform=operate", "c1 team=publish:c1")
    assert environment(gateway)["PHASELINE_JWT_USER"] == "email"


def one(found: list[Manifest], kind: str, name: str) -> Manifest:
    [manifest] = [one for one in found if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return manifest


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"gateway__tokens__secret": ""}, "whoever reaches it could do everything"),
        ({"worker__autoscaling__enabled": "true", "worker__autoscaling__maxReplicas": "33"}, "there are 32 partitions"),
        ({"worker__autoscaling__enabled": "true", "worker__autoscaling__minReplicas": "9"}, "more than maxReplicas"),
        ({"archive__enabled": "true"}, "name a PersistentVolumeClaim"),
        ({"gateway__ingress__enabled": "true"}, "name the host"),
        ({"worker__replica": "3"}, "replica"),
        ({"image__digest": "latest"}, "digest"),
    ],
)
async def test_values_that_cannot_work_are_refused(helm: str, settings: dict[str, str], problem: str) -> None:
    words = [word for name, value in settings.items() for word in ("--set", f"{name.replace('__', '.')}={value}")]
    assert problem in await failing(helm, "template", "phaseline", CHART, *words)


async def test_a_gateway_behind_a_proxy_needs_no_tokens(helm: str) -> None:
    found = await rendered(
        helm, gateway__tokens__secret="", gateway__userHeader="X-User", **{"gateway__trustedProxies[0]": "10.0.0.0/8"}
    )
    [gateway] = one(found, "Deployment", "phaseline-gateway")["spec"]["template"]["spec"]["containers"]
    assert "PHASELINE_TOKENS" not in environment(gateway)
    assert parsed(gateway["args"])["proxies"] == ("10.0.0.0/8",)


def plain(manifest: Manifest) -> Manifest:
    """A manifest without the labels of Helm, and without the namespace, which the kustomization gives."""
    found: Manifest = yaml.safe_load(yaml.safe_dump(manifest))
    for metadata in (found["metadata"], found.get("spec", {}).get("template", {}).get("metadata", {})):
        for label in BY_HELM:
            metadata.get("labels", {}).pop(label, None)
    found["metadata"].pop("namespace", None)
    return found


async def test_the_kustomize_base_is_the_chart(helm: str) -> None:
    component = "app.kubernetes.io/component"
    made = [
        plain(one) for one in await rendered(helm, KUSTOMIZED) if one["metadata"]["labels"][component] != "operator"
    ]
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        write(made)
    assert {name_of(one): one for one in base()} == {name_of(one): one for one in made}


def name_of(manifest: Manifest) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def write(made: list[Manifest]) -> None:
    """Write the base: a file for each component."""
    parts: dict[str, list[Manifest]] = {}
    for manifest in made:
        parts.setdefault(manifest["metadata"]["labels"]["app.kubernetes.io/component"], []).append(manifest)
    for name, found in parts.items():
        head = "# Rendered from deploy/helm/phaseline with deploy/kustomize/values.yaml: change these, not this.\n"
        (BASE / f"{name}.yaml").write_text(head + yaml.safe_dump_all(found, sort_keys=False, width=120))


async def test_kustomize_builds_an_overlay(kubectl: str) -> None:
    text = await run(kubectl, "kustomize", DEPLOY / "kustomize" / "example")
    found = documents(text.decode())
    assert {one["metadata"]["namespace"] for one in found} == {"phaseline"}
    assert {name_of(one) for one in base()} == {name_of(one) for one in found}
    for manifest in found:
        check(manifest, KUBERNETES[-1])
    worker = one(found, "Deployment", "phaseline-worker")["spec"]
    [container] = worker["template"]["spec"]["containers"]
    assert worker["replicas"] == 3
    assert container["image"] == "registry.example/phaseline:0.1.0"
    assert environment(container)["PHASELINE_NATS"] == "tls://nats.example:4222"


async def test_the_notes_name_what_is_missing(helm: str) -> None:
    values = FOREIGN / "charts" / "all.yaml"
    said = (await run(helm, "install", "p", CHART, "--dry-run=client", "--values", values)).decode()
    assert re.findall(r"^  (\S+)$", said.partition("must exist in default")[2], re.MULTILINE) == [
        "phaseline-engine", "phaseline-reader", "phaseline-tokens", "nats-client", "phaseline-operator",
    ]  # fmt: skip
    said = (await run(helm, "install", "p", CHART, "--dry-run=client", "--set", "worker.user.secret=")).decode()
    assert "WARNING: the workers have no user of their own" in said
    assert "not encrypted" in said
