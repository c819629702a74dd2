"""What the reads of EMCO take and give: status queries and their answers (docs/emco.md).

Belongs here: the public names of EMCO. A name is loaded when it is first used. Does not: any code.
"""

from phaseline.engine.public_names import offer

# The only list of these names. `python3 dev.py generate` writes `emco.pyi` from it, for type checkers.
NAMES = {
    "phaseline.engine.products.emco.query":  "EmcoNamesQuery EmcoStatusQuery SourceStatusQuery StatusQuery",
    "phaseline.engine.products.emco.schema": "EmcoAction EmcoApp EmcoAppClusters EmcoAppResources EmcoCluster "
                                             "EmcoClusterName EmcoNamedResource EmcoNames EmcoOneCluster "
                                             "EmcoResource EmcoStates EmcoStatus EmcoFailure EmcoPrevious "
                                             "GroupVersionKind LeftBehind Shows SourceApp SourceCluster "
                                             "SourceFailure SourcePrevious SourceResource SourceStatus",
    "phaseline.engine.products.emco.select": "AppCluster LeftItem StatusItem StatusSelection",
    "phaseline.engine.products.emco.views":  "Emco EmcoView",
}

__all__, __getattr__, __dir__ = offer(globals(), NAMES)
