"""Decides recorded events again, by the same or by other tables; writes and reads log files; does dry runs.

Belongs here: `recorded_log` (the form of a recorded log) with `server_log` and `file_log` (its two sources), `audit`,
`whatif`, `dry_run` with `dry_run_result`, `load_tables`, `log_format`, `log_file` and `log_writer` with `log_bytes`
(log files), `export_log`, `import_log`, and the archive of a log (`archive`), backups (`backup`).
"""
