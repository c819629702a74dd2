"""Known kinds of platforms.

Belongs here: OpenShift and OLM, KubeVirt, 3scale, SAP, Keycloak, Kyverno, Humio, Proclaim.
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S, U
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
THREESCALE = (
    #   when                                                          health  argo
    Row("Ready = True",                                               H),
    Row("Synced = True",                                              H),
    Row("Invalid = True",                                             D),
    Row("Orphan = True",                                              D),
    Row("Failed = True",                                              D),
    Row("Waiting = True",                                             S),
    Row("In-progress = True",                                         P),
)
HUMIO = (
    Row(".status.state = Exists | Running",                           H),
    Row(".status.state = NotFound",                                   "Missing", message="it does not exist in Humio"),
    Row(".status.state = ConfigError",                                D),
    Row(".status.state = Unknown",                                    U,      message="its state is not known"),
)
FAMILIES = (
    Family("OpenShift", "https://docs.redhat.com/en/documentation/openshift_container_platform/4.17/html/operatorhub_apis/", (
        KnownKind("operators.coreos.com", "Subscription", (
            Row(".status.conditions = nothing",                       P),
            Row("@.type = InstallPlanMissing & @.reason != ReferencedInstallPlanNotFound", D, each=".status.conditions[]", message="{@.message}"),
            Row("CatalogSourcesUnhealthy = True",                     D),
            Row("InstallPlanFailed = True",                           D),
            Row("ResolutionFailed = True",                            D),
            Row(".status.state = UpgradeFailed",                      D),
            Row(".spec.installPlanApproval = Manual & InstallPlanPending = True & InstallPlanPending.reason = RequiresApproval"
                " & .status.installedCSV = something & .status.state = UpgradePending", H, message="an upgrade waits for approval"),
            Row("InstallPlanPending = True",                          P),
            Row(".status.state = nothing | UpgradeAvailable | UpgradePending", P),
            Row("InstallPlanMissing.reason = ReferencedInstallPlanNotFound & .status.state = AtLatestKnown", H, message="its state is {.status.state}"),
            Row(".status.state = AtLatestKnown",                      H,      message="its state is {.status.state}"),
            Row("",                                                   U,      argo=H, message="its state is {.status.state}, which is not known"),
        )),
        KnownKind("operators.coreos.com", "ClusterServiceVersion", (
            Row(".status.phase = Failed",                             D),
            Row(".status.phase = Succeeded",                          H),
        )),
        KnownKind("operators.coreos.com", "InstallPlan", (
            Row(".status.phase = Failed",                             D),
            Row(".status.phase = RequiresApproval",                   S, message="it waits for approval"),
            Row(".status.phase = Complete",                           H),
        )),
        KnownKind("operators.coreos.com", "CatalogSource", (
            Row(".status.connectionState.lastObservedState = TRANSIENT_FAILURE", D),
            Row(".status.connectionState.lastObservedState = READY",  H),
        )),
        KnownKind("config.openshift.io", "ClusterOperator | ClusterVersion", (
            Row("Degraded = True",                                    D),
            Row("Failing = True",                                     D),
            Row("Available = False",                                  D),
            Row("Progressing = True",                                 P),
            Row("Available = True",                                   H),
        )),
        KnownKind("machineconfiguration.openshift.io", "MachineConfigPool", (
            Row("Degraded = True",                                    D),
            Row(".spec.paused = true",                                S, message="it is paused"),
            Row("Updating = True",                                    P),
            Row("Updated = True",                                     H),
        )),
    )),
    Family("OpenShift builds", "https://docs.redhat.com/en/documentation/openshift_container_platform/4.17/html/workloads_apis/build-build-openshift-io-v1", (
        KnownKind("build.openshift.io", "Build", (
            Row(".status.phase = Complete",                           H),
            Row(".status.phase = Failed | Error | Cancelled",         D),
        )),
    )),
    Family("KubeVirt", "https://kubevirt.io/api-reference/main/definitions.html", (
        KnownKind("kubevirt.io", "VirtualMachine", (
            Row("Paused = True",                                      S),
            Row("Failure = True",                                     D,      argo=NONE),
            Row(".status.printableStatus ~ Err* | *Error | CrashLoopBackOff | ImagePullBackOff | DataVolumeError", D, argo=NONE, message="{.status.printableStatus}"),
            Row("Ready = True & .spec.runStrategy = Halted",          P,      argo=H, message="it is to stop, and it is {.status.printableStatus}"),
            Row("Ready = True & .spec.running = false",               P,      argo=H, message="it is to stop, and it is {.status.printableStatus}"),
            Row("Ready = True",                                       H),
            Row("Ready = False | Unknown & .status.created = true",   P,      message="{.status.printableStatus}"),
            Row("Ready = False | Unknown & .status.printableStatus != Stopped | Stopping | Paused | Halted", P, argo=S, message="{.status.printableStatus}"),
            Row("Ready = False | Unknown & .spec.runStrategy = Always",    P, argo=S, message="it is to run, and it is {.status.printableStatus}"),
            Row("Ready = False | Unknown & .spec.running = true",     P,      argo=S, message="it is to run, and it is {.status.printableStatus}"),
            Row("Ready = False | Unknown",                            S,      message="{.status.printableStatus}"),
        ), message=".status.printableStatus", beside="AgentConnected"),
        KnownKind("kubevirt.io", "VirtualMachineInstance", (
            Row(".status.phase = Failed",                             D),
            Row(".status.phase = Pending | Scheduling | Scheduled",   P),
            Row(".status.phase = Succeeded",                          S,      message="it has ended"),
            Row(".status.phase = Unknown",                            U,      message="its node does not answer"),
            Row("Paused = True",                                      S),
            Row("Ready = False | Unknown",                            D),
            Row("Ready = True",                                       H),
        )),
        KnownKind("cdi.kubevirt.io", "DataVolume", (
            Row(".status.phase = Succeeded",                          H),
            Row(".status.phase = Failed | Unknown",                   D),
            Row(".status.phase = Paused",                             S),
            Row("Running = False & Running.reason = Error",           D),
        )),
    )),
    Family("3scale", "https://github.com/3scale/3scale-operator/tree/master/doc", (
        KnownKind("apps.3scale.net", "APIManager", (
            Row("Available = False & .status.deployments.ready = something & .status.deployments.starting = absent & .status.deployments.stopped = absent", P, argo=NONE),
            Row(".status.deployments.ready = something & .status.deployments.starting = absent & .status.deployments.stopped = absent", H),
            Row("Available = True",                                   H),
            Row("Available.reason = something",                       D),
        )),
        KnownKind("capabilities.3scale.net", "Application", (
            Row(".status.state = suspended",                          S,      message="it is suspended"),
            Row("Ready = True",                                       H),
            Row("Ready = False | Unknown & .status.adminId = nothing | 0", D),
        )),
        KnownKind("capabilities.3scale.net", "Tenant", (
            Row("Ready = True & .status.tenantId > 0 & .status.adminId > 0", H),
            Row("Ready = False | Unknown",                            D),
        )),
        KnownKind("capabilities.3scale.net", "DeveloperUser", (
            Row(".status.developerUserState = suspended",             S,      message="it waits for approval"),
            *THREESCALE,
        )),
        KnownKind("capabilities.3scale.net", "*", THREESCALE),
    )),
    Family("SAP BTP service operator", "https://github.com/SAP/sap-btp-service-operator#reference-documentation", (
        KnownKind("services.cloud.sap.com", "ServiceBinding | ServiceInstance", (
            Row("stale",                                              P),
            Row("Failed = True",                                      D),
            Row("Succeeded = False & Succeeded.reason ~ *InProgress", P,      argo=D),
            Row("Succeeded = False",                                  D),
            Row("Ready = False & Ready.reason ~ *InProgress | NotProvisioned", P, argo=NONE),
            Row("Ready = False",                                      D,      argo=NONE),
            Row("Succeeded = True",                                   H),
            Row("Ready = True",                                       H),
            Row(".status.conditions = something",                     NONE,   argo=H),
        )),
    )),
    Family("Keycloak", "https://www.keycloak.org/operator/advanced-configuration", (
        KnownKind("k8s.keycloak.org", "Keycloak", (
            Row("HasErrors = True",                                   D,      argo=NONE),
            Row("Ready = True",                                       H),
            Row("HasErrors = True",                                   D),
        )),
        KnownKind("k8s.keycloak.org", "KeycloakRealmImport", (
            Row("HasErrors = True",                                   D),
            Row("Started = True",                                     P),
            Row("Done = True",                                        H),
        )),
    )),
    Family("Kyverno", "https://htmlpreview.github.io/?https://github.com/kyverno/kyverno/blob/main/docs/user/crd/index.html", (
        KnownKind("kyverno.io", "Policy | ClusterPolicy", (
            Row("Ready = True & Ready.reason = Succeeded & Ready.message = Ready", H),
            Row("Ready = True & Ready.reason = Succeeded",            H,      argo=P),
            Row("Ready = False & Ready.reason = Failed",              D,      argo=P),
            Row(".status.ready = true & Ready = nothing",             H,      argo=P),
        )),
        KnownKind("kyverno.io", "CleanupPolicy | ClusterCleanupPolicy", (
            Row("Ready = False",                                      D),
            Row("Ready = True",                                       H),
        )),
        KnownKind("policies.kyverno.io", "*", (
            Row("@.conditionStatus.ready = false",                    D, each=".status"),
            Row(".status.conditionStatus.ready = true",               H),
            Row(".status.ready = true",                               H),
        )),
    )),
    Family("Humio", "https://library.humio.com/humio-operator/index.html", (
        KnownKind("core.humio.com", "*", HUMIO),
    )),
    Family("Proclaim", "https://github.com/dogmatiq/proclaim", (
        KnownKind("proclaim.dogmatiq.io", "DNSSDServiceInstance", (
            Row("Adopted = False",                                    D),
            Row("Advertised.reason = AdvertiseError | UnadvertiseError", D),
            Row("Discoverable.reason = DiscoveryError",               U),
            Row("Discoverable = True",                                H),
        )),
    )),
)
# fmt: on
