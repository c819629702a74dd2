"""The table of our own requests. The router, the description (`openapi`) and docs/http.md are made from it.

Belongs here: method and path, parameters, what is answered, the role that a request needs, its handler; loading the
routes that products name, and refusing those that do not fit. Does not: the handlers (`reading`, `intake`,
`access.session`), how a request is read (`app`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from phaseline.engine.log.when import NOW
from phaseline.engine.surfaces.http.access import session
from phaseline.engine.surfaces.http.access.caller import TRY, Role
from phaseline.engine.surfaces.http.call import Handler
from phaseline.engine.surfaces.http.intake import events
from phaseline.engine.surfaces.http.intake.bodies import BATCH_JSON
from phaseline.engine.surfaces.http.live.frames import COLUMNS, RECORDS
from phaseline.engine.surfaces.http.parameters import TRUE, Parameter, moves_on
from phaseline.engine.surfaces.http.reading import about, entities, installation, past, rejections, transitions
from phaseline.machines.language.product import Product, load
from phaseline.machines.language.table import CLASSES
from phaseline.schemas.cloudevents.content_types import JSON_EVENT, MSGPACK_EVENT
from phaseline.schemas.errors import SetupError

JSON, PAGE = "application/json", "text/html"
_PART = re.compile(r"\{(\w+)\}")
ROOT = "/v1/"
"""What the paths of products begin with."""


class Route(NamedTuple):
    """One request. name: the operation id. summary: a sentence. problems: the statuses of errors to expect.

    path: parts in braces are parameters; the last one takes the rest of the path, slashes included.
    """

    method: str
    path: str
    name: str
    handler: Handler
    summary: str
    parameters: tuple[Parameter, ...] = ()
    answer: str = JSON
    role: Role = "read"
    problems: tuple[int, ...] = ()
    statuses: tuple[int, ...] = (200,)
    bodies: tuple[str, ...] = ()
    """The types of the bodies that it takes."""
    dry_role: Role | None = None
    """The role that a dry run needs, where there is one."""
    reads_past: bool = False
    """Whether it reads records of the past; with `at`, all requests do."""
    is_across: bool = False
    """Whether its answer takes in other trees than that of its `id`, so that readers of some trees may not ask."""

    is_timed: bool = False
    """Whether its answer of the present changes with the time alone."""

    def changes_with_time(self, values: Mapping[str, Any]) -> bool:
        """Whether the same request has another answer later, though nothing was committed."""
        named = [values.get(one.name) for one in self.parameters if one.type == "moment"]
        is_present = all(one in (None, NOW) for one in named)
        return any(map(moves_on, named)) or (is_present and (self.is_timed or bool(values.get(FOR.name))))

    def needs(self, query: Iterable[tuple[str, str]]) -> Role:
        """The role that a request with this query needs."""
        is_dry = any(name == DRY_RUN.name and value.lower() in TRUE for name, value in query)
        return self.role if self.dry_role is None or not is_dry else self.dry_role


KIND = Parameter("kind", "only this kind", example="node")
TREE = Parameter("tree", "only the entities with these ids and everything below them", many=True, example="c1/pool-a")
AT = Parameter("at", "a place in the log, a time (RFC 3339), or how long ago", "moment", example="15m")
MIN = Parameter("min", "wait until this place is reached: read what you wrote", "integer", least=0, example=0)
DELETED = Parameter("deleted", "deleted entities too", "flag", default=False)
LEFT_BEHIND = Parameter("left_behind", "only what is Deleted and was reported to be there still", "flag", default=False)
LANG = Parameter("lang", "the language of labels, such as `zh`", default="en")
OF_KIND = Parameter("kind", "the kind", is_path=True, example="node")
OF_ID = Parameter("id", "the id, each part percent-encoded", is_path=True, example="c1/pool-a/n1")
STATE = Parameter("state", "only in this state: a phase, or `{Failed,[Balance,*]}`", example="Failed")
CONDITION = Parameter("condition", "only with this condition; of several, all must stand", many=True, example="Balance")
LABEL = Parameter("label", "a selector as kubectl has, over attributes and labels: `a=b`, `a in (x,y)`, `!a`")
CLASS = Parameter("class", "only entities of this class, or of several", many=True, options=CLASSES, example="bad")
FOR = Parameter("for", "only what has been in its class for so long, whatever states it had in it: `90s`, `10m`, `2h`",
                "duration", default="0s", example="0s")  # fmt: skip
SORT = Parameter("sort", "the field or attribute to sort by, instead of the id", example="since")
CONTINUE = Parameter("continue", "where the former page ended: all pages are of one place")
LIMIT = Parameter("limit", "the most items of one page", "integer", default=500, least=1, most=10_000, example=100)
NAMED = Parameter("limit", "the most that each list names", "integer", default=100, least=1, most=10_000, example=10)
SYMPTOMS = Parameter("symptoms", "how many of what each trouble explains are named", "integer", default=0, least=0,
                     most=10_000, example=2)  # fmt: skip
FACET = Parameter("facet", "only transitions of this facet", example="phase")
FROM = Parameter("from", "the first place or time; without it, what is to come", "moment", example="1")
FROM_TIME = Parameter("from", "where it begins: a place or a time; without it, as early as is known", "moment")
TO = Parameter("to", "the last place or time", "moment", example="now")
BUCKETS = Parameter("buckets", "how many parts of equal time", "integer", default=200, least=1, most=2_000, example=10)
FOLD = Parameter("fold", "leave long quiet times out, and count short busy ones in finer buckets", "flag",
                 default=False)  # fmt: skip
REJECTIONS = Parameter("rejections", "rejections too", "flag", default=False)
FORM = Parameter("form", "CloudEvents, or rows: place, kind, id, facet, state, conditions, class, flags, since, event",
                 default=RECORDS, options=(RECORDS, COLUMNS))  # fmt: skip
MOST = Parameter("limit", "the most records of a range, and the rest of the last event", "integer", default=1_000,
                 least=1, most=10_000)  # fmt: skip
FROM_HISTORY = Parameter("from", "the first place or time; without it, the last `limit` transitions", "moment")
SINCE = Parameter("from", "the first moment: a place, a time, or how long ago", "moment", default="1h", example="15m")
DEPTH = Parameter("depth", "how many levels below; without it, all", "integer", least=0, most=100, example=1)
REASON = Parameter("reason", "only with this reason", example="illegal")
SOURCE = Parameter("source", "only of this source", example="/agent/c1")
ACTOR = Parameter("actor", "only in the name of this caller of the server; empty: of nobody", example="ann")
PLACE = Parameter("place", "the place of the rejection in the log", "integer", is_path=True, least=1, example=1)
DRY_RUN = Parameter("dry-run", "store nothing: say what the event would do now", "flag", default=False)
FORCE = Parameter("force", "store an event even if it would be rejected", "flag", default=False)
SEQUENCE = Parameter("sequence", "the number of the event", "integer", is_path=True, least=1, example=1)
VERBOSE = Parameter("verbose", "say more", "flag", default=False)
FILE = Parameter("file", "the name", is_path=True, example="index.html")
READ = (400, 404, 503)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/entities", "listEntities", entities.entities,
          "Entities that fit, page by page, with counts of all that fit.",
          (KIND, TREE, STATE, CONDITION, CLASS, FOR, LABEL, SORT, DELETED, LEFT_BEHIND, LIMIT, CONTINUE, AT, MIN, LANG),
          problems=READ),
    Route("GET", "/v1/entities/{kind}/{id}", "getEntity", entities.entity,
          "One entity, and which triggers it takes now.", (OF_KIND, OF_ID, AT, MIN, LANG), problems=READ),
    Route("GET", "/v1/counts", "countEntities", entities.counts,
          "How many entities are in which state; and in which class, each counted once, by its worst state.",
          (KIND, TREE, DELETED, AT, MIN), problems=READ),
    Route("GET", "/v1/overview", "getOverview", entities.overviewed,
          "What is bad now, since when and because of what; and what else calls for somebody.",
          (TREE, NAMED, SYMPTOMS, AT, MIN), problems=READ, is_timed=True),
    Route("GET", "/v1/columns", "listColumns", entities.all_columns,
          "All entities in bulk: a column for each fact.", (KIND, TREE, DELETED, AT, MIN), problems=READ),
    Route("GET", "/v1/why/{kind}/{id}", "explainEntity", past.why,
          "Why an entity is in its state, back to the events from outside.", (OF_KIND, OF_ID, AT, MIN), problems=READ,
          reads_past=True),
    Route("GET", "/v1/history/{kind}/{id}", "getHistory", past.history,
          "The transitions of one entity, oldest first: the last ones, or those from a place on.",
          (OF_KIND, OF_ID, FROM_HISTORY, TO, LIMIT, LANG), problems=READ, reads_past=True),
    Route("GET", "/v1/timeline/{kind}/{id}", "getTimeline", past.timeline,
          "The states of an entity and of those below it over time.",
          (OF_KIND, OF_ID, FROM_TIME, TO, DEPTH, LANG), problems=READ, reads_past=True),
    Route("GET", "/v1/tree/{id}", "getTree", past.tree,
          "An entity and everything below it, nested.", (OF_ID, DEPTH, DELETED, AT, MIN, LANG), problems=READ),
    Route("GET", "/v1/changes", "listChanges", past.changes,
          "What differs between two moments, and how often it changed in between.",
          (SINCE, TO, TREE, KIND, LIMIT), problems=READ, reads_past=True),
    Route("GET", "/v1/strip", "getStrip", entities.strip,
          "How many transitions there were when, by the class of the state that they led to.",
          (FROM_TIME, TO, BUCKETS, FOLD, TREE), problems=READ),
    Route("GET", "/v1/transitions", "followTransitions", transitions.transitions,
          "What happened, and what happens: server-sent events that resume at any place, or a range at once.",
          (KIND, FACET, STATE, CONDITION, TREE, FROM, TO, REJECTIONS, FORM, MOST), answer=transitions.EVENTS,
          problems=(400, 404, 410, 503)),
    Route("GET", "/v1/rejections", "listRejections", rejections.rejections,
          "The last rejected events, newest first, and how many there are by reason, kind, source and actor.",
          (KIND, TREE, REASON, SOURCE, ACTOR, FROM_TIME, TO, LIMIT), problems=READ, reads_past=True),
    Route("GET", "/v1/rejections/{place}", "getRejection", rejections.rejection,
          "One rejection with its event.", (PLACE,), problems=READ),
    Route("POST", "/v1/rejections/{place}/resend", "resendRejection", rejections.resend,
          "Send the event of a rejection again.", (PLACE,), role="operate", problems=(*READ, 429), statuses=(202,)),
    Route("POST", "/v1/events", "publishEvents", events.publish,
          "Store a CloudEvent (in structured or binary mode), or a batch: 202, and with `Prefer: wait=10` its outcome.",
          (DRY_RUN, FORCE), role="publish", problems=(400, 413, 415, 422, 429, 503, 504), statuses=(200, 202, 207),
          bodies=(JSON_EVENT, BATCH_JSON, MSGPACK_EVENT, JSON), dry_role=TRY),
    Route("OPTIONS", "/v1/events", "eventOptions", events.options,
          "Whether a sender of webhooks may send here.", role=""),
    Route("GET", "/v1/events/{sequence}", "getEvent", events.event,
          "A stored event, and its outcome if it is decided.", (SEQUENCE,), problems=READ),
    Route("GET", "/v1/summary", "getSummary", installation.summary,
          "Counts, silent places, tables; without `tree` also workers, partitions with owners and backlogs, streams.",
          (TREE,), problems=(400, 503), is_timed=True),
    Route("GET", "/v1/machines", "listMachines", about.machines, "The tables of all kinds."),
    Route("GET", "/v1/machines/{kind}", "getMachine", about.machine,
          "The table of one kind, and a diagram of each facet, laid out.", (OF_KIND,), problems=(404,)),
    Route("GET", "/v1/session", "getSession", session.who, "Who asks, and what they may do.", role=""),
    Route("POST", "/v1/session", "logIn", session.log_in,
          "Keep the token of the header `Authorization` in a cookie of the browser.", role="", problems=(401,)),
    Route("DELETE", "/v1/session", "logOut", session.log_out, "Forget that cookie.", role=""),
    Route("GET", "/livez", "livez", about.livez, "Whether the process answers.", role=""),
    Route("GET", "/readyz", "readyz", about.readyz,
          "Whether the states are loaded and followed.", (VERBOSE,), role="", problems=(503,)),
    Route("GET", "/metrics", "getMetrics", about.metrics,
          "Metrics of this server for Prometheus (docs/metrics.md).", answer=about.METRICS_TYPE),
    Route("GET", "/openapi.json", "getDescription", about.openapi, "This description.", role=""),
    Route("GET", "/asyncapi.json", "getMessages", about.asyncapi, "The messages on NATS, in AsyncAPI.", role=""),
    Route("GET", "/", "getPage", about.index, "The page.", answer=PAGE, role=""),
    *(Route("GET", f"/{name}", f"get{name.title()}Screen", about.index, f"The page, with the screen {name.title()}.",
            answer=PAGE, role="") for name in ("now", "tree", "time", "refused", "workers")),
    Route("GET", "/tree/{id}", "getOneTreeScreen", about.index,
          "The page, with one tree.", (OF_ID,), answer=PAGE, role=""),
    Route("GET", "/entity/{kind}/{id}", "getEntityScreen", about.index,
          "The page, with one entity.", (OF_KIND, OF_ID), answer=PAGE, role=""),
    Route("GET", "/page/{file}", "getPageFile", about.page,
          "A file of the page.", (FILE,), answer="*/*", role="", problems=(404,)),
)  # fmt: skip
"""Our own requests, in the order of the documentation. Products add theirs (`all_routes`)."""


def pattern(path: str) -> str:
    """The regular expression of a path. The last parameter takes slashes too."""
    head, last, tail = path.rpartition("{")
    head = _PART.sub(r"(?P<\1>[^/]+)", head)
    return head + _PART.sub(r"(?P<\1>.+)", last + tail) if last else path


def all_routes(products: Iterable[Product] | None) -> tuple[Route, ...]:
    """Our own routes, then those of products. Raises `SetupError.kinds_broken`."""
    found = list(ROUTES)
    for product in products or ():
        for name in product.routes:
            for route in _loaded(product, name):
                if problem := _problem(route, found):
                    raise SetupError.kinds_broken(
                        problem=f"a route of {product.name} ({name}) cannot be served: {problem}"
                    )
                found.append(route)
    return tuple(found)


def _loaded(product: Product, name: str) -> tuple[Route, ...]:
    try:
        found = load(name)
    except Exception as error:
        problem = f"the routes of {product.name} ({name}) cannot be loaded: {type(error).__name__}: {error}"
        raise SetupError.kinds_broken(problem=problem) from error
    if not isinstance(found, tuple) or not all(isinstance(one, Route) for one in found):
        raise SetupError.kinds_broken(
            problem=f"{name}, which {product.name} names, is no tuple of `phaseline.http.Route`"
        )
    return found


def _problem(route: Route, before: Iterable[Route]) -> str:
    """Why a route does not fit to those before it; empty if it does."""
    if not route.path.startswith(ROOT):
        return f"{route.path} does not begin with {ROOT}"
    in_path = re.findall(r"\{(\w+)\}", route.path)
    if in_path != [one.name for one in route.parameters if one.is_path]:
        return f"the parameters with is_path=True are not those of the path {route.path}, in their order"
    for other in before:
        if other.name == route.name:
            return f"another route has the name {route.name}"
        if other.method == route.method and re.fullmatch(pattern(other.path), route.path):
            return f"{route.method} {route.path} is a request of {other.name} ({other.path})"
    return ""
