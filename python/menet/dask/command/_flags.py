"""One flag per parameter of the method, derived from the estimator: its signature, its types and its docstring.

A flag has the core's name, as in ``menet fit``: ``--nonzeros`` is ``n_nonzeros``.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
from scipy import sparse

import menet
from menet import _core
from menet._choices import PriorsName
from menet._groups import mapping
from menet._settings import core_name, parameter_hints, settings
from menet.dask.command._errors import CommandError

# Every worker has its own number of threads.
OUTSIDE = {"class_weight", "n_jobs", "unlabelled"}

# What flags take that Python does not: variables count from 1, as `menet fit` counts them, and files are read.
NUMBERED = "Names, or numbers from 1 if the data have no names"
FORMS = {
    "always": (
        "NAMES",
        "Variables that are in every model, as age,sex. They have no penalty, and --nonzeros and --panel-size do not "
        f"count them. {NUMBERED}",
    ),
    "never": ("NAMES", f"Variables that are in no model, as X1,X2. {NUMBERED}"),
    "groups": (
        "FILE",
        "Groups of variables that enter together: a CSV file with one line variable,group per variable and group. A "
        "variable goes by its name, or by its number from 1 if the data have no names. It may be in several groups. "
        "With groups, --nonzeros counts groups [default: 10]",
    ),
    "feature_graph": (
        "GRAPH",
        "Which variables are neighbours and should have similar weights: chain (every variable and the next one), "
        "grid:28x28 (pixels of images), or a file of edges with one line variable,variable or variable,variable,weight "
        "per edge",
    ),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add a group with all parameters."""
    group = parser.add_argument_group("Parameters of the method")
    helps = _helps()
    for name, hint in _hints().items():
        group.add_argument(
            flag_of(name),
            dest=name,
            default=None,
            type=_reader(name, hint),
            metavar=_metavar(name, hint),
            help=helps.get(name, "").replace("%", "%%"),
        )


