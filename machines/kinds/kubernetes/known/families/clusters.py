"""Known kinds of clusters and nodes.

Belongs here: Cluster API, Metal3, Gardener, Karpenter, Karmada, OCM's policies, nmstate.
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, N, P, S, U
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
PAUSED = (
    #   when                                                          health  argo
    Row(".spec.paused = true",                                        S,      message="it is paused"),
    Row("Paused = True",                                              S,      argo=NONE),
    Row("cluster.x-k8s.io/paused = True",                             S,      argo=NONE),
    Row(".metadata.annotations[cluster.x-k8s.io/paused] != absent",   S,      argo=NONE, message="the annotation cluster.x-k8s.io/paused pauses it"),
)
NODE = (
    Row("NodeHealthy = False & NodeHealthy.severity = Error",         D,      argo=NONE),
    Row("NodeHealthy = False | Unknown",                              P,      argo=NONE),
    Row("HealthCheckSucceeded = False",                               P,      argo=NONE),
)
NOT_NOW = (
    Row("Available = False | Unknown",                                P,      argo=NONE),
    Row("RollingOut = True",                                          P,      argo=NONE),
)
MACHINES = (
    *PAUSED,
    Row(".status.phase = Failed",                                     D),
    Row(".status.phase = ScalingUp | ScalingDown",                    P),
    *NOT_NOW,
    Row(".status.unavailableReplicas > 0",                            P,      argo=NONE, message="{.status.unavailableReplicas} of its machines are not available"),
    Row(".status.phase = Running",                                    H),
)
BINDING = (
    Row("Scheduled = False",                                          P,      argo=NONE),
    Row("FullyApplied = False",                                       D,      argo=NONE),
    Row(".status = nothing",                                          P),
    Row("count(.status.aggregatedStatus[]) = 0",                      P,      message="no cluster has reported yet"),
    Row("@.name != .status.aggregatedStatus[].clusterName",           P,      argo=NONE, each=".spec.clusters[]", message="it has not reported yet"),
    Row("count(.spec.clusters[]) != count(.status.aggregatedStatus[])", P),
    Row("@.health = Unhealthy",                                       D,      each=".status.aggregatedStatus[]", message="unhealthy"),
    Row("@.applied = false",                                          D,      each=".status.aggregatedStatus[]", argo=NONE, message="not applied: {@.appliedMessage}"),
    Row("@.health = Unknown & @.applied = false | nothing",           D,      each=".status.aggregatedStatus[]", message="not applied: {@.appliedMessage}"),
    Row("@.applied = nothing",                                        P,      each=".status.aggregatedStatus[]", argo=NONE, message="it does not say whether it is applied"),
    Row("@.health != Healthy",                                        U,      each=".status.aggregatedStatus[]", argo=NONE, message="its health is {@.health}"),
    Row(".status.schedulerObservedGeneration = something & .status.schedulerObservedGeneration < .metadata.generation", P, argo=NONE),
    Row("",                                                           H,      message="all clusters report that it is well"),
)
FAMILIES = (
    Family("Cluster API", "https://cluster-api.sigs.k8s.io/reference/api/crd-relationships", (
        KnownKind("cluster.x-k8s.io", "Cluster", (
            *PAUSED,
            Row("Ready = False & Ready.severity != Info",             D),
            Row("Ready = False & Ready.severity = nothing",           D),
            Row(".status.phase = Failed",                             D,      message="{.status.failureMessage}"),
            *NOT_NOW,
            Row(".status.infrastructureReady = false",                P,      argo=NONE, message="its infrastructure is not ready"),
            Row(".status.controlPlaneReady = false",                  P,      argo=NONE, message="its control plane is not ready"),
            Row(".status.initialization.infrastructureProvisioned = false", P, argo=NONE, message="its infrastructure is not there yet"),
            Row(".status.initialization.controlPlaneInitialized = false",   P, argo=NONE, message="its control plane is not there yet"),
            Row(".status.phase = Provisioned",                        H),
        )),
        KnownKind("cluster.x-k8s.io", "Machine", (
            *PAUSED[1:],
            Row(".status.phase = Failed",                             D,      message="{.status.failureMessage}"),
            Row("Ready = False & .status.phase = Running & Ready.severity = Error", D, argo=NONE),
            Row("Ready = False & .status.phase = Running & Ready.severity = Warning | nothing", P, argo=NONE),
            Row("Ready = Unknown",                                    P,      argo=NONE),
            *NODE,
            *NOT_NOW,
            Row(".status.phase = Running",                            H),
            Row("Ready = False",                                      P),
        )),
        KnownKind("cluster.x-k8s.io", "MachineDeployment", MACHINES),
        KnownKind("cluster.x-k8s.io", "MachineSet", (
            *PAUSED,
            Row(".status.failureMessage = something",                 D, message="{.status.failureMessage}"),
            Row("MachinesReady = False & MachinesReady.severity = Error", D),
            Row(".status.readyReplicas < .spec.replicas or 1",        P),
            Row(".status.readyReplicas >= .spec.replicas or 1",       H),
        )),
        KnownKind("cluster.x-k8s.io", "MachinePool", (
            *PAUSED[1:],
            Row(".status.phase = Failed | Unknown",                   D),
            Row("Ready = False & Ready.severity = Error",             D,      argo=NONE),
            Row("Ready = False & Ready.severity = Warning | nothing", P,      argo=NONE),
            *NOT_NOW,
            Row(".status.phase = Scaling",                            P,      argo=H),
            Row(".status.phase = Running",                            H),
        )),
        KnownKind("cluster.x-k8s.io", "MachineHealthCheck", (
            *PAUSED[1:],
            Row(".status.currentHealthy = nothing",                   P),
            Row(".status.currentHealthy = .status.expectedMachines",  H),
            Row(".status.currentHealthy < .status.expectedMachines",  D),
        )),
        KnownKind("addons.cluster.x-k8s.io", "ClusterResourceSet", (
            *PAUSED[1:],
            Row("ResourcesApplied = False",                           D),
            Row("ResourcesApplied = True",                            H),
        )),
        KnownKind("controlplane.cluster.x-k8s.io", "AWSManagedControlPlane", (
            *PAUSED[1:],
            Row("stale",                                              P),
            Row(".status.failureMessage = something",                 D,      message="{.status.failureMessage}"),
            Row("EKSControlPlaneUpdating = True",                     P),
            Row("@.status = False & @.severity = Error",              D,      argo=NONE, each=".status.conditions[]", message="{@.message}"),
            Row("Ready = True",                                       H),
            Row("@.status = False & @.severity = Error",              NONE,   argo=D, each=".status.conditions[]", message="{@.message}"),
        )),
        KnownKind("controlplane.cluster.x-k8s.io | infrastructure.cluster.x-k8s.io | bootstrap.cluster.x-k8s.io", "*", (
            *PAUSED[1:],
            Row(".status.failureMessage = something",                 D, message="{.status.failureMessage}"),
            Row("Ready = False & Ready.severity = Error",             D),
            Row("Ready = False | Unknown",                            P),
            *NOT_NOW,
            Row("@.status = False & @.severity = Error",              D,      argo=NONE, each=".status.conditions[]", message="{@.message}"),
            Row("EtcdClusterHealthy = False",                         P,      argo=NONE),
            Row("ControlPlaneComponentsHealthy = False",              P,      argo=NONE),
            Row(".status.unavailableReplicas > 0",                    P,      argo=NONE, message="{.status.unavailableReplicas} of its machines are not available"),
            Row("Ready = True",                                       H),
            Row("Available = True",                                   H),
            Row(".status.ready = false",                              P),
            Row(".status.ready = true",                               H),
        )),
    )),
    Family("Metal3", "https://github.com/metal3-io/baremetal-operator/blob/main/docs/api.md", (
        KnownKind("metal3.io", "BareMetalHost", (
            Row(".status.operationalStatus = error",                  D,      message="{.status.errorMessage}"),
            Row(".status.errorMessage = something",                   D,      message="{.status.errorMessage}"),
            Row(".status.operationalStatus = detached",               S,      message="it is detached: nobody manages it"),
            Row(".status.provisioning.state ~ *ing | match profile", P, message="it is {.status.provisioning.state}"),
            Row(".spec.online = true & .status.poweredOn = false",    P,      message="it is to be on, and it is off"),
            Row(".status.provisioning.state = unmanaged",             N,      message="nobody manages it"),
            Row(".status.operationalStatus = OK",                     H),
        )),
    )),
    Family("Gardener", "https://gardener.cloud/docs/gardener/shoot/shoot_status/", (
        KnownKind("core.gardener.cloud", "Shoot", (
            Row(".status.lastOperation.state = Error | Failed | Aborted", D, argo=NONE),
            Row(".status.hibernated = true & .status.lastOperation.state = Succeeded", S, argo=NONE, message="it is hibernated"),
            Row(".metadata.labels[shoot.gardener.cloud/status] = healthy", H),
            Row(".metadata.labels[shoot.gardener.cloud/status] = progressing", P),
            Row(".metadata.labels[shoot.gardener.cloud/status] = unhealthy", D, message="{.status.lastErrors[0].description}"),
            Row(".metadata.labels[shoot.gardener.cloud/status] = unknown", U, message="Gardener does not know how it is"),
        ), message=".status.lastOperation.description"),
    )),
    Family("Karpenter", "https://karpenter.sh/docs/concepts/", (
        KnownKind("karpenter.sh", "NodeClaim", (
            Row("stale",                                              P),
            Row("Disrupting = True",                                  S),
            Row("Ready = True",                                       H),
            Row("Ready = False",                                      D),
            Row("Initialized = True",                                 P,      message="its node is initialized"),
            Row("Registered = True",                                  P,      message="its node is registered"),
            Row("Launched = True",                                    P,      message="its node is launched"),
        )),
        KnownKind("karpenter.sh | karpenter.k8s.aws | karpenter.azure.com", "NodePool | EC2NodeClass | AKSNodeClass", (
            Row("Ready = False",                                      D),
            Row("Ready = True",                                       H),
        )),
    )),
    Family("Karmada", "https://karmada.io/docs/reference/karmada-api/work-resources/resource-binding-v1alpha2/", (
        KnownKind("work.karmada.io", "ClusterResourceBinding", (
            Row(".spec.clusters = nothing",                           P),
            *BINDING,
        )),
        KnownKind("work.karmada.io", "ResourceBinding", (
            *BINDING[:5],
            Row(".spec.clusters = something & count(.spec.clusters[]) != count(.status.aggregatedStatus[])", P),
            Row(".spec.clusters = nothing & count(.spec.requiredBy[0].clusters[]) > count(.status.aggregatedStatus[])", P, argo=NONE),
            *BINDING[6:],
        )),
        KnownKind("work.karmada.io", "Work", (
            Row("Applied = False",                                    D),
            Row("Degraded = True",                                    D),
            Row("Progressing = True",                                 P),
            Row("@.health = Unhealthy",                               D,      each=".status.manifestStatuses[]", argo=NONE, message="{@.identifier.kind} {@.identifier.name} is unhealthy"),
            Row("@.health = Unknown",                                 U,      each=".status.manifestStatuses[]", argo=NONE, message="the health of {@.identifier.kind} {@.identifier.name} is not known"),
            Row("Applied = True",                                     H),
        )),
    )),
    Family("Open Cluster Management", "https://open-cluster-management.io/docs/getting-started/integration/policy-controllers/policy-framework/", (
        KnownKind("policy.open-cluster-management.io", "CertificatePolicy", (
            Row(".status.compliant = Compliant",                      H),
            Row(".status.compliant = something",                      D),
        )),
        KnownKind("policy.open-cluster-management.io", "ConfigurationPolicy", (
            Row(".status.compliant = nothing",                        P),
            Row(".status.lastEvaluatedGeneration != .metadata.generation", P),
            Row(".status.compliancyDetails = nothing",                P),
            Row(".status.compliant = Compliant",                      H),
            Row(".status.compliant = something",                      D,      message="{.status.compliancyDetails[0].conditions[0].message}"),
        )),
        KnownKind("policy.open-cluster-management.io", "OperatorPolicy", (
            Row("stale",                                              P),
            Row("Compliant = True",                                   H),
            Row("Compliant = False | Unknown",                        D),
        )),
        KnownKind("policy.open-cluster-management.io", "Policy", (
            Row(".spec.disabled = true",                              S, argo=H, message="it is disabled"),
            Row(".status = absent",                                   P),
            Row(".status.compliant = nothing & .status.status = nothing & count(.status.placement[]) > 0", H, message="no cluster matches it"),
            Row(".status.compliant = Compliant",                      H),
            Row("@.compliant != Compliant",                           D,      each=".status.status[]", message="{@.compliant}"),
            Row("@.compliant != Compliant",                           D,      each=".status.details[]", message="{@.compliant}"),
            Row(".status.compliant = something",                      D),
        )),
    )),
    Family("nmstate", "https://nmstate.io/kubernetes-nmstate/user-guide/102-configuration", (
        KnownKind("nmstate.io", "NodeNetworkConfigurationPolicy", (
            Row("Degraded = True",                                    D),
            Row("Progressing = True",                                 P),
            Row("Ignored = True",                                     S),
            Row("Available = True",                                   H),
        )),
        KnownKind("nmstate.io", "NodeNetworkConfigurationEnactment", (
            Row("Failing = True",                                     D),
            Row("Aborted = True",                                     D),
            Row("Progressing = True | Unknown",                       P),
            Row("Available = True",                                   H),
        )),
    )),
)
# fmt: on
