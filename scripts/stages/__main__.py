"""Write the stages of a fit in Python from the description in the core: their classes, and words in docstrings.

target/venv/bin/python scripts/stages, after `make wheel`. A test fails where the files are not what this writes.
"""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from menet import _core

PACKAGE = Path(__file__).resolve().parents[2] / "python/menet"

DESCRIBED = json.loads(_core.describe())
PARAMETERS = DESCRIBED["parameters"]
STAGES = DESCRIBED["stages"]
NAMES = {"components": "n_components", "nonzeros": "n_nonzeros"}

# Of stages with a class per kind: the names of the classes, and the class that None stands for.
CLASSES = {"target": "{}Target", "penalty": "{}", "refit": "{}Refit", "rule": "{}"}
NONE = {"target": "WhitenedTarget", "penalty": "L1", "refit": "DiscriminantRefit", "rule": "AutoRule"}
SPECIAL = {("refit", "none"): "NoRefit"}

# Numbers that the words of the core name.
LIMITS = {"DENSE_LIMIT": 5000, "GRAM_LIMIT": _core.GRAM_LIMIT}

# What parameters take in Python, by kind, and what there is to say about it.
TYPES = {
    "number": "float",
    "whole": "int",
    "flag": "bool",
    "priors": '{"train", "equal"} or array-like of shape (n_classes,)',
    "factors": "array-like of shape (n_features,)",
    "variables": "list of str or int",
    "groups": "list of lists, sequence or dict",
    "graph": "str or sparse matrix of shape (n_features, n_features)",
}
ANNOTATIONS = {
    "number": "float",
    "whole": "int",
    "flag": "bool",
    "priors": 'Literal["train", "equal"] | ArrayLike',
    "factors": "ArrayLike",
    "variables": "Sequence[str | int]",
    "groups": "Groups",
    "graph": "str | Any",
}
FORMS = {
    "priors": "Numbers are in the order of ``classes_``.",
    "variables": "By name, or by position (counted from 0).",
    "groups": "The variables of every group (names or positions); or one label per variable; or a dict from variables "
    "to a label or a list of labels. A variable may be in several groups.",
    "graph": "As a sparse matrix: the symmetric weights of the edges, at least 0.",
}


def words(text):
    """Return words of the core as a docstring has them."""
    text = re.sub(r'\[?"(\w+_LIMIT)"\]?(\([\w:]+\))?', lambda found: f"{LIMITS[found[1]]:,}", text)
    known = {parameter["name"] for parameter in PARAMETERS} - {"floor", "kind"}
    text = re.sub(r'"(\w+)"', lambda found: f"``{python(found[1])}``" if found[1] in known else found[0], text)
    return text.replace("; none: ", ". None: ")


def python(name):
    return NAMES.get(name, name)


def lowered(text):
    """Return a sentence as it goes on after a colon."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def listed(choices):
    """Return what every choice means."""
    return " ".join(f'"{one["name"]}": {words(lowered(one["about"])).rstrip(".")}.' for one in choices)


def literal(value):
    """Return a value as Python writes it, with the quotes of ruff."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


def typed(kind, default):
    return f"{kind}, optional" if default is None else f"{kind}, default={literal(default)}"


def entry(name, kind, text):
    """Return the entry of a parameter in a docstring, without its indentation."""
    head = wrapped(f"{name} : {kind}", "        ")
    return [*(f"{line} \\" for line in head[:-1]), head[-1], *wrapped(f"    {text}", "    ")]


def wrapped(text, indent):
    return textwrap.wrap(text, 114, subsequent_indent=indent, break_on_hyphens=False)


def choices_type(parameter):
    return "{" + ", ".join(f'"{one["name"]}"' for one in parameter["choices"]) + "}"


def described(parameter):
    """Return the entry of a parameter of a stage, or of one outside the stages."""
    kind = choices_type(parameter) if parameter["choices"] else TYPES[parameter["kind"]]
    parts = [words(parameter["about"]), listed(parameter["choices"]), words(parameter["more"])]
    text = " ".join(filter(None, [*parts, FORMS.get(parameter["kind"])]))
    return entry(python(parameter["name"]), typed(kind, parameter["default"]), text)


def of_stage(stage):
    return [parameter for parameter in PARAMETERS if parameter["stage"] == stage]


def kind_of(stage):
    return next((parameter for parameter in of_stage(stage) if parameter["name"] == "kind"), None)


def class_name(stage, kind):
    return SPECIAL.get((stage, kind)) or CLASSES.get(stage, stage.capitalize()).format((kind or "").capitalize())


def alias(parameter):
    return parameter["stage"].capitalize() + "".join(word.capitalize() for word in parameter["name"].split("_"))


def annotation(parameter):
    kind = alias(parameter) if parameter["choices"] else ANNOTATIONS[parameter["kind"]]
    return f"{kind} | None" if parameter["optional"] else kind


def stage_class(stage, name, kind, summary, parameters):
    """Return the lines of a class."""
    lines = [f"class {name}(Stage):", f'    """{summary}']
    if parameters:
        lines += ["", "    Parameters", "    ----------"]
        lines += [f"    {line}" for parameter in parameters for line in described(parameter)]
        lines += ['    """']
    else:
        lines[-1] += '"""'
    lines += ["", f'    _stage = "{stage}"', *([f'    _kind = "{kind}"'] if kind else [])]
    if parameters:
        signature = ["*", *(f"{p['name']}: {annotation(p)} = {literal(p['default'])}" for p in parameters)]
        lines += ["", f"    def __init__(self, {', '.join(signature)}) -> None:"]
        lines += [f"        self.{p['name']} = {p['name']}" for p in parameters]
    return [*lines, "", ""]


