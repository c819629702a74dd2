"""The headers that say that an answer is an error, as NATS services have them.

Belongs here: their names, which the service and whoever asks it need. Does not: which errors there are (`server`).
"""

ERROR, CODE = "Nats-Service-Error", "Nats-Service-Error-Code"
