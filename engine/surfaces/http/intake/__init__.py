"""Events that come by HTTP: CloudEvents.

| module | holds |
|---|---|
| `bodies` | a request's body, and the events in it: structured, binary, batched |
| `events` | the handlers of `/v1/events`: storing events, and waiting for their outcomes |

Does not: judging events (`engine.publish.compose`, the workers), who may publish (`http.access`).
"""
