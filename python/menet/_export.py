"""Models for other programs: ONNX, JSON and SQL."""

from __future__ import annotations

import errno
import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from menet import _core


def file_path(file: str | PathLike[str]) -> Path:
    """Return the path to write to, or raise if its folder does not exist."""
    if os.fsdecode(file) == "-":
        raise ValueError("`file` is '-', but must be the path of a file: Python does not write to standard output")
    # Absolute, so that no name is taken for standard output.
    path = Path(os.fsdecode(file)).absolute()
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    return path


class Exports:
    """Methods that export a fitted model."""

    def _model_of_fit(self) -> _core.Model:
        raise NotImplementedError

    def to_onnx(self, dtype: Any = "float32") -> bytes:
        """Return the model as the bytes of an ONNX file.

        The graph takes all variables of samples as ``X``; that of ``panel_model()`` takes the panel alone. It gives
        ``label``, ``probabilities`` (a column per class) and ``scores`` (a column per axis). It computes in double
        precision. :mod:`menet.onnx` is for pipelines.

        Parameters
        ----------
        dtype : {"float32", "float64"}, default="float32"
            Precision of ``X`` and of the results.

        Returns
        -------
        bytes
            What ``Path("model.onnx").write_bytes`` writes and ``onnxruntime.InferenceSession`` takes.
        """
        precision = np.dtype(dtype)
        if precision not in (np.float32, np.float64):
            raise ValueError(f"`dtype` is {dtype!r}, but must be 'float32' or 'float64'")
        return _core.to_onnx(self._model_of_fit(), precision == np.float64)

    def to_json(self) -> str:
        """Return the model as JSON: the panel with means and weights, and the rule.

        Returns
        -------
        str
            One JSON object. Numbers have all their digits.
        """
        return _core.to_json(self._model_of_fit())

    def to_sql(self, table: str) -> str:
        """Return the model as a SELECT that classifies every row of a table.

        It adds the columns ``axis_1`` and so on, ``value_1`` and so on (one per class, larger for likelier ones) and
        ``label``. With the rule "nearest", which would need all training samples, it compares with class centroids
        instead, and the last column is ``nearest_centroid``.

        Parameters
        ----------
        table : str
            Name of the table. Its columns have the names of the variables.

        Returns
        -------
        str
            The statement, in SQL that DuckDB, SQLite and PostgreSQL take.
        """
        return _core.to_sql(self._model_of_fit(), table)
