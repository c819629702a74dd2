"""A YAML text that is nested too deep is refused before the library makes values of it, at the place of the level."""

import pytest
import yaml

from phaseline.schemas import yaml_text


def depth(text: str) -> int | None:
    """The most levels that PyYAML tells of; None of a text that is no YAML."""
    level = most = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            level += isinstance(event, yaml.CollectionStartEvent)
            level -= isinstance(event, yaml.CollectionEndEvent)
            most = max(most, level)
    except (yaml.YAMLError, ValueError):
        return None
    return most


def deep(levels: int, opens: str, closes: str, inside: str = "1") -> str:
    return opens * levels + inside + closes * levels


@pytest.mark.parametrize(
    ("start", "opens", "closes"),
    [
        ("", "[", "]"), ("", "{a: ", "}"), ("", "- ", ""), ("a: # b\n  ", "[\n  ", "]"), ("'[[': '{{'\nb: ", '["]", ', "]"),
        ("a: |\n  [[[[\n  {{{{\nb: ", "[", "]"), ("? ", "- ", ""), ("a: it's [[[\nb: ", "[", "]"), ("a: &x !t ", "[", "]"),
        ("{a: [1, {b: ", "[ # ]\n", "]"),
    ],
)  # fmt: skip
def test_a_text_is_refused_at_its_first_level_too_many(start: str, opens: str, closes: str) -> None:
    around = {"": 0, "{a: [1, {b: ": 3}.get(start, 1)
    ends = {"{a: [1, {b: ": "}]}"}.get(start, "")
    fits = start + deep(100 - around, opens, closes) + ends
    assert depth(fits) == 100
    assert yaml_text.too_deep_at(fits, 100) is None
    more = start + deep(101 - around, opens, closes) + ends
    before = start + opens * (100 - around)
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    with pytest.raises(yaml_text.NotYaml) as refused:
        yaml_text.document(more)
    told = f"line {place[0]}, column {place[1]}: maps and lists are nested more than 100 levels deep"
    assert str(refused.value) == told


def test_lines_that_are_indented_ever_deeper() -> None:
    lines = [" " * level + "a:" for level in range(100)]
    assert yaml_text.document("\n".join(lines))
    with pytest.raises(yaml_text.NotYaml, match=r"line 101, column 10[12]: .* more than 100 levels"):
        yaml_text.document("\n".join([*lines, " " * 100 + "a:"]))
    both = [" " * level + "a:\n" + " " * level + "-" for level in range(50)]
    assert yaml_text.document("\n".join(both))


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n" + "".join(" " * indent + "[{\n" for indent in range(2, 200)),
        "a: >-\n  " + "- " * 300,
        "a: '" + "[" * 500 + "'\nb: \"" + "{" * 500 + '"',
        "a: x" + "[" * 500 + "\nb: y\n   [[[[" + "{" * 500,
        "# " + "[" * 500 + "\na: 1 # " + "{" * 500,
        "".join("- [a, b, {c: d}]\n" for _ in range(500)),
        "---\n".join("- - - - [[[[ ]]]]\n" for _ in range(500)),
    ],
)
def test_brackets_that_open_nothing(text: str) -> None:
    assert depth(text) is not None
    assert list(yaml_text.documents(text))


def test_a_text_in_utf_16_is_judged_too() -> None:
    assert yaml_text.document("a: é".encode("utf-16")) == {"a": "é"}
    with pytest.raises(yaml_text.NotYaml, match="more than 100 levels"):
        yaml_text.document(("[" * 200).encode("utf-16"))
    with pytest.raises(yaml_text.NotYaml, match="more than 100 levels"):
        yaml_text.document("[" * 100_000)
    with pytest.raises(yaml_text.NotYaml, match="it is no UTF-8 at byte 3"):
        yaml_text.document(b"a: \xff")
