"""Publishing: from a person's words to stored events, and what came of them.

Belongs here: `compose` (an event from its parts), `single` (one event), `pipeline` (many), `event_file` (events in
files), `outcomes` (the records that an event made). Does not: deciding events.
"""
