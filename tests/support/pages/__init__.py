"""Runs the commands and samples of README and docs, in order, as a reader does who copies and pastes.

Belongs here: `blocks` (what a page asks to run), `outputs` (what it shows against what was printed), `page_shell` (the
shell that commands go to) and `runner`. Does not: the tests.

markdown-it-py finds the blocks as GitHub does. Sybil and pytest-examples do that for Python only: they have no commands
with output that share a shell, no await at the top, and do not write the pages' outputs again.
"""
