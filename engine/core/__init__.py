"""The core: decides a stored event against the state of a tree and makes its records. It is pure and synchronous.

Belongs here, in the order in which an event meets them: `process` (a slice of events becomes one batch), `intake`
(bytes become an arrival), `reading` (what of it nothing reads), `decide` (which steps the event takes), `sources` (what
came before), `lives` (which thing it is about), `adoption` (missing parents), `after_end` (what is gone), `reports` and
`snapshot` (what reporters see), `judgement` (attributes, and what stands in the way), `fast_path` or `changeset` (what
the steps change), `memory` (what is remembered beside states), `beside` (signals, free attributes), `hearing` (which
places were heard), `transitions` and `timers` (the records of the changes), `rejections` (the records where no step is
taken, and what would have been taken), `tree` (the state that records change), `message` (what the log stores),
`counts` (how many events had which outcome), `tables_change`. Does not: clocks, randomness, files, processes, the
network (an import contract checks this).
"""
