"""Known kinds: what the status of each says of its health, as rows of one table.

Belongs here: the words of rows (`rows`), their tests (`tests_of_rows`), the table (`table`), its rows by family
(`families`), the kinds that Argo CD knows (`argo_kinds`). Does not:
Kubernetes' own workloads, whose rules count and compare more than rows can say (`health`), kinds that nobody listed
(`health.general`).
"""
