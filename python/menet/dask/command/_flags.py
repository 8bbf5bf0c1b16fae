"""The parameters of the method: a flag for each that most users meet, `--set` and `--params` for all.

They follow from the description in the core, as those of ``menet fit`` do.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from menet import _core
from menet._settings import Parameter, described
from menet.dask.command._errors import CommandError

GRAPHS = r"auto|chain|grid|grid:[1-9]\d*x[1-9]\d*"
GROUPS = "penalty.feature_groups"
GRAPH = "penalty.feature_graph"

# What a value of every kind is called; text is read by the functions below.
METAVARS = {"number": "X", "whole": "N", "flag": "true|false", "variables": "NAMES", "graph": "GRAPH"}

# What flags take that Python does not: variables count from 1, as `menet fit` counts them, and files are read.
FORMS = {
    "variables": "Names, or numbers from 1 if the data have no names, as age,sex.",
    "graph": "Also a file of edges with one line variable,variable or variable,variable,weight per edge.",
}
GROUPS_HELP = (
    "Groups of variables that enter together: a CSV file with one line variable,group per variable and group. A variable "
    "goes by its name, or by its number from 1 if the data have no names. It may be in several groups. With groups, "
    "--nonzeros counts groups [default: 10]"
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add a group with the flags."""
    group = parser.add_argument_group("Parameters of the method")
    presets = json.loads(_core.describe())["presets"]
    listed = "; ".join(f"{preset['name']} ({preset['about'].rstrip('.')})" for preset in presets)
    group.add_argument("--preset", metavar="NAME", help=f"Parameters that go well together: {listed}")
    for flag, parameter in flags().items():
        group.add_argument(
            flag, dest=parameter.path, metavar=METAVARS.get(parameter.kind, "NAME"), help=_help(parameter)
        )
    group.add_argument("--feature-groups", metavar="FILE", type=Path, help=GROUPS_HELP)
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="Any other parameter, as --set penalty.gamma=3 or --set manifold.kappa=0.2; can be repeated. "
        "`menet params` lists them",
    )
    group.add_argument(
        "--params", metavar="FILE", type=Path, help="A TOML or JSON file with parameters; flags override it"
    )


def flags() -> dict[str, Parameter]:
    """Return the parameters that have a flag: the kind of a stage goes by the stage."""
    common = [parameter for parameter in described().values() if parameter.common]
    named = {parameter.stage if parameter.name == "kind" else parameter.name: parameter for parameter in common}
    return {f"--{name.replace('_', '-')}": parameter for name, parameter in named.items()}


def given(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that the command line sets, by path. Names, types and choices are checked."""
    params: dict[str, Any] = {}
    if args.params is not None:
        params = _spelled_out(_of_file(args.params), f"--params {args.params}")
    texts: dict[str, str] = {}
    flag_of: dict[str, str] = {}
    for flag, parameter in flags().items():
        if getattr(args, parameter.path) is not None:
            texts[parameter.path], flag_of[parameter.path] = getattr(args, parameter.path), flag
    if args.preset is not None:
        texts["preset"] = args.preset
    for pair in args.set:
        name, sign, text = pair.partition("=")
        if not sign:
            raise CommandError(f"--set {pair}: write NAME=VALUE, as --set penalty.gamma=3")
        texts[name.strip()] = text
    params |= _spelled_out(texts, "--set", flag_of, text=True)
    if args.feature_groups is not None:
        params[GROUPS] = args.feature_groups
    _check_kinds(params)
    for flag, file in files(args):
        if not file.is_file():
            also = ", and it is not chain, auto or grid:HEIGHTxWIDTH" if flag == "--feature-graph" else ""
            raise CommandError(f"{flag} {file}: there is no such file{also}; give a CSV file")
    return params
