"""The archive of a log: finished parts of EVENTS and LOG as files, taken out of the streams.

Belongs here: `run` (the steps in their order), `cut` (how far can be archived), `log_slice` (events with their records,
from the streams), `write_parts`, `last_states`, `check` (reading back, comparing), `trim`, `manifest` (what an archive
consists of), `store` with `folder` and `bucket` (where it is), `read_part` (one file), `part_index` (where in it
something stands), `open_archive` and `archived_log` (reading an archive together with the streams). Does not: the
format of the files (`engine.replay`), the notes in the log and the readers' side (`engine.log.archived`).
"""
