"""The kernel works where no product and no surface can be imported, with a product of the tests' own.

Belongs here: which tests show it. Does not: how they are kept from importing more (`tests.support.kernel_alone`).
"""

import subprocess
import sys

from tests.support.command import ENVIRONMENT, ROOT

FILES = (
    # words, the language of tables and its compiler
    "pure/test_conditions.py", "pure/test_public_tables.py", "pure/test_wrong_kinds.py",
    # the core
    "pure/test_decisions.py", "pure/test_derived_messages.py", "pure/test_multi_facet.py",
    # a worker on a server: events, bans, services, take-over, audit
    "nats/test_own_product.py",
)  # fmt: skip
ABSENT = (
    "phaseline.machines.kinds.kubernetes.secret_values",
    "phaseline.machines.built_in",
    "phaseline.engine.surfaces.client.client",
)
ROOTS = ["phaseline.machines.kinds", "phaseline.machines.built_in", "phaseline.engine.surfaces.client"]


def test_the_kernel_needs_no_product() -> None:
    command = [
        sys.executable, "-m", "pytest", "-q", "-n", "0", "--noconftest", "-p", "tests.support.kernel_alone",
        "-p", "no:cacheprovider", *(f"tests/{file}" for file in FILES),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=False, capture_output=True, text=True)
    assert (done.returncode, "[100%]" in done.stdout) == (0, True), done.stdout + done.stderr


def test_no_product_can_be_imported_there() -> None:
    program = f"""
import importlib, tests.support.kernel_alone
for name in {ABSENT!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error.name)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ROOTS
