"""The language in which the state machine of a kind is written.

A kind is a `Table`. Each `Facet` of it has labels (`Label`), rows (`Row`: which trigger leads from where to where),
views (`View`) and timeouts (`Timeout`). Guards and views ask predicates: `Above`, `AttributeIs`, `AnyBelow`,
`AllBelow`, `Child`. `Cascade`, `FanOut` and `OnTally` fire further triggers. Functions in a table declare a name and a
revision with `rule`. A `Product` is what a package adds: tables, bans, services,
commands. `Kinds` checks tables, and raises
`WrongTable`, which says what to write instead.

Belongs here: the public names of the table language. Does not: any kind that comes with Phaseline.
"""

from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.labels import label_of
from phaseline.machines.language.fields import Attributes, ComputeRule, Field, Refusal, RuleEvent
from phaseline.machines.language.predicates import (
    Above,
    AllBelow,
    AnyBelow,
    AttributeIs,
    Child,
    Predicate,
    Scene,
    SceneEntity,
    Unmet,
)
from phaseline.machines.language.product import (
    Ban,
    ClientView,
    CopiedEvent,
    NoProducts,
    Product,
    ProductCommand,
    WorkerService,
)
from phaseline.machines.language.retired import Retired
from phaseline.machines.language.rules import Revision, Uses, rule
from phaseline.machines.language.scripts import JqResult, NoScripts, ScriptRunner
from phaseline.machines.language.sources import LIVE, At, Live, Source
from phaseline.machines.language.table import (
    ABSENT,
    CHILDREN,
    DELETED,
    FROM_DATA,
    OK,
    PROGRESSING,
    SAME,
    Cascade,
    Facet,
    FanOut,
    Fired,
    Interpret,
    InterpretRule,
    KnownBy,
    Label,
    OnTally,
    Role,
    Row,
    Table,
    TargetsRule,
    Timeout,
    View,
)
from phaseline.schemas.records import FacetState, State

__all__ = [
    "ABSENT",
    "CHILDREN",
    "DELETED",
    "FROM_DATA",
    "LIVE",
    "OK",
    "PROGRESSING",
    "SAME",
    "Above",
    "AllBelow",
    "AnyBelow",
    "At",
    "AttributeIs",
    "Attributes",
    "Ban",
    "Cascade",
    "Child",
    "ClientView",
    "ComputeRule",
    "CopiedEvent",
    "Facet",
    "FacetState",
    "FanOut",
    "Field",
    "Fired",
    "Interpret",
    "InterpretRule",
    "JqResult",
    "Kind",
    "Kinds",
    "KnownBy",
    "Label",
    "Live",
    "NoProducts",
    "NoScripts",
    "OnTally",
    "Predicate",
    "Product",
    "ProductCommand",
    "Refusal",
    "Retired",
    "Revision",
    "Role",
    "Row",
    "RuleEvent",
    "Scene",
    "SceneEntity",
    "ScriptRunner",
    "Source",
    "State",
    "Table",
    "TargetsRule",
    "Timeout",
    "Unmet",
    "Uses",
    "View",
    "WorkerService",
    "WrongTable",
    "label_of",
    "rule",
]
