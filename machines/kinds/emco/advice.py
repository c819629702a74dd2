"""What to do about the states of EMCO. Belongs here: these texts, a row for each state or condition."""

from phaseline.machines.language.table import advice

# fmt: off
APP_CONTEXT = advice(
    # state or condition what to do (en) (zh)
    ("Instantiating [Stalled]",       "Look at the clusters and resources that have not answered; stop it, or wait for them.", "检查尚未应答的集群与资源；可停止，或继续等待。"),
    ("InstantiateFailed",             "Correct what the failed resources say, then instantiate again; or terminate.",  "修正失败资源所指出的问题，然后重新实例化；或终止。"),
    ("Terminating [Stalled]",         "Look at the clusters that have not answered; stop it, or wait for them.",      "检查尚未应答的集群；可停止，或继续等待。"),
    ("TerminateFailed",               "Look for resources that are left, remove them, then terminate again.",          "找到残留的资源，清理后再次终止。"),
    ("Updating [Stalled]",            "Look at the clusters that have not answered; stop it, or wait for them.",      "检查尚未应答的集群；可停止，或继续等待。"),
    ("UpdateFailed",                  "Correct what the failed resources say, then update again; or roll back.",       "修正失败资源所指出的问题，然后重新更新；或回滚。"),
)
APP_CLUSTER = advice(
    ("Unknown",                       "Wait for a report of the cluster; look at its monitor if none comes.",          "等待该集群上报；若无上报，检查其监控代理。"),
    ("Unreachable",                   "Look at the network and the credentials of the cluster; it is tried again.",    "检查集群的网络与凭据；系统会重试。"),
)
RSYNC_RESOURCE = advice(
    ("Failed",                        "Correct the manifest or the rights that the message names, then apply again.",  "修正消息中指出的清单或权限，然后重新应用。"),
    ("Unknown",                       "Wait for a report of the cluster; look at its monitor if none comes.",          "等待该集群上报；若无上报，检查其监控代理。"),
    ("Present [Remains]",             "rsync said that it was deleted, and its cluster lists it: remove it there.",     "rsync 已报告删除，但集群仍列出该资源：请在集群上清理。"),
    ("NotPresent",                    "Look at who removed it on the cluster; update or instantiate to bring it back.", "查明集群上是谁将其移除；更新或实例化可使其恢复。"),
)
# fmt: on
