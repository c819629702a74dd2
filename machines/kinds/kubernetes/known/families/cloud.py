"""Known kinds that stand for things in a cloud.

Belongs here: Crossplane and Upbound, Google's Config Connector, AWS Controllers for Kubernetes, IAM Manager, Pulumi.
Does not: clusters (`clusters`), databases that run in the cluster (`databases`).
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
CONFIGURES = "Composition | CompositionRevision | DeploymentRuntimeConfig | ClusterProviderConfig | ProviderConfig | ProviderConfigUsage | ControllerConfig"
MANAGED = (
    #   when                                                  health  argo    message
    Row("Synced.reason = ReconcilePaused",                    S,      argo=NONE),
    Row(".metadata.annotations[crossplane.io/paused] = true", S,      argo=NONE, message="the annotation crossplane.io/paused pauses it"),
    Row("Synced = False",                                     D),
    Row("LastAsyncOperation = False",                         D),
    Row("Ready = True",                                       H),
)
CLASSIC = (
    Row("Ready = True & Synced = True",                       H),
    Row("Synced = False & Synced.reason = ReconcilePaused",   S),
    Row("Synced = True",                                      P),
    Row("Synced = False",                                     D),
    Row(".status.conditions = something",                     P,      argo=D),
)
FAMILIES = (
    Family("Crossplane", "https://docs.crossplane.io/latest/managed-resources/managed-resources/#conditions", (
        KnownKind("*.crossplane.io | *.upbound.io", CONFIGURES, (
            Row(".status = nothing",                          H,              message="it configures others and has no state of its own"),
            Row(".status.conditions = nothing & .status.users = something", H, message="used by {.status.users}"),
            *MANAGED[1:3],
            Row("ValidPipeline = False",                      D,      argo=NONE),
            Row("ValidPipeline = Unknown",                    P,      argo=NONE),
            Row("Ready = True",                               H),
            Row("Healthy = True",                             H),
            Row("ValidPipeline = True",                       H),
            Row("RevisionHealthy = True",                     H),
        )),
        KnownKind("pkg.crossplane.io", "Provider", (
            Row("Installed = True & Healthy = True",          H),
            Row("Healthy = Unknown",                          P,      argo=D),
            Row("Installed = True & Healthy.reason = UnhealthyPackageRevision", D),
            Row(".status.conditions = something",             D),
        )),
        KnownKind("stacks.crossplane.io", "ClusterStackInstall | StackInstall", (
            Row("Ready = True",                               H,              each=".status.conditionedStatus"),
        )),
        KnownKind("cloudfront.aws.crossplane.io | iam.aws.crossplane.io | rds.aws.crossplane.io | route53.aws.crossplane.io | s3.aws.crossplane.io",
                  "Distribution | Policy | Role | RolePolicyAttachment | DBCluster | DBInstance | ResourceRecordSet | Bucket", CLASSIC),
        KnownKind("*.crossplane.io", "*", (
            Row(".status = nothing",                          P,      argo=NONE, message="no status has been reported yet"),
            Row(".status = nothing",                          NONE,   argo=H),
            *MANAGED,
            Row("Healthy = False",                            D,      argo=NONE),
            Row("Installed = False & Installed.reason = UnpackingPackage", P, argo=NONE),
            Row("Installed = False",                          D,      argo=NONE),
            Row("Healthy = True",                             H),
            Row("Offered = True",                             H),
            Row("Established = True",                         H),
            Row("ValidPipeline = True",                       H),
            Row("RevisionHealthy = True",                     H),
        )),
        KnownKind("*.upbound.io", "*", (
            Row(".status = nothing",                          P,      argo=NONE, message="no status has been reported yet"),
            Row(".status = nothing",                          NONE,   argo=H),
            *MANAGED,
        )),
    )),
    Family("Config Connector", "https://cloud.google.com/config-connector/docs/how-to/monitoring-your-resources#conditions", (
        KnownKind("*.cnrm.cloud.google.com", "ConfigConnector | ConfigConnectorContext", (
            Row("stale",                                      P),
            Row(".status.healthy = true",                     H),
            Row(".status.healthy = false",                    D),
            Row("Ready.reason = UpToDate & Ready = True",     H),
        )),
        KnownKind("*.cnrm.cloud.google.com", "*", (
            Row("stale",                                      P),
            Row("*.reason = UpToDate & Ready = True",         H),
            Row("*.reason = UpdateFailed | DependencyNotFound", D),
            Row("*.reason = DependencyNotReady",              P,      argo=S),
            Row("*.reason ~ *Failed | *Invalid",              D,      argo=NONE),
        )),
    )),
    Family("AWS Controllers for Kubernetes", "https://aws-controllers-k8s.github.io/community/docs/user-docs/resource-crud/", (
        KnownKind("*.services.k8s.aws", "*", (
            Row("ACK.Terminal = True",                        D),
            Row("ACK.Recoverable = True",                     P,      argo=NONE),
            Row("Ready = False",                              P),
            Row("Ready = True",                               H),
            Row("ACK.ResourceSynced = False",                 P),
            Row("ACK.ResourceSynced = True",                  P),
        )),
    )),
    Family("IAM Manager", "https://github.com/keikoproj/iam-manager/blob/master/api/v1alpha1/iamrole_types.go", (
        KnownKind("iammanager.keikoproj.io", "Iamrole", (
            Row(".status.state = Ready",                      H),
            Row(".status.state = Error | RolesMaxLimitReached | PolicyNotAllowed | RoleNameNotAvailable", D),
        ), message=".status.errorDescription"),
    )),
    Family("Pulumi operator", "https://github.com/pulumi/pulumi-kubernetes-operator/blob/master/operator/api/pulumi/v1/stack_types.go", (
        KnownKind("pulumi.com", "Stack", (
            Row("unobserved",                                 P),
            Row("Stalled = True",                             D),
            Row("Reconciling = True",                         P),
            Row("Ready = True",                               H),
        )),
    )),
)
# fmt: on
