"""Known kinds of messaging. Belongs here: RabbitMQ, Strimzi, Confluent, Koperator, ZooKeeper, Camel, Numaflow."""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S, U
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
CREATED = (
    #   when                                                          health  argo
    Row("Ready = True & Ready.reason = SuccessfulCreateOrUpdate",     H),
    Row("Ready = False & Ready.reason = FailedCreateOrUpdate",        D),
    Row("Ready = False",                                              P,      argo=NONE),
    Row("",                                                           U,      message="it does not say whether it was created"),
)
KAFKA = (
    Row("ReconciliationPaused = True",                                S,      argo=NONE),
    Row(".metadata.annotations[strimzi.io/pause-reconciliation] = true | True | TRUE", S, argo=NONE, message="the annotation strimzi.io/pause-reconciliation pauses it"),
    Row("NotReady = True & NotReady.reason = Creating",               P),
    Row("NotReady = True",                                            D),
)
RUNNING = (
    Row(".status.phase = RUNNING",                                    H),
    Row(".status.phase = PROVISIONING",                               P),
    Row(".status.phase = FAILED | ERROR",                             D,      argo=P),
)
FAILED_UPGRADE = ".metadata.labels[numaplane.numaproj.io/progressive-result-state] = failed"
FLOW = (
    Row("unobserved",                                                 P),
    Row("* = False",                                                  D),
    Row(".status.phase = Failed",                                     D),
    Row(FAILED_UPGRADE,                                               D,      message="the progressive upgrade has failed"),
    Row(".status.phase = Paused | Pausing",                           S,      argo=H),
    Row(".status.phase = Running",                                    H),
)
UPGRADES = ".status.upgradeInProgress = something & ProgressiveUpgradeSucceeded = nothing | True | Unknown"


def rollout(failed: str, paused: str) -> tuple[Row, ...]:
    """The rows of a rollout of Numaplane. failed: the reason of a child that failed. paused: its condition of pause."""
    return (
        Row(".status = nothing",                                      P),
        Row(".status.observedGeneration != .metadata.generation",     P),
        Row(UPGRADES,                                                 P,      message="an upgrade is under way"),
        Row(".status.phase = Pending & ProgressiveUpgradeSucceeded = nothing | True | Unknown", P, message="an upgrade is under way"),
        Row("ChildResourcesHealthy = False & ChildResourcesHealthy.reason = Progressing", P),
        Row(".status.phase = Failed",                                 D),
        Row(f"ChildResourcesHealthy = False & ChildResourcesHealthy.reason = {failed}", D),
        Row("ProgressiveUpgradeSucceeded = False",                    D),
        Row(f"{paused} = True",                                       S,      argo=H),
        Row("ChildResourcesHealthy = True",                           H),
        Row("",                                                       U,      message="it does not say how its children are"),
    )


