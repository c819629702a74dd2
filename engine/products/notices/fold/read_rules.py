"""Reads a file of rules, and says of each mistake where it is, what was found and what to write.

Belongs here: YAML to `Rules`; all mistakes of a file in one error. Does not: receivers (`read_receivers`), the fields
of one map (`fields`), what rules do.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from phaseline.engine.products.notices.fold import read_receivers
from phaseline.engine.products.notices.fold.fields import Fields, in_one_line
from phaseline.engine.products.notices.fold.rules import (
    Choice,
    Flapping,
    Grouping,
    HoldUnder,
    QuietWindow,
    Receiver,
    Rule,
    Rules,
)
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import phase_meant
from phaseline.machines.kinds.gitops import cron
from phaseline.machines.language.table import CLASSES
from phaseline.schemas import yaml_text
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import Reason
from phaseline.schemas.state_choice import StateChoice

RULE = ("name", "when", "unless", "to", "severity", "for", "clear-after", "group", "hold-under", "flapping", "remind",
        "digest")  # fmt: skip
WINDOW = ("name", "trees", "cron", "for", "from", "to", "opened-by", "up-to")
CHOICE = ("kinds", "trees", "labels", "class", "states", "conditions", "silent", "stalled", "left-behind", "gone",
          "rejections", "ended")  # fmt: skip
SEVERITIES = ("info", "warning", "critical")
MOST = 1 << 20
"""The most bytes of a file of rules."""


def read_file(path: Path, kinds: Kinds) -> Rules:
    """The rules of a file; raises `InvalidInput.bad_rules` with all mistakes, and `OSError`."""
    return read(path.read_bytes(), kinds, path.name)


def read(text: str | bytes, kinds: Kinds, name: str = "the rules") -> Rules:
    """The rules in a text of YAML or JSON; raises `InvalidInput.bad_rules` with all mistakes."""
    if len(text) > MOST:
        raise InvalidInput.bad_rules(name=name, problem=f"they have more than {MOST:,} bytes")
    told: list[str] = []
    try:
        document = yaml_text.document(text, told)
    except yaml_text.NotYaml as error:
        raise InvalidInput.bad_rules(name=name, problem=str(error)) from None
    reading = RulesReading(kinds)
    found = reading.rules(document if document is not None else {})
    problems = [*told, *reading.problems]
    if problems:
        raise InvalidInput.bad_rules(name=name, problem=in_one_line(problems))
    return found


class RulesReading:
    """Reads one document. It goes on after a mistake, to name all of them."""

    def __init__(self, kinds: Kinds) -> None:
        """Check names against these kinds."""
        self._kinds = kinds
        self.problems: list[str] = []

    def rules(self, document: Any) -> Rules:
        """The rules of a document."""
        top = Fields("the file", document, ("receivers", "rules", "windows"), self.problems)
        receivers = {
            name: read_receivers.receiver(name, found, self.problems) for name, found in top.map("receivers").items()
        }
        rules = tuple(self._rule(one, at, receivers) for at, one in enumerate(top.list("rules"), start=1))
        windows = tuple(self._window(one, at) for at, one in enumerate(top.list("windows"), start=1))
        for what, names in (("rules", [one.name for one in rules]), ("windows", [one.name for one in windows])):
            twice = sorted({name for name in names if names.count(name) > 1})
            self.problems.extend(f"two {what} have the name {name}: give each its own" for name in twice)
        if not rules and not windows and not self.problems:
            self.problems.append("there is no rule: write rules: [{name: ..., when: {...}, to: [...]}]")
        return Rules(rules, windows, receivers)

    def _rule(self, found: Any, at: int, receivers: Mapping[str, Receiver]) -> Rule:
        fields = Fields(f"rule {at}", found, RULE, self.problems)
        name = fields.name()
        fields.where = f"rule {name}" if name else fields.where
        fields.require("to")
        when = self._choice(fields.where, "when", fields.found.get("when"))
        unless = fields.found.get("unless")
        rule = Rule(
            name, when, fields.among("to", receivers, "receiver"),
            severity=fields.word("severity", SEVERITIES, "warning"),
            unless=None if unless is None else self._choice(fields.where, "unless", unless),
            lasting=fields.duration("for"), clear_after=fields.duration("clear-after"),
            group=fields.word("group", get_args(Grouping), "cause"),  # type: ignore[arg-type]  # it is one of these
            hold_under=fields.word("hold-under", get_args(HoldUnder), "cause"),  # type: ignore[arg-type]  # likewise
            flapping=self._flapping(fields), remind=fields.duration("remind", least=60),
            digest=fields.duration("digest", least=1),
        )  # fmt: skip
        self.problems.extend(f"{fields.where}: {problem}" for problem in _contradictions(rule))
        return rule

    def _flapping(self, fields: Fields) -> Flapping | None:
        found = fields.found.get("flapping")
        if found is None:
            return None
        own = Fields(f"{fields.where}, flapping", found, ("changes", "within", "quiet"), self.problems)
        own.require("changes", "within", "quiet")
        return Flapping(own.number("changes", least=3), own.duration("within", least=1), own.duration("quiet", least=1))

    def _choice(self, where: str, name: str, found: Any) -> Choice:
        fields = Fields(f"{where}, {name}", {} if found is None else found, CHOICE, self.problems)
        kinds = fields.among("kinds", self._kinds, "kind")
        among = [self._kinds[kind] for kind in kinds if kind in self._kinds] or list(self._kinds.values())
        labels = (label for kind in among for facet in kind.table.facets for label in facet.labels)
        wanted = fields.texts_by_name("labels")
        fields.check_globs("labels", wanted.values())
        known = dict.fromkeys(label.condition for label in labels if label.condition is not None)
        open_names = any(kind.table.signals for kind in among)
        choice = Choice(
            kinds, fields.globs("trees"), tuple(wanted.items()),
            fields.among("class", CLASSES, "class"), tuple(self._states(fields, kinds)),
            fields.texts("conditions") if open_names else fields.among("conditions", known, "condition"),
            fields.flag("silent"), fields.flag("stalled"), fields.flag("left-behind"), fields.flag("gone"),
            fields.among("rejections", (*get_args(Reason), "*"), "reason"), fields.among("ended", CLASSES, "class"),
        )  # fmt: skip
        lasting = not choice.looks_at_class_only or choice.classes
        if choice.is_of_happenings:
            if lasting or sum(map(bool, (choice.gone, choice.rejections, choice.ended))) > 1:
                self.problems.append(f"{where}, {name}: gone, rejections and ended stand alone: write a rule for each")
            return choice
        return choice if lasting or name == "unless" else choice._replace(classes=("bad",))

    def _states(self, fields: Fields, kinds: tuple[str, ...]) -> Iterator[StateChoice]:
        phases = {
            phase
            for name, kind in self._kinds.items()
            if not kinds or name in kinds
            for known in kind.phases
            for phase in known[1:]
        }
        for text in fields.texts("states"):
            try:
                found = StateChoice.read(text)
            except ValueError as error:
                self.problems.append(f"{fields.where}, states: {error}")
                continue
            kind = kinds[0] if len(kinds) == 1 else None
            found = found._replace(phase=phase_meant(self._kinds, kind, found.phase))
            if found.phase is not None:
                fields.known("states", found.phase, phases, "state")
            yield found

    def _window(self, found: Any, at: int) -> QuietWindow:
        fields = Fields(f"window {at}", found, WINDOW, self.problems)
        name = fields.name()
        fields.where = f"window {name}" if name else fields.where
        sorts = [one for one in ("cron", "from", "opened-by") if one in fields.found]
        if len(sorts) != 1:
            self.problems.append(f"{fields.where}: say when by one of cron (with for), from (with to), or opened-by")
        schedule = None
        try:
            text = fields.found.get("cron")
            schedule = None if text is None else cron.parse(str(text))
        except cron.BadSchedule as error:
            self.problems.append(f"{fields.where}, cron: {error}")
        if "cron" in sorts:
            fields.require("for")
        between = (fields.time("from"), fields.time("to")) if "from" in sorts else None
        if between is not None and between[0] >= between[1]:
            self.problems.append(f"{fields.where}: it ends before it begins: exchange from and to")
        triggers = {one for kind in self._kinds.values() for one, role in kind.roles.items() if role == "intent"}
        return QuietWindow(
            name, fields.globs("trees"), schedule, fields.duration("for"), between,
            fields.among("opened-by", triggers, "intent"), fields.duration("up-to", least=1),
        )  # fmt: skip


def _contradictions(rule: Rule) -> Iterator[str]:
    """What cannot be meant together."""
    if rule.when.is_of_happenings:
        for name, value in (("for", rule.lasting), ("clear-after", rule.clear_after), ("remind", rule.remind),
                            ("flapping", rule.flapping)):  # fmt: skip
            if value:
                yield f"{name} needs something that lasts: gone, rejections and ended happen at once"
    if rule.unless is not None and rule.unless.is_of_happenings:
        yield "unless is about what lasts, not about gone, rejections or ended"
    if rule.digest and rule.group != "cause":
        yield "digest collects all that begins in its time: leave out group"
