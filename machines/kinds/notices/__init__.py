"""The kinds of notices: `notice`, below it `delivery`, and `notifier`. They live in an installation of their own.

Belongs here: their tables. Does not: when somebody is told (`products.notices.fold`), sending
(`engine.products.notices`).
"""
