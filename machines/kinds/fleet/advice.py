"""What to do about the states of Fleet. Belongs here: these texts, a row for each state or condition."""

from phaseline.machines.language.table import advice

# fmt: off
FLEET = advice(
    #  state or condition   what to do (en)                                                                       (zh)
    ("ErrApplied",         "Correct what the message names in the bundle, and commit; it is applied again.",      "修正消息中指出的 bundle 问题并提交；系统会重新应用。"),
    ("WaitCheckIn",        "Look at the agent of the cluster and at its network.",                                "检查集群的代理及其网络。"),
    ("NotReady",           "Look at the resources that are not ready, and at their reasons (phaseline why).",     "查看未就绪的资源及其原因（phaseline why）。"),
    ("OutOfSync",          "Wait for the rollout; look whether it is paused, or what holds it back.",             "等待发布推进；检查其是否已暂停或受阻。"),
    ("Modified",           "Look at what was changed by hand; force an update, or bring the change into Git.",    "查看被手动修改的内容；强制更新，或将变更写入 Git。"),
    ("Missing",            "Look at who deleted it; force an update of the deployment to bring it back.",         "查明是谁删除了它；强制更新部署可使其恢复。"),
    ("Orphaned",           "Delete it on the cluster, or declare it in Git again.",                               "在集群上删除它，或在 Git 中重新声明。"),
    ("NotOwned",           "Rename the object, or remove it from one of the two bundles that declare it.",        "重命名该对象，或从其中一个声明它的 bundle 中移除。"),
    ("NotAssessed",        "Bring a health rule for the kind, if it matters whether it works.",                   "若需要判断其是否正常，请为该类型提供健康规则。"),
    ("Unknown",            "Wait for a report of the cluster's agent.",                                           "等待集群代理上报。"),
    ("Error",              "Correct what the message names: targets, values, or rights.",                         "修正消息中指出的问题：目标、值或权限。"),
    ("NoDeployment",       "Look at the bundle in Fleet: its targets, and what its controller says of them.",             "在 Fleet 中查看该 bundle：其目标及控制器的说明。"),
    ("NoTargets",          "Correct its targets, or the labels of clusters, if it should be somewhere.",                  "若应部署到某处，请修正其目标或集群标签。"),
    ("Paused",             "Resume it (`paused` of the bundle or the cluster) when what is new may be applied.",          "当可以应用新版本时，恢复它（bundle 或集群的 `paused`）。"),
    ("OffSchedule",        "Wait for the schedule of its cluster, or change it.",                                         "等待其集群的计划时段，或修改该计划。"),
    ("GitError",           "Correct the address, the branch or the credentials of the repository.",               "修正仓库的地址、分支或凭据。"),
)
# fmt: on
