"""What to do about the states of edge hosting. Belongs here: these texts, a row for each state or condition."""

from phaseline.machines.language.table import advice

# fmt: off
CLUSTER = advice(
    #  state or condition       what to do (en)                                                          (zh)
    ("AllFailed",              "Look at what its nodes say; what they share may be the reason.", "查看各节点的消息；其共同之处可能就是原因。"),
    ("CreateError",            "Read the message, correct what it names, and create the cluster again.", "查看消息，修正其中指出的问题，然后重新创建集群。"),
    ("LimitedByQuota",         "Ask for a higher quota or free some of it, then create the cluster again.", "提高配额或释放已用配额，然后重新创建集群。"),
    ("StockOut",               "Wait for capacity, or create the cluster in another zone or with another instance type.", "等待库存恢复，或更换可用区或实例规格后重新创建集群。"),
    ("Balance",                "Pay what is owed; then start the cluster, or create it again if it was never there.", "结清欠费；然后启动集群，若从未创建成功则重新创建。"),
    ("ResourceCleanupFailed",  "Look for what the message says could not be removed, remove it, and delete again.", "找到消息中未能清理的资源，清理后再次删除。"),
    ("Failed [Unknown]",       "Read the message and the last events; report the state that is seen once it is known.", "查看消息与最近的事件；查明后上报实际状态。"),
)
NODE_POOL = advice(
    ("AllFailed",              "Look at what its nodes say; scale the pool, or replace the nodes.", "查看各节点的消息；对节点池伸缩或更换节点。"),
    ("ResourceCleanupFailed",  "Look for nodes that the message names, remove them, and delete the pool again.", "找到消息中指出的节点，移除后再次删除节点池。"),
    ("Failed [Unknown]",       "Read the message, correct what it names, and create the pool again; delete it first.", "查看消息并修正问题；先删除，再重新创建节点池。"),
    ("ClusterNotRunning",      "Get the cluster running first; the pool follows.", "先恢复集群运行，节点池会随之恢复。"),
)
NODE = advice(
    ("InitializeFailed",       "Read the message of the initialisation, and remove the node; the pool brings another one.", "查看初始化消息，并移除该节点；节点池会补充新节点。"),
    ("NotReady",               "Look at the kubelet and the network of the node; drain it if it does not come back.", "检查节点的 kubelet 与网络；若无法恢复则排空该节点。"),
    ("Failed [Balance]",       "Pay what is owed; the node comes back when that is reported.", "结清欠费；上报后节点会恢复。"),
    ("ResourceCleanupFailed",  "Look for what the message says could not be removed, remove it, and remove the node again.", "找到消息中未能清理的资源，清理后再次移除节点。"),
    ("Failed [Unknown]",       "Read the message and the last events; report the state that is seen once it is known.", "查看消息与最近的事件；查明后上报实际状态。"),
)
COMPONENT = advice(
    ("NameConflict",           "Remove or rename what has the same name, then install the component again.", "移除或重命名同名对象，然后重新安装组件。"),
    ("CrashLoopBackOff",       "Read the logs of the container that ends, and correct its configuration.", "查看反复退出的容器日志，并修正其配置。"),
    ("ImagePullBackOff",       "Correct the image's name, or the access to its registry.", "修正镜像名称，或镜像仓库的访问权限。"),
    ("ClusterNotRunning",      "Get the cluster running first; the component follows.", "先恢复集群运行，组件会随之恢复。"),
    ("Failed [Degraded]",      "Look at the replicas that are not ready, and at the message.", "检查未就绪的副本以及消息。"),
    ("SchedulingFailed",       "Give the cluster nodes with room for the component, or lower its requests.", "为集群增加可容纳该组件的节点，或降低其资源请求。"),
    ("ResourceCleanupFailed",  "Look for what the message says could not be removed, remove it, and uninstall again.", "找到消息中未能清理的资源，清理后再次卸载。"),
    ("Failed [Unknown]",       "Read the message and the last events; report the state that is seen once it is known.", "查看消息与最近的事件；查明后上报实际状态。"),
)
# fmt: on
