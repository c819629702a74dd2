"""The kinds of Acme. Belongs here: one module for each kind."""