FAMILIES = (
    Family("RabbitMQ operators", "https://www.rabbitmq.com/kubernetes/operator/using-topology-operator", (
        KnownKind("rabbitmq.com", "RabbitmqCluster", (
            Row(".metadata.labels[rabbitmq.com/pauseReconciliation] = true", S, argo=NONE, message="the label rabbitmq.com/pauseReconciliation pauses it"),
            Row("ReconcileSuccess = False",                           D),
            Row("ClusterAvailable = Unknown | False",                 P),
            Row("AllReplicasReady = Unknown | False",                 P),
            Row("ClusterAvailable = True & AllReplicasReady = True",  H,      message="all replicas are ready"),
        )),
        KnownKind("rabbitmq.com", "Binding | Exchange | Federation | OperatorPolicy | Permission | Policy | Queue | SchemaReplication | Shovel | SuperStream | TopicPermission | User | Vhost", CREATED),
    )),
    Family("Strimzi", "https://strimzi.io/docs/operators/latest/configuring#type-Condition-schema-reference", (
        KnownKind("kafka.strimzi.io", "KafkaConnector", (
            *KAFKA,
            Row(".status.connectorStatus.connector.state = FAILED",   D,      argo=NONE, message="the connector has failed"),
            Row("@.state = FAILED",                                   D,      argo=NONE, message="task {@.id} has failed", each=".status.connectorStatus.tasks[]"),
            Row(".status.connectorStatus.connector.state = PAUSED | STOPPED", S, argo=NONE),
            Row("@.state != RUNNING",                                 P,      argo=NONE, message="task {@.id} is {@.state}", each=".status.connectorStatus.tasks[]"),
            Row("Ready = True",                                       H),
        )),
        KnownKind("kafka.strimzi.io", "KafkaMirrorMaker2", (
            *KAFKA,
            Row("@.connector.state = FAILED",                         D,      argo=NONE, message="connector {@.name} has failed", each=".status.connectors[]"),
            Row("@.state = FAILED",                                   D,      argo=NONE, message="task {@.id} has failed", each=".status.connectors[].tasks[]"),
            Row("Ready = True",                                       H),
        )),
        KnownKind("kafka.strimzi.io", "KafkaRebalance", (
            *KAFKA,
            Row("ProposalReady = True",                               S,      message="its proposal waits for approval"),
            Row("Stopped = True",                                     S),
            Row("Ready = True",                                       H),
        )),
        KnownKind("kafka.strimzi.io", "*", (
            *KAFKA,
            Row(".status.replicasChange = something",                 P,      argo=NONE, message="the change of its replicas is {.status.replicasChange.state}"),
            Row("Ready = True & .spec.replicas = something & .status.replicas = something & .status.replicas < .spec.replicas", P, argo=NONE, message="{.status.replicas} of {.spec.replicas} replicas are there"),
            Row("Ready = True",                                       H),
        )),
    )),
    Family("Confluent for Kubernetes", "https://docs.confluent.io/operator/current/co-api.html", (
        KnownKind("platform.confluent.io", "Connect | ControlCenter | Kafka | KsqlDB | SchemaRegistry | Zookeeper | KRaftController | KafkaRestProxy", RUNNING),
        KnownKind("platform.confluent.io", "Connector", (
            Row(".status.state = ERROR",                              D,      message="{.status.conditions[0].message}"),
            Row(".status.failedTasksCount > 0",                       D),
            Row(".status.state = CREATED & .status.connectorState = RUNNING", H),
        )),
        KnownKind("platform.confluent.io", "KafkaTopic | KafkaRestClass | Schema | ConfluentRolebinding", (
            Row(".status.state = ERROR",                              D, message="{.status.conditions[0].message}"),
            Row(".status.state = CREATED | SUCCEEDED",                H),
        )),
    )),
    Family("Koperator", "https://github.com/banzaicloud/koperator/blob/master/api/v1beta1/kafkacluster_types.go", (
        KnownKind("kafka.banzaicloud.io", "KafkaCluster", (
            Row(".status.state = ClusterRollingUpgrading",            P),
            Row("@.configurationState != ConfigInSync",               D,      each=".status.brokersState[]"),
            Row("@.gracefulActionState.cruiseControlState != GracefulUpscaleSucceeded | GracefulDownscaleSucceeded", D, each=".status.brokersState[]"),
            Row(".status.brokersState = something & .status.cruiseControlTopicStatus = CruiseControlTopicReady & .status.state = ClusterRunning", H, message="all brokers are in sync"),
        )),
    )),
    Family("ZooKeeper operator", "https://github.com/pravega/zookeeper-operator/blob/master/api/v1beta1/status.go", (
        KnownKind("zookeeper.pravega.io", "ZookeeperCluster", (
            Row(".status.readyReplicas > 0 & .status.readyReplicas = .status.replicas", H),
            Row(".status.readyReplicas < .status.replicas",           P),
        )),
    )),
    Family("Camel K", "https://camel.apache.org/camel-k/next/apis/camel-k.html", (
        KnownKind("camel.apache.org", "Integration | Pipe | IntegrationPlatform", (
            Row("Ready = False",                                      D),
            Row("Ready = True",                                       H),
        )),
    )),
    Family("Numaflow", "https://numaflow.numaproj.io/APIs/", (
        KnownKind("numaflow.numaproj.io", "InterStepBufferService | MonoVertex | Pipeline | Vertex", FLOW),
    )),
    Family("Numaplane", "https://github.com/numaproj/numaplane/tree/main/pkg/apis/numaplane/v1alpha1", (
        KnownKind("numaplane.numaproj.io", "ISBServiceRollout", rollout("ISBSvcFailed", "Paused")),
        KnownKind("numaplane.numaproj.io", "MonoVertexRollout", rollout("MonoVertexFailed", "MonoVertexPausingOrPaused")),
        KnownKind("numaplane.numaproj.io", "PipelineRollout", rollout("PipelineFailed", "PipelinePausingOrPaused")),
        KnownKind("numaplane.numaproj.io", "NumaflowControllerRollout", (
            Row(".status = nothing",                                  P),
            Row(".status.observedGeneration != .metadata.generation", P),
            Row(".status.upgradeInProgress = something",              P),
            Row(".status.phase = Pending",                            P),
            Row("ChildResourcesHealthy = False & ChildResourcesHealthy.reason = Progressing", P),
            Row(".status.phase = Failed",                             D),
            Row("ChildResourcesHealthy = False",                      D),
            Row("ChildResourcesHealthy = True",                       H),
            Row("",                                                   U,      message="it does not say how its children are"),
        )),
    )),
)
# fmt: on
