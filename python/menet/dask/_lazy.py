"""Projections and decisions of Dask samples: lazy arrays whose sizes and types are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from menet import _core
from menet.dask import _tasks
from menet.dask._engine import clear_errors, current_client
from menet.dask._input import DaskSamples

# Larger models go to the workers once, and not with the tasks.
LARGE = 1 << 20


def transform(model: _core.Model, given: DaskSamples) -> da.Array:
    """Return the projected samples."""
    return _mapped("project", _project, model, given, given.X.dtype, len(model.components()))


def predict(model: _core.Model, classes: NDArray[Any], given: DaskSamples) -> da.Array:
    """Return the class of every sample."""
    return _mapped("predict", _predict, model, given, classes.dtype, None, classes)


def log_probabilities(model: _core.Model, classes: NDArray[Any], given: DaskSamples) -> da.Array:
    """Return the log-probability of every class."""
    return _mapped("probabilities", _log_probabilities, model, given, np.dtype(float), len(classes))


def decision_values(model: _core.Model, classes: NDArray[Any], given: DaskSamples) -> da.Array:
    """Return the decision value of every class."""
    return _mapped("decisions", _decision_values, model, given, np.dtype(float), len(classes))


def seen(model: _core.Model, given: DaskSamples) -> da.Array:
    """Return how many samples of every chunk the model was fitted to."""
    chunks = ((1,) * len(given.X.chunks[0]),)
    return given.X.map_blocks(
        _seen, _sent(model), dtype=np.int64, meta=np.empty(0, np.int64), drop_axis=1, chunks=chunks
    )


def _mapped(
    name: str,
    function: Callable[..., Any],
    model: _core.Model,
    given: DaskSamples,
    dtype: Any,
    width: int | None,
    *more: Any,
) -> da.Array:
    rows = given.X.chunks[0]
    how: dict[str, Any] = {"drop_axis": 1, "chunks": (rows,)} if width is None else {"chunks": (rows, (width,))}
    meta = np.empty((0,) if width is None else (0, 0), dtype=dtype)
    arguments = (_located, _sent(model), function, *more)
    return given.X.map_blocks(*arguments, dtype=dtype, meta=meta, name=f"{name}-{_token()}", **how)


def _located(x: Any, model: _core.Model, function: Callable[..., Any], *more: Any, block_info: Any = None) -> Any:
    """Call a function below; an error about a value names its row among all."""
    try:
        return function(x, model, *more)
    except ValueError as e:
        place = getattr(e, "place", None)
        if place is None or not block_info:
            raise
        (row, column), start = place, block_info[0]["array-location"][0][0]
        error = ValueError(str(e).replace(f"row {row}, column", f"row {row + start}, column"))
        error.place = (row + start, column)  # type: ignore[attr-defined]
        raise error from None


def _token() -> str:
    import uuid

    return uuid.uuid4().hex


def _sent(model: _core.Model) -> Any:
    """Return the model as tasks get it: a future on the cluster if it is large."""
    client = current_client()
    if client is not None and len(model.to_bytes()) > LARGE:
        with clear_errors("while the model was sent to the workers", client):
            return delayed(client.scatter(model, broadcast=True, hash=False))
    return delayed(model, pure=False)


def _project(x: Any, model: _core.Model) -> Any:
    x = _tasks.plain(x)
    return model.project(x, _tasks.threads(), x.dtype == np.float32)


def _scores(x: Any, model: _core.Model) -> Any:
    return model.project(_tasks.plain(x), _tasks.threads(), False)


def _predict(x: Any, model: _core.Model, classes: NDArray[Any]) -> Any:
    return classes[model.classify(_scores(x, model), _tasks.threads())]


def _log_probabilities(x: Any, model: _core.Model) -> Any:
    return model.log_probabilities(_scores(x, model), _tasks.threads())


def _decision_values(x: Any, model: _core.Model) -> Any:
    return model.decision_values(_scores(x, model), _tasks.threads())


def _seen(x: Any, model: _core.Model) -> Any:
    return np.array([model.seen(_tasks.plain(x), _tasks.threads())])
