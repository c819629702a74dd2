"""Known kinds of Kubernetes itself that rows can say. Belongs here: CronJob, CRDs, snapshots and others.

Does not: workloads, whose rules count and compare more (`health`).
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
SNAPSHOT = (
    #   when                                                          health  argo
    Row(".status.readyToUse = true",                                  H),
    Row(".status.error = something",                                  D,      message="{.status.error.message}"),
)
FAMILIES = (
    Family("Kubernetes", "https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.32/", (
        KnownKind("batch", "CronJob", (
            Row(".spec.suspend = true",                               S,      argo=H, message="CronJob is suspended"),
            Row(".status = absent",                                   P),
            Row(".status.lastScheduleTime = nothing",                 H,      message="it has not been due yet"),
            Row(".status.lastSuccessfulTime = nothing",               H,      message="no run has succeeded yet"),
            Row("count(.status.active[]) > 0",                        H,      message="a run is under way"),
            Row(".status.lastSuccessfulTime < .status.lastScheduleTime", D,   message="its last run, of {.status.lastScheduleTime}, has not succeeded; the last one that did ended {.status.lastSuccessfulTime}"),
            Row("",                                                   H,      message="its last run has succeeded"),
        )),
        KnownKind("policy", "PodDisruptionBudget", (
            Row("* = False & *.reason != InsufficientPods",           D),
            Row("DisruptionAllowed = False & .status.currentHealthy < .status.desiredHealthy", P, argo=H, message="{.status.currentHealthy} of {.status.desiredHealthy} Pods are healthy"),
            Row("DisruptionAllowed = False",                          H,      message="no Pod may be disrupted now: {.status.currentHealthy} of {.status.desiredHealthy} are healthy"),
            Row("DisruptionAllowed = True",                           H,      argo=NONE),
            Row("* = True | Unknown | False",                         NONE,   argo=H),
        )),
        KnownKind("apiextensions.k8s.io", "CustomResourceDefinition", (
            Row("Terminating = True",                                 P),
            Row("NamesAccepted = False",                              D),
            Row("NonStructuralSchema = True",                         D),
            Row("Established = False & Established.reason = Installing", P),
            Row("Established = True",                                 H),
            Row("KubernetesAPIApprovalPolicyConformant = False",      D,      argo=NONE),
            Row(".status.conditions = something",                     D,      message="it is not established"),
        )),
        KnownKind("", "ReplicationController", (
            Row(".status = nothing",                                  P, message="no status has been reported yet"),
            Row("stale",                                              P),
            Row("ReplicaFailure = True",                              D),
            Row(".status.readyReplicas < .spec.replicas or 1",        P, message="{.status.readyReplicas or 0} of {.spec.replicas} replicas are ready"),
            Row(".status.availableReplicas < .spec.replicas or 1",    P, message="{.status.availableReplicas or 0} of {.spec.replicas} replicas are available"),
            Row("",                                                   H),
        )),
        KnownKind("", "Namespace", (
            Row(".status.phase = Terminating & *Failure = True",      D),
            Row(".status.phase = Terminating",                        P),
            Row(".status.phase = Active",                             H),
        )),
        KnownKind("", "Node", (
            Row("Ready = Unknown",                                    D),
            Row("Ready = False",                                      D),
            Row("NetworkUnavailable = True",                          D),
            Row(".spec.unschedulable = true",                         S, message="it is cordoned"),
            Row("Ready = True",                                       H),
        ), beside="*"),
        KnownKind("", "PersistentVolume", (
            Row(".status.phase = Available | Bound",                  H),
            Row(".status.phase = Pending | Released",                 P),
            Row(".status.phase = Failed",                             D),
        )),
        KnownKind("certificates.k8s.io", "CertificateSigningRequest", (
            Row("Denied = True",                                      D),
            Row("Failed = True",                                      D),
            Row(".status.certificate = something",                    H, message="the certificate was issued"),
        )),
        KnownKind("storage.k8s.io", "VolumeAttachment", (
            Row(".status.attachError = something",                    D, message="{.status.attachError.message}"),
            Row(".status.detachError = something",                    D, message="{.status.detachError.message}"),
            Row(".status.attached = true",                            H),
        )),
        KnownKind("resource.k8s.io", "ResourceClaim", (
            Row(".status.allocation = something",                     H, message="it is allocated"),
        )),
        KnownKind("flowcontrol.apiserver.k8s.io", "FlowSchema", (
            Row("Dangling = True",                                    D),
            Row("Dangling = False",                                   H),
        )),
    )),
    Family("Vertical Pod Autoscaler", "https://github.com/kubernetes/autoscaler/blob/master/vertical-pod-autoscaler/docs/api.md", (
        KnownKind("autoscaling.k8s.io", "VerticalPodAutoscaler", (
            Row("ConfigUnsupported = True",                           D),
            Row("NoPodsMatched = True",                               P),
            Row("FetchingHistory = True",                             P),
            Row("RecommendationProvided = False | Unknown",           P, message="it recommends nothing yet"),
            Row("RecommendationProvided = True",                      H, message="it recommends"),
        )),
    )),
    Family("CSI snapshots", "https://github.com/kubernetes-csi/external-snapshotter/blob/master/client/apis/volumesnapshot/v1/types.go", (
        KnownKind("snapshot.storage.k8s.io | groupsnapshot.storage.k8s.io", "VolumeSnapshot | VolumeSnapshotContent | VolumeGroupSnapshot | VolumeGroupSnapshotContent", SNAPSHOT),
    )),
)
# fmt: on
