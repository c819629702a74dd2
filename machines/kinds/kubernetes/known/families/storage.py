"""Known kinds of storage and backup.

Belongs here: Rook, OpenShift Data Foundation, Trident, Astra, Velero, Longhorn, MinIO.
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
ASTRA = (
    #   when                                                          health  argo
    Row(".status.state = Completed",                                  H),
    Row(".status.state = Running",                                    P),
    Row(".status.state = something",                                  D),
)
STATE = ".status.currentState"
VELERO = (
    Row(".status.phase = Completed",                                  H,      argo=NONE),
    Row(".status.phase = FailedValidation",                           D,      argo=NONE, message="{.status.validationErrors[0]}"),
    Row(".status.phase ~ Failed* | Partially* | *Failed | FinalizingPartiallyFailed", D, argo=NONE, message="{.status.failureReason}"),
    Row(".status.phase = Canceled",                                   D,      argo=NONE),
    Row(".status.phase = Processed & count(.status.errors[]) > 0",    D,      argo=NONE, message="{.status.errors[0]}"),
    Row(".status.phase = Processed",                                  H,      argo=NONE),
)
FAMILIES = (
    Family("Rook", "https://rook.io/docs/rook/latest/CRDs/specification/", (
        KnownKind("ceph.rook.io", "CephCluster", (
            Row("@.severity = HEALTH_ERR | HEALTH_WARN & .status.ceph.health = HEALTH_ERR | HEALTH_WARN", D, argo=NONE, message="its health is {.status.ceph.health}: {@.message}", each=".status.ceph.details[]"),
            Row(".status.ceph.health = HEALTH_ERR | HEALTH_WARN",     D,      message="its health is {.status.ceph.health}: {.status.message}"),
            Row(".status.ceph.health = HEALTH_OK & .status.state = Error", D),
            Row(".status.state = Error",                              D,      argo=NONE),
            Row(".status.phase = Failure | ReconcileFailed",          D,      argo=NONE),
            Row("Ready = True & .status.ceph.health = HEALTH_OK & .status.state = Created | Connected | nothing", H),
            Row(".status.ceph.health = HEALTH_OK & .status.state = Created | Connected | nothing", H),
        ), beside="Progressing"),
        KnownKind("ceph.rook.io", "CephObjectStore", (
            Row(".status.phase = Ready",                              H),
            Row(".status.phase = Failure",                            D),
        )),
        KnownKind("ceph.rook.io", "*", (
            Row(".status.phase = Ready | Connected",                  H),
            Row(".status.phase = Failure | ReconcileFailed",          D),
        )),
        KnownKind("objectbucket.io", "ObjectBucketClaim | ObjectBucket", (
            Row(".status.phase = Bound | bound",                      H),
            Row(".status.phase = Failed | failed",                    D),
        )),
    )),
    Family("OpenShift Data Foundation", "https://github.com/red-hat-storage/ocs-operator/blob/main/api/v1/storagecluster_types.go", (
        KnownKind("ocs.openshift.io", "StorageCluster", (
            Row("Degraded = True",                                    D),
            Row("Progressing = True",                                 P),
            Row("ReconcileComplete = False",                          P,      argo=NONE),
            Row("Available = True",                                   H),
            Row("",                                                   "Unknown", message="none of Available, Progressing and Degraded is True"),
        )),
    )),
    Family("Trident", "https://docs.netapp.com/us-en/trident/trident-use/backend-kubectl.html", (
        KnownKind("trident.netapp.io", "TridentBackendConfig", (
            Row(".status.phase = Bound & .status.lastOperationStatus = Success", H),
            Row(".status.lastOperationStatus = Failed",               D),
            Row(".status.phase = Lost | Unknown",                     D,      argo=P),
        )),
        KnownKind("trident.netapp.io", "TridentOrchestrator", (
            Row(".status.status = Installed",                         H),
            Row(".status.status = Failed | Error",                    D),
        )),
    )),
    Family("Astra Control", "https://docs.netapp.com/us-en/trident-protect/", (
        KnownKind("astra.netapp.io", "AppVault", (
            Row(".status.state = available | Available",              H),
            Row(".status.state = failed | Failed | error | Error",    D),
        ), message=".status.error"),
        KnownKind("astra.netapp.io", "Application", (
            Row("Ready = False",                                      D),
            Row("Ready = True",                                       H),
        )),
        KnownKind("astra.netapp.io", "Backup | ExecHooksRun | ResourceBackup | ResticVolumeBackup | Snapshot", ASTRA, message=".status.error"),
        KnownKind("astra.netapp.io", "ExecHook", (
            Row(".spec.enabled = true",                               H),
            Row(".spec.enabled = false",                              S,      message="it is disabled"),
        )),
        KnownKind("astra.netapp.io", "Schedule", (
            Row(".spec.enabled = false",                              S,      argo=NONE, message="it is disabled"),
            Row(".status.error = something",                          D,      argo=NONE, message="{.status.error}"),
            Row(".status.lastScheduleTime = something",               H,      message="its last run began {.status.lastScheduleTime}"),
            Row("",                                                   P,      argo=H, message="it has not run yet"),
        )),
    )),
    Family("MinIO operator", "https://github.com/minio/operator/blob/master/pkg/controller/main-controller.go", (
        KnownKind("minio.min.io", "Tenant", (
            Row(f"{STATE} = Initialized & .status.healthStatus = red", D,     argo=H, message="its health is red"),
            Row(f"{STATE} = Initialized & .status.healthStatus = yellow", P,  argo=H, message="its health is yellow"),
            Row(f"{STATE} = Initialized",                             H),
            Row(f"{STATE} = Statefulset not controlled by operator | Another MinIO Tenant already exists in the namespace", D),
            Row(f"{STATE} = Tenant credentials are not set properly | Different versions across MinIO Pools | Pool Decommissioning Not Allowed", D),
            Row(f"{STATE} = something",                               P),
        )),
    )),
    Family("Velero", "https://velero.io/docs/main/api-types/", (
        KnownKind("velero.io", "Backup | Restore | PodVolumeBackup | PodVolumeRestore | DownloadRequest | DeleteBackupRequest | ServerStatusRequest | DataUpload | DataDownload", VELERO, message=".status.message"),
        KnownKind("velero.io", "BackupStorageLocation", (
            Row(".status.phase = Available",                          H),
            Row(".status.phase = Unavailable",                        D),
        )),
        KnownKind("velero.io", "BackupRepository", (
            Row(".status.phase = Ready",                              H),
            Row(".status.phase = NotReady",                           D),
        )),
        KnownKind("velero.io", "Schedule", (
            Row(".spec.paused = true",                                S, message="it is paused"),
            Row(".status.phase = FailedValidation",                   D, message="{.status.validationErrors[0]}"),
            Row(".status.phase = Enabled",                            H),
        )),
    )),
    Family("Longhorn", "https://github.com/longhorn/longhorn-manager/tree/master/k8s/pkg/apis/longhorn/v1beta2", (
        KnownKind("longhorn.io", "Volume", (
            Row(".status.robustness = faulted",                       D),
            Row(".status.robustness = degraded",                      D),
            Row("Scheduled = False",              D),
            Row(".status.state = creating | attaching | detaching | deleting", P),
            Row(".status.robustness = healthy",                       H),
            Row(".status.state = detached",                           H, message="it is detached"),
        ), beside="TooManySnapshots"),
        KnownKind("longhorn.io", "Engine | Replica | InstanceManager | ShareManager", (
            Row(".status.currentState = error",                       D),
            Row(".spec.failedAt = something",                         D, message="it failed at {.spec.failedAt}"),
            Row(".status.currentState = running",                     H),
            Row(".status.currentState = stopped",                     H, message="it is stopped"),
        )),
        KnownKind("longhorn.io", "Backup | Snapshot | BackupBackingImage | SystemBackup | SystemRestore", (
            Row(".status.state = Error | Unknown",                    D),
            Row(".status.error = something",                          D, message="{.status.error}"),
            Row(".status.state = Completed | Ready",                  H),
            Row(".status.readyToUse = true",                          H),
        ), message=".status.error"),
        KnownKind("longhorn.io", "Node", (
            Row("Ready = False",                                      D),
            Row("Schedulable = False",                                P),
            Row("Ready = True",                                       H),
        )),
        KnownKind("longhorn.io", "BackupTarget", (
            Row(".status.available = true",                           H),
            Row(".status.available = false",                          D),
        ), message=".status.conditions[0].message"),
    )),
)
# fmt: on
