"""The page: static files that a browser loads from `phaseline serve`, and the list of them.

Belongs here: `files`, and the files of the page: its HTML, modules of JavaScript, style sheets, pictures. Does not:
serving them (`surfaces.http`), anything that is made by a build.
"""
