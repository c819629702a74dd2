"""TABLES: each kind's states, rows, guards, views, cascades and labels. Imports schemas, never engine."""
