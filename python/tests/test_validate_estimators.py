"""menet.validate with any classifier: what it may answer, comparisons, and which estimators are the same."""

import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import same
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from validating import FOLDS, Breaks, Classifier, calls, results, waves

import menet
from menet import ManifoldElasticNet, ManifoldElasticNetCV, validate
from menet._comparisons import NAMED, anova_f, identity, needs_frames, panel_of


def test_exceptions_of_an_estimator_come_out_with_the_fold():
    X, y = waves()
    calls.clear()
    with pytest.raises(ZeroDivisionError, match="my own mistake") as caught:
        validate(Breaks(2), X, y, **FOLDS)
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == ["menet.validate: Breaks, repeat 1, fold 3"]
    # The traceback leads to the line.
    assert any(entry.name == "fit" and "validating" in str(entry.path) for entry in caught.traceback)
    calls.clear()
    with pytest.raises(ZeroDivisionError) as caught:
        validate(Breaks(5 + 5 + 1), X, y, n_repeats=1, n_permutations=9, n_jobs=1)
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == ["menet.validate: permutation 2"]
    calls.clear()
    with pytest.raises(ZeroDivisionError):
        validate(ManifoldElasticNet(panel_size=2), X, y, **FOLDS, compare={"mine": Breaks(0)}, n_jobs=2)


class Wrong(Classifier):
    """Answers what no classifier may answer."""

    def __init__(self, how="label"):
        self.how = how

    def predict(self, X):
        return {"label": ["no class"] * len(X), "count": [0]}.get(self.how, [0] * len(X))

    def predict_proba(self, X):
        return {"shape": np.ones((len(X), 7)), "value": np.full((len(X), 3), np.nan)}[self.how]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("label", "predict returned 'no class', which is not one of the classes"),
        ("count", "predict returned 1 labels for 12 samples"),
        ("shape", r"predict_proba returned the shape \(12, 7\), but there are 3 classes"),
        ("value", "predict_proba returned values that are not probabilities"),
    ],
)
def test_answers_that_make_no_sense_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        validate(Wrong(how), *waves(), **FOLDS)


def test_columns_can_be_chosen_by_name():
    X, y = waves()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    first = ColumnTransformer([("kept", "passthrough", ["gene 0", "gene 1", "gene 2"])])
    by_name = validate(make_pipeline(first, GaussianNB()), frame, y, **FOLDS)
    alone = validate(GaussianNB(), X[:, :3], y, **FOLDS)
    np.testing.assert_array_equal(by_name.samples.probabilities, alone.samples.probabilities)
    search = GridSearchCV(make_pipeline(StandardScaler(), GaussianNB()), {"standardscaler": [StandardScaler(), first]})
    assert needs_frames(search)
    assert not needs_frames(GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}))
    whole = [validate(GaussianNB(), given, y, **FOLDS) for given in (frame, X)]
    assert results(whole[0]) == results(whole[1])


def test_the_final_model_is_the_fit_to_all_samples(genes):
    X, y = genes
    men = ManifoldElasticNet(panel_size=6)
    found = validate(men, X, y, **FOLDS)
    fitted = ManifoldElasticNet(panel_size=6).fit(X, y)
    same(found.estimator_, fitted, X)
    same(found.estimator_.at(panel_size=3), fitted.at(panel_size=3), X)
    assert found.estimator_.get_params()["panel_size"] == 6
    assert not hasattr(men, "components_"), "the estimator that was given is left alone"
    for entry in found.panel:
        np.testing.assert_array_equal(entry.weights, fitted.components_[:, entry.variable])


@pytest.mark.parametrize("name", NAMED)
def test_every_named_comparison(name):
    X, y = waves()
    X[:, -1] = 1.0  # constant
    found = validate(ManifoldElasticNet(panel_size=3), X, y, **FOLDS, compare=name)
    other = found.comparison[name]
    assert other.balanced_accuracy.mean > 0.8
    assert other.auc.mean > 0.9
    assert other.n_variables <= 12
    assert len(other.choices) == (0 if name == "random-forest" else 5)
    assert any(name in paragraph for paragraph in found.words)
    again = validate(None, X, y, **{**FOLDS, "n_permutations": 1}, compare=[name]).comparison[name]
    np.testing.assert_array_equal(again.samples.probabilities, other.samples.probabilities)


