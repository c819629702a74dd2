"""Who may ask what: every request passes here before it is answered.

| module | holds |
|---|---|
| `access` | from a request to its caller, or a refusal; the headers of every answer |
| `caller` | who asks, with which roles, and as which sources they may speak |
| `tokens` | the file of tokens |
| `jwts` | tokens that an identity provider has signed |
| `session` | the cookie of a browser |
| `budgets` | how many events each caller may send |
| `origin` | to which host a request is addressed, and which page sent it |
| `trees` | a request of somebody who may read some trees only |

Does not: which role a request needs (`http.routes`).
"""
