"""Following the log under a name: the server keeps the place, and replicas share the transitions.

Belongs here: the durable consumer (`follower`), handing out its transitions (`follow`). Does not: watches, whose
place the program keeps (`engine.log.watch`).
"""
