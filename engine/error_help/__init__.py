"""What a person or a script gets with an error: the exit code of the command, and the way out.

Belongs here: tables by class of error. Does not: the errors themselves (`engine.errors`), how a message is printed
(`cli.failures`) or sent (`http.problems`).
"""
