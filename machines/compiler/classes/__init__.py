"""What a state means to somebody who does not know its table: good, busy, bad, excused, gone or unknown.

What a label names counts, or else what follows from the table. An entity has the worst class of its facets, contact
apart. Colours, exit codes, the page, metrics and selections all ask here.
Belongs here: the class of a state (`state_classes`), the class of an entity and since when it is in it
(`entity_classes`). Does not: the words (`language.table`), the classes that tables name (the table of each
kind), noting since when (`engine.core.memory`).
"""
