"""A change of tables, as the owner of a partition carries it out.

Belongs here: reading who is stranded (`survey`, `tables_report`), committing the records of a map of states
(`carry_out`). Does not: which records these are (`core.tables_change`), the notes of the eras (`log.table_eras`).
"""
