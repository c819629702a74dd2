"""Events that come by HTTP: CloudEvents, and the webhooks of other programs.

| module | holds |
|---|---|
| `bodies` | a request's body, and the events in it: structured, binary, batched |
| `events` | the handlers of `/v1/events` |
| `sending` | storing events, waiting for their outcomes, one result for each of several |
| `hooks` | the handler of `/v1/hooks` |
| `hook_file` | the hooks of a file: secrets, programs |
| `mapping` | from a webhook's request to events, by a program in jq |

Does not: judging events (`engine.publish.compose`, the workers), who may publish (`http.access`).
"""
