"""What several tests share: events, histories, servers and processes to test with, and copies of specifications.

Belongs here: helpers. Does not: tests, fixtures of pytest (`tests/conftest.py`), output to compare with (`tests/golden`).
"""
