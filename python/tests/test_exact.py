"""Values that a conversion would change without a word are refused, everywhere alike."""

import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from conftest import chunked
from scipy import sparse

import menet
import menet.dask
from menet import ManifoldElasticNet, ManifoldElasticNetCV, Prepare, StabilitySelection

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 5))
y = np.arange(24) % 2
X[:, 0] += 3 * y
BEYOND = 2**53 + 1

FITS = [
    lambda X: ManifoldElasticNet(n_nonzeros=2).fit(X, y),
    lambda X: ManifoldElasticNetCV(n_nonzeros=2, cv=2).fit(X, y),
    lambda X: StabilitySelection(n_pairs=2, max_panel_size=2).fit(X, y),
    lambda X: menet.PCA(n_components=2).fit(X),
    lambda X: ManifoldElasticNet(n_nonzeros=2).fit(globals()["X"], y).predict(X),
    lambda X: menet.lars_path(X, y),
    lambda X: menet.group_lasso(X, y, n_groups=1),
    lambda X: menet.validate(ManifoldElasticNet(), X, y, n_repeats=1, n_permutations=0, n_pairs=0),
]


@pytest.mark.parametrize("fit", FITS)
def test_samples(fit):
    masked = np.ma.masked_less(X, -1.0)
    with pytest.raises(ValueError, match=r"`X` masks \d+ of its 120 values.*filled"):
        fit(masked)
    whole = (X * 10).astype(np.int64)
    whole[7, 2] = BEYOND
    for given in (whole, whole.tolist(), whole.astype(object)):
        with pytest.raises(ValueError, match=f"whole number {BEYOND}.*beyond 2\\^53"):
            fit(given)
    frame = pd.DataFrame(X, columns=list("abcde"))
    with pytest.raises(ValueError, match=rf"{BEYOND} in column 'id'.*beyond 2\^53"):
        fit(frame.assign(id=whole[:, 2]))
    with pytest.raises(TypeError, match=r"dates or times in column 'born' \(datetime64"):
        fit(frame.assign(born=pd.date_range("2020-01-01", periods=24)))
    with pytest.raises(TypeError, match=r"`X` holds dates or times \(datetime64\[D\]\)"):
        fit((X * 100).astype("datetime64[D]"))
    with pytest.raises(TypeError, match=r"`X` holds dates or times \(timedelta64\[s\]\)"):
        fit((X * 100).astype("timedelta64[s]"))


def test_what_changes_nothing_passes():
    expected = ManifoldElasticNet(n_nonzeros=2).fit(np.round(X * 10), y).components_
    whole = np.round(X * 10).astype(np.int64)
    frame = pd.DataFrame(whole, columns=list("abcde"))
    unmasked = np.ma.MaskedArray(np.round(X * 10), mask=False)
    for given in (whole, whole.tolist(), whole.astype(object), frame, frame.astype("Int64"), unmasked):
        np.testing.assert_array_equal(ManifoldElasticNet(n_nonzeros=2).fit(given, y).components_, expected)
    exact = whole.copy()
    exact[0, 0] = 2**53
    assert ManifoldElasticNet(n_nonzeros=2).fit(exact, y).components_.size
    # A mask becomes missing values where the user says so.
    masked = np.ma.masked_less(X, -1.0)
    men = ManifoldElasticNet(n_nonzeros=2, prepare=Prepare(impute="median")).fit(masked.filled(np.nan), y)
    assert men.missing_fraction_.max() > 0


def test_responses_and_gram_matrices():
    with pytest.raises(ValueError, match="`y` masks 1 of its 24"):
        menet.lars_path(X, np.ma.masked_equal(np.arange(24.0), 3))
    with pytest.raises(TypeError, match="`y` holds dates"):
        menet.lars_path(X, np.arange(24).astype("datetime64[D]"))
    gram = X.T @ X
    assert menet.lars_path_gram(gram, X.T @ y).kkt.max() < 1e-9
    gram[1, 3] += 1e-14
    assert menet.lars_path_gram(gram, X.T @ y).kkt.max() < 1e-9
    gram[1, 3] += 0.5
    with pytest.raises(ValueError, match=r"`G` is .* at row 1, column 3 .* symmetric"):
        menet.lars_path_gram(gram, X.T @ y)


def test_sparse_samples():
    data = sparse.csr_array((X * 10).astype(np.int64))
    data.data[3] = -BEYOND
    with pytest.raises(ValueError, match=f"whole number -{BEYOND}"):
        ManifoldElasticNet().fit(data, y)


