"""Examining an installation: what is well, what is not, and what to do about it.

Belongs here: the checks behind `phaseline doctor`: `server_checks`, `installation_checks` with `growth` (when a stream
will be full), `event_checks`, all of them in order (`examine`), what each found (`check_result`). Does not: changing
anything; the output (`cli.doctor`).
"""
