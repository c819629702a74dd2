"""The groups of commands: what operators do, the log as a whole, kinds, products.

Belongs here: the name, the module and one line of help of each command of a group.
"""

from phaseline.engine.surfaces.cli.lazy import OF_PRODUCTS, Lazy

admin = Lazy(
    name="admin",
    help="""What operators do, and what they did.

    It is for operators (docs/security.md says which rights each command needs).
    """,
    sections={
        "The installation": {
            "streams": ("streams.streams", "Show how the streams differ from what is wanted, and change them."),
            "backup": ("backup.backup", "Write LOG, EVENTS and STATE into a folder while everything runs."),
            "restore": ("backup.restore", "Make the installation that a backup holds."),
            "sites": ("edge.edge", "Sites that lose their uplink: add, list and configure them."),
            "purge": ("purge.purge", "Erase the observations of one entity for good."),
        },
        "Who may, who sends, who follows, who did": {
            "accounts": ("accounts.accounts", "Print the NATS accounts of an installation: who may do what."),
            "token": ("serve.token", "Make a token for the HTTP server."),
            "sources": ("sources.sources", "Show who sends events: how many were taken, rejected, or came again."),
            "followers": ("followers.followers", "Show who follows the log under a name, and remove one."),
            "operations": ("operations.operations", "Show what operators did, and who they say they are."),
        },
    },
    examples=[
        ("phaseline admin backup /backup/pl-monday", "while everything runs"),
        ("phaseline admin streams", "what each stream holds, and what this version wants otherwise"),
        ("phaseline admin sources", "who sends what, and of whom nothing is taken"),
    ],
)
log = Lazy(
    name="log",
    help="The log as a whole: decide it again, write it to files, keep its past in files.",
    sections={
        "Commands": {
            "replay": ("replay.replay", "Decide recorded events again: rebuild states, audit, what-if."),
            "export": ("export.export_", "Write a log to a file."),
            "import": ("import_.import_", "Publish the events of an exported log."),
            "archive": ("archive.archive", "Move finished parts of the log to files, and trim the streams."),
        },
    },
    examples=[
        ("phaseline log replay --audit", "decide everything again, and compare every record"),
        ("phaseline log export week.plog.zst", "one file"),
        ("phaseline log archive --keep 30d --to /backup/pl", "keep the streams small"),
    ],
)
kinds = Lazy(
    name="kinds",
    help="The kinds of entities and their state machines.",
    sections={
        "Commands": {
            "show": ("machines.machines", "Print the state machines. Needs no server."),
            "check": ("tables.tables", "Show what a change of tables would do, and who would be stranded."),
            "new": ("new.new", "Write a package with a kind of your own. Needs no server."),
        },
    },
    examples=[
        ("phaseline kinds show node", "its states and what moves it"),
        ("phaseline kinds check", "before workers with changed tables start"),
        ("phaseline kinds new rack", "a package to begin with"),
    ],
)
gitops = Lazy(
    name="gitops",
    help="GitOps: what manifests and objects say, by the rules of the workers. Needs no server.",
    sections={
        "Commands": {
            "assess": (f"{OF_PRODUCTS}.assess.assess", "Show the health and sync of manifests."),
            "diff": ("diff.diff", "Show where a Kubernetes object differs from Git."),
        },
    },
)
emco = Lazy(
    name="emco",
    help="EMCO: deployment intent groups.",
    sections={"Commands": {"status": (f"{OF_PRODUCTS}.status.status", "Show the status of what was deployed.")}},
)