@pytest.mark.parametrize("estimator", [ManifoldElasticNet(), StabilitySelection(n_pairs=2), menet.PCA(n_components=2)])
def test_labels(estimator):
    with pytest.raises(ValueError, match="`y` masks 12 of its 24"):
        estimator.fit(X, np.ma.masked_equal(y, 1))
    if isinstance(estimator, menet.PCA):  # ignores what is no list of classes
        return
    with pytest.raises(TypeError, match=r"`y` holds bytes, such as b'a'.*decode"):
        estimator.fit(X, np.array([b"a", b"b"])[y])
    with pytest.raises(TypeError, match="`y` holds bytes"):
        estimator.fit(X, np.array([b"a", b"b"], dtype=object)[y])
    with pytest.raises(TypeError, match=r"`y` holds dates or times \(datetime64\[D\]\).*astype\(str\)"):
        estimator.fit(X, y.astype("datetime64[D]"))


def test_classes_are_the_same_after_save_and_load(tmp_path):
    days = y.astype("datetime64[D]").astype(str)
    for labels in (y, y * 2.0, y == 1, days, days.astype(object), y.astype(np.uint8)):
        men = ManifoldElasticNet(n_nonzeros=2).fit(X, labels)
        men.save(tmp_path / "m")
        np.testing.assert_array_equal(ManifoldElasticNet.load(tmp_path / "m").classes_, men.classes_)


def test_samples_are_counted_from_0_in_errors_about_weights():
    weights = np.ones(24)
    weights[3] = -1.0
    with pytest.raises(ValueError, match=r"`sample_weight` is -1.0 for sample 3 \(counted from 0\)"):
        ManifoldElasticNet().fit(X, y, sample_weight=weights)
    # Among all samples, not among those with a label.
    partly = np.where(np.arange(24) < 2, -1, y)
    with pytest.raises(ValueError, match="for sample 3 "):
        ManifoldElasticNet(unlabelled=-1).fit(X, partly, sample_weight=weights)
    with pytest.raises(ValueError, match="`class_weight` is -2 for the class 1"):
        ManifoldElasticNet(class_weight={1: -2}).fit(X, y)
    with pytest.raises(ValueError, match="`sample_weight` is 0 for all samples of class"):
        ManifoldElasticNet().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="`sample_weight` masks"):
        ManifoldElasticNet().fit(X, y, sample_weight=np.ma.masked_equal(weights, -1))
    with pytest.raises(ValueError, match="`batch` masks"):
        ManifoldElasticNet().fit(X, y, batch=np.ma.masked_equal(y, 1))


def test_dask():
    whole = np.tile((X * 10).astype(np.int64), (3, 1))
    labels = np.tile(y, 3)
    whole[40, 2] = BEYOND
    men = menet.dask.ManifoldElasticNet(n_nonzeros=2)
    with pytest.raises(ValueError, match=f"whole number {BEYOND}"):
        men.fit(chunked(whole, 20), labels)
    frame = pd.DataFrame(whole, columns=list("abcde")).astype({"a": "float64"})
    with pytest.raises(ValueError, match=f"{BEYOND} in column 'c'"):
        men.fit(dd.from_pandas(frame, npartitions=2), labels)
    with pytest.raises(ValueError, match="`y` masks"):
        men.fit(da.from_array(X, chunks=(8, -1)), np.ma.masked_equal(y, 1))
    tiny = np.tile(X, (3, 1)) + RNG.normal(size=(72, 5))
    tiny[:, 4] *= 1e-165
    with pytest.warns(UserWarning, match="1 variable varies by less than .* squared"):
        men.fit(chunked(tiny, 20), labels)
    with pytest.warns(UserWarning, match="1 variable varies by less than .* squared"):
        ManifoldElasticNet(n_nonzeros=2).fit(tiny, labels)


def test_new_samples_and_weights_are_checked_as_those_of_a_fit():
    rng = np.random.default_rng(0)
    y = np.tile(["a", "b", "c"], 10)
    X = pd.DataFrame(rng.normal(size=(30, 6)), columns=list("pqrstu"))
    X["q"] += 3.0 * (y == "b")
    X["r"] += 3.0 * (y == "c")
    men = ManifoldElasticNet(panel_size=2).fit(X, y)
    name = men.panel_[0]
    with pytest.raises(ValueError, match=rf"in column '{name}', which is beyond 2\^53"):
        men.predict(X.assign(**{name: np.full(30, 2**60 + 1)}))
    with pytest.raises(TypeError, match=f"`X` holds dates or times in column '{name}'"):
        men.transform(X.assign(**{name: pd.Timestamp("2020-01-01")}))
    days = np.arange("2020-01-01", "2020-01-31", dtype="M8[D]")
    with pytest.raises(TypeError, match="`sample_weight` holds dates or times"):
        ManifoldElasticNet().fit(X, y, sample_weight=days)
    # What is refused is not warned of first.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="is NaN, but must be finite"):
            men.predict(X.assign(**dict.fromkeys(men.panel_, np.nan)))
