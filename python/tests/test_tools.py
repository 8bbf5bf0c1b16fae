"""scikit-learn's tools, on real data."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_estimator_checks import ESTIMATORS

import menet
from menet import ManifoldElasticNet


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_in_a_pipeline_with_cross_validation(estimator, faces):
    X, y = faces[0], faces[1]
    model = estimator(n_components=10)
    if estimator is menet.SparsePCA:
        model.set_params(n_nonzeros=50, soft=True, tolerance=1e-2)
    assert is_classifier(model)
    rates = cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3)
    assert rates.mean() > 0.6, rates
    # As a step before another classifier.
    rates = cross_val_score(make_pipeline(model, KNeighborsClassifier(1)), X, y, cv=3)
    assert rates.mean() > 0.6, rates


def test_grid_search_over_the_sparsity(digits):
    X, y = digits
    grid = {"manifoldelasticnet__n_nonzeros": np.array([2, 10, 30]), "manifoldelasticnet__n_components": [4, 9]}
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ManifoldElasticNet.preset("paper")), grid, cv=3, n_jobs=2
    ).fit(X, y)
    assert search.best_params_ == {"manifoldelasticnet__n_nonzeros": 30, "manifoldelasticnet__n_components": 9}
    assert search.best_score_ > 0.9
    assert search.best_estimator_[-1].n_nonzeros_.max() <= 30


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_and_pickle(estimator, digits):
    X, y = digits[0][:400], digits[1][:400]
    model = estimator(n_components=3).fit(X, y)
    blank = clone(model)
    assert blank.get_params() == model.get_params()
    assert not hasattr(blank, "components_")
    for copy in (pickle.loads(pickle.dumps(model)), blank.fit(X, y)):
        np.testing.assert_array_equal(copy.transform(digits[0]), model.transform(digits[0]))
        np.testing.assert_array_equal(copy.predict(digits[0]), model.predict(digits[0]))
        np.testing.assert_array_equal(copy.at(n_components=2).predict(X), model.at(n_components=2).predict(X))


def fitted(X, y, X_test, y_test):
    model = ManifoldElasticNet(n_components=8, n_nonzeros=20, n_jobs=2).fit(X, y)
    return model, model.score(X_test, y_test)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_several_processes_and_threads(backend, faces):
    here, expected = fitted(*faces)
    with joblib.parallel_config(backend, n_jobs=2):
        for there, rate in joblib.Parallel()(joblib.delayed(fitted)(*faces) for _ in range(4)):
            np.testing.assert_array_equal(there.components_, here.components_)
            assert rate == expected


def test_names_of_variables_are_kept_and_checked(genes):
    X, y = genes
    men = ManifoldElasticNet(n_nonzeros=6).fit(X, y)
    assert list(men.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(men.transform(X.iloc[:, ::-1]), men.transform(X))
    with pytest.raises(ValueError, match=f"X lacks 1 of the {len(men.panel_)} variables .*: '{men.panel_[2]}'"):
        men.transform(X.drop(columns=men.panel_[2]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        men.transform(X.to_numpy())
    frame = pl.DataFrame(X)
    other = ManifoldElasticNet(n_nonzeros=6).fit(frame, pl.Series(y.to_numpy()))
    assert list(other.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(other.components_, men.components_)
    np.testing.assert_array_equal(other.predict(frame), men.predict(X))
    assert [list(a) for a in other.selected_features_] == [list(a) for a in men.selected_features_]


@pytest.mark.parametrize("estimator", [ManifoldElasticNet, menet.PCA])
def test_frames_come_out_if_asked_for(estimator, genes):
    X, y = genes
    model = estimator(n_components=2).set_output(transform="pandas")
    out = model.fit_transform(X, y)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == list(model.get_feature_names_out())
    assert list(out.index) == list(X.index)
    assert out.columns[0] == f"{estimator.__name__.lower()}0"
    assert isinstance(model.set_output(transform="polars").transform(X), pl.DataFrame)
    cut = model.at(n_components=1)
    assert list(cut.get_feature_names_out()) == [f"{estimator.__name__.lower()}0"]
    pipeline = make_pipeline(StandardScaler(), estimator(n_components=2)).set_output(transform="pandas")
    assert list(pipeline.fit(X, y).get_feature_names_out()) == list(out.columns)
    parts = ColumnTransformer([("a", estimator(n_components=1), list(X.columns[:50]))])
    assert parts.set_output(transform="pandas").fit_transform(X, y).shape == (38, 1)


def test_tables_of_every_kind_give_one_model(genes):
    X, y = genes
    of_pandas = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    for table in (pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        model = ManifoldElasticNet(n_nonzeros=5).fit(table, y)
        assert list(model.feature_names_in_) == list(X.columns)
        assert model.components_.tobytes() == of_pandas.components_.tobytes()
        assert np.array_equal(model.transform(table), of_pandas.transform(X))
        assert list(model.predict(table)) == list(of_pandas.predict(X))


def test_arrays_and_frames_of_one_block_are_not_copied(digits):
    rows = np.asarray(digits[0], dtype=np.float64)
    for samples in (rows, np.asfortranarray(rows), pd.DataFrame(rows)):
        model = ManifoldElasticNet(n_nonzeros=5).fit(samples, digits[1])
        assert np.shares_memory(model._training.X, np.asarray(samples))


def test_metadata_are_routed(digits):
    X, y = digits[0][:600], digits[1][:600]
    weights = (y == 8) + 0.01
    with sklearn.config_context(enable_metadata_routing=True):
        model = ManifoldElasticNet(n_nonzeros=10).set_fit_request(sample_weight=False)

        def scores(model):
            return cross_validate(model, X, y, cv=3, params={"sample_weight": weights})["test_score"]

        plain = cross_validate(model, X, y, cv=3)["test_score"]
        scored = scores(model.set_score_request(sample_weight=True))
        fitted = scores(model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False))
    assert not np.array_equal(scored, plain)
    assert not np.array_equal(fitted, plain)
    assert make_pipeline(ManifoldElasticNet()).fit(X, y).score(X, y, sample_weight=weights) == 1.0


def test_a_model_shows_itself(digits):
    men = ManifoldElasticNet(n_nonzeros=10).fit(*digits)
    assert repr(men) == "ManifoldElasticNet(n_nonzeros=10)"
    assert "ManifoldElasticNet" in men._repr_html_()
