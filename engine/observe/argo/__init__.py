"""Argo CD's own objects as events.

Belongs here: `objects` (Application and ApplicationSet), `operation` (the last operation of an Application), `projects`
(the windows of AppProjects). Does not: whose an object is (`observe.ownership`), the objects that Argo CD deploys.
"""
