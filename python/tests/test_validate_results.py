"""What menet.validate returns, writes and prints, and the arguments it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from validating import FOLDS, Classifier, results, waves

from menet import ManifoldElasticNet, ManifoldElasticNetCV, validate


def test_the_report_is_written(tmp_path):
    X, y = waves()
    names = [f"<gene {j}>" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names, index=[f"patient {i}" for i in range(60)])
    link = "https://example.org/{name}"
    found = validate(
        ManifoldElasticNet(panel_size=4), frame, y, n_repeats=2, n_permutations=5, n_pairs=5, out=tmp_path, link=link
    )
    files = (
        "report.html summary.csv scores.csv samples.csv confusion.csv panel.csv stability.csv permutations.csv run.toml"
    )
    for name in files.split():
        assert (tmp_path / name).stat().st_size > 0, name
    assert list((tmp_path / "figures").iterdir())
    page = (tmp_path / "report.html").read_text()
    assert "patient 7" in page
    assert "example.org" in page
    table = pd.read_csv(tmp_path / "panel.csv", float_precision="round_trip")
    assert list(table["name"]) == [entry.name for entry in found.panel]
    np.testing.assert_array_equal(table["weight_1"], [entry.weights[0] for entry in found.panel])
    means = [f"mean:{label}" for label in found.classes]
    np.testing.assert_array_equal(table[means], [entry.class_means for entry in found.panel])
    assert list(table["higher_in"]) == [entry.higher_in for entry in found.panel]
    assert [entry.higher_in for entry in found.panel] == [found.classes[np.argmax(row)] for row in table[means].values]
    pd.testing.assert_series_equal(found.to_frame("panel")["higher_in"], table["higher_in"], check_dtype=False)
    assert (
        list(pd.read_csv(tmp_path / "scores.csv", float_precision="round_trip")["auc"]) == found.scores["auc"].tolist()
    )
    # A classifier without a panel has a report as well, and one without probabilities.
    for estimator in (GaussianNB(), LinearSVC()):
        folder = tmp_path / type(estimator).__name__
        other = validate(estimator, frame, y, n_repeats=1, n_permutations=3, n_pairs=5, out=folder)
        assert (folder / "report.html").stat().st_size > 0
        assert type(estimator).__name__ in (folder / "report.html").read_text()
        assert other.panel == []
        assert other.stability is None
        assert other.estimator_ is None
    assert other.auc is None
    assert other.samples.probabilities is None
    assert "auc" not in other.scores
    with pytest.raises(ValueError, match="name"):
        validate(GaussianNB(), X, y, **FOLDS, link="https://example.org/")


def test_frames_name_variables_and_samples_and_stay_frames():
    X, y = waves()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)], index=[f"s{i}" for i in range(60)])
    labels = pd.Series(np.array(["a", "b", "c"])[y], index=frame.index)

    class Framed(Classifier):
        def fit(self, X, y):
            assert list(X.columns) == list(frame.columns)
            assert set(y) <= {"a", "b", "c"}
            return super().fit(X, y)

    found = validate(ManifoldElasticNet(panel_size=3), frame, labels, **FOLDS, compare={"framed": Framed()})
    assert sorted(entry.name for entry in found.panel) == ["gene 0", "gene 1", "gene 2"]
    assert list(found.feature_names) == list(frame.columns)
    assert list(found.samples.names[:2]) == ["s0", "s1"]
    assert list(found.classes) == ["a", "b", "c"] == list(found.recall)
    assert list(found.samples.labels) == list(labels)
    assert {entry.cls for entry in found.panel} <= {"a", "b", "c"}
    assert list(found.estimator_.panel_) == ["gene 0", "gene 1", "gene 2"]
    counted = frame.reset_index(drop=True)
    assert validate(GaussianNB(), counted, labels.to_numpy(), **FOLDS).samples.names is None
    named = validate(GaussianNB(), X.tolist(), y.tolist(), **FOLDS, sample_names=range(100, 160))
    assert list(named.samples.names[:2]) == ["100", "101"]
    assert named.feature_names is None
    assert named.recall.keys() == {0, 1, 2}


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"estimator": LinearRegression()}, TypeError, "`estimator` is LinearRegression.*must be a classifier"),
        ({"estimator": KMeans()}, TypeError, "must be a classifier"),
        ({"estimator": GaussianNB}, TypeError, r"is the class GaussianNB, but must be an object: GaussianNB\(...\)"),
        ({"estimator": "men"}, TypeError, "must be a classifier"),
        (
            {"estimator": ManifoldElasticNetCV(cv=GroupKFold(3))},
            TypeError,
            "`cv` of ManifoldElasticNetCV is GroupKFold",
        ),
        ({"estimator": ManifoldElasticNetCV(cv=1)}, ValueError, "`cv` is 1, but must be at least 2"),
        ({"estimator": ManifoldElasticNetCV(scoring="f1")}, ValueError, "`scoring` is 'f1'"),
        ({"estimator": ManifoldElasticNet(ridge=-1.0)}, ValueError, "`ridge` is -1"),
        ({"n_splits": 1}, ValueError, "`n_splits` is 1, but must be at least 2"),
        ({"n_repeats": 0}, ValueError, "`n_repeats` is 0, but must be at least 1"),
        ({"n_permutations": -1}, ValueError, "`n_permutations` is -1, but must not be negative"),
        ({"n_permutations": 10**7}, ValueError, "`n_permutations` is 10000000, but must be at most 1000000"),
        ({"n_pairs": 1.5}, TypeError, "`n_pairs` is 1.5, but must be a whole number"),
        ({"threshold": 0.5}, ValueError, "`threshold` is 0.5, but must be above 0.5 and at most 1"),
        ({"false_selections": 0}, ValueError, "`false_selections` is 0, but must be above 0"),
        ({"early_stopping": 1}, TypeError, "`early_stopping` is 1, but must be True or False"),
        ({"leave_one_group_out": True}, ValueError, "there are no `groups`"),
        ({"groups": [1, 2]}, ValueError, "`groups` has 2 entries for 60 samples"),
        ({"groups": [None] * 60}, ValueError, "no value for sample 0"),
        ({"groups": [0.0] * 59 + [np.nan]}, ValueError, "no value for sample 59"),
        ({"groups": [[0]] * 60}, TypeError, "cannot be a group"),
        ({"sample_names": ["a"]}, ValueError, "`sample_names` has 1 names for 60 samples"),
        ({"compare": ["svm"]}, ValueError, "`compare` names 'svm', but must name one of l1-logistic"),
        ({"compare": [GaussianNB()]}, TypeError, "without a name"),
        ({"compare": {"a": LinearRegression()}}, TypeError, "'a' in `compare` is LinearRegression"),
        ({"compare": ["pca", "pca"]}, ValueError, "twice"),
        ({"random_state": -1}, ValueError, "`random_state` is -1"),
        ({"y": np.linspace(0, 1, 60)}, ValueError, "continuous"),
        ({"y": np.zeros(60)}, ValueError, "class"),
        ({"y": None}, ValueError, "y"),
        ({"X": np.full((60, 3), np.nan)}, ValueError, "NaN"),
    ],
)
def test_bad_arguments_are_named(change, kind, message):
    X, y = waves()
    given = {"estimator": ManifoldElasticNet(panel_size=2), "X": X, "y": y, **FOLDS, **change}
    with pytest.raises(kind, match=message):
        validate(given.pop("estimator"), given.pop("X"), given.pop("y"), **given)


def test_results_show_themselves_and_are_kept():
    X, y = waves()
    frame = pd.DataFrame(X, columns=[f"<b>{j}</b>" for j in range(12)])
    found = validate(
        ManifoldElasticNet(panel_size=3), frame, y, n_repeats=2, n_permutations=3, n_pairs=4, compare=["pca"]
    )
    lines = repr(found).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("Validation of men: balanced accuracy 0.")
    assert lines[1].startswith("p = 0.250 (")
    assert "over 8 half-samples" in lines[2]
    page = found._repr_html_()
    assert "<td>pca</td>" in page
    assert "<b>" not in page
    copy = pickle.loads(pickle.dumps(found))
    assert results(copy) == results(found)
    np.testing.assert_array_equal(copy.estimator_.predict(frame), found.estimator_.predict(frame))
    with pytest.raises(AttributeError):
        found.rate = None
    assert found.to_frame().shape == (2, 14)
    assert list(found.to_frame("scores")["method"]) == ["men", "men", "pca", "pca"]
    assert list(found.to_frame("samples").columns) == ["class", "tested", "wrong", "p(0)", "p(1)", "p(2)"]
    assert list(found.to_frame("panel")["name"]) == [entry.name for entry in found.panel]
    with pytest.raises(ValueError, match="`table` is 'x', but must be one of"):
        found.to_frame("x")
    # What is counted adds up.
    assert (found.samples.tested == 2).all()
    assert found.confusion.sum() == 120
    assert np.trace(found.confusion) == 120 - found.samples.wrong.sum()
    np.testing.assert_allclose(found.rate.mean, np.trace(found.confusion) / 120)
    np.testing.assert_allclose(found.samples.probabilities.sum(axis=1), 1.0)
    assert (found.samples.wrong[found.always_wrong] == 2).all()
    assert found.stability.false_selections.keys() == {"meinshausen_buhlmann", "unimodal", "r_concave"}
    assert [size for size, _ in found.stability.by_size] == list(range(1, 13))


def test_progress_is_told_if_asked_for(capsys):
    X, y = waves()
    validate(GaussianNB(), X, y, **FOLDS)
    assert capsys.readouterr().err == ""
    validate(GaussianNB(), X, y, **FOLDS, verbose=True)
    assert "menet.validate: held-out samples: GaussianNB, repeat 1 of 1, 5 of 5, 0." in capsys.readouterr().err
