"""The version of Phaseline. Belongs here: `__version__`. Does not: versions of records (`wire_codec`) or of tables."""

__version__ = "0.1.0"