def test_all_kinds_of_comparisons():
    X, y = waves()
    found = validate(
        RandomForestClassifier(5),
        X,
        y,
        **FOLDS,
        compare=[
            "men",
            "flda",
            ("fixed", ManifoldElasticNet(panel_size=3)),
            ("search", ManifoldElasticNetCV(ridge=0.3, param_grid={"n_nonzeros": [2, 3]}, cv=2)),
            ("pipeline", make_pipeline(StandardScaler(), menet.PCA(2))),
            ("mine", "random-forest"),
        ],
        # The pipeline comes back to the core, which must not wait for itself.
        n_jobs=2,
    )
    assert list(found.comparison) == ["men", "flda", "fixed", "search", "pipeline", "mine"]
    assert found.comparison["fixed"].n_variables == 3
    assert all(0.0 <= other.balanced_accuracy.mean <= 1.0 for other in found.comparison.values())
    assert found.panel == []
    assert list(validate(GaussianNB(), X, y, **FOLDS, compare={"b": GaussianNB()}).comparison) == ["b"]


def test_random_states_come_from_the_seed():
    X, y = waves()
    one, two, other = (validate(RandomForestClassifier(3), X, y, **FOLDS, random_state=seed) for seed in (0, 0, 1))
    assert results(one) == results(two)
    assert results(one) != results(other)
    generators = [validate(GaussianNB(), X, y, **FOLDS, random_state=np.random.RandomState(7)) for _ in range(2)]
    assert results(generators[0]) == results(generators[1])


def test_identities_tell_estimators_apart():
    kinds = [
        GaussianNB(),
        GaussianNB(priors=np.array([0.5, 0.5])),
        GaussianNB(priors=np.array([0.25, 0.75])),
        make_pipeline(StandardScaler(), GaussianNB()),
        make_pipeline(StandardScaler(with_mean=False), GaussianNB()),
        KNeighborsClassifier(weights=anova_f),
        KNeighborsClassifier(weights=lambda d: d),
        RandomForestClassifier(random_state=np.random.RandomState(0)),
        RandomForestClassifier(random_state=np.random.RandomState(1)),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}),
    ]
    texts = [identity(one) for one in kinds]
    assert len(set(texts)) == len(texts)
    assert all("sklearn " in text and "numpy " in text for text in texts)
    assert not any(" at 0x" in text for text in texts)


def test_the_variables_that_an_estimator_uses():
    X, y = waves()
    fitted = LinearSVC(penalty="l1", C=0.05).fit(X, y)
    expected = np.flatnonzero(np.any(fitted.coef_ != 0, axis=0)).tolist()
    assert 0 < len(expected) < 12
    assert panel_of(fitted, 12) == expected
    assert panel_of(GaussianNB().fit(X, y), 12) == list(range(12))
    assert panel_of(make_pipeline(menet.PCA(2), GaussianNB()).fit(X, y), 12) is None
    men = make_pipeline(StandardScaler(), ManifoldElasticNet(panel_size=3)).fit(X, y)
    assert panel_of(men, 12) == men[-1].panel_.tolist()


SHIFT = 1.0


def shifted(X):
    return np.sign(X + SHIFT) * X


def test_a_run_knows_functions_by_what_they_do(tmp_path, monkeypatch):
    X, y = waves()

    def chosen(columns):
        return lambda X: X[:, :columns]

    def mutual():
        def first(X, again=False):
            return X if again else second(X)

        def second(X):
            return first(X, again=True)

        return first

    def go(function, folder):
        model = make_pipeline(FunctionTransformer(function), GaussianNB())
        return validate(model, X, y, **FOLDS, out=tmp_path / folder)

    for name, one, other in [
        ("lambda", lambda X: X, lambda X: X[:, 5:]),
        ("closure", chosen(3), chosen(4)),
        ("partial", partial(np.multiply, 2.0), partial(np.multiply, 3.0)),
        ("mutual", mutual(), chosen(2)),
    ]:
        go(one, name)
        go(one, name)
        with pytest.raises(ValueError, match="another"):
            go(other, name)
    go(shifted, "global")
    monkeypatch.setitem(globals(), "SHIFT", 2.0)
    with pytest.raises(ValueError, match="another"):
        go(shifted, "global")
