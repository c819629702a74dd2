"""Backups: LOG, EVENTS and STATE of an installation as files of a folder, made while it runs, and put back from there.

- `stream_files`: the bytes of one stream, from the server to a file and back
- `checkpoints`: what the server leaves out of LOG while it goes on
- `manifest`: what a backup holds, and whether its files are those that were written
- `backing_up`: a backup of an installation
- `restoring`: an installation of a backup
- `mirror`: EVENTS at a second site, which needs no backup

The server's own backups of streams are used; this package decides in which order the streams are read, so that they fit
together though everything goes on meanwhile, and what is missing between them. LIVE and LEASE are not backed up: a
worker makes them. What a log that was put back means is said elsewhere (`engine.log.restored`).
"""
