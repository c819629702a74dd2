"""The numbers of the house, which may only fall (`tests.support.ratchets`).

Belongs here: that each is kept, and is no higher than it must be. Does not: which room may import
which (the import contracts).
"""

import phaseline
from tests.support import ratchets, rooms


def test_the_rooms_are_the_folders() -> None:
    named = {room for room in rooms.floors() if room != "engine"}
    assert named == rooms.rooms_of_folders()
    assert len(rooms.floors()) == ratchets.ROOMS


def test_no_arrow_runs_up_and_there_is_no_circle() -> None:
    assert max(rooms.floors().values()) == ratchets.FLOORS


def test_rooms_import_few_others() -> None:
    found = rooms.arrows()
    rarest = sorted(found.items(), key=lambda one: len(one[1]))[:8]
    assert len(found) == ratchets.ARROWS, "\n".join(f"{ends}: {', '.join(names)}" for ends, names in rarest)


def test_the_kernel_does_not_grow() -> None:
    found = rooms.kernel_lines()
    assert ratchets.KERNEL_LINES - ratchets.SLACK <= found <= ratchets.KERNEL_LINES


def test_the_kernel_imports_no_product_and_no_surface() -> None:
    assert len(rooms.kernel_to_products()) == ratchets.KERNEL_TO_PRODUCTS, rooms.kernel_to_products()


def test_there_are_few_public_errors() -> None:
    assert len(phaseline.errors.__all__) == ratchets.PUBLIC_ERRORS


def test_few_tests_with_a_server_import_the_engine() -> None:
    found = rooms.tests_of_the_engine()
    assert len(found) <= ratchets.TESTS_OF_THE_ENGINE, found
