"""The option `--lang`: the language in which commands show labels.

Belongs here: the option, its value, its default. Does not: labels (`compiler.labels`), what a tag is
(`language.language_tags`).
"""

import os

import click
from click.shell_completion import CompletionItem

from phaseline.engine.cli.help import option
from phaseline.machines.language.language_tags import LOCALES, as_tag, is_tag, of_terminal


class LanguageType(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """A language, by its tag."""

    name = "tag"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the tag. That of a locale is taken too, such as `pt_BR.UTF-8`."""
        tag = as_tag(value)
        if not is_tag(tag):
            self.fail(f"{value!r} is no language: write a tag such as en, zh or pt-BR", param, ctx)
        return tag

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The languages of the labels of the installed kinds."""
        from phaseline.machines.built_in import installed  # noqa: PLC0415  # slow, and needed for completion only
        from phaseline.machines.compiler.labels import languages  # noqa: PLC0415  # as above

        return [CompletionItem(tag) for tag in languages(installed().values()) if tag.startswith(incomplete)]


language = option(
    "reading", "--lang", type=LanguageType(), default=lambda: of_terminal(os.environ), envvar="PHASELINE_LANG",
    show_default=f"that of {', '.join(LOCALES)}",
    help="Language of the labels, such as zh or pt-BR. A label that has none in it is shown in English.",
)  # fmt: skip
"""The option, as a decorator of commands."""
