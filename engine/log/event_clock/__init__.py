"""The publishers' clock: records in the order and at the times that their events name.

Belongs here: `event_time` (the time of one event, records put in order), `past` (states and histories by it). Does not:
the server's clock, which orders everything else (`engine.log`), timers and guards, which never use this one.
"""
