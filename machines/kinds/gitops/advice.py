"""What to do about sync states. Belongs here: these texts, a row for each state."""

from phaseline.machines.kinds.gitops.observe import SYNC_FAILED
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC
from phaseline.machines.language.table import advice

# fmt: off
SYNC = advice(
    #  state         what to do (en)                                                                          (zh)
    (SYNC_FAILED,  "Correct what the message names (network, configuration, permission), then synchronise again.", "修正消息中指出的问题（网络、配置、权限），然后重新同步。"),
    (OUT_OF_SYNC,  "Read the differences (phaseline gitops diff); synchronise, or bring the change into Git, or ignore the field.", "查看差异（phaseline gitops diff）；执行同步，或将变更写入 Git，或忽略该字段。"),
    ("Unknown",    "Correct what keeps the controller from comparing: the message names it.",                   "修正导致控制器无法比较的问题，消息中已指出。"),
    (NOT_COMPARED, "Report what Git declares, if it matters whether it matches.",                               "若需要判断是否一致，请上报 Git 中声明的内容。"),
)
# fmt: on
