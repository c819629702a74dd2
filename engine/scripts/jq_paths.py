"""jq in the child process: deletes paths from objects.

Belongs here: running `del(<expression>)`, one expression after the other. Does not: which expressions apply
(`kinds.kubernetes.diff.ignore`), which may run (`jq_check`).
"""

import json
from functools import lru_cache
from typing import Any

import jq  # type: ignore[import-not-found,unused-ignore]  # it ships no types

from phaseline.engine.scripts.jq_check import refusal, shadowed, shadows

READS = 4 << 20
"""The most bytes of objects that the programs of one request read together, about 0.2 s of work."""
TOO_MUCH = (
    f"it was not run: the rules in jq on this object would read more than {READS >> 20} MB together; "
    "use fewer of them, or JSON pointers"
)

Answer = dict[str, Any]


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Delete the paths that each of `programs` selects from each of `objects`, one program after the other.

    Returns `{answers}`: for each program, a list with one answer for each object: `{}` for no change, `{object}` with
    the new object as JSON, or `{error, broken}`. broken: the program is invalid.
    """
    texts = [_plain(json.dumps(one)) for one in request["objects"]]
    answers, read = [], 0
    for program in request["programs"]:
        problem = _problem(program)
        read += 0 if problem else sum(map(len, texts))
        if problem or read > READS:
            answers.append([{"error": problem or TOO_MUCH, "broken": bool(problem)}] * len(texts))
            continue
        answers.append([_run(program, text) for text in texts])
        texts = [str(answer.get("object", text)) for answer, text in zip(answers[-1], texts, strict=True)]
    return {"answers": answers}


def _run(program: str, text: str) -> Answer:
    """The answer of a program for an object in JSON, as jq writes it."""
    try:
        found = _compiled(program).input_text(text).text()
    except ValueError as error:
        return {"error": _first_line(error), "broken": False}
    if found == text:
        return {}
    if "\n" in found or not found:
        return {"error": f"it gives {len(found.splitlines())} answers where it must give one", "broken": False}
    if not found.startswith("{"):
        return {"error": "it takes out the whole object", "broken": False}
    return {"object": found}


def _plain(text: str) -> str:
    return str(_identity().input_text(text).text())


@lru_cache(maxsize=1)
def _identity() -> Any:
    return jq.compile(".")


@lru_cache(maxsize=256)
def _problem(program: str) -> str:
    """Why a program is invalid, or may not run; empty if it may. jq computes constants when it compiles."""
    if refused := refusal(program):
        return refused
    try:
        _compiled(program)
    except ValueError as error:
        return shadowed(str(error)) or _own_error(program) or _first_line(error)
    return ""


def _own_error(program: str) -> str:
    """What is wrong with an invalid program, with the places in it; empty if it is valid by itself."""
    try:
        jq.compile(f"del({program})")
    except ValueError as error:
        return _first_line(error)
    return ""


@lru_cache(maxsize=256)
def _compiled(program: str) -> Any:
    return jq.compile(f"{shadows(program)}del({program})")


def _first_line(error: ValueError) -> str:
    """The first line of an error. The further lines of jq repeat the program."""
    return str(error).partition("\n")[0]
