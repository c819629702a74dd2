"""From records to notices: who is concerned, when a notice opens, what holds it, and when it ends.

All times are the log's. What is due fires when a later record of the same home comes, or when `advance` says that no
earlier one can come. Both lead to the same events, so a replay tells what was told live. Homes have no order of time in
common, and one may be late by minutes. So what they share follows from the order of the log alone: a notice across
homes fires when a later record of any home comes, by what the homes of those concerned have made of the time before; it
holds no other one. When a record of any home is later than the end of a window by the clock, all homes come up to that.
Belongs here: the changes of groups. Does not: which entities a rule selects (`matching`), what events say (`telling`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice

from phaseline.engine.products.notices.fold import matching
from phaseline.engine.products.notices.fold.damping import LateChanges, LateReasons
from phaseline.engine.products.notices.fold.due import DueNotices
from phaseline.engine.products.notices.fold.grouping import ALIKE, entity_of, group_of, is_across, short
from phaseline.engine.products.notices.fold.groups import (
    EVERYWHERE,
    PER_PLACE,
    TOLD,
    Key,
    Name,
    NoticeEvent,
    NoticeGroup,
    Phase,
    Word,
)
from phaseline.engine.products.notices.fold.rules import Choice, Rule, Rules
from phaseline.engine.products.notices.fold.sayings import Saying, Unwelcome, saying_of, shared, unwelcome
from phaseline.engine.products.notices.fold.telling import data_of, head_of
from phaseline.engine.products.notices.fold.windows import OpenWindow, Windows, root_of
from phaseline.engine.surfaces.overview.explaining import Explaining, UnwellSign
from phaseline.machines.compiler.classes.entity_classes import Unwell, class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import with_all_above
from phaseline.schemas.records import SECOND, Rejection, Transition, timestamp

UPDATE = 60 * SECOND
"""How long more of the same are collected before the record of a notice says so, ns."""
HOLDING = ("Waiting", "Open", "Clearing")
"""The phases in which a notice holds others."""
OLD = Rule("", Choice(), ())


def _in_name(time_ns: int) -> str:
    """A time in the name of a notice, to the nanosecond: what ends at other times is told apart."""
    return timestamp(time_ns).rstrip("Z").translate({ord("-"): None, ord(":"): None, ord("."): "-"})


class Fold:
    """Rules at work on a log."""

    def __init__(self, kinds: Kinds, rules: Rules, home: Callable[[str], Hashable] = root_of) -> None:
        """home: what of an id has one order of time, such as its partition."""
        self._kinds, self._home = kinds, home
        self._lasting = [one for one in rules.rules if not one.when.is_of_happenings]
        self._happening = [one for one in rules.rules if one.when.is_of_happenings]
        self._windows = Windows(kinds, rules.windows)
        self._window_end = self._windows.end_after(0)
        self.groups: dict[Key, NoticeGroup] = {}
        self._due = DueNotices(self.groups)
        self._stays: dict[str, dict[Name, NoticeGroup]] = {rule.name: {} for rule in self._lasting}
        self._returns: dict[str, dict[Name, NoticeGroup]] = {rule.name: {} for rule in self._lasting}
        self._holds: dict[Key, dict[Key, None]] = {}
        self._elsewhere: dict[Key, NoticeGroup] = {}
        """By where somebody would be, the notice to which they came back."""
        self._reasons = LateReasons()
        self._unwell: dict[Name, Unwelcome] = {}
        self._clocks: dict[Hashable, int] = {}
        self._together = Counter[Hashable]({EVERYWHERE: 1})
        self._reached = (0, 0)
        """The latest time of a record of any home, and its place."""
        self._advanced = 0
        self._changes = LateChanges(lambda name: max(self._clocks.get(home(name[1]), 0), self._advanced))
        self._out: list[NoticeEvent] = []
        self._place = 0
        self._old = NoticeGroup(OLD, "", None, 0, 0, 0, 0, (0, 0), phase="Old")

    # ---- in and out

    def know(self, place: int, records: Iterable[Transition], is_alive: Callable[[Key], bool]) -> list[NoticeEvent]:
        """The last records of all entities at the place where the fold begins.

        is_alive: whether a notice of that name is under way, so that it is taken up. Others are told no more.
        """
        self._place = place
        for record in records:
            entity, name = record.entity, (record.entity.kind, record.entity.id)
            self._note(name, record)
            for rule in self._lasting:
                if not matching.selects(self._kinds, rule, entity):
                    continue
                since = matching.since(self._kinds, rule, entity, record.time_ns)
                group = self._named(rule, record, since)
                if is_alive((rule.name, group)):
                    self._enter(rule, name, record, since, since, group)
                else:
                    self._stays[rule.name][name] = self._old
                    self._reasons.forget((rule.name, group))
        for one in self.groups.values():
            one.begins = one.needs = place + 1
        return self._taken()

    def take(self, place: int, record: Transition | Rejection) -> list[NoticeEvent]:
        """What a record, and what fell due before it, make. Records come in the order of the log."""
        name = entity_of(record)
        home = self._home(name[1])
        time = max(record.time_ns, self._clocks.get(home, 0))
        self._come_to(time)
        self._run(home, time)
        self._clocks[home] = time
        self._place = place
        self._reached = max(self._reached, (time, place), key=lambda one: one[0])
        if isinstance(record, Transition):
            self._note(name, record)
            self._end_window(record, time)
            for rule in self._lasting:
                self._look(rule, name, record, time)
        for rule in self._happening:
            if matching.happened(self._kinds, rule, record):
                self._enter(rule, name, record, time, time, self._named(rule, record, time))
        return self._taken()

    def advance(self, time_ns: int) -> list[NoticeEvent]:
        """What falls due before a time, before which no further record can come."""
        self._come_to(time_ns)
        for home in (EVERYWHERE, *self._due.homes):
            self._run(home, time_ns)
        self._advanced = time_ns
        self._windows.advance(time_ns)
        self._clocks = {home: clock for home, clock in self._clocks.items() if clock > time_ns}
        return self._taken()

    @property
    def next_due(self) -> int | None:
        """When something may fall due next, ns; None if nothing does."""
        return self._due.next

    def disown(self, key: Key, time_ns: int) -> None:
        """Tell no more of a notice: who is concerned counts as concerned before the fold began."""
        group = self.groups[key]
        if not group.rule.when.is_of_happenings:
            self._stays[group.rule.name].update(dict.fromkeys(group.members, self._old))
        self._forget(group, time_ns)

    def correct(self, key: Key, phase: Phase, opened_ns: int, sequence: int, time_ns: int) -> None:
        """Let a notice be as it was told by other rules, so that it is not told again.

        sequence: of its last event. time_ns: when this is known.
        """
        group = self.groups[key]
        group.is_announced = True
        group.number = max(group.number, sequence - group.place * PER_PLACE)
        was_told, is_told = phase in TOLD, group.phase in TOLD
        if was_told and not is_told:
            self._release(group)
            group.phase, group.opened_at, group.due, group.window = "Open", opened_ns, None, None
            group.remind_at = time_ns + group.rule.remind if group.rule.remind else None
        elif is_told and not was_told and not group.members:
            self._lapse(group, time_ns)
        elif is_told and not was_told:
            group.phase, group.due, group.update_at = "Waiting", time_ns, None
        self._due.note(group)

    def _taken(self) -> list[NoticeEvent]:
        found, self._out = self._out, []
        return found

    # ---- who is concerned

    def _note(self, name: Name, record: Transition) -> None:
        found = class_of_entity(self._kinds, record.entity)
        if found in ("bad", "excused"):
            one = Unwell(record, found, class_since(self._kinds, record.entity))
            self._unwell[name] = unwelcome(self._kinds, one)
        else:
            self._unwell.pop(name, None)

    def _said(self, name: Name, record: Transition | Rejection) -> Saying:
        """What a record says, which is the last one of its entity, or a rejection."""
        found = None if isinstance(record, Rejection) else self._unwell.get(name)
        return saying_of(record) if found is None else found.said

    def _look(self, rule: Rule, name: Name, record: Transition, time: int) -> None:
        group = self._stays[rule.name].get(name)
        if rule.when.kinds and name[0] not in rule.when.kinds and group is None:
            return
        if matching.selects(self._kinds, rule, record.entity):
            if group is None:
                since = matching.since(self._kinds, rule, record.entity, time)
                self._enter(rule, name, record, since, time, self._named(rule, record, time))
            elif name in group.members:
                group.members[name] = shared(group.members[name]._replace(said=self._said(name, record)))
        elif group is not None and matching.has_left(self._kinds, rule, record.entity):
            self._leave(rule, name, record, time)
        elif group is None and (left := self._returns[rule.name].get(name)) is not None:
            self._after_leaving(left, name, record)

    def _named(self, rule: Rule, record: Transition | Rejection, time: int) -> str:
        """The name of the group that a record begins or joins."""
        found = group_of(self._kinds, rule, record, time)
        if rule.group != "reason" or rule.digest:
            return found
        key, began = self._reasons.known(rule, found)
        if key not in self.groups or abs(time - began) > ALIKE:
            key = (rule.name, short(f"{found}:{self._place}"))
            self._reasons.note(rule, found, key, time)
        return key[1]

    def _enter(self, rule: Rule, name: Name, record: Transition | Rejection, since: int, now: int, named: str) -> None:
        """Somebody is concerned. since, now: since when, and when that is known."""
        flaps = self._changes.note(rule, name, now, self._place)
        group = self._returning(rule, name, now)
        if group is not None:
            self._returns_to(group, rule, record, named, now)
        group = group or self.groups.get((rule.name, named))
        is_new = group is None
        if group is None:
            home = EVERYWHERE if is_across(rule) else self._home(name[1])
            group = NoticeGroup(rule, named, home, since, self._place, self._place, self._place, self._reached)
            self.groups[group.key] = group
            group.due = self._opens(rule, since, now)
            if (other := self._elsewhere.get((rule.name, self._plain_name(rule, record, named, now)))) is not None:
                group.meet(other)
        group.touch(self._place, self._reached)
        group.add(name, since, self._said(name, record))
        if not rule.when.is_of_happenings:
            self._stays[rule.name][name] = group
        if flaps:
            self._flap(group, name, now)
        if is_new and (rule.lasting or rule.digest):
            self._emit(group, "began", now)
        elif group.phase == "Clearing":
            self._return(group, now)
        elif group.phase == "Open" and group.update_at is None:
            group.update_at = now + UPDATE
        self._due.note(group)

    def _plain_name(self, rule: Rule, record: Transition | Rejection, named: str, now: int) -> str:
        """The name of the group of what began, without the place at which it began."""
        return group_of(self._kinds, rule, record, now) if rule.group == "reason" and not rule.digest else named

    def _returns_to(
        self, group: NoticeGroup, rule: Rule, record: Transition | Rejection, named: str, now: int
    ) -> None:  # fmt: skip
        """Somebody comes back to a notice. Who does not know of it would let them be in another one."""
        name = self._plain_name(rule, record, named, now)
        if group.name != named:
            self._reasons.forget((rule.name, named))
            if (other := self.groups.get((rule.name, named))) is not None:
                other.meet(group)
        if rule.group == "cause":  # an earlier event cannot concern anybody any more
            self._no_more_elsewhere(group)
        group.returned[name] = None
        self._elsewhere[rule.name, name] = group

    def _no_more_elsewhere(self, group: NoticeGroup) -> None:
        for name in group.returned:
            if self._elsewhere.get((group.rule.name, name)) is group:
                del self._elsewhere[group.rule.name, name]
        group.returned.clear()

    def _return(self, group: NoticeGroup, now: int) -> None:
        """It is not over, as it seemed to be."""
        was_noted = group.due is not None and group.due > group.ended_at
        group.phase, group.due, group.ended_at, group.ended_as = "Open", None, 0, ""
        if was_noted:
            self._emit(group, "returned", now)

    def _opens(self, rule: Rule, since: int, now: int) -> int:
        """When a notice is due that begins now."""
        due = max(now, since + rule.lasting) if rule.lasting else now
        return max(due, now - now % rule.digest + rule.digest) if rule.digest else due

    def _returning(self, rule: Rule, name: Name, now: int) -> NoticeGroup | None:
        """The notice that somebody left so lately that it was no leaving."""
        group = None if rule.when.is_of_happenings else self._returns[rule.name].get(name)
        left = None if group is None else group.former.get(name)
        if group is None or left is None:
            return None
        quiet = rule.flapping.quiet if rule.flapping is not None and group.is_flapping else -1
        return group if now - left < rule.clear_after or now - left <= quiet else None

    def _may_return(self, group: NoticeGroup, name: Name, time: int) -> None:
        """Somebody leaves, and may turn out not to have left. Those who left too long ago are forgotten."""
        longest = max(group.rule.clear_after, group.rule.flapping.quiet if group.rule.flapping is not None else 0)
        if not longest:
            return
        group.former[name] = time
        self._returns[group.rule.name][name] = group
        while time - group.former[oldest := next(iter(group.former))] > longest:
            self._may_not_return(group, oldest)
            del group.former[oldest]

    def _may_not_return(self, group: NoticeGroup, name: Name) -> None:
        if self._returns[group.rule.name].get(name) is group:
            del self._returns[group.rule.name][name]

    def _leave(self, rule: Rule, name: Name, record: Transition, time: int) -> None:
        group = self._stays[rule.name].pop(name)
        flaps = self._changes.note(rule, name, time, self._place)
        if group.phase == "Old":
            return
        group.touch(self._place, self._reached)
        was = group.members.pop(name).said
        group.last, left_as = (name, saying_of(record), was), matching.left_as(self._kinds, rule, record.entity)
        group.left[left_as] += 1
        if group.phase in ("Open", "Clearing"):
            self._may_return(group, name, time)
            if flaps:
                self._flap(group, name, time)
        if group.members:
            if group.phase == "Open" and group.update_at is None:
                group.update_at = time + UPDATE
        elif group.phase in ("Waiting", "Held"):
            self._lapse(group, time)
            return
        else:
            self._clear(group, time, left_as)
        self._due.note(group)

    def _after_leaving(self, group: NoticeGroup, name: Name, record: Transition) -> None:
        """Who left last, and might have come back, is gone: an end that is told later must not call it good."""
        is_head = group.phase == "Clearing" and group.last is not None and group.last[0] == name
        found = matching.left_as(self._kinds, group.rule, record.entity)
        if group.last is not None and is_head and found == matching.GONE != group.ended_as:
            group.touch(self._place, self._reached)
            group.left[group.ended_as] -= 1
            group.left += Counter({found: 1})  # without those that are 0
            group.last, group.ended_as = (name, saying_of(record), group.last[2]), found

    def _clear(self, group: NoticeGroup, time: int, left_as: str) -> None:
        """Nobody is concerned any more."""
        flapping = group.rule.flapping
        rest = flapping.quiet if flapping is not None and group.is_flapping else group.rule.clear_after
        group.phase, group.due, group.update_at = "Clearing", time + rest, None
        group.ended_at, group.ended_as = time, left_as
        if rest:
            self._emit(group, "clearing", time)

    def _lapse(self, group: NoticeGroup, time: int) -> None:
        """It ends before anybody was told of it."""
        group.ended_at = time
        if group.is_announced:
            self._emit(group, "lapsed", time)
        self._forget(group, time)

    def _flap(self, group: NoticeGroup, name: Name, time: int) -> None:
        flapping = group.rule.flapping
        if flapping is None:
            return
        group.calm_at = time + flapping.quiet
        if group.is_flapping:
            return
        group.is_flapping = True
        group.begins = min(group.begins, self._changes.first(group.rule, name))
        if group.phase == "Waiting":
            group.due = time
        elif group.phase in ("Open", "Clearing"):
            self._emit(group, "flapping", time, "flapping")

    # ---- what falls due

    def _run(self, home: Hashable, time: int) -> None:
        """Fire what is due before a time: in a home, across homes, and where something across homes is held."""
        for group, due in self._due.before(home, self._together, time):
            self._fire(group, due)

    def _come_to(self, time: int) -> None:
        """Let all homes come up to the end of each window by the clock before a time: one notice tells of it."""
        while (end := self._window_end) is not None and end < time:
            first = min(self._due.next or time, time)
            if first <= end:
                for home in self._due.homes:
                    self._run(home, end + 1)
            self._window_end = self._windows.end_after(max(end, first - 1))  # before the first nothing happens

    def _fire(self, group: NoticeGroup, due: int) -> None:
        if group.due == due:
            group.due = None
            if group.phase == "Waiting":
                self._open(group, due)
            elif group.phase == "Held":
                self._after_window(group, due)
            else:
                self._emit(group, "closed", due, "end")
                self._forget(group, due)
        elif group.calm_at == due:
            group.calm_at, group.is_flapping = None, False
            self._emit(group, "changed", due)
        elif group.update_at == due:
            group.update_at = None
            self._emit(group, "changed", due)
        else:
            group.remind_at = due + group.rule.remind
            if group.phase == "Open":
                self._emit(group, "reminded", due, "reminder")
        self._due.note(group)

    def _follow(self, group: NoticeGroup, time: int) -> None:
        """A notice across homes is about what the homes of all concerned make of the time before."""
        for home in {self._home(entity_id): None for _, entity_id in group.members}:
            for other, due in self._due.before(home, (), time):
                other.meet(group)
                self._fire(other, due)

    def _open(self, group: NoticeGroup, time: int) -> None:
        rule = group.rule
        if not group.is_of_one_tree:
            self._follow(group, time)
            if group.window is not None:  # the order in which its members joined tells no home
                group.members = dict(sorted(group.members.items(), key=lambda one: (one[1].since, one[0])))
        earliest = min(one.since for one in group.members.values()) + rule.lasting
        if earliest > time and not group.is_flapping:
            group.due = earliest
        elif (window := self._window(group, time)) is not None:
            self._hold_by(group, window, time)
        elif (holder := self._holder(group)) is not None:
            self._hold_under(group, holder, time)
        elif rule.when.is_of_happenings:
            group.opened_at = group.ended_at = time
            self._emit(group, "happened", time, "begin")
            self._forget(group, time)
        else:
            group.phase, group.opened_at = "Open", time
            group.remind_at = time + rule.remind if rule.remind else None
            self._emit(group, "opened", time, "begin")

    # ---- windows

    def _window(self, group: NoticeGroup, time: int) -> OpenWindow | None:
        """The window that covers all that are concerned; of several, the one that ends first."""
        found: OpenWindow | None = None
        for _, entity_id in group.members:
            one = self._windows.open_for(entity_id, time)
            if one is None:
                return None
            found = one if found is None else min(found, one, key=lambda each: each.until)
        return found

    def _hold_by(self, group: NoticeGroup, window: OpenWindow, time: int) -> None:
        group.phase, group.window, group.due = "Held", window, window.until
        if window.place:
            group.begins = min(group.begins, window.place)
        if group.is_late_for(window, window.until):
            group.needs = min(group.needs, group.reached[1])
        self._emit(group, "held", time)

    def _end_window(self, record: Transition, time: int) -> None:
        """A record may open a window, or end one before its limit."""
        ended = self._windows.take(record, self._place)
        if ended is None:
            return
        for group in [*self.groups.values()]:
            held = group.phase == "Held" and group.window is not None and group.window.name == ended.window
            if held and all(f"{one}/".startswith(f"{ended.id}/") for _, one in group.members):
                group.due = time
                self._due.note(group)

    def _after_window(self, group: NoticeGroup, time: int) -> None:
        """A window ends: what is still so is told in one notice, with all others that it held."""
        window = group.window
        if group.rule.when.is_of_happenings or window is None:
            self._lapse(group, time)
            return
        if (other := self._window(group, time)) is not None:
            self._hold_by(group, other, time)
            return
        if group.is_late_for(window, time):
            group.phase, group.window = "Waiting", None
            self._open(group, time)
            return
        if group.is_announced:
            group.ended_at = time
            self._emit(group, "lapsed", time)
        name = short(f"after-{window.name}-{_in_name(time)}")
        key = (group.rule.name, name)
        summary = self.groups.get(key)
        if summary is None:
            since = min(one.since for one in group.members.values())
            where = (group.begins, group.place, group.needs, group.reached)
            summary = NoticeGroup(group.rule, name, group.home if window.place else EVERYWHERE, since, *where)
            summary.window, summary.due = window._replace(until=time), time + 1
            self.groups[key] = summary
            for elsewhere in self._elsewhere.values():
                if elsewhere.rule is group.rule:
                    summary.meet(elsewhere)
        summary.begins = min(summary.begins, group.begins)
        summary.meet(group)
        summary.touch(group.place, group.reached)
        for one, member in group.members.items():
            summary.add(one, *member)
            self._stays[group.rule.name][one] = summary
        self._forget(group, time)
        self._due.note(summary)

    # ---- what holds

    def _holder(self, group: NoticeGroup) -> NoticeGroup | None:
        """The notice that explains all that are concerned; None if somebody is left that none explains."""
        if group.rule.hold_under == "nothing" or group.rule.when.is_of_happenings:
            return None
        explaining, found = Explaining(self._kinds, self._sign), None
        for name in group.members:
            holder = next((one for one in self._explaining(explaining, name)
                           if one is not group and one.phase in HOLDING), None)  # fmt: skip
            if holder is None:
                return None
            found = found or holder
        return found

    def _explaining(self, explaining: Explaining, name: Name) -> Iterator[NoticeGroup]:
        """The notices of what stands above an entity, or explains it."""
        above = [*islice(with_all_above(self._kinds, *name), 1, None)]
        if name in self._unwell and (head := explaining.head_of(name)) not in (name, *above):
            above.append(head)
        for one in above:
            for rule in self._lasting:
                if (group := self._stays[rule.name].get(one)) is not None and group.is_of_one_tree:
                    yield group

    def _hold_under(self, group: NoticeGroup, holder: NoticeGroup, time: int) -> None:
        group.phase, group.held_by = "Held", holder.key
        self._holds.setdefault(holder.key, {})[group.key] = None
        group.meet(holder)
        holder.meet(group)
        if not group.is_of_one_tree:
            self._together[holder.home] += 1
        elif holder.phase == "Open" and holder.update_at is None:
            holder.update_at = time + UPDATE
            self._due.note(holder)
        self._emit(group, "held", time)

    def _forget(self, group: NoticeGroup, time: int) -> None:
        """It is over. What it held is told if it lasts from now on, because what had one cause ends together too."""
        for name in group.former:
            self._may_not_return(group, name)
        self._no_more_elsewhere(group)
        self._reasons.forget(group.key)
        self._release(group)
        for held in [self.groups[key] for key in self._holds.get(group.key, ())]:
            self._release(held)
            held.phase, held.due = "Waiting", time + (held.rule.lasting or not held.is_of_one_tree)
            held.reached = max(held.reached, group.reached)
            held.meet(group)
            self._due.note(held)
        self._holds.pop(group.key, None)
        self.groups.pop(group.key, None)

    def _release(self, group: NoticeGroup) -> None:
        """No other notice holds it any more."""
        if group.held_by is None:
            return
        del self._holds[group.held_by][group.key]
        if not group.is_of_one_tree:
            home = self.groups[group.held_by].home
            self._together[home] -= 1
            self._together += Counter()  # forgets what is zero
        group.held_by = None

    # ---- what is said

    def _emit(self, group: NoticeGroup, trigger: str, time: int, word: Word = "") -> None:
        group.number += 1
        group.is_announced = True
        head = head_of(group.members)
        data = data_of(group, head, self._below(group), self._why(group, head))
        self._out.append(NoticeEvent(*group.key, trigger, group.place, group.number, time, data, word, group.rule.to))

    def _below(self, group: NoticeGroup) -> int:
        """How many are concerned in the notices that a notice holds, of those of one tree."""
        if not group.is_of_one_tree:  # what is held in another tree is not known in the same order everywhere
            return 0
        held = (self.groups.get(key) for key in self._holds.get(group.key, ()))
        return sum(len(one.members) for one in held if one is not None and one.is_of_one_tree)

    def _why(self, group: NoticeGroup, head: Name | None) -> tuple[Name, Saying] | None:
        """What explains the head of a notice of one tree, if it is not concerned itself."""
        if head is None or head not in self._unwell or not group.is_of_one_tree:
            return None
        above = Explaining(self._kinds, self._sign, by_parts=False).head_of(head)
        return (above, self._unwell[above].said) if above not in group.members else None

    def _sign(self, name: Name) -> UnwellSign | None:
        found = self._unwell.get(name)
        return None if found is None else found.sign
