"""The chart and the kustomize base, read: values fit their schema, pods are restricted, commands and variables exist.

Belongs here: what needs neither Helm nor kubectl. Does not: rendering the chart (`test_foreign_charts`), compose.yaml
(`test_compose`), units of systemd (`test_systemd`).
"""

import copy
import re
import tomllib
from collections.abc import Iterator
from functools import reduce
from typing import Any

import jsonschema
import pytest
import yaml

from phaseline.engine.surfaces.telemetry.metric_table import METRICS
from phaseline.schemas.version import __version__
from tests.support.command_line import parsed, unread
from tests.support.deploy_files import (
    BASE,
    CHART,
    DEPLOY,
    KUBERNETES,
    ROOT,
    base,
    check,
    documents,
    environment,
    pods,
    schema,
    unsafe,
    values,
)  # fmt: skip

TEMPLATES = {path.name: path.read_text() for path in (CHART / "templates").rglob("*.*")}
OBJECTS = {f"{one['kind']} {one['metadata']['name']}": one for one in base()}
CONTAINERS = {found["name"]: found for pod in pods(OBJECTS.values()) for found in pod["containers"]}
SECRET = re.compile(r"S[UAO][A-Z2-7]{50,}|-----BEGIN|eyJ[\w-]{20,}")


def resolved(node: dict[str, Any], of: dict[str, Any]) -> dict[str, Any]:
    """A schema, with the definition that it refers to in its place."""
    if "$ref" not in node:
        return node
    found: dict[str, Any] = of["definitions"][node["$ref"].removeprefix("#/definitions/")]
    return found


def differing(node: dict[str, Any], found: Any, of: dict[str, Any], path: str = "") -> Iterator[str]:
    """Where the schema names values that are not in values.yaml, or the reverse."""
    node = resolved(node, of)
    if "properties" not in node or not isinstance(found, dict):
        return
    yield from (f"{path}.{name}" for name in set(node["properties"]) ^ set(found))
    for name in set(node["properties"]) & set(found):
        yield from differing(node["properties"][name], found[name], of, f"{path}.{name}")


def test_the_values_fit_their_schema() -> None:
    jsonschema.Draft7Validator.check_schema(schema())
    jsonschema.Draft7Validator(schema()).validate(values())


def test_the_schema_names_the_values_that_there_are() -> None:
    assert list(differing(schema(), values(), schema())) == [".global"]  # Helm adds it to charts in charts


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("worker.replica", 3),
        ("worker.replicas", 0),
        ("worker.user.secret", "Not A Name"),
        ("worker.terminationGracePeriodSeconds", 5),
        ("worker.autoscaling.prometheus", "prometheus:9090"),
        ("metrics.serviceMonitor.interval", "often"),
        ("image.digest", "latest"),
        ("nats.urls", []),
        ("nats.urls", ["nats://user:secret@nats:4222"]),
        ("installation.replicas", 2),
        ("installation.prefix", "a b"),
        ("installation.feed", "xml"),
        ("gateway.userRoles", ["admin"]),
        ("gateway.service.type", "ExternalName"),
        ("gateway.ingress.host", "https://page.example"),
        ("gateway.jwt.words", ["platform=admin"]),
        ("networkPolicy.natsPorts", []),
    ],
)
def test_a_wrong_value_is_refused(path: str, value: Any) -> None:
    changed = copy.deepcopy(values())
    *above, last = path.split(".")
    reduce(lambda found, name: found[name], above, changed)[last] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema()).validate(changed)


def test_every_value_that_a_template_reads_is_there() -> None:
    read = {path for text in TEMPLATES.values() for path in re.findall(r"\.Values\.([\w.]+)", text)}
    assert len(read) > 30
    known = values()
    missing = [path for path in read if not is_in(known, path.split("."))]
    assert missing == []


def is_in(found: Any, names: list[str]) -> bool:
    return not names or (isinstance(found, dict) and names[0] in found and is_in(found[names[0]], names[1:]))


def test_the_chart_has_the_version_of_the_package() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)
    assert chart["kubeVersion"] == f">={KUBERNETES[0]}.0-0"


@pytest.mark.parametrize("version", [KUBERNETES[0], KUBERNETES[-1]])
@pytest.mark.parametrize("name", OBJECTS)
def test_kubernetes_takes_the_base(name: str, version: str) -> None:
    check(OBJECTS[name], version)


def test_the_base_has_what_it_needs() -> None:
    kinds = sorted(one["kind"] for one in OBJECTS.values())
    assert kinds == [
        "Deployment", "Deployment", "NetworkPolicy", "NetworkPolicy", "PodDisruptionBudget", "PodDisruptionBudget",
        "Service", "ServiceAccount",
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for name, one in OBJECTS.items() if one["kind"] == "Deployment"])
def test_a_pod_may_do_no_more_than_it_must(name: str) -> None:
    assert [text for pod in pods([OBJECTS[name]]) for text in unsafe(pod)] == []


@pytest.mark.parametrize("name", CONTAINERS)
def test_the_command_takes_what_a_container_gives_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    container = CONTAINERS[name]
    variables = environment(container)
    assert unread(" ".join(container["args"]), variables) == set()
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert parsed(container["args"])["nats"] == variables["PHASELINE_NATS"]


def test_every_variable_of_the_chart_is_read_by_a_command() -> None:
    found = {name for text in TEMPLATES.values() for name in re.findall(r"PHASELINE_[A-Z_]+", text)}
    assert len(found) > 15
    assert unread("worker", found) & unread("serve", found) == set()


