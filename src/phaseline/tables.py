"""The language in which the state machine of a kind is written.

A kind is a `Table`. Each `Facet` of it has labels (`Label`), rows (`Row`: which trigger leads from where to where),
views (`View`) and timeouts (`Timeout`). Guards and views ask predicates: `Above`, `AttributeIs`, `AnyBelow`,
`AllBelow`, `Child`. `Cascade`, `FanOut` and `OnTally` fire further triggers. Functions in a table declare a name and a
revision with `rule`. A `Product` is what a package adds: tables, bans, services,
commands. `Kinds` checks tables, and raises
`WrongTable`, which says what to write instead.

Belongs here: the public names of the table language. Does not: any kind that comes with Phaseline.
"""

from phaseline.engine.public_names import offer

# The only list of these names. `python3 dev.py generate` writes `tables.pyi` from it, for type checkers.
NAMES = {
    "phaseline.machines.compiler.checks": "WrongTable",
    "phaseline.machines.compiler.kinds": "Kind Kinds",
    "phaseline.machines.compiler.labels": "label_of",
    "phaseline.machines.language.fields": "Attributes ComputeRule Field Refusal RuleEvent",
    "phaseline.machines.language.predicates": "Above AllBelow AnyBelow AttributeIs Child Predicate Scene SceneEntity "
    "Unmet",
    "phaseline.machines.language.product": "Ban ClientView CopiedEvent NoProducts Product ProductCommand WorkerService",
    "phaseline.machines.language.rules": "Revision Uses rule",
    "phaseline.machines.language.scripts": "JqResult NoScripts ScriptRunner",
    "phaseline.machines.language.sources": "LIVE At Live Source",
    "phaseline.machines.language.table": "ABSENT CHILDREN DELETED FROM_DATA OK PROGRESSING SAME STALLED Cascade "
    "Facet FanOut Fired Interpret InterpretRule KnownBy Label OnTally "
    "Pending Retired Role Row Table TargetsRule Timeout View Wants",
    "phaseline.schemas.records": "FacetState State",
}

__all__, __getattr__, __dir__ = offer(globals(), NAMES, renames=False)
