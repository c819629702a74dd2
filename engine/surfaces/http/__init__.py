"""HTTP: a process that folds the log into memory, follows it, and answers requests. It keeps nothing.

| module or package | holds |
|---|---|
| `routes` | the table of our own requests, with those of products beside them |
| `parameters` | what a request may say |
| `call` | a request with what answers need |
| `app` | from a request to its answer |
| `problems` | errors as answers |
| `openapi`, `reference` | the description of the requests; their part of docs/http.md |
| `service` | the connection and the fleet |
| `server` | listening |
| `connections` | what a client may take of the server |
| `away` | what a request gets while NATS is away |
| `traffic` | how much is asked, and how many may follow |
| `links` | links from an entity on the page to other tools |
| `access` | who may ask what |
| `reading` | answers to what is read |
| `intake` | requests that store events |
| `fleet` | the entities in memory |
| `live` | transitions as they happen |
| `cells` | requests about several installations |

Does not: the semantics of a read (`surfaces.client`, `engine.log`), the files of the page (`surfaces.page`).
"""
