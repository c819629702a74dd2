"""Cases of EMCO that are answered otherwise than EMCO answers them, or not at all, with the reasons.

Belongs here: the names of the cases. Does not: the cases (`conformance`), what is answered (`test_emco_conformance`).
"""

NOT_OURS = {
    "RS-20": "how long rsync waits for hooks", "RS-24": "dependencies between apps", "RS-25": "dependencies between apps",
    "DG-38": "editing a group", "DG-39": "editing a group", "DG-40": "editing intents",
    "DG-41": "migrating to another group", "DG-42": "migrating to another group", "DG-43": "migrating to another group",
    "DG-18": "only migrating makes a group Updated",
    "CN-15": "editing networks", "CN-16": "editing networks", "CN-17": "editing networks",
    "LC-11": "only a migrated one is Updated",
    "LC-12": "what a group may expect of its logical cloud", "LC-17": "editing clusters", "LC-18": "who uses a logical cloud",
}  # fmt: skip
"""docs/emco.md lists these, with the reasons."""
OTHERWISE = {
    "RS-07": "Applied stays Applied until rsync reports, however its context is asked (rows of rsync_resource)",
    "CN-09": "terminate is legal in Terminated only after it failed; elsewhere it is refused, not ignored",
    "DG-37": "what may be in a cluster is not forgotten: delete waits until all of it is deleted",
    "LC-03": "what counts is the user's last action, not what has become of it (rows of emco_resource)",
    "LC-04": "Applied may be applied again, with its context or another",
    "LC-05": "what counts is the user's last action: Applied may be applied again",
    "LC-06": "what counts is the user's last action: from Terminated one may apply",
    "LC-09": "after a terminate that failed one may terminate again",
    "LC-16": "there is no update that does nothing: apply another context",
}
FAILED_TOO = {
    "CN-20": "delete waits until all of it is deleted", "LC-13": "delete waits until all of it is deleted",
    "DG-16": "after a terminate that failed one may terminate again",
}  # fmt: skip
"""Cases that hold unless the context is TerminateFailed, with what holds then."""
