"""What receivers get: one notice as a text, as JSON, in the form of a chat service, as an alert, as a mail. Pure.

All of it is plain text in fields of their own: nothing that an entity is called or says becomes markup, a header or
another field.
Belongs here: `message` (a notice as it is when somebody is told, and what is told of it), `wording` (title and text),
`shapes` (as JSON, in the forms of chat services, for Alertmanager, as a mail). Does not: sending
(`engine.products.notices.sending`), which options a receiver has (`read_receivers`).
"""
