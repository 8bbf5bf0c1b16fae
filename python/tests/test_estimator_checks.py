"""scikit-learn's own checks, on every estimator."""

import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import menet
from menet._base import Reducer

ESTIMATORS = [value for value in vars(menet).values() if inspect.isclass(value) and issubclass(value, Reducer)]


def test_all_eight_are_checked():
    names = "DLA FLDA LPP ManifoldElasticNet NPE PCA SPG SparsePCA"
    assert sorted(estimator.__name__ for estimator in ESTIMATORS) == names.split()


# No check is expected to fail. The unsupervised variants are checked as well.
@pytest.mark.filterwarnings("default")
@parametrize_with_checks(
    [estimator() for estimator in ESTIMATORS] + [menet.LPP(supervised=False), menet.NPE(supervised=False)]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
