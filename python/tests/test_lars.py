"""The path beside scikit-learn's, and its certificate beside one computed here."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mypy import api
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet
from sklearn.linear_model import lars_path as sklearn_path

import menet

BAR = 1e-9


def violation(X, y, levels, coefs, ridge=0.0):
    """The worst violation of the optimality conditions over the knots, relative to the largest correlation.

    Coefficients of the size of rounding, which scikit-learn leaves where a variable is dropped, count as zero.
    """
    b = X.T @ y
    c = b[:, None] - X.T @ (X @ coefs) - ridge * coefs
    coefs = np.where(np.abs(coefs) > 1e-10 * np.abs(coefs).max(), coefs, 0.0)
    there = np.abs(c - levels * np.sign(coefs))
    elsewhere = np.maximum(np.abs(c) - levels, 0.0)
    return np.where(coefs != 0, there, elsewhere).max() / np.abs(b).max()


def gaussian(seed, n=60, p=25):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_scikit_learn_on_gaussian_data(seed):
    X, y = gaussian(seed)
    path = menet.lars_path(X, y)
    alphas, _, coefs = sklearn_path(X, y, method="lasso")
    assert path.coefs.shape == coefs.shape
    np.testing.assert_allclose(path.lambdas, alphas * len(y), atol=1e-9 * path.lambdas[0], rtol=0)
    np.testing.assert_allclose(path.coefs, coefs, atol=1e-9, rtol=0)
    assert violation(X, y, path.lambdas, path.coefs) < 1e-12
    assert violation(X, y, alphas * len(y), coefs) < BAR, "the check is fair to both"


@pytest.mark.parametrize("seed", range(20))
def test_plain_lars_keeps_correlations_equal(seed):
    # Not compared with scikit-learn's method "lar", whose correlations are not equal in several of these cases.
    X, y = gaussian(seed)
    path = menet.lars_path(X, y, method="lars")
    assert path.coefs.shape == (25, 26)
    correlations = np.abs(X.T @ (y[:, None] - X @ path.coefs))
    assert np.abs(correlations - path.lambdas)[path.coefs != 0].max() < 1e-12 * path.lambdas[0]
    assert (correlations - path.lambdas).max() < 1e-12 * path.lambdas[0]
    np.testing.assert_allclose(path.coefs[:, -1], np.linalg.lstsq(X, y)[0], atol=1e-12)


def ternary(rng):
    return rng.integers(-1, 2, (20, 12)).astype(float), rng.integers(-1, 2, 20).astype(float)


def binary(rng):
    return rng.integers(0, 2, (20, 12)).astype(float), np.where(np.arange(20) < 10, -1.0, 1.0)


@pytest.mark.parametrize("problem", [ternary, binary])
def test_no_certificate_fails_on_discrete_data(problem, capsys):
    rng = np.random.default_rng(20261115)
    failures = {"menet": 0, "scikit-learn": 0}
    worst, tied = 0.0, 0
    for _ in range(2000):
        X, y = problem(rng)
        while not np.any(X.T @ y):
            X, y = problem(rng)
        path = menet.lars_path(X, y)
        ours = violation(X, y, path.lambdas, path.coefs)
        worst = max(worst, ours)
        tied += any(len(entered) > 1 for entered in path.entered)
        failures["menet"] += not (ours <= BAR and path.lambdas[-1] <= BAR * path.lambdas[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alphas, _, coefs = sklearn_path(X, y, method="lasso")
        failures["scikit-learn"] += not violation(X, y, alphas * len(y), coefs) <= BAR
    with capsys.disabled():
        print(
            f"\n2000 {problem.__name__} problems of 20 x 12 ({tied} with ties): optimality violated by more than "
            f"{BAR:g} on {failures['menet']} paths of menet (worst {worst:.0e}), {failures['scikit-learn']} of "
            "scikit-learn"
        )
    assert failures["menet"] == 0
    assert tied > 500, "the problems are meant to tie"


def test_the_elastic_net_is_the_minimum_of_its_objective():
    X, y = gaussian(3)
    path = menet.lars_path(X, y, ridge=0.7)
    assert violation(X, y, path.lambdas, path.coefs, ridge=0.7) < 1e-12
    level, n = 0.4 * path.lambdas[0], len(y)
    # scikit-learn: ‖y - Xw‖²/2n + alpha l1_ratio ‖w‖₁ + alpha (1 - l1_ratio) ‖w‖²/2
    alpha, ratio = (level + 0.7) / n, level / (level + 0.7)
    other = ElasticNet(alpha=alpha, l1_ratio=ratio, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(path.at_lambda(level), other.coef_, atol=1e-9)


def test_from_data_and_from_gram_are_one():
    X, y = gaussian(4)
    a, b = menet.lars_path(X, y, ridge=0.1), menet.lars_path_gram(X.T @ X, X.T @ y, ridge=0.1)
    np.testing.assert_allclose(a.coefs, b.coefs, atol=1e-12)
    assert a.entered == b.entered
    assert a.left == b.left
    assert a.ended == b.ended == "reached level 0"


def test_many_responses_in_one_call():
    X, _ = gaussian(5)
    Y = np.random.default_rng(6).standard_normal((len(X), 4))
    many = menet.lars_path(X, Y, max_nonzeros=7, n_jobs=2)
    assert isinstance(many, menet.LarsPaths)
    assert len(many) == len(many.lambdas) == len(many.coefs) == len(many.entered) == len(many.left) == 4
    assert many.at_nonzeros(5).shape == many.at_lambda(many.lambdas[0][0]).shape == (X.shape[1], 4)
    for k in range(4):
        one = menet.lars_path(X, Y[:, k], max_nonzeros=7)
        np.testing.assert_array_equal(one.coefs, many.coefs[k])
        np.testing.assert_array_equal(one.at_nonzeros(5), many.at_nonzeros(5)[:, k])
        np.testing.assert_array_equal(one.kkt, many.kkt[k])
        assert one.ended == many.ended[k]
    assert "4 responses" in repr(many)
    np.testing.assert_array_equal(many[2].coefs, many.coefs[2])
    # Each as far as it goes, whatever the others do.
    for k, path in enumerate(many):
        np.testing.assert_array_equal(path.at_lambda(many.lambdas[k][-1]), many.coefs[k][:, -1])
    assert [path.ended for path in many] == many.ended
    with pytest.raises(IndexError, match="response 4 was asked for, but there are 0 to 3"):
        many[4]
    column = menet.lars_path(X, Y[:, :1])
    assert isinstance(column, menet.LarsPaths)
    assert len(column) == 1


def test_paths_are_pickled():
    X, y = gaussian(11)
    for path in (menet.lars_path(X, y), menet.lars_path(X, np.c_[y, -y])[1], menet.lars_path(X, np.c_[y, -y])):
        again = pickle.loads(pickle.dumps(path))
        np.testing.assert_array_equal(again.at_nonzeros(3), path.at_nonzeros(3))
        np.testing.assert_array_equal(np.hstack(again.kkt), np.hstack(path.kkt))
        assert again.left == path.left
        assert repr(again) == repr(path)


def test_what_can_be_read_off_a_path():
    X, y = gaussian(7)
    path = menet.lars_path(X, y, max_nonzeros=6)
    assert np.all(np.diff(path.lambdas) < 0)
    assert path.coefs.shape == (25, len(path.lambdas)) == (25, len(path.kkt))
    assert path.lambdas[0] == pytest.approx(np.abs(X.T @ y).max(), rel=1e-12)
    assert np.count_nonzero(path.at_nonzeros(4)) == 4
    assert not path.at_lambda(2 * path.lambdas[0]).any()
    middle = path.lambdas[2:4].mean()
    np.testing.assert_allclose(path.at_lambda(middle), path.coefs[:, 2:4].mean(axis=1), atol=1e-14)
    assert path.entered[0] == [int(np.abs(X.T @ y).argmax())]
    with pytest.raises(ValueError, match="stopped at 6 nonzeros"):
        path.at_nonzeros(7)
    with pytest.raises(ValueError, match="reached the largest number"):
        path.at_lambda(0.0)
    with pytest.raises(TypeError, match=r"`k` is 1\.5"):
        path.at_nonzeros(1.5)
    with pytest.raises(ValueError, match="`k` is 0, but must be at least 1"):
        path.at_nonzeros(0)
    with pytest.raises(ValueError, match="`level` is nan, but must be at least 0"):
        path.at_lambda(float("nan"))


def test_every_option_has_its_effect():
    X, y = gaussian(8)
    free = menet.lars_path(X, y)
    assert menet.lars_path(X, y, lambda_min=1.0).lambdas[-1] == 1.0
    assert (menet.lars_path(X, y, positive=True).coefs >= 0).all()
    first = int(np.abs(X.T @ y).argmax())
    factors = np.ones(25)
    factors[first] = np.inf
    barred = menet.lars_path(X, y, penalty_factors=factors)
    assert not barred.coefs[first].any()
    assert free.coefs[first].any()


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"ridge": -1.0}, ValueError, "`ridge` is -1"),
        ({"ridge": float("nan")}, ValueError, "`ridge` is NaN"),
        ({"ridge": "a"}, TypeError, "`ridge` is 'a', but must be a number"),
        ({"max_nonzeros": 0}, ValueError, "`max_nonzeros` is 0"),
        ({"max_nonzeros": -3}, ValueError, "`max_nonzeros` is -3"),
        ({"max_nonzeros": 2.5}, TypeError, "`max_nonzeros` is 2.5"),
        ({"method": "lar"}, ValueError, "`method` is 'lar', but must be one of lasso, lars"),
        ({"penalty_factors": [1.0]}, ValueError, "`penalty_factors` has 1 entries, but 25"),
        ({"penalty_factors": -np.ones(25)}, ValueError, "`penalty_factors` is -1"),
        ({"positive": True, "method": "lars"}, ValueError, "`positive` is true"),
        ({"positive": "no"}, TypeError, "`positive` is 'no', but must be True or False"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_bad_options_are_named(change, kind, message):
    X, y = gaussian(9)
    with pytest.raises(kind, match=message):
        menet.lars_path(X, y, **change)
    with pytest.raises(kind, match=message):
        menet.lars_path_gram(X.T @ X, X.T @ y, **change)


def test_bad_data_are_named():
    X, y = gaussian(10)
    with pytest.raises(ValueError, match=r"`y` has shape \(59,\), but must be \(60,\)"):
        menet.lars_path(X, y[1:])
    with pytest.raises(ValueError, match="`b` has shape"):
        menet.lars_path_gram(X.T @ X, y)
    spoiled = X.copy()
    spoiled[3, 2] = np.inf
    with pytest.raises(ValueError, match="row 3, column 2"):
        menet.lars_path(spoiled, y)
    with pytest.raises(ValueError, match="must be square"):
        menet.lars_path_gram(X, np.zeros(25))
    with pytest.raises(ValueError, match="row 3, column 2"):
        menet.lars_path(sparse.csr_matrix(spoiled), y)
    with pytest.raises(ValueError, match=r"`G` is .* on the diagonal"):
        menet.lars_path_gram(-np.eye(25), np.ones(25))
    with pytest.raises(ValueError, match="0 sample"):
        menet.lars_path(np.zeros((0, 3)), [])


def test_numerical_trouble_is_one_warning():
    # Not positive semidefinite, thirty times over.
    G = np.array([[1.0, 2.0], [2.0, 1.0]])
    B = np.tile([[1.0], [0.9]], 30)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        menet.lars_path_gram(G, B)
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert "30 of 30 paths" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("p", [40, 6100])
def test_sparse_samples_give_the_same_path(p):
    X = sparse.random(50, p, density=0.2, random_state=0, format="csr")
    y = np.random.default_rng(1).standard_normal(50)
    for given in (X, X.tocsc(), X.tocoo(), X.astype(np.float32)):
        path = menet.lars_path(given, y, max_nonzeros=15)
        expected = menet.lars_path(given.toarray(), y, max_nonzeros=15)
        np.testing.assert_allclose(path.coefs, expected.coefs, atol=1e-10)


@pytest.mark.parametrize("p", [40, 6100])
def test_order_and_type_of_the_samples_do_not_matter(p):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((50, p)), rng.standard_normal(50)
    expected = menet.lars_path(X, y, max_nonzeros=15)
    wide = np.zeros((50, 2 * p))
    wide[:, ::2] = X
    for given in (np.asfortranarray(X), wide[:, ::2], X[::-1][::-1], X.tolist()):
        np.testing.assert_allclose(menet.lars_path(given, y, max_nonzeros=15).coefs, expected.coefs, atol=1e-12)
    single = menet.lars_path(X.astype(np.float32), y, max_nonzeros=15)
    np.testing.assert_allclose(single.coefs, expected.coefs, atol=1e-5)


def test_names_come_from_frames():
    X, y = gaussian(12)
    names = [f"gene {j}" for j in range(25)]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        path = menet.lars_path(frame, y)
        assert list(path.feature_names) == names
        assert [list(one.feature_names) for one in menet.lars_path(frame, np.c_[y, -y])] == [names, names]
        assert list(pickle.loads(pickle.dumps(path)).feature_names) == names
        ax = menet.plot.path(path, labels=2)
        heaviest = np.argsort(-np.abs(path.coefs[:, -1]))[:2]
        assert {text.get_text() for text in ax.texts} == {names[j] for j in heaviest}
    assert menet.lars_path(X, y).feature_names is None
    gram = pd.DataFrame(X.T @ X, columns=names)
    assert list(menet.lars_path_gram(gram, X.T @ y).feature_names) == names


def test_a_value_that_is_not_finite_is_named_by_its_variable():
    X, y = gaussian(13)
    X[3, 2] = np.nan
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(25)])
    with pytest.raises(ValueError, match=r"row 3, variable 'gene 2' \(rows are counted from 0\) of the data is NaN"):
        menet.lars_path(frame, y)


def test_only_the_argument_g_is_called_g():
    with pytest.raises(ValueError, match="`G` is -1 on the diagonal"):
        menet.lars_path_gram(-np.eye(3), np.ones(3))
    # The parameter `gram` of the stage `compute` keeps its name.
    with pytest.raises(ValueError, match=r"`compute.gram` is 'all', but must be one of"):
        menet.ManifoldElasticNet(compute=menet.Compute(gram="all")).fit(np.eye(4), [0, 0, 1, 1])
    X = sparse.random(300, 120_000, density=0.001, random_state=0, format="csr")
    with pytest.raises(ValueError, match=r"`compute.gram` is") as refused:
        menet.ManifoldElasticNet(compute=menet.Compute(gram="full")).fit(X, np.arange(300) % 2)
    assert "`G`" not in str(refused.value)


@pytest.mark.parametrize("size", [1.0, 1e9, 1e12])
def test_a_violation_above_the_bar_is_never_silent(size):
    # Two long columns that are orthogonal to the response: their rounding is large beside the largest correlation.
    X, y = gaussian(14, n=30, p=8)
    X[:, 6:] -= np.outer(y, y @ X[:, 6:]) / (y @ y)
    X[:, 6:] *= size
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = menet.lars_path(X, y)
        many = menet.lars_path(X, np.c_[y, y])
    assert (path.kkt.max() > BAR) == (size > 1)
    assert many.kkt[0].max() == path.kkt.max()
    messages = [str(w.message) for w in caught]
    assert [w.category for w in caught] == [ConvergenceWarning] * (2 * (size > 1))
    if size > 1:
        assert messages[0].startswith("the path violates the optimality conditions by ")
        assert messages[1].startswith("2 of 2 paths had numerical trouble: that of response 0 violates the optimality ")
        assert "scale the variables" in messages[0]


TYPES = """
import numpy as np
import menet

