"""What was archived and trimmed from the streams, and reading it together with what they still hold.

Belongs here: `note` (what the log says about its archive), `log_archive` (what an archive gives to readers), `chain`
(archive and stream as one), `expiring` (what EVENTS must not delete yet). Does not: the files of an
archive, writing them, trimming the streams (`engine.archive`).
"""
