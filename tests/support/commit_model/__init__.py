"""The commit protocol of docs/design.md as a small model, explored exhaustively. It imports nothing of the engine.

Belongs here: `server` (what a stream with fences, atomic batches and rollup does), `worker` (the steps of a worker),
`explorer` (all interleavings within bounds, and the invariants). Does not: the tests (`tests/model`), the real protocol
(`engine.worker`).
"""
