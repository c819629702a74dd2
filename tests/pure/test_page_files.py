"""The files of the page (engine/surfaces/page): complete, small, of our own, and free of what a browser should not do.

Belongs here: what can be seen without a browser. Does not: what its modules compute (`test_page_modules`), how it
behaves in a browser (`test_page`).
"""

import json
import re

from phaseline.engine.surfaces.page.files import INDEX, files, packed
from phaseline.machines.built_in import installed
from phaseline.machines.language.table import CLASSES
from tests.support.command import ROOT

LIMIT = 180_000
"""Bytes of all files together, as they are sent before compression."""
TEXTS = {name: one.body.decode() for name, one in files().items()}
SCRIPTS = {name: text for name, text in TEXTS.items() if name.endswith(".js")}
WORD = re.compile(r'^\s*"?([\w.]+)"?: \["(.*)", "(.*)"\],$', re.MULTILINE)
LISTS = TEXTS["words.js"].partition("export const KINDS")
WORDS, KINDS = [{name: (en, zh) for name, en, zh in WORD.findall(text)} for text in LISTS[::2]]
OWN_NAMES = ("http://www.w3.org/2000/svg",)


def test_the_files_are_small_together() -> None:
    assert sum(len(one.body) for one in files().values()) < LIMIT


def test_a_style_sheet_loses_blanks_and_nothing_else() -> None:
    sheet = (ROOT / "engine/surfaces/page/style.css").read_bytes()
    assert packed(
        "a.css", b"a :hover, b > c {\n\tmargin: 0 1px; color: red\n}\n@media (x: 1px) { d { top: 0 } }\n"
    ) == (b"a :hover,b > c{margin:0 1px;color:red}@media (x:1px){d{top:0}}")
    assert re.sub(rb"\s", b"", packed("style.css", sheet)) == re.sub(rb"\s", b"", sheet)
    again = packed("style.css", packed("style.css", sheet))
    assert again == packed("style.css", sheet) == files()["style.css"].body


def test_a_script_loses_indents_and_lines_of_comment_and_keeps_the_numbers_of_its_lines() -> None:
    assert packed("a.js", b"let a = 1; // kept\n\t// gone\n\tf(`x  y`);\n") == b"let a = 1; // kept\n\nf(`x  y`);"
    for name in SCRIPTS:
        text = (ROOT / "engine/surfaces/page" / name).read_text()
        assert [line for line in text.splitlines() if line.count("`") % 2 and "//" not in line] == [], (
            "a text over lines"
        )
        lines = [line.lstrip() for line in text.strip().splitlines()]
        kept = ["" if line.startswith(("//", "/**")) else line for line in lines]
        assert TEXTS[name].splitlines() == kept


def test_each_file_that_is_named_exists() -> None:
    for name, text in TEXTS.items():
        named = re.findall(r'"/page/([\w.-]+)"', text) + re.findall(r'(?:from |import\()"\./([\w.-]+)"', text)
        assert set(named) <= set(TEXTS), name
    served = re.findall(r"/page/([\w.-]+)", TEXTS[INDEX])
    assert {"main.js", "style.css"} <= set(served)


def test_each_file_is_used() -> None:
    everything = "\n".join(TEXTS.values())
    screens = re.search(r"export const SCREENS = (\[.*\]);", TEXTS["router.js"])
    assert screens is not None
    everything += "".join(f"./{screen}.js" for screen in json.loads(screens.group(1)))  # imported by their names
    assert [name for name in TEXTS if not name.endswith(".html") and name not in everything] == []


def test_data_never_becomes_markup_or_code() -> None:
    banned = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|srcdoc|setTimeout\(\""
    )
    for name, text in TEXTS.items():
        assert not re.search(banned, text), name
    assert not re.search(r"\son\w+=|style=|javascript:|<script(?! type=\"module\" src=)", TEXTS[INDEX])


def test_nothing_points_elsewhere() -> None:
    for name, text in TEXTS.items():
        found = [
            one for one in re.findall(r"(?:https?:)?//[a-z][\w.-]+\.[a-z]+[^\s\"'`]*", text) if one not in OWN_NAMES
        ]
        assert found == [], name


def test_each_word_is_in_both_languages() -> None:
    assert len(WORDS) > 100
    for name, (en, zh) in (WORDS | KINDS).items():
        assert en, name
        assert zh, name
        assert sorted(re.findall(r"\{\w+\}", en)) == sorted(re.findall(r"\{\w+\}", zh)), name
        assert re.search(r"[\u4e00-\u9fff]", zh), name


def test_the_words_that_are_used_exist() -> None:
    code = "\n".join(text for name, text in SCRIPTS.items() if name != "words.js")
    used = set(re.findall(r'\bt\("([\w.]+)"', code))
    assert used <= set(WORDS)


def test_each_kind_has_a_name() -> None:
    assert {kind.name for kind in installed().values()} == set(KINDS)


def test_the_classes_of_states_are_those_of_the_tables() -> None:
    found = re.search(r"export const CLASSES = (\[.*\]);", TEXTS["store.js"])
    assert found is not None
    assert sorted(json.loads(found.group(1))) == sorted(CLASSES)
    for name in CLASSES:
        assert f'id="g-{name}"' in TEXTS[INDEX]
        assert f"--cell-{name}:" in TEXTS["style.css"]


def _bright(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_bright(one), _bright(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_colours_stand_out_in_light_and_dark() -> None:
    schemes = [one for one in re.findall(r":root ?\{(.*?)\}", TEXTS["style.css"], re.DOTALL) if "--back:" in one]
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--([\w-]+): ?(#[0-9a-f]{6})", scheme))
        for back in ("back", "panel", "chosen", "shade"):
            for name in ("text", "soft", "accent", *CLASSES):
                assert _contrast(colours[name], colours[back]) >= 4.5, (name, back)
        for name in CLASSES:
            assert _contrast(colours[f"cell-{name}"], colours["back"]) >= 3, name
