"""Known kinds of monitoring. Belongs here: Grafana, Prometheus, VictoriaMetrics, Datadog, Coralogix, tracing, Kiali."""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S, X
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
ANY = (
    #   when                                                          health  argo
    Row("* = False",                                                  D),
    Row("* = Unknown",                                                P,      argo=NONE),
    Row("NoMatchingInstance = True",                                  D,      argo=NONE),
    Row("InvalidSpec = True",                                         D,      argo=NONE),
    Row("*Synchronized = True",                                       H,      argo=NONE),
    Row("Ready = True",                                               H,      argo=NONE),
    Row("* = True",                                                   NONE,   argo=H),
)
REMOTE = (
    Row("RemoteSynced = False",                                       D),
    Row("RemoteSynced = True",                                        H),
)
FAMILIES = (
    Family("Grafana operator", "https://grafana.github.io/grafana-operator/docs/api/", (
        KnownKind("grafana.integreatly.org", "Grafana", (
            Row(".status.stageStatus = failed",                       D,      message="failed at the stage {.status.stage}: {.status.lastMessage}"),
            Row(".status.stage = complete & .status.stageStatus = success", H),
            Row(".status.stageStatus = something",                    P,      message="at the stage {.status.stage}"),
        )),
        KnownKind("grafana.integreatly.org", "GrafanaDatasource", (
            Row(".status = absent",                                   P),
            Row("DatasourceSynchronized = False",                     D,      argo=NONE),
            Row("NoMatchingInstance = True",                          D,      argo=NONE),
            Row("DatasourceSynchronized = Unknown",                   P,      argo=NONE),
            Row(".status.NoMatchingInstances = true",                 D,      message="no Grafana instance matches it"),
            Row(".status.uid = something",                            H),
            Row(".status.hash = something",                           H),
        )),
        KnownKind("grafana.integreatly.org", "GrafanaDashboard | GrafanaFolder", ANY),
        KnownKind("grafana.integreatly.org", "*", (
            Row("InvalidSpec = True",                                 D),
            Row("NoMatchingInstance = True",                          D),
            Row("*Synchronized = False",                              D),
            Row("*Synchronized = True",                               H),
        )),
        KnownKind("grafana-org-operator.kubitus-project.gitlab.io", "*", (
            Row("Ready = False",                                      D),
            Row("Ready = True",                                       H),
        )),
    )),
    Family("Prometheus operator", "https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.Condition", (
        KnownKind("monitoring.coreos.com", "Prometheus | PrometheusAgent | Alertmanager | ThanosRuler", (
            Row(".spec.paused = true",                                S,      argo=NONE, message="it is paused"),
            Row("Available = True & Reconciled = False",              D,      argo=H),
            Row("Available = True",                                   H),
            Row("Available.reason = SomePodsNotReady",                P),
            Row("Available = False | Unknown | Degraded",             D),
        )),
        KnownKind("monitoring.coreos.com", "ServiceMonitor | PodMonitor | Probe | PrometheusRule | ScrapeConfig | AlertmanagerConfig", (
            Row("Accepted = False",                                   D, each=".status.bindings[]"),
            Row("Accepted = True",                                    H, each="all .status.bindings[]"),
            Row("",                                                   X, message="it configures others and has no state of its own"),
        )),
    )),
    Family("VictoriaMetrics operator", "https://docs.victoriametrics.com/operator/api/", (
        KnownKind("operator.victoriametrics.com", "*", (
            Row("stale",                                              P),
            Row(".status.updateStatus = operational",                 H),
            Row(".status.updateStatus = expanding",                   P),
            Row(".status.updateStatus = paused",                      S),
            Row(".status.updateStatus = failed",                      D),
        ), message=".status.reason"),
    )),
    Family("Datadog operator", "https://github.com/DataDog/datadog-operator/tree/main/api/datadoghq", (
        KnownKind("datadoghq.com", "DatadogMetric", (
            Row("Error = True",                                       D),
            Row("Valid = False",                                      D),
            Row(".status = nothing",                                  P,      argo=H, message="no status has been reported yet"),
            Row("Error = Unknown",                                    P,      argo=NONE),
            Row("Valid = True",                                       H,      argo=NONE, message="no error has been reported"),
            Row("",                                                   NONE,   argo=H, message="no error has been reported"),
        )),
        KnownKind("datadoghq.com", "DatadogMonitor | DatadogSLO | DatadogDashboard", (
            Row("Error = True",                                       D),
            Row(".status.syncStatus ~ error*",                        D, message="{.status.syncStatus}"),
            Row("Error = Unknown",                                    P),
            Row("Active = True",                                      H),
            Row("Created = True",                                     P, message="it was created, and is not active yet"),
        )),
    )),
    Family("Coralogix operator", "https://github.com/coralogix/coralogix-operator/blob/main/docs/api.md", (
        KnownKind("coralogix.com", "*", REMOTE),
    )),
    Family("Jaeger", "https://github.com/jaegertracing/jaeger-operator/blob/main/apis/v1/jaeger_types.go", (
        KnownKind("jaegertracing.io", "Jaeger", (
            Row(".status.phase = Running",                            H),
            Row(".status.phase = Failed",                             D),
        )),
    )),
    Family("Kiali", "https://kiali.io/docs/configuration/kialis.kiali.io/", (
        KnownKind("kiali.io", "Kiali | OSSMConsole", (
            Row("@.type = Failure & @.status = True",                 D,      each=".status.conditions[]", message="{@.message}"),
            Row("Successful = True",                                  H),
            Row("Running.reason = Running",                           P),
        )),
    )),
    Family("OpenTelemetry operator", "https://github.com/open-telemetry/opentelemetry-operator/blob/main/docs/api/opentelemetrycollectors.md", (
        KnownKind("opentelemetry.io", "OpenTelemetryCollector", (
            Row(".status = absent",                                   P),
            Row(".status.scale.statusReplicas = nothing & .spec.mode = sidecar", H, message="it runs in its hosts' Pods"),
            Row(".status.scale.statusReplicas = 0/0 & .spec.mode = daemonset", H, message="no node is eligible"),
            Row("first(.status.scale.statusReplicas) = nothing & .status.scale.statusReplicas = something", P, argo=NONE),
            Row("first(.status.scale.statusReplicas) = 0",            D,      message="no replica is ready: {.status.scale.statusReplicas}"),
            Row("first(.status.scale.statusReplicas) = second(.status.scale.statusReplicas)", H, message="{.status.scale.statusReplicas} replicas are ready"),
            Row(".status.scale.statusReplicas = something",           P,      message="{.status.scale.statusReplicas} replicas are ready"),
        )),
    )),
)
# fmt: on
