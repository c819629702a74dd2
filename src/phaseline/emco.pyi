# Written by `python -m phaseline.engine.surfaces.generate` from the table in emco.py.

from phaseline.engine.products.emco.query import EmcoNamesQuery as EmcoNamesQuery
from phaseline.engine.products.emco.query import EmcoStatusQuery as EmcoStatusQuery
from phaseline.engine.products.emco.query import SourceStatusQuery as SourceStatusQuery
from phaseline.engine.products.emco.query import StatusQuery as StatusQuery
from phaseline.engine.products.emco.schema import EmcoAction as EmcoAction
from phaseline.engine.products.emco.schema import EmcoApp as EmcoApp
from phaseline.engine.products.emco.schema import EmcoAppClusters as EmcoAppClusters
from phaseline.engine.products.emco.schema import EmcoAppResources as EmcoAppResources
from phaseline.engine.products.emco.schema import EmcoCluster as EmcoCluster
from phaseline.engine.products.emco.schema import EmcoClusterName as EmcoClusterName
from phaseline.engine.products.emco.schema import EmcoNamedResource as EmcoNamedResource
from phaseline.engine.products.emco.schema import EmcoNames as EmcoNames
from phaseline.engine.products.emco.schema import EmcoOneCluster as EmcoOneCluster
from phaseline.engine.products.emco.schema import EmcoResource as EmcoResource
from phaseline.engine.products.emco.schema import EmcoStates as EmcoStates
from phaseline.engine.products.emco.schema import EmcoStatus as EmcoStatus
from phaseline.engine.products.emco.schema import EmcoFailure as EmcoFailure
from phaseline.engine.products.emco.schema import EmcoPrevious as EmcoPrevious
from phaseline.engine.products.emco.schema import GroupVersionKind as GroupVersionKind
from phaseline.engine.products.emco.schema import LeftBehind as LeftBehind
from phaseline.engine.products.emco.schema import Shows as Shows
from phaseline.engine.products.emco.schema import SourceApp as SourceApp
from phaseline.engine.products.emco.schema import SourceCluster as SourceCluster
from phaseline.engine.products.emco.schema import SourceFailure as SourceFailure
from phaseline.engine.products.emco.schema import SourcePrevious as SourcePrevious
from phaseline.engine.products.emco.schema import SourceResource as SourceResource
from phaseline.engine.products.emco.schema import SourceStatus as SourceStatus
from phaseline.engine.products.emco.select import AppCluster as AppCluster
from phaseline.engine.products.emco.select import LeftItem as LeftItem
from phaseline.engine.products.emco.select import StatusItem as StatusItem
from phaseline.engine.products.emco.select import StatusSelection as StatusSelection
from phaseline.engine.products.emco.views import Emco as Emco
from phaseline.engine.products.emco.views import EmcoView as EmcoView

__all__: list[str]
