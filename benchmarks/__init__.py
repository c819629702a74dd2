"""Benchmarks: each compares Phaseline with something else on one machine in one run (`python3 dev.py bench`)."""
