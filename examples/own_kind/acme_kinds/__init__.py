"""The kinds of Acme. Belongs here: one module for each kind, and what else the product has."""
