"""What a check found.

Belongs here: `CheckResult`. Does not: the checks (`server_checks`, `installation_checks`).
"""

from typing import Literal, NamedTuple

from phaseline.schemas.errors import PhaselineError

RIGHTS = "ask an operator: `phaseline admin accounts` says what each role may do"
Verdict = Literal["ok", "warning", "problem", "unknown"]


class CheckResult(NamedTuple):
    """The result of one check.

    code: what a command would end with that meets this problem; 0 where it can go on.
    check: its name. verdict: `warning` means that it works and will not for long, or not well; `unknown` that this user
    may not look, or that what it looks at is not there. found: what was seen. advice: what to do; empty if there is
    nothing to do.
    """

    check: str
    verdict: Verdict
    found: str
    advice: str = ""
    code: int = 0

    def shown(self) -> dict[str, str]:
        """The fields as JSON shows them."""
        return {name: str(value) for name, value in self._asdict().items() if name != "code"}


def ok(check: str, found: str) -> CheckResult:
    """A check with a good result."""
    return CheckResult(check, "ok", found)


def warning(check: str, found: str, advice: str) -> CheckResult:
    """A check whose result will become a problem."""
    return CheckResult(check, "warning", found, advice)


def problem(check: str, found: str, advice: str) -> CheckResult:
    """A check with a bad result."""
    return CheckResult(check, "problem", found, advice)


def failed(check: str, error: PhaselineError, advice: str = "") -> CheckResult:
    """A check that ended in an error. advice: by default what the error has."""
    return CheckResult(check, "problem", str(error), advice or error.remedy, error.exit_code)


def unknown(check: str, found: str, advice: str = RIGHTS) -> CheckResult:
    """A check that could not look. advice: by default what to do about missing rights."""
    return CheckResult(check, "unknown", found, advice)
