"""Values that nobody changes: those that are written in Python (`value`), those of bodies (`shared_values`).

Belongs here: nothing in this file.
"""
