"""What people would take in place of Phaseline, on one workload, judged by one checker.

Belongs here: one module for each peer, which runs in an environment of its own and knows nothing of Phaseline; what
they share (`peer`). Does not: installing, running and judging them (`benchmarks.alternatives`), loops without logic
(`benchmarks.bare_loops`).
"""
