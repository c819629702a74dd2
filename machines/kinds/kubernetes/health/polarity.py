"""What a word of a status means where nobody listed the kind: a condition, a reason, a phase, a field, a label.

Belongs here: looking a word up, what a condition means with its status and reason. Does not: the tables (`words`), the
order in which findings decide (`general`), kinds whose words are known (`kubernetes.known`).
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.health.result import Evidence
from phaseline.machines.kinds.kubernetes.health.view import evidence_of, is_past
from phaseline.machines.kinds.kubernetes.health.words import (
    AHEAD,
    ALONE,
    CONDITIONS,
    COUNTED,
    COUNTS,
    DENYING,
    DOUBT,
    ENDS,
    ERRORS,
    FAILURE,
    FLAGS,
    HELD_BY,
    LABELS,
    NO_ERROR,
    NO_TYPE,
    NOT_NOW,
    NOT_WELL,
    PART,
    PASSING,
    PAUSE,
    PHASE_FIELDS,
    PHASES,
    REASONS,
    RIGHT_BEFORE,
    SAID,
    SERVING,
    STEP,
    SUCCESS,
    TERMINAL,
    WELL,
    WORK,
)

_PARTING = str.maketrans("", "", "_- ")
_BETWEEN = re.compile(r"[_ ]+")
_FIRST = re.compile(r"[A-Za-z]+")
_WHOLE = frozenset(name.removeprefix("*") for name, *_ in CONDITIONS if name.removeprefix("*").isalpha())
_NOT = re.compile(rf"(?:^|(?<=[a-z0-9]))(?:Not?(?=[A-Z])|(?:Non|Un)(?=(?:{'|'.join(sorted(_WHOLE))})$))")
"""The word in a type that denies what follows: `NotReady`, `NodeNotReady`, `NoPodsReady`, and `NonCompliant`. `Non` and
`Un` deny one word of the table alone: `NonRootReady` is a success."""
_AHEAD = re.compile(rf"((?i:{'|'.join(word for names, _ in AHEAD for word in names)}))(?=[-_ A-Z]|$)")
_UN = re.compile(r"Un([a-z])")
_DENIED = re.compile(r"^not[A-Z]|^un(?=[A-Z])|Not(?=[A-Z])|Un(?=[A-Z])")
"""The word in the name of a field that denies what follows: `notReady`, `nodesNotReady`, `unReady`."""
_COUNTER = re.compile(rf"({'|'.join((*WELL, *NOT_WELL))})({'|'.join(COUNTED)})")
"""The name of a counter: `readyReplicas`, `degradedMachineCount`."""
_LAST_WORD = re.compile(r"[-_ ]?running$", re.IGNORECASE)
NOTHING_SAID = ("", "")


def _spellings(word: str) -> tuple[str, ...]:
    """A word as it stands, and without what parts it: `IN_PROGRESS` is `in_progress`, and `inprogress`."""
    low = word.lower()
    return tuple(dict.fromkeys((low, low.translate(_PARTING))))


@lru_cache(maxsize=8192)
def of_type(kind: str) -> tuple[str, str] | None:
    """What a type of condition says if it is True, and if it is False; None for a type that is not known.

    A phase of failure says the same as a type: `Offline`, `SplitBrain`. A type may have a domain in front:
    `cnpg.io/hibernation`. One that denies a success (`NotSynced`, `Unverified`) says of a failure if it is True; one
    that denies a step says of work.
    """
    kind = _camel(kind.rpartition("/")[2])
    exact = next(((true, false) for name, true, false in CONDITIONS if name == kind), None)
    if exact is not None:
        return exact
    if (affirmed := _NOT.sub("", kind, count=1)) != kind and (denied := _denial(affirmed)):
        return denied
    found = next(((true, false) for glob, true, false in CONDITIONS if fnmatchcase(kind, glob)), None)
    if found is None and of_phase(kind) == FAILURE and kind.lower() not in NO_TYPE:
        return FAILURE, ""
    if found is not None and found[0] in HELD_BY and (less := _less(kind)):
        return less, found[1] if less == STEP else ""
    return found or (_denial(_UN.sub(lambda one: one[1].upper(), kind, count=1)) if _UN.match(kind) else None)


def _less(word: str) -> str:
    """What a success says whose first word makes it less than that; empty if none does."""
    first = _AHEAD.match(word)
    name, rest = (first[1].capitalize(), word[first.end() :].lstrip("-_ ")) if first else ("", "")
    if name in RIGHT_BEFORE and rest and rest not in _WHOLE:
        return ""
    return next((means for names, means in AHEAD if name in names), "")


def _camel(kind: str) -> str:
    """A type as Kubernetes spells it: `not_ready`, `NOT READY` and `NotReady` are one; one with capitals stays."""
    words = _BETWEEN.split(kind)
    if len(words) == 1 and kind[:1].isupper() and not kind.isupper():
        return kind
    return "".join(word.capitalize() if word.isupper() else word[:1].upper() + word[1:] for word in words)


def _denial(affirmed: str) -> tuple[str, str] | None:
    """What the denial of a type means; None if that is not known. Nothing follows from the denial of a failure."""
    meaning = of_type(affirmed)
    if meaning is None:
        return None
    if meaning[0] not in HELD_BY:
        return NOTHING_SAID
    return WORK if meaning[0] == STEP else FAILURE, ""


@lru_cache(maxsize=8192)
def of_reason(reason: str) -> str:
    """What a reason means for a success that is False; empty for a reason that is not known."""
    words = _spellings(reason)
    return next((means for word in words for glob, means in REASONS if fnmatchcase(word, glob.lower())), "")


@lru_cache(maxsize=8192)
def is_to_end(kind: str) -> bool:
    """Whether the objects of a kind are there to end."""
    return any(fnmatchcase(kind, glob) for glob in ENDS)


@lru_cache(maxsize=8192)
def of_phase(word: str) -> str:
    """What a phase means; empty for a word that is not known, or that denies a failure: `NotExpired`."""
    words = _spellings(word)
    exact = next((means for one in words for name, means in PHASES if name == one), None)
    if exact is not None:
        return exact
    affirmed = _NOT.sub("", word, count=1)
    if affirmed != word and of_phase(affirmed) == FAILURE:
        return ""
    means = next((means for one in words for glob, means in PHASES if fnmatchcase(one, glob)), "")
    ahead = _LAST_WORD.sub("", word) if means == SUCCESS else word
    if ahead == word:
        return means
    if _less(ahead) == STEP:
        return ""
    return of_phase(ahead) or _less(ahead) or (WORK if ahead.lower() in DENYING else means)  # `DegradedRunning`


@lru_cache(maxsize=8192)
def is_of_another_time(name: str) -> bool:
    """Whether a field holds what was, or what is to be."""
    return is_past(name) or any(fnmatchcase(name, glob) for glob in NOT_NOW)


@lru_cache(maxsize=8192)
def of_label(name: str, value: str) -> str:
    """What a label means; empty if it says nothing, or that all is well."""
    means = of_phase(value) if any(fnmatchcase(name, glob) for glob in LABELS) else ""
    return "" if means == SUCCESS else means


@lru_cache(maxsize=8192)
def counts_ready(name: str) -> bool:
    """Whether a field counts what is well, so that `2/3` in it is too few."""
    return not _DENIED.search(name) and any(fnmatchcase(name, glob) for glob in COUNTS)


class Counter(NamedTuple):
    """What a counter counts. is_well: what is well, else what is not. wanted: what says how many, the surest first."""

    is_well: bool
    wanted: tuple[str, ...] = ()


@lru_cache(maxsize=8192)
def counter(name: str) -> Counter | None:
    """What a field counts by its name: `readyReplicas`, `unavailableNodes`; None if that is not known."""
    if name in ALONE:
        return Counter(is_well=False)
    found = _COUNTER.fullmatch(name)
    if found is None or (found[1] == "available" and found[2] not in SERVING):
        return None
    what = found[2][:1].lower() + found[2][1:]
    return Counter(found[1] in WELL, (what, "size") if what == "replicas" else (what,))


@lru_cache(maxsize=8192)
def is_error(name: str) -> bool:
    """Whether a field holds an error."""
    low = name.lower()
    return any(fnmatchcase(low, glob) for glob in ERRORS)


def has_error(value: Any) -> bool:
    """Whether an error stands in such a field."""
    if isinstance(value, str):
        return value.strip().lower() not in NO_ERROR
    if isinstance(value, Mapping):
        return any(has_error(one) for one in value.values())
    if isinstance(value, list):
        return any(has_error(one) for one in value)
    return bool(value)


def of_field(name: str, value: Any) -> str | None:
    """What a field of a status, or of a part of it, means; None if nothing is known of it."""
    if is_past(name):
        return None
    if is_error(name):
        return FAILURE if has_error(value) else None
    if name in FLAGS and (word := str(value).lower()) in ("true", "false"):
        return FLAGS[name][0 if word == "true" else 1]
    if not isinstance(value, str) or not value:
        return None
    if name not in PHASE_FIELDS and not (name.lower().endswith(PHASE_FIELDS) or name == "compliant"):
        return None
    means = of_phase(value)
    if is_of_another_time(name):
        return means if means == FAILURE or (means == WORK and name.startswith("last")) else None
    return means or None


def by_word(meaning: tuple[str, str] | None, status: str) -> str:
    """What a condition means whose status is another word than True, False or Unknown: `Failed`, `NotReady`.

    Nothing of a type that is not known. A word that is no failure counts for what may hold the object back, and a word
    of work for a type of work: `Paused: Disabled` is not paused.
    """
    if meaning is None:
        return ""
    means, of_success = of_phase(status), meaning[0] == SUCCESS
    if means == SUCCESS:
        return SUCCESS if of_success else ""
    if means != FAILURE and meaning[0] not in HELD_BY and (means, meaning[0]) != (WORK, WORK):
        return ""
    return means or (DOUBT if of_success else "")


def _by_message(message: str) -> str:
    """What a message means for a success that is False; empty if it says nothing of a failure."""
    return TERMINAL if (_FIRST.match(message) or ("",))[0].lower() in SAID else ""


def means_of(meaning: tuple[str, str], status: str, reason: str, message: str = "") -> str:
    """What a condition of a known type means; empty if nothing follows from it."""
    true, false = meaning
    by_reason = of_reason(reason)
    if true == WORK:
        return _work(status, by_reason)
    if status == "True":
        if true == FAILURE and by_reason == PASSING:
            return WORK
        return FAILURE if true == SUCCESS and by_reason == TERMINAL else true
    if true not in HELD_BY:
        return ""
    if status not in ("False", "Unknown"):
        return DOUBT if true == SUCCESS else ""
    if by_reason == PAUSE:
        return PAUSE
    if not false and (status, by_reason) != ("False", TERMINAL):
        return ""
    return FAILURE if status == "False" and (by_reason or _by_message(message) or false) == TERMINAL else WORK


def _work(status: str, by_reason: str) -> str:
    """What a condition of work means: its reason may say that the work is done, has failed, or is paused."""
    if by_reason == PAUSE:
        return PAUSE
    if status == "False":
        return FAILURE if by_reason == TERMINAL else ""
    return PART if by_reason == SUCCESS else FAILURE if by_reason == TERMINAL else WORK


def is_failing(condition: Mapping[str, Any]) -> bool:
    """Whether a condition says of a failure, or of a success that is missing."""
    kind, status, reason = condition.get("type"), condition.get("status"), condition.get("reason")
    meaning = of_type(kind) if isinstance(kind, str) else None
    if meaning is None or not isinstance(status, str):
        return False
    if meaning[0] in HELD_BY and meaning[1] and status == "False":
        return True
    return means_of(meaning, status, reason if isinstance(reason, str) else "") == FAILURE


def concerns_of(conditions: Iterable[Mapping[str, Any]], decided: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The failing conditions that are not among those that decided."""
    failing = [one for one in conditions if is_failing(one)]
    if not failing:
        return ()
    told = {(one.condition, one.status) for one in decided}
    return tuple(one for one in map(evidence_of, failing) if (one.condition, one.status) not in told)
