"""Data to try methods on, compiled in: nothing is fetched."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from menet import _core

__all__ = ["load_digits", "load_leukemia", "load_orl"]

_ORL = """The Database of Faces (formerly ORL) of AT&T Laboratories Cambridge.

400 grey photographs of 40 persons, 10 each, reduced from 112 x 92 to 40 x 40 pixels, row by row, with values from 0 to
255. The classes are the persons, 1 to 40. They may be used freely, with credit to AT&T Laboratories Cambridge.

F. Samaria and A. Harter, "Parameterisation of a stochastic model for human face identification", IEEE Workshop on
Applications of Computer Vision, 1994.
"""

_LEUKEMIA = """Gene expression in acute leukaemia.

38 bone marrow samples, the expression of 5000 named genes. The classes are ALL-B (19 samples), ALL-T (8) and AML (11).
Published with the papers below for research use.

T. R. Golub et al., "Molecular classification of cancer: class discovery and class prediction by gene expression
monitoring", Science 286, 1999, in the selection of J.-P. Brunet et al., "Metagenes and molecular pattern discovery
using matrix factorization", PNAS 101, 2004.
"""

_DIGITS = """Handwritten digits.

1797 images of 8 x 8 pixels with grey values from 0 to 16, row by row. The classes are the digits, 0 to 9. Under
CC BY 4.0.

E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998.
"""


def load_orl(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the ORL faces: 400 photographs of 40 persons, 40 x 40 pixels.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.
    as_frame : bool, default=False
        Whether data and target are pandas objects.

    Returns
    -------
    Bunch
        With ``data`` (400, 1600), ``target`` (400,), ``images`` (400, 40, 40), ``feature_names``, ``target_names``,
        ``frame`` and ``DESCR``; or the tuple.

    Examples
    --------
    >>> from menet.datasets import load_orl
    >>> faces = load_orl()
    >>> faces.images.shape, len(faces.target_names)
    ((400, 40, 40), 40)
    """
    return _load("orl", _ORL, return_X_y, as_frame)


def load_leukemia(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the leukaemia set: 38 samples of 5000 named genes in three classes.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.
    as_frame : bool, default=False
        Whether data and target are pandas objects; the genes' names are then its columns.

    Returns
    -------
    Bunch
        With ``data`` (38, 5000), ``target`` (38,), ``feature_names``, ``target_names``, ``frame`` and ``DESCR``; or the
        tuple.

    Examples
    --------
    >>> from menet.datasets import load_leukemia
    >>> genes = load_leukemia()
    >>> genes.data.shape, genes.feature_names[0]
    ((38, 5000), 'M12759_at')
    """
    return _load("leukemia", _LEUKEMIA, return_X_y, as_frame)


def load_digits(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the handwritten digits: 1797 images of 8 x 8 pixels.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.
    as_frame : bool, default=False
        Whether data and target are pandas objects.

    Returns
    -------
    Bunch
        With ``data`` (1797, 64), ``target`` (1797,), ``images`` (1797, 8, 8), ``feature_names``, ``target_names``,
        ``frame`` and ``DESCR``; or the tuple.

    Examples
    --------
    >>> from menet.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X.shape, y.shape
    ((1797, 64), (1797,))
    """
    return _load("digits", _DIGITS, return_X_y, as_frame)


def _load(name: str, description: str, return_X_y: bool, as_frame: bool) -> Any:
    data, labels, names, shape = _core.builtin_set(name)
    target = np.array([int(label) for label in labels] if labels[0].isdecimal() else labels)
    extra = {}
    if shape is not None:
        height, width = shape
        extra["images"] = data.reshape(-1, height, width)
        names = names or [f"pixel_{row}_{column}" for row in range(height) for column in range(width)]
    frame = None
    if as_frame:
        import pandas as pd

        X, y = pd.DataFrame(data, columns=names), pd.Series(target, name="target")
        frame = pd.concat([X, y], axis=1)
    else:
        X, y = data, target
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=names,
        target_names=np.unique(target),
        DESCR=description,
        **extra,
    )
