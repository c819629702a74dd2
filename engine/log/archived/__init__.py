"""What was archived and trimmed from the streams.

Belongs here: `note` (what the log says about its archive), `expiring` (what EVENTS must not delete yet). Does not: what
an archive gives to readers (`log.installation`), reading it together with what the streams still hold (`engine.log`),
the files of an archive, writing them, trimming the streams (`replay.archive`).
"""
