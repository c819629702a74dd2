"""Who may ask what: every request passes here before it is answered.

Belongs here: `caller` (who asks, and with which roles), `access` (from a request to its caller, or a refusal). Tokens,
proxies and the checks of where a request comes from belong here too. Does not: which role a request needs
(`http.routes`).
"""