def given(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that flags set, by the names of the estimator. Types and choices are checked."""
    params = {name: getattr(args, name) for name in _hints() if getattr(args, name) is not None}
    for flag, file in files(args):
        if not file.is_file():
            also = ", and it is not chain, auto or grid:HEIGHTxWIDTH" if flag == "--feature-graph" else ""
            raise CommandError(f"{flag} {file}: there is no such file{also}; give a CSV file")
    known = {name: value for name, value in params.items() if name not in FORMS}
    settings(menet.ManifoldElasticNet(**known), without=OUTSIDE)
    return params


def files(args: argparse.Namespace) -> list[tuple[str, Path]]:
    """Return the files that flags of the method name."""
    graph = args.feature_graph
    named = graph is None or graph in ("auto", "chain", "grid") or re.fullmatch(r"grid:[1-9]\d*x[1-9]\d*", graph)
    pairs = [("groups", args.groups), ("feature_graph", None if named else graph)]
    return [(flag_of(name), Path(file)) for name, file in pairs if file is not None]


def of_data(params: dict[str, Any], args: argparse.Namespace, names: list[str] | None, variables: int) -> Any:
    """Return parameters whose variables are looked up: by name, or by number from 1 if the data have no names."""
    read = {flag: str(file) for flag, file in files(args)}
    found = dict(params)
    for name in ("always", "never"):
        if name in params and names is None:
            found[name] = [_position(flag_of(name), text, variables) for text in params[name]]
    if file := read.get("--groups"):
        pairs = _core.read_groups(file, names, variables)
        found["groups"] = mapping([{"name": name, "variables": members} for name, members in pairs])
    if file := read.get("--feature-graph"):
        try:
            edges = _core.read_edges(file, names, variables)
        except ValueError as e:
            raise CommandError(with_flags(str(e) if file in str(e) else f"{file}: {e}")) from None
        rows, columns, weights = zip(*edges, strict=True)
        half = sparse.coo_array((np.array(weights), (rows, columns)), shape=(variables, variables))
        found["feature_graph"] = sparse.csr_array(half + half.T)
    return found


def _position(flag: str, text: str, variables: int) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= variables):
        raise CommandError(
            f"{flag} {text}: the variables have no names; give their numbers, from 1 to {variables}, as 1,4"
        )
    return int(text) - 1


def flag_of(name: str) -> str:
    """Return the flag of a parameter."""
    return "--" + core_name(name).replace("_", "-")


def with_flags(message: str) -> str:
    """Return a message of the estimator with flags for the names of parameters."""
    known = _hints()
    return re.sub(r"`+(\w+)`+", lambda found: flag_of(found[1]) if found[1] in known else found[0], message)


def _hints() -> dict[str, Any]:
    hints = parameter_hints(menet.ManifoldElasticNet)
    return {name: hint for name, hint in hints.items() if name not in OUTSIDE}


def _kinds(hint: Any) -> set[Any]:
    """Return the types that a parameter can have beside None."""
    return {hint} if get_origin(hint) is Literal else set(get_args(hint)) - {type(None)} or {hint}


def _reader(name: str, hint: Any) -> Callable[[str], Any]:
    """Return what reads the value of a flag."""
    kinds = _kinds(hint)
    if name == "priors":
        return lambda text: text if text in get_args(PriorsName) else _numbers(text)
    if name in FORMS:
        return _names if FORMS[name][0] == "NAMES" else str
    if kinds == {bool}:
        return _truth
    if kinds == {int}:
        return _whole
    if kinds == {float}:
        return _number
    if all(get_origin(kind) is Literal for kind in kinds):
        return lambda text: _choice(name, text)
    return _numbers


def _metavar(name: str, hint: Any) -> str:
    kinds = _kinds(hint)
    if name == "priors":
        return "HOW"
    if name in FORMS:
        return FORMS[name][0]
    if kinds == {bool}:
        return "true|false"
    if all(get_origin(kind) is Literal for kind in kinds):
        return "NAME"
    return {frozenset({int}): "N", frozenset({float}): "X"}.get(frozenset(kinds), "NUMBERS")


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} must be true or false")
    return text == "true"


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number") from None


def _numbers(text: str) -> list[float]:
    try:
        return [float(field) for field in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be numbers, as 0.2,0.8") from None


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise argparse.ArgumentTypeError(f"{text!r} has an empty name; separate names by one comma, as age,sex")
    return names


def _choice(name: str, text: str) -> str:
    names = _core.choices()[name]
    if text not in names:
        raise argparse.ArgumentTypeError(f"{text!r} must be one of {', '.join(names)}")
    return text


def _helps() -> dict[str, str]:
    """Return what the estimator's docstring says about every parameter, in the words of a command."""
    text = inspect.getdoc(menet.ManifoldElasticNet) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)^\w+\n-+\n", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(\w+) : (.*)\n((?:(?: +.*)?\n)*)", section[1] if section else "", re.MULTILINE)
    helps = {name: _help(kind, " ".join(body.split())) for name, kind, body in entries}
    return helps | {name: text for name, (_, text) in FORMS.items()}


def _help(kind: str, body: str) -> str:
    """Return the help of a flag: what it does, its choices and its default."""
    known = _hints()

    def code(found: re.Match[str]) -> str:
        name, _, value = found[1].partition("=")
        value = value.strip('"')
        return f"{flag_of(name)} {value}".strip() if name in known else found[1]

    body = re.sub(r"``?([^`]+)``?", code, body)
    body = re.sub(r'"([^"]+)"', r"\1", body).replace("None: ", "Default: ").replace("are None", "are not given")
    choices = re.match(r"\{(.*?)\}", kind)
    if choices:
        numbers = ["or numbers, as 0.2,0.8"] if "array-like" in kind else []
        body = f"{body} [possible values: " + ", ".join([*re.findall(r'"([^"]+)"', choices[1]), *numbers]) + "]"
    default = re.search(r'default="?([^",]+)"?$', kind)
    return (
        f"{body} [default: {default[1].lower() if default[1] in ('True', 'False') else default[1]}]"
        if default
        else body
    )
