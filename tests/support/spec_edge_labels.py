"""The labels of docs/spec/edge-hosting.md, copied by hand from the page and not from our tables.

Belongs here: phases, conditions, their labels, schedulability. Does not: the rows (`spec_edge_hosting`).
"""

# phase, condition, zh, en, schedulable
LABELS = {
    "cluster": (
        ("Creating", "Progressing", "创建中", "Creating", None),
        ("Running", "Ok", "运行中", "Running", None),
        ("Updating", "Progressing", "更新中", "Updating", None),
        ("Deleting", "Progressing", "删除中", "Deleting", None),
        ("Starting", "Progressing", "启动中", "Starting", None),
        ("Stopped", "Balance", "欠费关停", "Stopped (overdue)", None),
        ("Failed", "CreateError", "创建失败", "Create failed", None),
        ("Failed", "LimitedByQuota", "创建失败", "Create failed", None),
        ("Failed", "StockOut", "创建失败", "Create failed", None),
        ("Failed", "Balance", "创建失败", "Create failed", None),
        ("Failed", "ResourceCleanupFailed", "删除失败", "Delete failed", None),
        ("Failed", "Unknown", "异常", "Abnormal", None),
    ),
    "node_pool": (
        ("Creating", "Progressing", "创建中", "Creating", None),
        ("Running", "Ok", "运行中", "Running", None),
        ("Updating", "Progressing", "更新中", "Updating", None),
        ("Scaling", "Progressing", "伸缩中", "Scaling", None),
        ("Deleting", "Progressing", "删除中", "Deleting", None),
        ("Failed", "ResourceCleanupFailed", "删除失败", "Delete failed", None),
        ("Failed", "Unknown", "创建失败", "Create failed", None),
        ("Failed", "ClusterNotRunning", "异常", "Abnormal", None),
    ),
    "node": (
        ("Creating", "Progressing", "创建中", "Creating", False),
        ("Running", "Ok", "运行中", "Running", True),
        ("Running", "Unschedulable", "运行中", "Running (unschedulable)", False),
        ("Updating", "Progressing", "更新中", "Updating", False),
        ("Deleting", "Progressing", "移除中", "Removing", False),
        ("Starting", "Progressing", "启动中", "Starting", False),
        ("Stopping", "Progressing", "停止中", "Stopping", False),
        ("Stopped", "Ok", "已停止", "Stopped", False),
        ("Failed", "InitializeFailed", "创建失败", "Create failed", False),
        ("Failed", "NotReady", "异常", "Abnormal", False),
        ("Failed", "Balance", "异常（欠费关停）", "Abnormal (overdue)", False),
        ("Failed", "ResourceCleanupFailed", "移除失败", "Remove failed", False),
        ("Failed", "Unknown", "创建失败", "Create failed", False),
    ),
    "component": (
        ("Creating", "Progressing", "安装中", "Installing", None),
        ("Running", "Ok", "已安装", "Installed", None),
        ("Updating", "Progressing", "更新中", "Updating", None),
        ("Deleting", "Progressing", "卸载中", "Uninstalling", None),
        ("Failed", "NameConflict", "失败", "Failed", None),
        ("Failed", "CrashLoopBackOff", "异常", "Abnormal", None),
        ("Failed", "ImagePullBackOff", "失败", "Failed", None),
        ("Failed", "ClusterNotRunning", "异常", "Abnormal", None),
        ("Failed", "Degraded", "异常", "Abnormal", None),
        ("Failed", "SchedulingFailed", "失败", "Failed", None),
        ("Failed", "ResourceCleanupFailed", "卸载失败", "Uninstall failed", None),
        ("Failed", "Unknown", "失败", "Failed", None),
    ),
}

# The label of a node with several conditions is that of the first of these.
NODE_ORDER = ("ResourceCleanupFailed", "Balance", "NotReady", "InitializeFailed", "Unknown")
