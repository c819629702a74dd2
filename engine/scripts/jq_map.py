"""jq in the child process: from one value to others, as the mapping of a webhook needs it.

Belongs here: running a whole program. Does not: programs that delete paths (`jq_paths`), what becomes of the results
(`engine.http.intake.mapping`). The programs are the operator's own, so all of jq may be used; time and memory are
bounded by the process.
"""

import json
from typing import Any

from phaseline.engine.scripts import jq_paths

MOST_BYTES = 4 << 20
"""The most bytes of results, as JSON."""


def run(request: dict[str, Any]) -> dict[str, Any]:
    """The results of `program` for `input`, a text of JSON: `{results}`, a list of texts, or `{error}`."""
    try:
        found = jq_paths.whole(request["program"]).input_text(request["input"])
        results, size = [], 0
        for one in found:
            results.append(text := json.dumps(one, ensure_ascii=False))
            size += len(text)
            if size > MOST_BYTES:
                return {"error": f"it gives more than {MOST_BYTES >> 20} MB"}
    except ValueError as error:
        return {"error": str(error).strip()[:1_000]}
    return {"results": results}
