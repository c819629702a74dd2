"""Examining an installation: what is well, what is not, and what to do about it.

Belongs here: the checks behind `phaseline doctor`. Does not: changing anything; the output (`cli.doctor`).
"""
