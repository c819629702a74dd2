"""The option `--context`: a connection that the `nats` command knows by name.

Belongs here: what goes before what: options, a context, the environment. Does not: the option (`connection`), the files
(`client.nats_context`).
"""

from typing import Any

import click
from click.core import ParameterSource

from phaseline.engine.settings import DEFAULT_URL
from phaseline.engine.surfaces.client import nats_context


def with_context(chosen: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The options of a connection, with those of the context where one is named. Raises `BadSetting`.

    An option goes before the context. So does an environment variable, unless the context is named by an option: that
    one replaces the whole connection which the environment describes.
    """
    name = chosen.pop("context", None)
    if not name:
        return chosen
    context = click.get_current_context(silent=True)
    by_option = context is not None and context.get_parameter_source("context") == ParameterSource.COMMANDLINE

    def is_given(option: str) -> bool:
        if option not in nats_context.SETTINGS:
            return True
        source = None if context is None else context.get_parameter_source(option)
        if source == ParameterSource.ENVIRONMENT:
            return not by_option
        return source == ParameterSource.COMMANDLINE or (source is None and chosen[option] != defaults[option])

    return nats_context.applied(name, {option: value for option, value in chosen.items() if is_given(option)})


def hint(url: str) -> str:
    """What to say where the default server cannot be reached, and the `nats` command has another one selected."""
    name = nats_context.selected() if url == DEFAULT_URL else None
    return f"the nats command has the context {name} selected: --context {name} uses it" if name else ""
