"""The core: from a stored event and the state of a tree to records. Pure and synchronous.

Belongs here, in the order in which an event meets them: `process` (a slice of events becomes one batch), `intake` (bytes
become an arrival), `decide` (which step it takes), `fast_path` or `changeset` (what it changes), `adoption`, `attributes`,
`transitions`, `timers`, `rejections` (what it answers), `tree` (the state it changes), `message` (what the log gets).
Does not: clocks, randomness, files, processes, the network (an import contract checks this).
"""
