"""HTTP: a process that folds the log into memory, follows it, and answers requests. It keeps nothing.

Belongs here: `routes` (the table of all requests), `parameters` (what a request may say), `call` (a request with what
answers need), `app` (from a request to its answer), `problems` (errors as answers), `openapi` (the description),
`reference` (its part of docs/http.md), `service` (the connection and the fleet), `server` (listening), `traffic` (how
much is asked). Rooms: `fleet`
(the entities in memory), `live` (transitions as they happen), `reading` (answers to what is read), `access` (who may
ask what). Requests that change something have a room of their own beside `reading`, with one module for each group of
routes. Does not: the semantics of a read (`engine.client`, `engine.log`), the files of the page (`engine.page`).
"""
