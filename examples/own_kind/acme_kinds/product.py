"""What this package adds to Phaseline. Belongs here: the product, which names everything else."""

from acme_kinds.release import RELEASE
from phaseline.tables import ClientView, Product, ProductCommand, WorkerService

ACME = Product(
    "Acme",
    kinds=(RELEASE,),
    services=(WorkerService("release", "readiness", "acme_kinds.readiness:answer"),),
    commands=(
        ProductCommand("readiness", "acme_kinds.command:readiness", "Show whether a release of Acme's may start."),
    ),
    routes=("acme_kinds.routes:ROUTES",),
    views=(ClientView("acme", "acme_kinds.reads:Acme"),),
)
