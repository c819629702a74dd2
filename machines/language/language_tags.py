"""Tags of languages (BCP 47), such as zh or pt-BR: by them labels are found.

Belongs here: what a tag looks like, the text that fits a wanted language, the language of a terminal. Does not: labels
(`table`), the label of a state (`compiler.labels`).
"""

import re
from collections.abc import Mapping

ENGLISH = "en"
"""The language that every label has."""
LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The variables that name the language of a terminal, the strongest first."""
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*\Z")


def is_tag(text: str) -> bool:
    """Whether this can be a tag of a language."""
    return _TAG.match(text) is not None


def as_tag(locale: str) -> str:
    """The name of a locale as a tag: `pt_BR.UTF-8` is `pt-BR`. Text that names no language stays as it is."""
    return re.split(r"[.@]", locale)[0].replace("_", "-")


def of_terminal(environment: Mapping[str, str]) -> str:
    """The language of a terminal with these variables; English if they name none, as `C` does."""
    tag = as_tag(next(filter(None, map(environment.get, LOCALES)), ""))
    return tag if is_tag(tag) else ENGLISH


def text_in(texts: Mapping[str, str], language: str) -> str | None:
    """The text whose tag fits a wanted language best; None if none fits.

    `pt-BR` takes `pt-BR`, else `pt`; `pt` takes `pt`, else the first more exact one, such as `pt-BR`.
    """
    by_tag = {tag.lower(): text for tag, text in texts.items()}
    wanted = language.lower().split("-")
    for count in range(len(wanted), 0, -1):
        if (text := by_tag.get("-".join(wanted[:count]))) is not None:
            return text
    return next((text for tag, text in by_tag.items() if tag.startswith(f"{language.lower()}-")), None)
