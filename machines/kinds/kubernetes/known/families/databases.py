"""Known kinds of databases. Belongs here: PostgreSQL, MariaDB, Percona, ClickHouse, Elastic, Solr, Cassandra, Atlas.

Does not: queues (`messaging`), storage (`storage`).
"""

from phaseline.machines.kinds.kubernetes.known.rows import NONE, D, Family, H, KnownKind, P, S, U
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as Row

# fmt: off
PHASE = ".status.phase"
MARIADB = (
    #   when                                                          health  argo
    Row("Suspended = True",                                           S,      argo=NONE),
    Row("* = False & *.reason = Failed",                              D),
    Row("* = False",                                                  P),
    Row("Ready = Unknown",                                            P,      argo=NONE),
    Row("Ready = True",                                               H),
    Row(".status.conditions = something",                             NONE,   argo=H),
)
READY = (
    Row("Ready = False | Unknown",                                    D),
    Row("Ready = True",                                               H),
)
UNMANAGED = Row(".metadata.annotations[eck.k8s.elastic.co/managed] = false | False | FALSE | f | F | 0", S, argo=NONE, message="the annotation eck.k8s.elastic.co/managed pauses it")
CLICKHOUSE = (
    Row(".status.status = Completed",                                 H),
    Row(".status.status = InProgress",                                P),
    Row(".status.status = something",                                 D),
)
FAMILIES = (
    Family("FoundationDB", "https://github.com/FoundationDB/fdb-kubernetes-operator/blob/main/docs/cluster_spec.md", (
        KnownKind("apps.foundationdb.org", "FoundationDBCluster", (
            Row(".status.generations.reconciled < .metadata.generation", P,   message="generation {.metadata.generation} has not been reconciled yet, the last one that was is {.status.generations.reconciled}"),
            Row(".status.health.available = false",                   D,      message="its database is not available"),
            Row(".status.health.healthy = false",                     P,      message="its database is not healthy"),
            Row(".status.health.available = true",                    H,      message="its database is available"),
        )),
    )),
    Family("cass-operator", "https://docs.k8ssandra.io/reference/crd/cass-operator-crds-latest/", (
        KnownKind("cassandra.datastax.com", "CassandraDatacenter", (
            Row(".spec.stopped = true",                               S,      message="it is stopped"),
            Row(".status.cassandraOperatorProgress = Updating",       P,      message="its operator is at work"),
            Row("Ready = False",                                      P),
            Row("Ready = True",                                       H),
        )),
    )),
    Family("Zalando postgres-operator", "https://github.com/zalando/postgres-operator/blob/master/pkg/apis/acid.zalan.do/v1/const.go", (
        KnownKind("acid.zalan.do", "postgresql", (
            Row(".status.PostgresClusterStatus = Running",            H),
            Row(".status.PostgresClusterStatus = Creating | Updating", P),
            Row(".status.PostgresClusterStatus = something",          D),
        )),
    )),
    Family("CloudNativePG", "https://github.com/cloudnative-pg/cloudnative-pg/blob/main/api/v1/cluster_types.go", (
        KnownKind("postgresql.cnpg.io", "Cluster", (
            Row(".metadata.annotations[cnpg.io/reconciliationLoop] = disabled", S, message="the annotation cnpg.io/reconciliationLoop stops its reconciliation"),
            Row(".status.conditions = nothing",                       P),
            Row("cnpg.io/hibernation = True",                         S),
            Row("cnpg.io/hibernation = False | Unknown",              D),
            Row(f"{PHASE} = Cluster in healthy state & Ready = True", H),
            Row(f"{PHASE} = Cluster in healthy state",                H),
            Row(f"{PHASE} = Setting up primary | Creating a new replica | Upgrading cluster | Waiting for the instances to become active | Promoting to primary cluster", P),
            Row(f"{PHASE} = Waiting for user action",                 S, argo=D),
            Row(f"{PHASE} = Switchover in progress | Failing over | Upgrading Postgres major version | Cluster upgrade delayed", P, argo=D),
            Row(f"{PHASE} = Primary instance is being restarted in-place | Primary instance is being restarted without a switchover", P, argo=D),
            Row(f"{PHASE} = Online upgrade in progress | Applying configuration", P, argo=D),
            Row(f"{PHASE} ~ Cluster cannot execute instance online upgrade*",     D),
            Row(f"{PHASE} ~ Unable to create required cluster objects | Cluster cannot proceed to reconciliation* | Cluster has incomplete or invalid image catalog | Cluster is unrecoverable*", D, argo=S),
            Row(f"{PHASE} = Not enough disk space",                   D,      argo=U),
            Row("Ready = False",                                      P,      argo=NONE, message="its phase is {.status.phase}: {.status.phaseReason}"),
            Row("",                                                   U,      message="its phase is {.status.phase}: {.status.phaseReason}"),
        ), message=".status.phaseReason", beside="ContinuousArchiving | LastBackupSucceeded"),
        KnownKind("postgresql.cnpg.io", "Database | Publication | Subscription", (
            Row("stale",                                              P),
            Row(".status.applied = true",                             H),
            Row(".status.applied = false",                            D),
        )),
        KnownKind("postgresql.cnpg.io", "Backup", (
            Row(f"{PHASE} = completed",                               H),
            Row(f"{PHASE} = failed | walArchivingFailing",            D),
        ), message=".status.error"),
        KnownKind("postgresql.cnpg.io", "Pooler", (
            Row(".status.instances < .spec.instances or 1",           P,      message="{.status.instances or 0} of {.spec.instances or 1} instances are there"),
            Row(".status.instances = something",                      H),
        )),
    )),
    Family("MariaDB operator", "https://github.com/mariadb-operator/mariadb-operator/blob/main/docs/api_reference.md", (
        KnownKind("k8s.mariadb.com | mariadb.mmontes.io", "MariaDB | MaxScale", MARIADB),
        KnownKind("k8s.mariadb.com", "Database | Grant | User | Connection", READY),
        KnownKind("k8s.mariadb.com", "SqlJob", (
            Row("*.reason = JobFailed & * = True",                    D),
            Row("*.reason = JobComplete & * = True",                  H),
        )),
        KnownKind("k8s.mariadb.com", "Backup | Restore | PhysicalBackup", (
            Row("* = False & *.reason = CronJobScheduled & *.message = Failed", D),
            Row("* = False & *.reason ~ *Failed",                     D,      argo=NONE),
            Row("* = False",                                          P),
            Row("Complete = True",                                    H,      argo=NONE),
            Row(".status.conditions = something",                     NONE,   argo=H),
        )),
    )),
    Family("Percona operators", "https://docs.percona.com/percona-operator-for-mongodb/operator.html", (
        KnownKind("psmdb.percona.com", "PerconaServerMongoDB", (
            Row(".status = nothing",                                  U,      message="no status has been reported yet"),
            Row(".status.state = ready",                              H,      message="{.status.ready} of {.status.size} nodes are ready"),
            Row(".status.state = initializing | stopping",            P,      message="{.status.ready} of {.status.size} nodes are ready"),
            Row(".status.state = error",                              D),
            Row(".status.state = paused",                             S,      message="it is paused"),
            Row("",                                                   U,      message="its state is {.status.state}, which is not known"),
        )),
        KnownKind("pxc.percona.com", "PerconaXtraDBCluster", (
            Row(".status = nothing",                                  U,      message="no status has been reported yet"),
            Row(".status.state = ready",                              H,      message="{.status.ready} of {.status.size} nodes are ready"),
            Row(".status.state = initializing",                       P,      message="{.status.ready} of {.status.size} nodes are ready"),
            Row(".status.state = paused",                             S, argo=U, message="it is paused"),
            Row(".status.state = stopping",                           D,      message="it is stopping: {.status.ready} of {.status.size} nodes are ready"),
            Row(".status.state = error",                              D,      message="{.status.message[0]}"),
            Row("",                                                   U,      message="its state is {.status.state}, which is not known"),
        )),
    )),
    Family("ClickHouse operator", "https://github.com/Altinity/clickhouse-operator/blob/master/pkg/apis/clickhouse.altinity.com/v1/type_status.go", (
        KnownKind("clickhouse.altinity.com", "ClickHouseInstallation", CLICKHOUSE, message=".status.error"),
        KnownKind("clickhouse-keeper.altinity.com", "ClickHouseKeeperInstallation", CLICKHOUSE, message=".status.error"),
    )),
    Family("Elastic Cloud on Kubernetes", "https://www.elastic.co/docs/reference/cloud-on-k8s/api-reference/main", (
        KnownKind("elasticsearch.k8s.elastic.co", "Elasticsearch", (
            UNMANAGED,
            Row(".status.phase = Invalid",                            D,      argo=NONE),
            Row(".status.health = red",                               D,      argo=NONE, message="its health is red"),
            Row(".status.availableNodes = nothing",                   U,      message="it does not say how many nodes are available"),
            Row(".status.availableNodes < sum(.spec.nodeSets[].count)", P),
            Row(".status.availableNodes > sum(.spec.nodeSets[].count)", U,    message="more nodes are available than are wanted"),
            Row(".status.health = nothing",                           U,      message="its health is not known"),
            Row(".status.phase = Ready & .status.health = green",     H),
            Row(".status.phase = Ready & .status.health = yellow",    P,      message="its health is yellow"),
            Row(".status.phase = Ready & .status.health = red",       D,      message="its health is red"),
            Row(".status.phase = ApplyingChanges | MigratingData",    P),
            Row(".status.phase = Invalid",                            D),
            Row("",                                                   U,      message="its phase is {.status.phase}, its health {.status.health}"),
        )),
        KnownKind("beat.k8s.elastic.co", "Beat", (
            UNMANAGED,
            Row(".status.health = green",                             H),
            Row(".status.health = yellow",                            P,      message="{.status.availableNodes} of {.status.expectedNodes} instances are available"),
            Row(".status.health = red",                               D),
            Row(".status.health = nothing & .status.expectedNodes = something", P),
            Row("",                                                   U,      message="its health is not known: {.status.health}"),
        )),
        KnownKind("*.k8s.elastic.co", "Logstash | Kibana | ApmServer | Agent | EnterpriseSearch | ElasticMapsServer", (
            UNMANAGED,
            Row(".status.health = green",                             H),
            Row(".status.health = yellow",                            P),
            Row(".status.health = red",                               D),
        )),
    )),
    Family("Solr operator", "https://apache.github.io/solr-operator/docs/solr-cloud/", (
        KnownKind("solr.apache.org", "SolrCloud", (
            Row("@.ready = false | nothing",                          P,      each=".status.solrNodes[]", message="{@.name} is not ready"),
            Row("@.ready = true",                                     H,      each="all .status.solrNodes[]", message="all nodes are ready"),
        )),
    )),
    Family("Rook Cassandra", "https://rook.io/docs/rook/v1.7/cassandra-cluster-crd.html", (
        KnownKind("cassandra.rook.io", "Cluster", (
            Row("@.members > 0 & @.readyMembers = nothing",           P,      argo=NONE, each=".status.racks[]"),
            Row("@.members = nothing",                                P,      argo=NONE, each=".status.racks[]", message="it does not say how many members it has"),
            Row("@.members = something & @.readyMembers = something & @.readyMembers != @.members", P, each=".status.racks[]"),
            Row("@.readyMembers = @.members",                         H,      each="all .status.racks[]", message="all members of all racks are ready"),
            Row(".status.racks = something",                          H,      message="no rack lacks a member"),
        )),
    )),
    Family("Atlas operator", "https://github.com/ariga/atlas-operator/tree/master/api/v1alpha1", (
        KnownKind("db.atlasgo.io", "AtlasMigration", (
            Row("Ready = True",                                       H),
            Row("Ready = False | Unknown & Ready.reason = Reconciling", P),
            Row("Ready = False | Unknown",                            D),
        )),
        KnownKind("db.atlasgo.io", "AtlasSchema", (
            Row("Ready = True",                                       H),
            Row("Ready = False | Unknown & Ready.message = Reconciling | GettingDevDB", P),
            Row("Ready = False | Unknown & Ready.reason = Reconciling | GettingDevDB", P, argo=NONE),
            Row("Ready = False | Unknown",                            D),
        )),
    )),
)
# fmt: on