def classes():
    """Return the classes of all stages as text, and those of every stage by kind."""
    lines, known = [], {}
    for stage in STAGES:
        stage, about = stage["name"], words(stage["about"])
        kind = kind_of(stage)
        if stage not in CLASSES:
            name = class_name(stage, None)
            known[stage] = {None: name}
            lines += stage_class(stage, name, None, about, of_stage(stage))
            continue
        kinds = {one["name"]: class_name(stage, one["name"]) for one in kind["choices"]}
        known[stage] = {None: NONE[stage], **kinds}
        rest = [parameter for parameter in of_stage(stage) if parameter is not kind]
        for one in kind["choices"]:
            own = [parameter for parameter in rest if not parameter["of"] or one["name"] in parameter["of"]]
            lines += stage_class(stage, kinds[one["name"]], one["name"], f"The {stage} {listed([one])}", own)
        if NONE[stage] not in kinds.values():
            summary = f"The {stage} left open: {kind['about'].split('none: ')[1]}"
            lines += stage_class(stage, NONE[stage], None, summary, rest)
    return lines, known


def module():
    """Return the text of `_stages.py`, formatted."""
    lines, known = classes()
    head = [
        "# Made by scripts/stages from the description in the core: do not edit.",
        '"""The stages of a fit, one class per stage, or per kind of a stage where kinds have their own parameters."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Sequence",
        "from typing import TYPE_CHECKING, Any, Literal, TypeAlias",
        "",
        "from numpy.typing import ArrayLike",
        "",
        "from menet._stage import Stage",
        "",
        "if TYPE_CHECKING:",
        "    from menet._groups import Groups",
        "",
    ]
    for parameter in PARAMETERS:
        if parameter["choices"]:
            kinds = ", ".join(f'"{one["name"]}"' for one in parameter["choices"])
            head.append(f"{alias(parameter)}: TypeAlias = Literal[{kinds}]")
    tail = ["# The classes of every stage by kind; that of None is what a parameter left None stands for."]
    tail += ["CLASSES: dict[str, dict[str | None, type[Stage]]] = {"]
    for stage, kinds in known.items():
        tail.append(f"    {literal(stage)}: {{" + ", ".join(f"{literal(k)}: {v}" for k, v in kinds.items()) + "},")
    return formatted("\n".join([*head, "", "", *lines, *tail, "}", ""]), "_stages.py")


def formatted(text, name):
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PACKAGE / name), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=PACKAGE).stdout


def of_estimator():
    """Return the entries of an estimator's parameters that the core describes, by name."""
    entries = {python(p["name"]): described(p) for p in PARAMETERS if not p["stage"]}
    _, known = classes()
    for stage in STAGES:
        name, kind = stage["name"], kind_of(stage["name"])
        *objects, last = dict.fromkeys(known[name].values())
        text, default = words(stage["about"]), None
        names = f"{', '.join(objects)} or {last}" if objects else last
        if kind is not None:
            text = " ".join([text, words(kind["about"]), listed(kind["choices"])])
            names, default = f"{choices_type(kind)}, {names}", kind["default"]
        entries[name] = entry(name, typed(names, default), text)
    return entries


def of_preset():
    """Return the entry of the name of a preset, with what it sets."""
    presets = json.loads(_core.presets())
    told = []
    for one in DESCRIBED["presets"]:
        of_both = zip(flat(presets[one["name"]]), flat(presets["default"]), strict=True)
        values = [f"``{path}={literal(value)}``" for (path, value), default in of_both if (path, value) != default]
        told.append(listed([one])[:-1] + (f" ({', '.join(values)})." if values else "."))
    kind = "{" + ", ".join(f'"{name}"' for name in presets) + "}"
    return {"name": entry("name", kind, " ".join(told))}


def flat(params):
    """Return nested parameters as pairs of a path, as `set_params` takes it, and a value."""
    for name, value in params.items():
        if isinstance(value, dict):
            yield from ((name if own == "kind" else f"{name}__{own}", one) for own, one in value.items())
        else:
            yield python(name), value


def documented(text, own):
    """Return the text of a module with these entries in its first list of parameters; other entries stay."""
    head = re.search(r"^( +)Parameters\n +-+\n", text, re.MULTILINE)
    start, indent = head.end(), head[1]
    end = text.index("\n\n", start)
    new = []
    for block in re.split(rf"\n(?={indent}\S)", text[start:end]):
        name = block.split(" : ")[0].strip()
        new.append("\n".join(f"{indent}{line}" for line in own[name]) if name in own else block)
    return text[:start] + "\n".join(new) + text[end:]


def written():
    """Return what every file of the package must be, by name."""
    texts = {name: (PACKAGE / name).read_text(encoding="utf-8") for name in ("_men.py", "_cv.py", "_parameters.py")}
    entries = {"_men.py": of_estimator(), "_cv.py": of_estimator(), "_parameters.py": of_preset()}
    return {"_stages.py": module(), **{name: documented(text, entries[name]) for name, text in texts.items()}}


if __name__ == "__main__":
    for name, text in written().items():
        (PACKAGE / name).write_text(text, encoding="utf-8")
