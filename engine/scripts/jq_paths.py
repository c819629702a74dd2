"""jq in the child process: deletes paths from an object.

Belongs here: running `del(<expression>)`. Does not: which expressions apply (`machines.kubernetes.diff.ignore`).
"""

from functools import lru_cache
from typing import Any

import jq  # type: ignore[import-not-found,unused-ignore]  # it ships no types


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Delete the paths that `program` selects; returns `{object}`, or `{error, broken}`. broken: it is invalid."""
    try:
        compiled = _compiled(request["program"])
    except ValueError as error:
        return {"error": _first_line(error), "broken": True}
    try:
        answers = compiled.input_value(request["object"]).all()
    except ValueError as error:
        return {"error": _first_line(error), "broken": False}
    if len(answers) != 1:
        return {"error": f"it gives {len(answers)} answers where it must give one", "broken": False}
    return {"object": answers[0]}


@lru_cache(maxsize=256)
def _compiled(program: str) -> Any:
    return jq.compile(f"del({program})")


def _first_line(error: ValueError) -> str:
    """The first line of an error. The further lines of jq repeat the program."""
    return str(error).partition("\n")[0]
