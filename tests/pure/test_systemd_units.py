"""The units of systemd, read: they run commands that exist, with variables that these read, and may do little.

Belongs here: what needs no systemd. Does not: what systemd says of them (`test_systemd`).
"""

from pathlib import Path

import pytest

from phaseline.engine.nats.accounts.users import AccountPlan
from tests.support.command_line import parsed, unread
from tests.support.units import COMMON, FOLDER, SERVICES, UNITS, unit, variables, words

PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"
USERS = {f"/etc/phaseline/keys/{user.name}.nk": user.inbox for user in AccountPlan("pl").users()}


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_a_service_runs_a_command_that_takes_its_variables(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = unit(path)["Service"]
    given = variables(COMMON.read_text().splitlines()) | variables(service["Environment"])
    own = set(variables(service["Environment"]))
    assert unread(" ".join(words(path)), own) == set()
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert parsed(words(path))["nats"] == given["PHASELINE_NATS"]


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_a_service_has_the_key_and_the_inbox_of_one_user(path: Path) -> None:
    service = unit(path)["Service"]
    [(name, _, file)] = [line.partition(":") for line in service["LoadCredential"]]
    given = variables(service["Environment"])
    assert given["PHASELINE_NKEY"] == f"%d/{name}"
    assert given["PHASELINE_INBOX_PREFIX"] == USERS[file]
    assert Path(file).name in PAGE.read_text()


def test_what_all_have_in_common_is_read_by_all() -> None:
    common = set(variables(COMMON.read_text().splitlines()))
    assert unread("worker", common) == set()
    assert unread("serve", common) == {"PHASELINE_REPLICAS"}


def test_all_services_are_hardened_alike() -> None:
    alike = []
    for path in SERVICES:
        text = path.read_text()
        assert "\nDynamicUser=yes\n" in text
        alike.append(text.partition("\n# A user that exists")[2].partition("\n\n")[0].strip())
    assert len(set(alike)) == 1
    assert "ProtectSystem=strict" in alike[0]


@pytest.mark.parametrize(
    "path", [path for path in SERVICES if "oneshot" not in path.read_text()], ids=lambda path: path.stem
)
def test_a_lasting_service_is_started_again_for_ever(path: Path) -> None:
    found = unit(path)
    assert found["Service"]["Restart"] == ["always"]
    assert found["Unit"]["StartLimitIntervalSec"] == ["0"]
    assert found["Install"]["WantedBy"] == ["multi-user.target"]


def test_the_page_installs_all_units() -> None:
    text = PAGE.read_text()
    assert "/etc/systemd/system deploy/systemd/phaseline-*" in text
    assert {path.name for path in FOLDER.glob("phaseline-*")} == {path.name for path in UNITS}
