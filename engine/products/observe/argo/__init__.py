"""Argo CD's own objects as events.

Belongs here: `objects` (Application and ApplicationSet), `operation` (operations of an Application, hydrations),
`named` (the resources that it names), `projects` (the windows of AppProjects). Does not: whose an object is
(`observe.ownership`), the objects that Argo CD deploys.
"""
