"""Known kinds that run programs.

Belongs here: Kueue, OpenKruise, OpenShift, Knative, KServe, Spark, Flink, KEDA, Flagger, jobs.

Does not: Kubernetes' own workloads (`health`), Argo's (`argo`).
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S, U, X
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
STALE = (
    Row(".status = nothing",                                          P),
    Row(".status.observedGeneration != .metadata.generation",         P,      message="the change of the spec has not been observed yet"),
)
PAUSED = (
    Row("Paused = True & Ready = True",                               S),
    Row(".metadata.annotations[autoscaling.keda.sh/paused-replicas] != absent", S, argo=NONE, message="the annotation autoscaling.keda.sh/paused-replicas pauses it"),
    Row(".metadata.annotations[autoscaling.keda.sh/paused] != absent | false | False | FALSE | f | F | 0", S, argo=NONE, message="the annotation autoscaling.keda.sh/paused pauses it"),
)
PARTITION = ".spec.updateStrategy.rollingUpdate.partition"
SPARK = ".status.applicationState.state"
RUNS = "count(.status.executorState[]: RUNNING)"
DYNAMIC, CONF = ".spec.dynamicAllocation", ".spec.sparkConf"


def in_range(enabled: str, least: str, most: str) -> tuple[Row, ...]:
    """A Spark application that runs is well with a number of executors between two fields. enabled: when it applies."""
    running = f"{SPARK} = RUNNING & .status.executorState = something & {enabled}"
    return (
        Row(f"{running} & {RUNS} >= {least} or 0 & {most} = nothing", H,      message="it runs"),
        Row(f"{running} & {RUNS} >= {least} or 0 & {RUNS} <= {most}", H,      message="it runs"),
        Row(running,                                                  P,      message="the number of its executors is out of range"),
    )


FAMILIES = (
    Family("Kueue", "https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta1/", (
        KnownKind("kueue.x-k8s.io", "ClusterQueue | LocalQueue | AdmissionCheck | MultiKueueCluster", (
            Row(".spec.stopPolicy = Hold | HoldAndDrain",             S,      message="its stopPolicy is {.spec.stopPolicy}"),
            Row("Active = False & Active.reason = Stopped | ClusterQueueIsStopped", S),
            Row("Active = False & Active.reason = Terminating",       P),
            Row("Active = False",                                     D),
            Row("Active = True",                                      H),
        )),
    )),
    Family("JobSet", "https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/", (
        KnownKind("jobset.x-k8s.io", "JobSet", (
            Row("Failed = True",                                      D),
            Row("Completed = True",                                   H),
            Row(".spec.suspend = true",                               S,      message="it is suspended"),
            Row("Suspended = True",                                   S),
            Row("@.failed > 0",                                       P,      message="{@.name}: jobs that have failed: {@.failed}", each=".status.replicatedJobsStatus[]"),
            Row(".status = something",                                P,      message="it has not ended yet"),
        )),
    )),
    Family("OpenKruise", "https://openkruise.io/docs/user-manuals/cloneset", (
        KnownKind("apps.kruise.io", "AdvancedCronJob", (
            Row(".status.lastScheduleTime = nothing & .spec.paused = true", S, message="it is paused"),
            Row(".spec.paused = true",                                S,      argo=NONE, message="it is paused"),
            Row("count(.status.active[]) > 0",                        P,      message="a run is under way"),
            Row(".status.lastScheduleTime = nothing",                 D,      message="it has never run"),
            Row("",                                                   H,      message="its last run began {.status.lastScheduleTime}"),
        )),
        KnownKind("apps.kruise.io", "BroadcastJob", (
            Row(".status.phase = completed & .status.desired = .status.succeeded", H),
            Row(".status.phase = failed",                             D),
            Row(".status.phase = paused",                             S),
            Row(".status.phase = running",                            P),
        )),
        KnownKind("apps.kruise.io", "CloneSet", (
            *STALE,
            Row(".spec.updateStrategy.paused = true",                 S,      message="it is paused"),
            Row(".status.updatedAvailableReplicas = nothing",         P,      argo=S),
            Row(".spec.updateStrategy.partition > 0 & .metadata.generation > 1 & .status.updatedReplicas >= .status.expectedUpdatedReplicas", S, message="its partition waits for a person"),
            Row(".spec.updateStrategy.partition > 0 & .metadata.generation > 1", P),
            Row(".status.updatedAvailableReplicas = .status.replicas", H),
            Row(".status.updatedAvailableReplicas < .status.replicas", D),
        )),
        KnownKind("apps.kruise.io", "DaemonSet", (
            *STALE,
            Row(".spec.updateStrategy.rollingUpdate.paused = true",   S,      message="it is paused"),
            Row(".status.updatedNumberScheduled = nothing",           P,      argo=S),
            Row(f"{PARTITION} > 0 & .metadata.generation > 1 & .status.updatedNumberScheduled > .status.desiredNumberScheduled - {PARTITION}", S, message="its partition waits for a person"),
            Row(f"{PARTITION} > 0 & .metadata.generation > 1",        P),
            Row(".status.updatedNumberScheduled = .status.desiredNumberScheduled & .status.numberAvailable = something & .status.numberAvailable = .status.desiredNumberScheduled", H),
            Row(".status.updatedNumberScheduled = .status.desiredNumberScheduled & .status.numberUnavailable = something & .status.numberUnavailable = .status.desiredNumberScheduled", D),
            Row(".status.numberAvailable < .status.desiredNumberScheduled", P),
        )),
        KnownKind("apps.kruise.io", "StatefulSet", (
            *STALE,
            Row(".spec.updateStrategy.rollingUpdate.paused = true",   S,      message="it is paused"),
            Row(".status.updatedAvailableReplicas = nothing",         P,      argo=S),
            Row(f"{PARTITION} > 0 & .metadata.generation > 1 & .status.updatedReplicas > .status.replicas - {PARTITION}", S, message="its partition waits for a person"),
            Row(f"{PARTITION} > 0 & .metadata.generation > 1",        P),
            Row(".status.updatedAvailableReplicas = .status.replicas", H),
            Row(".status.updatedAvailableReplicas < .status.replicas", D),
        )),
        KnownKind("rollouts.kruise.io", "Rollout", (
            *STALE,
            Row(".status.canaryStatus.currentStepState = StepPaused & .status.phase = Progressing", S, message="its step waits for a person"),
            Row(".status.canaryStatus.currentStepState = Completed & .status.phase = Healthy", H),
            Row(".status.canaryStatus.currentStepState = StepPaused & .status.phase = Terminating | Disabled", D),
            Row(".status.phase = Progressing",                        P),
        )),
        KnownKind("game.kruise.io", "GameServer", (
            Row(".status = nothing",                                  U,      message="no status has been reported yet"),
            Row(".status.currentState != .status.desiredState",       P),
            Row("KruisePodReady = False | Unknown",                   D,      each=".status.podStatus"),
            Row(".status.currentState = Ready",                       H),
            Row("",                                                   U,      message="its state is {.status.currentState}"),
        )),
        KnownKind("game.kruise.io", "GameServerSet", (
            *STALE,
            Row(".spec.updateStrategy.rollingUpdate.paused = true",   S,      message="it is paused"),
            Row(f"{PARTITION} > 0 & .status.updatedReplicas >= .status.replicas - {PARTITION}", S, message="its partition waits for a person"),
            Row(".status.updatedReadyReplicas = .status.replicas",    H),
            Row(".status.readyReplicas < .status.replicas",           P),
        )),
    )),
    Family("OpenShift workloads", "https://docs.redhat.com/en/documentation/openshift_container_platform/4.17/html/workloads_apis/deploymentconfig-apps-openshift-io-v1", (
        KnownKind("apps.openshift.io", "DeploymentConfig", (
            Row(".status.conditions = nothing",                       P),
            Row(".status.replicas = 0 & * != nothing",                H,      message="no replica is wanted"),
            Row("Available = True & Progressing = True & Progressing.reason = NewReplicationControllerAvailable", H),
            Row("Available = True",                                   P),
            Row("Progressing = True & Progressing.reason = NewReplicationControllerAvailable", P),
            Row(".status.replicas = something",                       D),
        ), beside="Available | Progressing | status.*Replicas"),
    )),
    Family("Knative", "https://knative.dev/docs/serving/reference/serving-api/", (
        KnownKind("serving.knative.dev", "Service", (
            Row("* = False",                                          D),
            Row("* = Unknown",                                        P),
            Row("Ready = True & ConfigurationsReady = True & RoutesReady = True", H),
        )),
        KnownKind("serving.knative.dev", "Configuration | Route | Revision | DomainMapping", (
            Row("Ready = False",                                      D),
            Row("Ready = Unknown",                                    P),
            Row("Ready = True",                                       H),
        )),
        KnownKind("eventing.knative.dev | messaging.knative.dev | sources.knative.dev | flows.knative.dev", "*", (
            Row("Ready = False",                                      D),
            Row("Ready = Unknown",                                    P),
            Row("Ready = True",                                       H),
        )),
        KnownKind("operator.knative.dev", "KnativeServing", (
            Row("Ready = False",                                      P),
            Row("DeploymentsAvailable = False",                       P),
            Row("* = Unknown",                                        P),
            Row("Ready = True & InstallSucceeded = True & DependenciesInstalled = True & DeploymentsAvailable = True", H),
            Row(".status.conditions = something",                     D),
        )),
        KnownKind("operator.knative.dev", "KnativeEventing", (
            Row("Ready = False",                                      P),
            Row("* = Unknown",                                        P),
            Row("Ready = True & InstallSucceeded = True",             H),
            Row(".status.conditions = something",                     D),
        )),
    )),
    Family("KServe", "https://kserve.github.io/website/latest/reference/api/", (
        KnownKind("serving.kserve.io", "InferenceService", (
            Row("Stopped = True",                                     S),
            Row(".status.conditions = nothing",                       P),
            Row(".status.modelStatus.transitionStatus = InProgress",  P),
            Row(".status.modelStatus.transitionStatus != UpToDate",   D),
            Row("@.type != Stopped & @.status = Unknown",             P,      each=".status.conditions[]"),
            Row("@.type != Stopped & @.status = False",               P,      each=".status.conditions[]"),
            Row(".status.modelStatus = something & .status.modelStatus.transitionStatus = nothing", D),
            Row("Ready = nothing",                                    P,      argo=NONE),
            Row("",                                                   H),
        )),
    )),
    Family("OpenFaaS", "https://docs.openfaas.com/openfaas-pro/function-crd/", (
        KnownKind("openfaas.com", "Function", (
            Row("Ready = False",                                      D),
            Row("Stalled = True",                                     D),
            Row("Ready = True & .status.replicas > 0",                H),
            Row("Ready = True",                                       S,      message="no replica runs"),
        )),
    )),
    Family("SpinKube", "https://www.spinkube.dev/docs/reference/spin-app/", (
        KnownKind("core.spinkube.dev", "SpinApp", (
            Row(".status = nothing",                                  P),
            Row("Progressing = False & Progressing.reason = ProgressDeadlineExceeded", D),
            Row("Progressing = False & Progressing.message ~ *timeout* | *Timeout* | *failed* | *Failed*", D),
            Row("Available = False | Unknown",                        D),
            Row("Available = nothing",                                D,      message="it does not say that it is available"),
            Row(".status.readyReplicas < .spec.replicas or 1",        P),
            Row("Progressing = True",                                 P),
            Row("Available = True",                                   H),
        )),
    )),
    Family("KEDA", "https://keda.sh/docs/latest/reference/scaledobject-spec/", (
        KnownKind("keda.sh", "ScaledObject", (
            Row("Ready = False & Ready.reason = HPAMetricsUnavailable", P,    argo=D),
            Row("Ready = False",                                      D),
            Row("Fallback = True",                                    D),
            *PAUSED,
            Row("HPAActive = False & HPAActive.reason != ScalingDisabled", P, argo=NONE),
            Row("Ready = True",                                       H),
        )),
        KnownKind("keda.sh", "ScaledJob", (
            Row("Ready = False | Unknown",                            D),
            *PAUSED,
            Row("Ready = True",                                       H),
        )),
        KnownKind("keda.sh", "TriggerAuthentication | ClusterTriggerAuthentication", (
            Row("",                                                   X, message="it configures others and has no state of its own"),
        )),
    )),
    Family("Flagger", "https://docs.flagger.app/usage/how-it-works#canary-status", (
        KnownKind("flagger.app", "Canary", (
            Row(".spec.suspend = true",                               S,      argo=NONE, message="it is suspended"),
            Row(".status = nothing",                                  U,      message="no status has been reported yet"),
            Row(".status.phase = Failed",                             D),
            Row(".status.phase = Progressing | Finalising | Promoting", P),
            Row(".status.phase = Succeeded | Initialized",            H),
            Row(".status.phase = Waiting | WaitingPromotion | Initializing | Terminating", P, argo=U),
            Row("",                                                   U,      message="its phase is {.status.phase}"),
        ), message=".status.conditions[-1].message"),
    )),
    Family("Flink operator", "https://nightlies.apache.org/flink/flink-kubernetes-operator-docs-main/docs/custom-resource/reference/", (
        KnownKind("flink.apache.org", "FlinkDeployment", (
            Row(".spec.job.state = suspended & .status.jobManagerDeploymentStatus = MISSING | nothing", S, argo=NONE, message="it is suspended"),
            Row(".status.lifecycleState = FAILED",                    D,      argo=NONE, message="{.status.error}"),
            Row(".status.lifecycleState = ROLLED_BACK",               D,      argo=NONE, message="its upgrade was rolled back: {.status.error}"),
            Row(".status.lifecycleState = ROLLING_BACK | UPGRADING",  P,      argo=NONE),
            Row(".status.jobManagerDeploymentStatus = ERROR",         D,      argo=NONE, message="{.status.error}"),
            Row(".status.jobManagerDeploymentStatus = MISSING & .spec.job.state = running | nothing", D,      argo=NONE, message="its job manager is missing: {.status.error}"),
            Row(".status.jobStatus.state = FAILED | FAILING",         D,      argo=NONE, message="its job has failed: {.status.error}"),
            Row(".status.jobManagerDeploymentStatus = DEPLOYED_NOT_READY | DEPLOYING", P, argo=NONE),
            Row(".status.jobStatus.state = SUSPENDED",                S,      argo=NONE),
            Row(".status.jobStatus.state = CREATED | INITIALIZING | RECONCILING | RESTARTING | CANCELLING", P, argo=NONE),
            Row(".status.reconciliationStatus.success = true",        H),
            Row(".status.reconciliationStatus.state = DEPLOYED",      H),
            Row(".status.jobManagerDeploymentStatus = DEPLOYED_NOT_READY | DEPLOYING", P),
            Row(".status.jobManagerDeploymentStatus = ERROR",         D,      message="{.status.reconciliationStatus.error}"),
        )),
    )),
    Family("Spark operator", "https://github.com/kubeflow/spark-operator/blob/master/docs/api-docs.md", (
        KnownKind("sparkoperator.k8s.io", "SparkApplication", (
            Row(f"{SPARK} = nothing",                                 P),
            Row(f"{SPARK} = RUNNING & .status.executorState = something & .spec.executor.instances = something & .spec.executor.instances = {RUNS}", H, message="it runs"),
            *in_range(f"{DYNAMIC}.enabled = true", f"{DYNAMIC}.minExecutors", f"{DYNAMIC}.maxExecutors"),
            *in_range(f"{CONF}[spark.streaming.dynamicAllocation.enabled] = true", f"{CONF}[spark.streaming.dynamicAllocation.minExecutors]", f"{CONF}[spark.streaming.dynamicAllocation.maxExecutors]"),
            *in_range(f"{CONF}[spark.dynamicAllocation.enabled] = true", f"{CONF}[spark.dynamicAllocation.minExecutors]", f"{CONF}[spark.dynamicAllocation.maxExecutors]"),
            Row(f"{SPARK} = RUNNING & {DYNAMIC} = nothing & .spec.executor.instances = nothing & {RUNS} > 0", H, message="it runs"),
            Row(f"{SPARK} = COMPLETED",                               H),
            Row(f"{SPARK} = FAILED | SUBMISSION_FAILED | FAILING",    D,      message="{.status.applicationState.errorMessage}"),
            Row(f"{SPARK} = INVALIDATING",                            "Missing", message="it is being invalidated"),
            Row(f"{SPARK} = RUNNING",                                 P,      message="it waits for its executors"),
            Row(f"{SPARK} = SUBMITTED | PENDING_RERUN | SUCCEEDING | UNKNOWN", P),
        )),
        KnownKind("sparkoperator.k8s.io", "ScheduledSparkApplication", (
            Row(".spec.suspend = true",                               S),
            Row(".status.scheduleState = FailedValidation",           D, message="{.status.reason}"),
            Row(".status.scheduleState = Scheduled",                  H),
        )),
    )),
    Family("Tekton", "https://tekton.dev/docs/pipelines/pipelineruns/#monitoring-execution-status", (
        KnownKind("tekton.dev", "PipelineRun | TaskRun | CustomRun | Run", (
            Row("Succeeded = False",                                  D),
            Row("Succeeded.reason = PipelineRunPending",              S),
            Row("Succeeded = Unknown",                                P),
            Row("Succeeded = True",                                   H),
        )),
        KnownKind("triggers.tekton.dev", "EventListener", (
            Row("* = False",                                          D),
            Row("Available = True",                                   H),
        )),
        KnownKind("operator.tekton.dev", "*", (
            Row("Ready = False",                                      D),
            Row("Ready = True",                                       H),
        )),
    )),
    Family("Keptn", "https://keptn.sh/stable/docs/reference/api-reference/lifecycle/", (
        KnownKind("lifecycle.keptn.sh", "KeptnAppVersion | KeptnTask | KeptnWorkloadInstance | KeptnWorkloadVersion", (
            Row(".status.status = Succeeded",                         H),
            Row(".status.status = Failed",                            D),
        )),
        KnownKind("lifecycle.keptn.sh", "KeptnEvaluation", (
            Row(".status.overallStatus = Succeeded",                  H),
            Row(".status.overallStatus = Failed",                     D),
        )),
        KnownKind("metrics.keptn.sh", "Analysis", (
            Row(".status.pass = true",                                H),
            Row(".status.warning = true",                             H,      message="it passed with a warning"),
            Row(".status.pass = false",                               D),
        )),
        KnownKind("metrics.keptn.sh", "KeptnMetric", (
            Row(".status.errMsg = something",                         D,      message="{.status.errMsg}"),
            Row(".status.value = something",                          H),
        )),
    )),
    Family("Spot", "https://docs.spot.io/ocean-cd/", (
        KnownKind("spot.io", "SpotDeployment", (
            Row(".status.conditions = nothing",                       P),
            Row("InvalidSpec = something",                            D),
            Row("Progressing.reason = RolloutAborted | ProgressDeadlineExceeded", D),
            Row("Paused = True",                                      S),
            Row(".status.phase = Progressing",                        P),
            Row(".status.phase = Degraded",                           D,      argo=NONE),
            Row(".status.phase = Paused",                             S,      argo=NONE),
            Row(".status.phase = Healthy | Completed",                H,      argo=NONE),
            Row(".status.phase = something",                          U,      argo=NONE, message="its phase is {.status.phase}, which is not known"),
            Row("Progressing = True & Progressing.reason ~ *Completed | NewReplicaSetAvailable", H, argo=NONE),
            Row("",                                                   NONE,   argo=H),
        )),
    )),
    Family("Ansible Automation Platform", "https://github.com/ansible/awx-resource-operator/blob/devel/README.md", (
        KnownKind("tower.ansible.com", "AnsibleJob", (
            Row(".status.ansibleJobResult.status = successful",       H,      message="the job has succeeded: {.status.ansibleJobResult.url}"),
            Row(".status.ansibleJobResult.status = failed | error | canceled", D, message="the job is {.status.ansibleJobResult.status}: {.status.ansibleJobResult.url}"),
            Row(".status.ansibleJobResult.status = new | pending | waiting | running", P),
        )),
    )),
)
# fmt: on