X = np.eye(3)
vector: np.ndarray[tuple[int], np.dtype[np.float64]] = np.ones(3)
matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]] = np.ones((3, 2))
reveal_type(menet.lars_path(X, [1.0, 2.0, 3.0]))
reveal_type(menet.lars_path(X, vector, ridge=0.1))
reveal_type(menet.lars_path(X, [[1.0, 2.0]] * 3))
reveal_type(menet.lars_path_gram(X, matrix))
menet.lars_path(X, vector, method="lar")
menet.ManifoldElasticNet(rule="nearest", refit="panel")
menet.ManifoldElasticNet(rule="nearst")
menet.ManifoldElasticNetCV(param_grid={"rule__metric": ["cosine", None]})
menet.ManifoldElasticNet(rule=menet.Nearest(metric="cosine", priors=[1, 2]), penalty=menet.Mcp(gamma=2))
menet.Nearest(metric="cosin")
menet.PCA(metric="cosin")
"""


def test_types_tell_one_path_from_many_and_wrong_choices_from_right_ones(tmp_path):
    (tmp_path / "snippet.py").write_text(TYPES)
    out, _, _ = api.run([str(tmp_path / "snippet.py"), "--no-incremental", "--config-file="])
    lines = [line.split(": ", 1) for line in out.splitlines() if "snippet.py:" in line]
    findings = [(int(place.split(":")[1]), what) for place, what in lines]
    revealed = [
        what.split("Revealed type is ")[1].strip('"').split(".")[-1] for _, what in findings if "Revealed" in what
    ]
    assert revealed == ["LarsPath", "LarsPath", "LarsPaths", "LarsPaths"], out
    errors = sorted({place for place, what in findings if what.startswith("error")})
    wrong = [place for place, line in enumerate(TYPES.splitlines(), 1) if '"lar"' in line or "nearst" in line]
    wrong += [place for place, line in enumerate(TYPES.splitlines(), 1) if '"cosin"' in line]
    assert errors == sorted(wrong), out
