"""MOTION: the pure core that folds events through tables, and the shell that talks to NATS."""
