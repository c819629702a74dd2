"""The description of the API, judged by other makers' tools: it is valid, and the server keeps what it promises.

openapi-spec-validator reads it; schemathesis makes requests of it, right ones and wrong ones. Argument: the server's
URL. Prints what was found as JSON.
"""

import json
import sys
from urllib.request import urlopen

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import validate
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

STREAMS = ("/v1/transitions", "/page/{file}")


def main(url: str) -> None:
    """Validate, then send."""
    with urlopen(f"{url}/openapi.json") as answer:
        document = json.load(answer)
    validate(document)
    schema = schemathesis.openapi.from_dict(document)
    schema.config.base_url = url
    asked = 0
    problems: list[str] = []
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path in STREAMS:
            continue

        @settings(max_examples=10, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck),
                  database=None, derandomize=True)  # fmt: skip
        def sends(case: schemathesis.Case) -> None:
            nonlocal asked
            (case.query or {}).pop("min", None)  # it waits for its place
            response = case.call()
            asked += 1
            if response.status_code >= 500 and response.status_code not in (503, 504):
                problems.append(f"{case.method} {case.path}: {response.status_code}")
            case.validate_response(response, checks=[status_code_conformance, content_type_conformance])

        try:
            given(operation.as_strategy())(sends)()
        except Exception as error:  # noqa: BLE001  # all that is wrong is shown
            problems.append(f"{operation.method} {operation.path}: {str(error)[:600]}")
    print(json.dumps({"asked": asked, "problems": problems}))


main(*sys.argv[1:])
