"""Kinds of one's own below built-in parents: `backup` below `cluster`, `copy` below it, `probe` below `node`.

Belongs here: the tables. Does not: the tests (`test_descendants`, `test_laws`).
"""

from phaseline.machines.built_in import BUILT_IN, PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.edge_hosting.cluster import CLUSTER
from phaseline.machines.kinds.edge_hosting.component import COMPONENT
from phaseline.machines.kinds.edge_hosting.node import NODE
from phaseline.machines.kinds.edge_hosting.node_pool import NODE_POOL
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, Facet, Field, Row, Table, Timeout
from tests.support.sample_kinds import label

# fmt: off
BACKUP = Table(
    kind="backup",
    id=("cluster", "backup"),
    parent="cluster",
    intents=("create", "delete"),
    derived=("remove", "late"),
    facets=(Facet(
        name="phase",
        labels=(label("Running"), label("Late"), label("Ending"), label("Done")),
        rows=(
            Row((ABSENT, DELETED),  "create",   "Running"),
            Row(("Running", "Ending"), "late",   "Late"),
            Row(("Running", "Late"), "finished", "Done"),
            Row((LIVE,),            "delete",   "Ending"),
            Row((LIVE,),            "remove",   "Ending"),
            Row(("Ending",),        "deleted",  DELETED),
        ),
        timeouts=(Timeout("Running", "late", 600), Timeout("Ending", "late", 60)),
    ),),
)
"""It says nothing of `owner_gone`, and takes part when its cluster is removed."""
COPY = Table(
    kind="copy",
    id=("cluster", "backup", "copy"),
    parent="backup",
    intents=("begin",),
    derived=("owner_gone",),
    attributes=(Field("place", str, "where it is"),),
    facets=(
        Facet(
            name="phase",
            labels=(label("Copying"), label("Running")),
            rows=(
                Row((ABSENT,),     "begin", "Copying", assigns=True),
                Row(("Copying",),  "ready", "Running"),
                Row(("Running",),  "begin", "Copying"),
                Row((LIVE,), "owner_gone", DELETED),
            ),
        ),
        Facet(
            name="check",
            labels=(label("Unchecked"), label("Running"), label("Checked")),
            rows=(
                Row((ABSENT,),      "begin",    "Unchecked"),
                Row(("Unchecked",), "adopted",  "Running"),
                Row(("Running", "Unchecked"), "compared", "Checked"),
                Row(("Checked",),   "doubted",  "Unchecked"),
            ),
        ),
    ),
)
"""No row of its second facet leads to Deleted."""
PROBE = Table(
    kind="probe",
    id=("cluster", "pool", "node", "probe"),
    parent="node",
    intents=(),
    facets=(Facet(
        name="phase",
        labels=(label("Running"), label("Lost")),
        rows=(
            Row((ABSENT, DELETED, "Lost"), "heard", "Running"),
            Row(("Running",),              "lost",  "Lost"),
        ),
    ),),
)
"""It knows neither `remove` nor Deleted."""
OWN = (BACKUP, COPY, PROBE)
KINDS = Kinds((CLUSTER, NODE_POOL, NODE, COMPONENT, *OWN), checked=BUILT_IN, products=PRODUCTS)
