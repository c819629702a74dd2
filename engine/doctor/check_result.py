"""What a check found.

Belongs here: `CheckResult`. Does not: the checks (`server_checks`, `installation_checks`).
"""

from typing import Literal, NamedTuple

Verdict = Literal["ok", "warning", "problem", "unknown"]


class CheckResult(NamedTuple):
    """The result of one check.

    check: its name. verdict: `warning` means that it works and will not for long, or not well; `unknown` that this user
    may not look. found: what was seen. advice: what to do; empty if there is nothing to do.
    """

    check: str
    verdict: Verdict
    found: str
    advice: str = ""


def ok(check: str, found: str) -> CheckResult:
    """A check with a good result."""
    return CheckResult(check, "ok", found)


def warning(check: str, found: str, advice: str) -> CheckResult:
    """A check whose result will become a problem."""
    return CheckResult(check, "warning", found, advice)


def problem(check: str, found: str, advice: str) -> CheckResult:
    """A check with a bad result."""
    return CheckResult(check, "problem", found, advice)


def unknown(check: str, found: str) -> CheckResult:
    """A check that this user may not make."""
    return CheckResult(check, "unknown", found, "ask an operator: `phaseline accounts` lists what each role may do")
