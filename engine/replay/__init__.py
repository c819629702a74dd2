"""Replay: a recorded log decided again, by the same or by other tables; logs as files; dry runs.

Belongs here: `recorded_log` with `server_log` and `file_log` (where a log comes from), `audit`, `whatif`, `dry_run`,
`load_tables`, `log_file` with `log_format` and `log_writer`, `export_log`, `import_log`. Does not: committing.
"""
