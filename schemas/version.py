"""The version of Phaseline. Belongs here: `__version__`. Does not: versions of records (`upcasting`) or of tables."""

__version__ = "0.1.0"
