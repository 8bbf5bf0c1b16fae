"""scikit-learn's own checks, on every estimator."""

import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import menet
from menet._base import Reducer

# Those that are fitted with one setting; a search among settings is tested beside them.
SEARCH = menet.ManifoldElasticNetCV
ESTIMATORS = [
    value
    for value in vars(menet).values()
    if inspect.isclass(value) and issubclass(value, Reducer) and value is not SEARCH
]


def test_all_eight_are_checked():
    names = "DLA FLDA LPP ManifoldElasticNet NPE PCA SPG SparsePCA"
    assert sorted(estimator.__name__ for estimator in ESTIMATORS) == names.split()


def expected_failures(estimator):
    """Return the checks that must fail.

    For unsupervised baselines scikit-learn wants the target of a regression refused, we ignore it.
    """
    if getattr(estimator, "_supervised", True):
        return {}
    return {"check_classifiers_regression_target": "an unsupervised baseline ignores a `y` that holds no classes"}


# No other check is expected to fail. The unsupervised variants and every rule are checked as well.
@pytest.mark.filterwarnings("default")
@parametrize_with_checks(
    [
        *(estimator() for estimator in ESTIMATORS),
        menet.LPP(supervised=False),
        menet.NPE(supervised=False),
        menet.ManifoldElasticNet.preset("paper"),
        menet.ManifoldElasticNet(rule="centroid", refit="panel"),
        menet.ManifoldElasticNet(rule="gaussian", panel_size=5),
        menet.ManifoldElasticNet(refit="axis", rule=menet.Nearest(k=3, metric="euclidean")),
        menet.ManifoldElasticNet(
            prepare=menet.Prepare(scale="unit"),
            patch=menet.Patch(kind="lle", k_within=3),
            manifold=menet.Manifold(kappa=0.05),
            target=menet.WhitenedTarget(shrinkage=0.2),
            penalty=menet.Mcp(gamma=2.5),
            refit=menet.PanelRefit(ridge=0.1),
            rule=menet.Gaussian(priors="train"),
            compute=menet.Compute(gram="full"),
        ),
        # Some checks have samples for few folds only.
        SEARCH(cv=2, param_grid={"ridge": [0.03, 1.0], "n_nonzeros": [2, 5]}),
        # Panels with all variables: in samples without a signal none would be stable.
        menet.StabilitySelection(n_pairs=2, panel_size=100, threshold=0.6),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
