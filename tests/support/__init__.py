"""Helpers of several tests: events, histories, servers, processes, and hand copies of the specifications.

Belongs here: helpers. Does not: tests, fixtures of pytest (`tests/conftest.py`), expected output (`tests/golden`).
"""
