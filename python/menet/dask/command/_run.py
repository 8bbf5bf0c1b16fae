"""What the subcommands do."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.delayed import delayed

from menet.dask import ManifoldElasticNet, progress
from menet.dask.command import _classes, _flags, _write
from menet.dask.command._cluster import ClusterOptions, connected
from menet.dask.command._columns import ColumnOptions
from menet.dask.command._errors import CommandError, listed, quoted
from menet.dask.command._read import Options, find, read
from menet.dask.command._source import Source

if TYPE_CHECKING:
    from distributed import Client


def fit(args: argparse.Namespace) -> None:
    """Learn a model and save it."""
    params = _flags.given(args)
    if str(args.model) == "-":
        raise CommandError("--model -: a model cannot be written to standard output; name a file")
    _write.check_target("--model", args.model, [*_inputs(args), *_flags.files(args)], overwrite=args.overwrite)
    if args.model.is_dir():
        raise CommandError(f"--model {args.model}: this is a folder; name a file")
    with connected(_where(args), args.model.absolute().parent):
        source = _source(args, variables=None)
        column = f"there is no label column {quoted(args.label)}; name it with --label, or give --labels FILE"
        labels = source.classes(
            column if source.variables is not None else "an array has no labels; give --labels FILE"
        )
        men = ManifoldElasticNet(**_flags.of_data(params, args, source.variables, source.samples.shape[1]))
        with _bars(args):
            men.fit(source.given(), labels)
        men.save(args.model)
    n, p = source.samples.shape
    say(args, f"{_summary(men, n, p)}\nsaved to {args.model}", _report(men, n, p))


def transform(args: argparse.Namespace) -> None:
    """Project data."""
    ending = _target(args, texts=False)
    men = _model(args.model)
    with connected(_where(args), args.out.absolute().parent) as client:
        source, men = _matched(args, men)
        scores = men.transform(source.given())
        names = [f"z{k + 1}" for k in range(men.n_components_)]
        # As with `menet transform`, arrays hold no names of samples.
        table = source.variables is not None
        ids = source.ids if ending != ".npy" and table else None
        header = _write.Header([] if ids is None else [source.id_name], names, list(scores.chunks[0]), scores.dtype)
        parts = [] if ids is None else [ids]
        blocks = (_write.Block([*texts, *z.T]) for *texts, z in _computed(args, client, source, [*parts, scores]))
        _write.write(args.out, ending, header, blocks, table=table)
    n = sum(header.lengths)
    say(args, f"{n} samples on {len(names)} axes: {args.out}", {"n": n, "components": len(names)})


def predict(args: argparse.Namespace) -> None:
    """Classify data."""
    ending = _target(args, texts=True)
    men = _model(args.model)
    with connected(_where(args), args.out.absolute().parent) as client:
        source, men = _matched(args, men)
        samples = source.given()
        decided = [men.predict(samples), men.predict_proba(samples)]
        classes = [_classes.of_value(value) for value in men.classes_.tolist()]
        numbers = ["probability", *(f"probability:{name}" for name in classes if args.probabilities)]
        texts = ["label"] if source.ids is None else [source.id_name, "label"]
        header = _write.Header(texts, numbers, list(decided[1].chunks[0]), np.dtype(np.float64))
        parts = [] if source.ids is None else [source.ids]

        def block(*computed: Any) -> _write.Block:
            *ids, labels, probabilities = computed
            places = np.searchsorted(men.classes_, labels)
            likely = probabilities[np.arange(len(labels)), places]
            every = probabilities.T if args.probabilities else []
            return _write.Block([*ids, np.array(classes, dtype=object)[places], likely, *every])

        blocks = (block(*computed) for computed in _computed(args, client, source, [*parts, *decided]))
        _write.write(args.out, ending, header, blocks, table=True)
    n = sum(header.lengths)
    say(args, f"{n} samples classified: {args.out}", {"n": n})


def _computed(args: argparse.Namespace, client: Client, source: Source, arrays: list[Any]) -> Iterator[list[Any]]:
    """Compute arrays with the same chunks, and give the chunks of all of them in order.

    One chunk at a time is in this process; others wait with the workers.
    """
    if len({array.chunks[0] for array in arrays}) > 1:
        raise CommandError("the chunks of results differ; this is a fault of menet.dask, please report it", code=1)
    parts = zip(*(array.to_delayed().ravel() for array in arrays), strict=True)
    futures = client.compute([delayed(list)(list(part)) for part in parts])
    shown = _shows(args)
    try:
        for k, future in enumerate(futures):
            try:
                yield future.result()
            except ValueError as e:
                raise _placed(e, source) from None
            future.release()
            if shown:
                print(f"\rchunk {k + 1} of {len(futures)}", end="", file=sys.stderr, flush=True)
    finally:
        client.cancel(futures, force=True)
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _placed(e: ValueError, source: Source) -> ValueError:
    """Return an error about a value with the file and the name of its variable."""
    place = getattr(e, "place", None)
    if place is None:
        return e
    row, column = place
    variable = f"column {column}" if source.variables is None else f"variable {quoted(source.variables[column])}"
    named_place = f"row {row}, {variable} (rows are counted from 0)"
    return ValueError(f"{source.name}: " + str(e).replace(f"row {row}, column {column} (counted from 0)", named_place))


def _source(args: argparse.Namespace, variables: Any = None) -> Source:
    """Read the data; `variables` are the names of those that a model needs."""
    decimal = {"point": ".", "comma": ","}.get(args.decimal, args.decimal)
    if args.header is False:
        variables = None
    wanted = ColumnOptions(
        args.label, args.id, tuple(args.drop), None if variables is None else tuple(map(str, variables))
    )
    source = read(args.data, Options(wanted, args.rows, args.labels, args.delimiter, decimal, args.header))
    for line in source.notices:
        if not args.quiet:
            print(f"note: {line}", file=sys.stderr)
    return source


def _matched(args: argparse.Namespace, men: Any) -> tuple[Source, Any]:
    """Read the data of a model, and return the form of the model that they are for: tables need its panel alone."""
    on_panel, named = men, hasattr(men, "feature_names_in_")
    if named and len(men.panel_) and not men._model.fills_from_neighbors():
        on_panel = men.panel_model()
    source = _source(args, on_panel.feature_names_in_ if named else None)
    form = on_panel if named and source.variables is not None and args.header is not False else men
    if source.samples.shape[1] != form.n_features_in_:
        raise CommandError(
            f"{args.data}: it has {source.samples.shape[1]} variables, but the model {args.model} has "
            f"{form.n_features_in_}; give data with the same variables"
        )
    return source, form


def _inputs(args: argparse.Namespace) -> list[tuple[str, Path]]:
    """Return the files and folders that the command reads, and refuse data that are not there."""
    _, files = find(args.data)
    path = Path(args.data)
    inputs = [("--data", path)] if path.is_dir() else [("--data", file) for file in files]
    if args.labels is not None:
        inputs.append(("--labels", args.labels))
    return inputs


def _target(args: argparse.Namespace, *, texts: bool) -> str:
    """Check where to write, before any work."""
    ending = _write.check_ending(args.out, texts=texts)
    _write.check_target("--out", args.out, [("--model", args.model), *_inputs(args)], overwrite=args.overwrite)
    return ending


def _where(args: argparse.Namespace) -> ClusterOptions:
    return ClusterOptions(args.scheduler, args.workers, args.threads, args.memory, args.temporary)


def _model(file: Path) -> Any:
    if not file.is_file():
        raise CommandError(f"--model {file}: there is no such file; `fit` writes one")
    return ManifoldElasticNet.load(file)


def _shows(args: argparse.Namespace) -> bool:
    return sys.stderr.isatty() and not (args.quiet or args.json)


def _bars(args: argparse.Namespace) -> contextlib.AbstractContextManager[Any]:
    return progress() if _shows(args) else contextlib.nullcontext()


def say(args: argparse.Namespace, text: str, report: dict[str, Any]) -> None:
    """Print what was done, for people or as JSON."""
    if args.json:
        print(json.dumps(report))
    elif not args.quiet:
        print(text)


def _summary(men: Any, n: int, p: int) -> str:
    """Return what a fit found, as ``menet fit`` says it."""
    size, refit = len(men.panel_), men.refit_
    chosen = f", chosen from {refit['candidates']} candidates" if refit["candidates"] > size else ""
    variables = "variable" if size == 1 else "variables"
    lines = [
        f"{n} samples of {p} variables in {len(men.classes_)} classes, fitted in {sum(men.seconds_.values()):.2f} s",
        f"panel of {size} distinct {variables}{chosen}; refit {refit['refit']}; rule {men.rule_}",
        *_chosen(men),
        "",
        "axis  variables",
        *(f"{k + 1:<4}  {count:>9}" for k, count in enumerate(men.n_nonzeros_.tolist())),
        "",
        f"certificate: relative distance from the exact optimum: paths {men.kkt_violation_.max():.1e}; below 1e-9 is "
        "exact up to rounding",
        "",
        *_table("stage", "seconds", [(stage, f"{seconds:.2f}") for stage, seconds in men.seconds_.items()]),
        "",
    ]
    return "\n".join(lines)


def _chosen(men: Any) -> list[str]:
    """Return what the user decided about variables and the penalty, one line each."""
    lines = []
    if always := _always(men):
        lines.append(f"always in, not counted in the panel: {listed(always)}")
    if men.penalty != "l1":
        lines.append(f"penalty: {men.penalty}")
    for k, groups in enumerate(men.selected_groups_ or []):
        lines.append(f"groups of axis {k + 1}: {listed(groups) if groups else 'none'}")
    return lines


def _always(men: Any) -> list[str]:
    """Return the variables that are always in, by name, or by number from 1 if they have no names."""
    return [name if isinstance(name, str) else str(name + 1) for name in men.always_.tolist()]


def _table(left: str, right: str, rows: list[tuple[str, str]]) -> list[str]:
    """Return the lines of a table with two columns."""
    width = max(len(left), *(len(name) for name, _ in rows)) if rows else len(left)
    numbers = max(len(right), *(len(value) for _, value in rows)) if rows else len(right)
    return [f"{name:<{width}}  {value:>{numbers}}" for name, value in [(left, right), *rows]]


def _report(men: Any, n: int, p: int) -> dict[str, Any]:
    """Return what a fit found, with the keys of ``menet fit --json``."""
    return {
        "n": n,
        "p": p,
        "classes": len(men.classes_),
        "components": men.n_components_,
        "nonzeros": men.n_nonzeros_.tolist(),
        "kkt": men.kkt_violation_.tolist(),
        "levels": men.levels_.tolist(),
        "panel_size": len(men.panel_),
        "always": _always(men),
        "groups": men.selected_groups_,
        "penalty": men.penalty,
        "refit": men.refit_,
        "rule": men.rule_,
        "definiteness": men.definiteness_,
        "regime": men.regime_,
        "cg_residual": men.cg_residual_,
        "seconds": men.seconds_,
    }
