"""How far a model can be trusted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from numbers import Integral
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from menet import _core, _labels
from menet._anndata import refuse
from menet._batches import batch_names, missing
from menet._exact import check_mask, validated
from menet._found import validation_of
from menet._input import COPIES_IN_A_FIT, Samples, naming_variables, sparse_or_dense
from menet._men import ManifoldElasticNet
from menet._procedures import Procedures, at_least, inner_folds, pairs_of, short
from menet._running import threads, warn_user
from menet._settings import count, flag, number
from menet._training import Training
from menet._validation import Validation
from menet._weights import SampleWeighting, Weighted, counting


def validate(
    estimator: Any,
    X: Samples,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    batch: ArrayLike | None = None,
    leave_one_group_out: bool = False,
    n_splits: int = 5,
    n_repeats: int = 10,
    n_permutations: int = 1000,
    early_stopping: bool = True,
    n_pairs: int = 50,
    threshold: float = 0.75,
    false_selections: float = 1.0,
    largest_panel: int = 100,
    compare: Any = (),
    out: str | PathLike[str] | None = None,
    link: str | None = None,
    sample_names: Iterable[Any] | None = None,
    image_shape: tuple[int, int] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Validation:
    """Find out how far a model can be trusted.

    It answers three questions. How good is the model on samples that it has not seen? (Repeated, stratified
    cross-validation of the whole procedure: every choice is made inside the training part.) Could that be chance? (The
    whole procedure on permuted labels.) Would other samples select the same variables? (The selection in half-samples.)

    The command ``menet validate`` does the same, with the same numbers.

    Parameters
    ----------
    estimator : estimator or None
        What to validate. A `ManifoldElasticNet` is fitted with its settings as they are. A `ManifoldElasticNetCV`
        chooses its settings inside every training part; its ``cv`` must be a number of folds, and the folds are drawn
        by ``validate``. None chooses from the lists of the command ``menet validate``. Any other classifier of
        scikit-learn's kind is cloned and fitted in every fold; there is no panel and no stability then. Random states
        that are None are set from `random_state`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples. NaN stands for a missing value if the estimator fills them (``Prepare(impute=...)``). The columns of a
        frame name the variables. A classifier gets frames if it may look at the names or types of columns: your own
        classes, `ColumnTransformer` and the like.
    y : array-like of shape (n_samples,)
        The class of every sample.
    sample_weight : array-like of shape (n_samples,), optional
        How much every sample counts in the fits of menet's own methods. Scores count every sample once.
    groups : array-like of shape (n_samples,), optional
        The group of every sample, such as the patient, the batch or the study. Samples of one group stay together.
        Copies of a sample stay together, too, and groups that share copies are one group.
    batch : array-like of shape (n_samples,), optional
        The batch of every sample, such as a plate or a study. Our own methods subtract the mean of every batch, learned
        inside the training part; a batch that is held out whole is centred by its own samples. Other classifiers do not
        see it. To hold out whole batches, give them as `groups`, too.
    leave_one_group_out : bool, default=False
        Whether to hold out one group at a time, instead of `n_splits` folds and `n_repeats` repeats.
    n_splits : int, default=5
        Folds of the cross-validation, at least 2. More than there are samples, or groups: as many as there are.
    n_repeats : int, default=10
        How many times the cross-validation is repeated with other folds.
    n_permutations : int, default=1000
        Largest number of permutations of the labels. 0: no test.
    early_stopping : bool, default=True
        Whether the permutation test stops when its answer is clear. The smallest p-value is then 0.01.
    n_pairs : int, default=50
        Pairs of half-samples for the stability of the selection. 0: none.
    threshold : float, default=0.75
        A variable is stable if so many of the half-samples select it; more than 0.5, at most 1.
    false_selections : float, default=1.0
        How many false selections to accept in the stable panel. This decides how many variables a half-sample selects.
    largest_panel : int, default=100
        Largest panel whose stability is computed.
    compare : sequence or dict, default=()
        Other methods to compare on the same folds: names, pairs of a name and an estimator, or a dict of estimators.
        Names are "l1-logistic", "anova-lda", "random-forest" and the methods of ``menet evaluate``, such as "pca",
        "flda", "spca" or "men". Methods with a name choose their settings inside the training part.
    out : path-like, optional
        Folder for ``report.html``, tables and figures. A stopped run continues in its folder. None: nothing is written.
    link : str, optional
        Address of a variable in the report, with ``{name}`` in it.
    sample_names : iterable, optional
        The names of the samples. None: the index of a frame, unless it only counts the rows.
    image_shape : tuple of int, optional
        Height and width, if the samples are images: the report then draws the panel as a picture.
    random_state : int or RandomState, default=0
        The seed of all random choices.
    n_jobs : int, optional
        Number of threads. None: 1, unless `joblib.parallel_config` sets another number. -1: all cores. The result does
        not depend on it. A classifier of scikit-learn runs on one core per fold.
    verbose : bool, default=False
        Whether to report progress on the standard error stream.

    Returns
    -------
    Validation
        The scores with their intervals, the permutation test, the stability, the panel, the comparison and the final
        model.

    See Also
    --------
    menet.Validation : The result.
    menet.ManifoldElasticNetCV : Chooses settings, without an honest score.

    Notes
    -----
    Intervals take the sample (or the group, if there are groups) as the unit, so that repeats do not narrow them.
    ``words`` in the result says which intervals they are, in the form of a methods section.

    In a folder, a classifier of scikit-learn is recognised by its class, parameters and package versions. If you change
    the code of your own class, use another folder.

    Examples
    --------
    >>> import menet
    >>> from menet.datasets import load_leukemia
    >>> X, y = load_leukemia(return_X_y=True, as_frame=True)
    >>> men = menet.ManifoldElasticNet(panel_size=10)
    >>> found = menet.validate(men, X, y, n_repeats=2, n_permutations=19, n_pairs=10)
    >>> found.balanced_accuracy.mean > 0.8
    True
    >>> found.p_value
    0.05
    >>> [entry.name for entry in found.panel][:1], len(found.panel)
    (['X03934_at'], 10)
    """
    how = {
        "folds": at_least("n_splits", n_splits, 2),
        "repeats": at_least("n_repeats", n_repeats, 1),
        "leave_one_group_out": flag("leave_one_group_out", leave_one_group_out),
        "permutations": at_least("n_permutations", n_permutations, 0),
        "early_stopping": flag("early_stopping", early_stopping),
        "pairs": at_least("n_pairs", n_pairs, 0),
        "largest_panel": at_least("largest_panel", largest_panel, 1),
        "threshold": number("threshold", threshold),
        "false_selections": number("false_selections", false_selections),
        "seed": _seed(random_state),
    }
    if not 0.5 < how["threshold"] <= 1.0:
        raise ValueError(f"`threshold` is {threshold}, but must be above 0.5 and at most 1")
    if not 0.0 < how["false_selections"] < np.inf:
        raise ValueError(f"`false_selections` is {false_selections}, but must be above 0")
    if how["leave_one_group_out"] and groups is None:
        raise ValueError("`leave_one_group_out` is True, but there are no `groups`: give the group of every sample")
    refuse(X, "menet.validate")
    given, others = X, pairs_of(compare)
    # Knows the variables, and becomes the final model.
    model = ManifoldElasticNet(n_jobs=n_jobs)
    X, y = validated(model, X, y)
    model.classes_, codes = _labels.coded(y)
    members = _numbered(groups, len(codes))
    own = estimator.class_weight if isinstance(estimator, Weighted) else None
    counts = counting(X, codes, model.classes_, sample_weight, own)
    batches = batch_names(batch, len(codes))
    names = getattr(model, "feature_names_in_", None)
    samples = _sample_names(sample_names, given, len(codes))
    shape = None if image_shape is None else tuple(count("image_shape", side, least=1) for side in image_shape)
    workers = threads(n_jobs)
    procedures = Procedures(given, X, model.classes_, members, inner_folds(estimator))
    described = [procedures.first(estimator), *(procedures.other(name, one) for name, one in others)]
    # BLAS and OpenMP do not start threads beside ours, and do not depend on how many we have.
    with naming_variables(names), threadpool_limits(limits=1) if procedures.brought else nullcontext():
        found = _core.validate(
            described,
            how,
            sparse_or_dense(X, copies=COPIES_IN_A_FIT * workers),
            {
                "codes": codes,
                "classes": [str(name) for name in model.classes_.tolist()],
                "label_kind": _labels.kind_of(model.classes_),
                "variables": None if names is None else names.tolist(),
                "samples": samples,
                "shape": shape,
                "groups": None if members is None else members.tolist(),
                "counting": counts,
                "batches": batches,
            },
            {
                "out": None if out is None else fspath(out),
                "link": link,
                "command": [_call(estimator, others, how, groups is not None)],
                "words": procedures.words(estimator, others),
            },
            _progress() if flag("verbose", verbose) else None,
            workers,
        )
    if found["copies"] is not None:
        warn_user(f"menet.validate: {found['copies']}", UserWarning)
    fitted = _fitted(model, found["model"], X, codes, counts, batches, workers)
    return validation_of(found, model.classes_, codes, samples, names, fitted)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        return count("random_state", random_state)
    return int(check_random_state(random_state).randint(2**31))


def _numbered(groups: Any, n_samples: int) -> NDArray[np.int64] | None:
    """Return groups as numbers, in the order in which they first appear."""
    if groups is None:
        return None
    check_mask("groups", groups)
    values = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if len(values) != n_samples:
        raise ValueError(f"`groups` has {len(values)} entries for {n_samples} samples; give one per sample")
    numbers: dict[Any, int] = {}
    for row, value in enumerate(values):
        if missing(value):
            raise ValueError(f"`groups` has no value for sample {row} (counted from 0); give every sample a group")
        try:
            numbers.setdefault(value, len(numbers))
        except TypeError:
            raise TypeError(f"`groups` has {value!r}, which cannot be a group: use numbers or text") from None
    return np.array([numbers[value] for value in values], dtype=np.int64)


def _sample_names(names: Any, X: Samples, n_samples: int) -> list[str] | None:
    if names is None:
        index = getattr(X, "index", None)
        if index is None or callable(index) or type(index).__name__ == "RangeIndex":
            return None
        names = index
    texts = [str(name) for name in names]
    if len(texts) != n_samples:
        raise ValueError(f"`sample_names` has {len(texts)} names for {n_samples} samples; give one per sample")
    return texts


def _call(estimator: Any, others: list[tuple[str, Any]], how: dict[str, Any], grouped: bool) -> str:
    """Return the call, for the record."""
    shown = [short(estimator), "X", "y", *(["groups=groups"] if grouped else [])]
    shown += [f"compare={[name for name, _ in others]!r}"] if others else []
    return f"menet.validate({', '.join(shown)}, ...) with {how}"


def _progress() -> Callable[[str, int, int, float | None, bool], None]:
    """Return a function that reports progress, at most twice per second and at the end of a part."""
    start = time.monotonic()
    last = -1.0

    def report(now: str, done: int, total: int, left: float | None, at_most: bool) -> None:
        nonlocal last
        at = time.monotonic()
        if done < total and at - last < 0.5:
            return
        last = at
        much = f", {done} of {total}" if total > 0 else ""
        rest = "" if left is None else f", {'at most' if at_most else 'about'} {left:.0f} s left"
        print(f"menet.validate: {now}{much}, {at - start:.1f} s{rest}", file=sys.stderr, flush=True)

    return report


def _fitted(
    model: ManifoldElasticNet,
    core: _core.Model | None,
    X: Any,
    codes: NDArray[np.int64],
    counts: SampleWeighting,
    batches: list[str] | None,
    threads: int,
) -> ManifoldElasticNet | None:
    """Return the final model as an estimator."""
    if core is None:
        return None
    model._set_params_of(core)
    model._set_model(core)
    model._training = Training.of_model(core, X, codes, counts, batches, threads)
    return model
