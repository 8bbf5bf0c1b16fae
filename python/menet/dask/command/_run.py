"""What the subcommands do."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy import sparse

from menet import _core
from menet._groups import mapping
from menet._input import naming_variables
from menet.dask import ManifoldElasticNet, progress
from menet.dask._input import DaskSamples
from menet.dask.command import _write
from menet.dask.command._cluster import connected
from menet.dask.command._errors import CommandError, listed
from menet.dask.command._read import Source, classes, find, read


def fit(args: Namespace) -> None:
    """Learn a model and save it."""
    given = [(path, vars(args)[path]) for path, *_ in _core.param_flags() if vars(args)[path] is not None]
    params = _core.CommandParams(given, args.set, args.params)
    edges = params.edges_file()
    files = [("--params", args.params), ("--feature-groups", args.feature_groups), ("--feature-graph", edges)]
    _write.check_target("--model", args.model, _inputs(args, *files), overwrite=args.overwrite)
    if str(args.model) == "-":
        raise CommandError("--model -: a model cannot be written to standard output; name a file")
    with connected(args, args.model.absolute().parent):
        source = _noted(args, read(args))
        if source.labels is None:
            problem = f"there is no label column {json.dumps(args.label)}; name it with --label, or give --labels FILE"
            raise CommandError(f"{args.data}: {problem}")
        men = _estimator(params, args, source)
        with progress() if sys.stderr.isatty() and not (args.quiet or args.json) else nullcontext():
            men.fit(source.given(), classes(source.labels, args.data))
        men.save(args.model)
    (n, p), panel, kkt = source.samples.shape, len(men.panel_), men.kkt_violation_.tolist()
    always = [name if isinstance(name, str) else str(name + 1) for name in men.always_.tolist()]
    report = {
        "n": n,
        "p": p,
        "classes": len(men.classes_),
        "components": men.n_components_,
        "panel_size": panel,
        "nonzeros": men.n_nonzeros_.tolist(),
        "always": always,
        "groups": men.selected_groups_,
        "kkt": kkt,
        "levels": men.levels_.tolist(),
        "penalty": json.loads(men._model.params())["penalty"],
        **json.loads(men._model.facts()),
    }
    lines = [
        f"{n} samples of {p} variables in {report['classes']} classes, fitted in {sum(men.seconds_.values()):.2f} s",
        f"panel of {panel} distinct variables; refit {men.refit_['refit']}; rule {men.rule_}",
        f"always in, not counted in the panel: {listed(always) or 'none'}",
        f"certificate: relative distance from the exact optimum: {max(kkt):.1e}; below 1e-9 is exact up to rounding",
        f"saved to {args.model}",
    ]
    _say(args, "\n".join(lines), report)


def transform(args: Namespace) -> None:
    """Project data."""
    _apply(args, _projected, (".csv", ".parquet", ".npy"), "projected")


def predict(args: Namespace) -> None:
    """Classify data."""
    _apply(args, _classified, (".csv", ".parquet"), "classified")


# Lazy arrays, the columns of results, and what makes these columns of a chunk of all arrays.
Results = tuple[list[Any], list[pa.Field], Callable[..., list[Any]]]


def _projected(args: Namespace, men: Any, samples: DaskSamples) -> Results:
    scores = men.transform(samples)
    axes = [pa.field(f"z{k + 1}", pa.from_numpy_dtype(scores.dtype)) for k in range(men.n_components_)]
    return [scores], axes, lambda z: list(z.T)


def _classified(args: Namespace, men: Any, samples: DaskSamples) -> Results:
    names = np.array(_core.label_texts(men.classes_.tolist()), dtype=object)
    numbers = ["probability", *(f"probability:{name}" for name in names if args.probabilities)]

    def columns(labels: NDArray[Any], probabilities: NDArray[Any]) -> list[Any]:
        places = np.searchsorted(men.classes_, labels)
        likely = probabilities[np.arange(len(labels)), places]
        return [names[places], likely, *(probabilities.T if args.probabilities else [])]

    fields = [pa.field("label", pa.string()), *(pa.field(name, pa.float64()) for name in numbers)]
    return [men.predict(samples), men.predict_proba(samples)], fields, columns


def _apply(args: Namespace, results: Callable[..., Results], endings: tuple[str, ...], done: str) -> None:
    """Write what a model says of data."""
    ending = _write.check_ending(args.out, endings)
    _write.check_target("--out", args.out, _inputs(args, ("--model", args.model)), overwrite=args.overwrite)
    with connected(args, args.out.absolute().parent) as client:
        source, men = _matched(args)
        arrays, fields, columns = results(args, men, source.given())
        lengths = list(arrays[0].chunks[0])
        # As with `menet transform`, .npy files hold no names of samples.
        if source.ids is None or ending == ".npy":
            blocks = (columns(*computed) for computed in _computed(client, source, arrays))
        else:
            fields = [pa.field(source.id_name, pa.string()), *fields]
            blocks = ([ids, *columns(*rest)] for ids, *rest in _computed(client, source, [source.ids, *arrays]))
        _write.write(args.out, ending, pa.schema(fields), lengths, blocks)
    _say(args, f"{sum(lengths)} samples {done}: {args.out}", {"n": sum(lengths), "components": men.n_components_})


def _estimator(params: _core.CommandParams, args: Namespace, source: Source) -> ManifoldElasticNet:
    """Return the estimator with the parameters of the command line, whose variables are looked up in the data."""
    p = source.samples.shape[1]
    tables = params.tables(source.variables, p, args.feature_groups)
    penalty = tables["penalty"]
    penalty["feature_groups"] = mapping(penalty.get("feature_groups"))
    if isinstance(edges := penalty.get("feature_graph"), list):
        rows, columns, weights = zip(*edges, strict=True)
        half = sparse.coo_array((weights, (rows, columns)), shape=(p, p))
        penalty["feature_graph"] = sparse.csr_array(half + half.T)
    men = ManifoldElasticNet()
    men._take_params(tables)
    return men


def _computed(client: Any, source: Source, arrays: list[Any]) -> Iterator[list[Any]]:
    """Compute arrays with the same chunks, and give the chunks of all of them in order, one at a time."""
    parts = zip(*(array.to_delayed().ravel() for array in arrays), strict=True)
    futures = client.compute([delayed(list)(list(part)) for part in parts])
    try:
        with naming_variables(source.variables):
            for future in futures:
                yield future.result()
                future.release()
    finally:
        client.cancel(futures, force=True)


def _matched(args: Namespace) -> tuple[Source, Any]:
    """Read the data of a model, and return the form of the model that they are for: tables need its panel alone."""
    form = men = ManifoldElasticNet.load(args.model)
    if hasattr(men, "feature_names_in_") and len(men.panel_) and not men._model.fills_from_neighbors():
        form = men.panel_model()
    needed = form.feature_names_in_.tolist() if hasattr(form, "feature_names_in_") else None
    source = _noted(args, read(args, needed))
    form = men if source.variables is None else form
    if (p := source.samples.shape[1]) != form.n_features_in_:
        problem = f"it has {p} variables, but the model has {form.n_features_in_}; give data with the same variables"
        raise CommandError(f"{args.data}: {problem}")
    return source, form


def _noted(args: Namespace, source: Source) -> Source:
    """Print what is doubtful about how data were read."""
    for line in [] if args.quiet else source.notices:
        print(f"note: {line}", file=sys.stderr)
    return source


def _inputs(args: Namespace, *more: tuple[str, Any]) -> list[tuple[str, Path]]:
    """Return the files and folders that the command reads, and refuse those that are not there."""
    _, files = find(args.data)
    data = [Path(args.data)] if Path(args.data).is_dir() else files
    options = [(option, Path(file)) for option, file in [("--labels", args.labels), *more] if file is not None]
    if missing := [f"{option} {file}" for option, file in options if not file.exists()]:
        raise CommandError(f"{missing[0]}: there is no such file; name one that exists")
    return [*(("--data", file) for file in data), *options]


def _say(args: Namespace, text: str, report: dict[str, Any]) -> None:
    """Print what was done, for people or as JSON."""
    if args.json or not args.quiet:
        print(json.dumps(report) if args.json else text)
