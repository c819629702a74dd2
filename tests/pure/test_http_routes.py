"""The table of requests: the router, the description and the page that are made from it
(engine/surfaces/http/routes.py)."""

import base64
import re
from pathlib import Path

import pytest

from phaseline.engine.surfaces.http import openapi, parameters, problems, reference
from phaseline.engine.surfaces.http.app import Router
from phaseline.engine.surfaces.http.parameters import Parameter
from phaseline.engine.surfaces.http.reading.entities import PageToken
from phaseline.engine.surfaces.http.routes import all_routes
from phaseline.engine.surfaces.page.files import INDEX, files
from phaseline.engine.surfaces.telemetry.listening import address_of
from phaseline.machines.built_in import PRODUCTS
from phaseline.schemas.errors import BadSetting, InvalidInput, NotFound, every
from tests.support.raising import raises

ROOT = Path(__file__).parents[2]
ROUTES = all_routes(PRODUCTS)


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / reference.PAGE).read_text(encoding="utf-8")
    assert page == reference.renewed(page, ROUTES), f"run `{reference.COMMAND}` and read what changed"


def test_every_request_is_named_once_and_has_the_parameters_of_its_path() -> None:
    assert len({route.name for route in ROUTES}) == len(ROUTES)
    for route in ROUTES:
        in_path = re.findall(r"\{(\w+)\}", route.path)
        assert in_path == [one.name for one in route.parameters if one.is_path], route.path
        assert len({one.name for one in route.parameters}) == len(route.parameters), route.path
        assert route.summary.endswith(".")


def test_the_description_has_every_request() -> None:
    document = openapi.document(ROUTES)
    described = {(method.upper(), path) for path, found in document["paths"].items() for method in found}
    assert described == {(route.method, route.path) for route in ROUTES}
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        assert {one["name"] for one in operation["parameters"]} == {one.name for one in route.parameters}
        assert all(one["required"] for one in operation["parameters"] if one["in"] == "path")


def test_every_example_is_a_value() -> None:
    for route in ROUTES:
        for one in route.parameters:
            if one.example is not None:
                one.read(str(one.example))


def test_every_default_is_of_the_type_that_the_description_says() -> None:
    types = {"string": str, "integer": int, "boolean": bool}
    for path in openapi.document(ROUTES)["paths"].values():
        for operation in path.values():
            for schema in [one["schema"] for one in operation["parameters"]]:
                assert "default" not in schema or type(schema["default"]) is types[schema["type"]], schema


def test_the_router_finds_ids_with_slashes() -> None:
    router = Router(ROUTES)
    route, found = router.find("GET", "/v1/entities/node/c1/pool-a/n7")
    assert (route.name, found) == ("getEntity", {"kind": "node", "id": "c1/pool-a/n7"})
    assert router.find("HEAD", "/v1/entities")[0].name == "listEntities"
    assert router.find("POST", "/v1/rejections/7/resend")[1] == {"place": "7"}
    with raises(NotFound.path_unknown, match="did you mean /v1/columns"):
        router.find("GET", "/v1/colums")
    with raises(InvalidInput.method_not_allowed, match="takes GET, not PUT"):
        router.find("PUT", "/v1/counts")


@pytest.mark.parametrize(
    ("one", "text", "problem"),
    [
        (Parameter("n", "", "integer", least=1), "0", "must be at least 1, found 0"),
        (Parameter("n", "", "integer", least=1, most=9), "10", "must be 1 to 9, found 10"),
        (Parameter("n", "", "integer"), "1e3", "must be a whole number, found '1e3'"),
        (Parameter("n", "", "integer"), "٣", "must be a whole number, found '٣'"),
        (Parameter("n", "", "integer"), "9" * 30, "must be a whole number"),
        (Parameter("n", "", "flag"), "yes", "must be 1 or 0, found 'yes'"),
        (Parameter("n", "", options=("all", "some")), "al", "must be one of all, some, found 'al' (did you mean all?)"),
        (Parameter("n", "", "moment"), "9" * 19, "must be a place below 10^18"),
        (Parameter("n", "", "moment"), "0000-01-01T00:00:00", "is none of: now, start"),
        (Parameter("n", "", "moment"), "99999999999d", "is outside of the years 1678 to 2261"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(one: Parameter, text: str, problem: str) -> None:
    with raises(InvalidInput.bad_parameter, match=rf"^parameter n: .*{re.escape(problem)}") as refused:
        one.read(text)
    assert refused.value.status == 400


def test_parameters_have_defaults_and_may_come_several_times() -> None:
    known = (Parameter("a", "", many=True), Parameter("b", "", "integer", default=5), Parameter("id", "", is_path=True))
    assert parameters.read(known, [("a", "x"), ("a", "y")], {"id": "c1"}) == {"a": ("x", "y"), "b": 5, "id": "c1"}
    with raises(InvalidInput.bad_parameter, match="parameter b: is given twice"):
        parameters.read(known, [("b", "1"), ("b", "1")], {"id": "c1"})
    with raises(InvalidInput.bad_parameter, match="it takes a, b"):
        parameters.read(known, [("id", "c2")], {"id": "c1"})


def test_a_blank_in_a_moment_was_a_plus() -> None:
    one = Parameter("at", "", "moment")
    assert one.read("2026-03-02T08:00:00 01:00") == "2026-03-02T08:00:00+01:00"


def test_every_error_has_a_status_and_a_type() -> None:
    for one in every():
        body = problems.problem(one, "/v1/x")
        assert 400 <= body["status"] < 600
        assert re.fullmatch(r"urn:phaseline:problem:[a-z-]+", body["type"])


def test_a_bug_says_nothing_about_the_inside() -> None:
    body = problems.problem(KeyError("secret"), "/v1/x")
    assert (body["status"], "secret" in str(body)) == (500, False)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("127.0.0.1:8223", ("127.0.0.1", 8223)), ("0", ("127.0.0.1", 0)), ("[::1]:80", ("::1", 80)),
        ("localhost", ("localhost", 8223)), (":9000", None), ("host:port", None), ("host:70000", None),
    ],
)  # fmt: skip
def test_an_address_to_listen_at(text: str, found: tuple[str, int] | None) -> None:
    if found is None:
        with pytest.raises(BadSetting, match="must be HOST:PORT"):
            address_of(text, "listen", 8223)
    else:
        assert address_of(text, "listen", 8223) == found


def test_the_page_has_files_of_known_types_only() -> None:
    assert INDEX in files()
    for name, file in files().items():
        assert (file.name, bool(file.body)) == (name, True)


@pytest.mark.parametrize(
    "text",
    [
        "[Infinity,0,0]",
        "[1,NaN,0]",
        "[" * 3_000,
        "[1,2]",
        "[1.5,0,0]",
        '["1",0,0]',
        "{}",
        "7",
        "",
        "\xff",
        '[{"e":-1},0,0]',
    ],
)
@pytest.mark.parametrize("of_cells", [False, True])
def test_a_page_that_nobody_was_told_to_go_on_with(of_cells: bool, text: str) -> None:
    for given in (text, base64.urlsafe_b64encode(text.encode()).decode()):
        with raises(InvalidInput.other_query):
            PageToken.read(given, 0, of_cells=of_cells)


def test_a_page_of_one_installation_and_one_of_several_cells_are_not_mixed_up() -> None:
    for stand in (7, {"east": 7, "west": 8}):
        token = PageToken(stand, 5, 3)
        assert PageToken.read(token.write(), 3, of_cells=isinstance(stand, dict)) == token
        with raises(InvalidInput.other_query):
            PageToken.read(token.write(), 3, of_cells=not isinstance(stand, dict))
