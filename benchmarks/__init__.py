"""Figures: each a ratio against something run beside it, on one machine in one run. `python3 dev.py bench`."""