def test_every_metric_of_the_chart_exists() -> None:
    found = {name for text in TEMPLATES.values() for name in re.findall(r"phaseline_[a-z_]+", text)}
    assert found
    assert found <= {metric.name for metric in METRICS}


@pytest.mark.parametrize("name", CONTAINERS)
def test_probes_and_mounts_name_what_is_there(name: str) -> None:
    container = CONTAINERS[name]
    ports = {port["name"] for port in container["ports"]}
    probes = [found["httpGet"] for key, found in container.items() if key.endswith("Probe")]
    assert {probe["path"] for probe in probes} == {"/livez", "/readyz"}
    assert {probe["port"] for probe in probes} <= ports
    [pod] = [pod for pod in pods(OBJECTS.values()) if container in pod["containers"]]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert set(mounts) == {volume["name"] for volume in pod["volumes"]}
    files = [value for value in environment(container).values() if value.startswith("/")]
    assert files
    assert all(any(value.startswith(f"{path}/") for path in mounts.values()) for value in files)


@pytest.mark.parametrize("name", [name for name, one in OBJECTS.items() if "selector" in one.get("spec", {})])
def test_every_selector_finds_pods(name: str) -> None:
    selector = OBJECTS[name]["spec"]["selector"]
    wanted = selector.get("matchLabels", selector)
    templates = [one["spec"]["template"] for one in OBJECTS.values() if one["kind"] == "Deployment"]
    assert any(wanted.items() <= template["metadata"]["labels"].items() for template in templates)


def test_a_rollout_never_takes_a_worker_away_before_another_is_ready() -> None:
    deployments = [one["spec"] for one in OBJECTS.values() if one["kind"] == "Deployment"]
    assert len(deployments) == 2
    for one in deployments:
        assert one["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
        assert one["template"]["spec"]["terminationGracePeriodSeconds"] == 30


def test_a_node_can_be_drained_while_nats_is_away() -> None:
    budgets = [one["spec"] for one in OBJECTS.values() if one["kind"] == "PodDisruptionBudget"]
    assert [(one["maxUnavailable"], one["unhealthyPodEvictionPolicy"]) for one in budgets] == [(1, "AlwaysAllow")] * 2


def test_nothing_in_deploy_is_a_secret() -> None:
    texts = [path.read_text() for path in DEPLOY.rglob("*") if path.is_file()]
    assert len(texts) > 15
    assert [found for text in texts for found in SECRET.findall(text)] == []
    assert all(one["kind"] != "Secret" for one in OBJECTS.values())


def test_the_kustomization_names_its_files() -> None:
    files = {path.name for path in BASE.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(yaml.safe_load((BASE / "kustomization.yaml").read_text())["resources"]) == files
    assert all(documents((BASE / name).read_text()) for name in files)


PAGE = (ROOT / "docs" / "deploy.md").read_text()


def test_the_page_sets_values_that_there_are() -> None:
    named = [
        *re.findall(r"--set ([\w.]+)=", PAGE),
        *re.findall(r"`((?:gateway|worker|installation|metrics)\.[\w.]+)`", PAGE),
    ]
    assert len(named) > 5
    assert [path for path in named if not is_in(values(), path.split("."))] == []


def merged(given: Any, more: Any) -> Any:
    """Values as Helm merges them."""
    if not isinstance(given, dict) or not isinstance(more, dict):
        return more
    return {name: merged(given.get(name), more[name]) if name in more else given[name] for name in {**given, **more}}


def test_single_sign_on_is_one_story_in_all_its_files() -> None:
    proxy = tomllib.loads((DEPLOY / "single-sign-on" / "oauth2-proxy.cfg").read_text())
    provider = yaml.safe_load((DEPLOY / "single-sign-on" / "dex.yaml").read_text())
    [client] = provider["staticClients"]
    assert (proxy["oidc_issuer_url"], proxy["client_id"]) == (provider["issuer"], client["id"])
    assert client["redirectURIs"] == [proxy["redirect_url"]]
    [example] = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "single-sign-on.md").read_text(), re.DOTALL)
    wanted = yaml.safe_load(example)
    jsonschema.Draft7Validator(schema()).validate(merged(values(), wanted))
    gateway = wanted["gateway"]
    assert (gateway["jwt"]["issuer"], gateway["jwt"]["audience"]) == (proxy["oidc_issuer_url"], proxy["client_id"])
    assert f"https://{gateway['ingress']['host']}/oauth2/callback" == proxy["redirect_url"]


def test_the_page_calls_commands_that_there_are() -> None:
    words = r"^ *[$#] (?:/opt/phaseline/bin/phaseline|phaseline|docker compose run --rm operator) (.*)$"
    found = re.findall(words, PAGE, re.MULTILINE)
    assert len(found) > 4
    for line in found:
        parsed(line.split())


def test_the_page_names_the_secrets_of_the_chart() -> None:
    made = set(re.findall(r"create secret generic (\S+) --from-file=(\S+)", PAGE))
    keys = {(name, path.rpartition("/")[2]) for name, path in made}
    chart = values()
    users = [chart[part]["user"] for part in ("worker", "gateway", "operator")]
    wanted = {(user["secret"], user["nkey"]) for user in users} | {tuple(chart["gateway"]["tokens"].values())}
    assert wanted <= keys
    assert {name for name, _ in keys} - {name for name, _ in wanted} == {"nats-ca"}
