"""What consoles call signals of edge hosting: Kubernetes' conditions of nodes, the vendor's present conditions.

Every other name is a signal too, and is shown as it is.
Belongs here: these names, a row for each. Does not: the facet (`language.signals`), conditions of phases.
"""

from phaseline.machines.language.table import Signal

# fmt: off
CLUSTER = (
    #      name                       en                            others                  class
    Signal("Degraded",                "Degraded",                   {"zh": "降级"},         "bad"),
    Signal("SetByProvider",           "Set by the provider",        {"zh": "由服务商设置"}),
    Signal("Security",                "Security",                   {"zh": "安全"}),
)
NODE_POOL = (
    Signal("StockOut",                "Out of stock",               {"zh": "库存不足"},     "bad"),
    Signal("LimitedByQuota",          "Limited by quota",           {"zh": "配额不足"},     "bad"),
    Signal("Balance",                 "Overdue",                    {"zh": "欠费"},         "bad"),
    Signal("Degraded",                "Degraded",                   {"zh": "降级"},         "bad"),
    Signal("VersionPartlyUpgraded",   "Version partly upgraded",    {"zh": "版本部分升级"}, "busy"),
    Signal("ClusterVersionUpgrading", "Cluster version upgrading",  {"zh": "集群版本升级中"}, "busy"),
    Signal("SetByProvider",           "Set by the provider",        {"zh": "由服务商设置"}),
)
NODE = (
    Signal("MemoryPressure",          "Memory pressure",            {"zh": "内存压力"},     "bad"),
    Signal("DiskPressure",            "Disk pressure",              {"zh": "磁盘压力"},     "bad"),
    Signal("PIDPressure",             "Process ID pressure",        {"zh": "进程号压力"},   "bad"),
    Signal("NetworkUnavailable",      "Network unavailable",        {"zh": "网络不可用"},   "bad"),
    Signal("Security",                "Security",                   {"zh": "安全"}),
)
# fmt: on
