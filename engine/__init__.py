"""The engine decides events, commits what follows, and answers questions. This is how.

**Events come in.** Whoever sees or wants something publishes an event: an *intent* asks for a change, an *observation*
says what is. The server stores it in the stream EVENTS, in the partition of its tree: the first part of an id is the
root of a tree, and all of a tree is in one order.

**One worker owns a partition.** It takes it over by a *claim*: a checkpoint in the log with a greater epoch fences
every former owner. It reads the last record of each entity from STATE into a `Tree`, and finishes what a former owner
had begun.

**The core decides.** It takes bytes and gives records, without a clock, randomness, input or output: so live work,
replay, audit, dry runs and tests run the same code. `core.intake` reads an event or rejects it. `core.decide` judges
it: is it a repeat, is it about this life of the entity, does its machine allow it? The `FacetMachine` of the table
names the new *base*. A `Changeset` then follows what this does to others: cascades fire triggers below, tallies count,
views show another state in place of the base. Most events change one entity only; `core.fast_path` knows them, and
makes the same record in less time.

**A commit is all or nothing.** The records of many events and the next checkpoint go to LOG in one batch that the
server takes only if nobody has written a checkpoint since. So an event takes effect exactly once, whoever is killed
when. Too large a batch becomes a *plan*: the checkpoint names it, and any later owner finishes it.

**The server makes the copies.** STATE is the last record of each entity, the feeds `pl.transition...` and
`pl.rejection...` are what LOG stores, timers are scheduled messages that come back as events. None is a second truth:
each follows from LOG.

**Readers need no worker.** States come from STATE or from LOG as of a moment, histories and causes from LOG. An answer
names the *place* of LOG at which it is true. Only who asks what is not yet committed, or for what workers count, asks
the workers.

**Nothing is dropped.** What cannot be decided becomes a rejection with its reason. What was lost before it reached us
is a *loss*, noted in LOG. What nobody reads is named in the record. Who has been silent for too long is *Silent*, and
what waits too long for an answer is *Stalled*.

**The rooms**, from the inside out. Kernel: `core` decides; `nats` speaks with the server, starts one, and says who may
do what there; `scripts` runs users' scripts in a process of their own; `log` reads, and says why; `publish` sends
events and waits for what became of them; `worker` is the loop of a partition, claims it and commits; `replay` decides a
recorded log again, and keeps its past in files. `surfaces` is what people and programs meet: the client, the command,
the API, the page, the test kit. `products` has what EMCO, GitOps, Fleet, notices and levels add beside their tables.

A room imports only rooms before it; contracts in pyproject.toml hold that. docs/design.md has the details,
docs/developing/structure.md the rooms by floor, and the way of one event by file and function.

Belongs here: one package for each room, and what every room may use: `settings`, `logs`, `outgoing`, `regular_files`,
`collecting`, `public_names`. Does not: rules of a kind (`machines`), the wire format and the errors (`schemas`).
"""
