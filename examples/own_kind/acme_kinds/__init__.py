"""Kinds of Acme's own. Belongs here: one module per kind."""
