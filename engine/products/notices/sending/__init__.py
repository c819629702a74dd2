"""Notices reach people: deliveries are claimed, sent, and what came of each is reported (docs/receivers.md).

| module | holds |
|---|---|
| `attempts` | what came of one try, and when the next one is |
| `addresses` | which addresses nobody is sent to by mistake |
| `secret_options` | options with what stands in the environment and in files |
| `web` | one request by HTTP; the only importer of `aiohttp` here |
| `smtp` | one e-mail; the only importer of `aiosmtplib` |
| `bus` | a subject of NATS |
| `ways` | how each type of receiver is sent to |
| `pending` | which deliveries wait |
| `sender` | claims a delivery, sends it, reports what came of it; sends open alerts again |
| `counts` | numbers for metrics |

Does not: what a message says (`fold.bodies`), who is told of what (`notices.fold`).
"""
