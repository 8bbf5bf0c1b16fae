"""menet.validate: the same as the command, honest, and open to any classifier."""

import inspect
import json
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
from conftest import same
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import menet
from menet import ManifoldElasticNet, ManifoldElasticNetCV, _core, validate
from menet._comparisons import NAMED, anova_f, identity, needs_frames, panel_of

# Nothing but the folds, for what does not depend on more.
FOLDS = {"n_repeats": 1, "n_permutations": 0, "n_pairs": 0}


def waves(n=60, p=12, classes=3, seed=0):
    """Samples whose first variables tell the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p))
    X[:, :classes] += 2.5 * np.eye(classes)[y]
    return X, y


def noise(n=60, p=200, seed=0):
    """Samples that say nothing about their class."""
    return np.random.default_rng(seed).standard_normal((n, p)), np.arange(n) % 2


def results(found):
    """Everything that must not depend on threads or on an interruption."""
    of = [(m.name, m.balanced_accuracy, m.rate, m.auc, m.log_loss, m.recall) for m in found._methods()]
    arrays = [
        array.tobytes()
        for method in found._methods()
        for array in (method.confusion, method.samples.given, method.samples.probabilities, *method.scores.values())
        if array is not None
    ]
    test = None if found.permutation is None else (found.p_value, found.permutation.permuted.tobytes())
    stability = None if found.stability is None else (found.stability.index, found.stability.frequencies)
    panel = [(entry.name, entry.frequency, entry.weights.tobytes()) for entry in found.panel]
    return of, arrays, test, stability, panel, found.words


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier for the tests: knows the most frequent class alone."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


class Recorder(Classifier):
    """Keeps the first column of what it learned from and decided on; clones share the list."""

    seen = None

    def fit(self, X, y):
        self.learned_ = set(X[:, 0])
        return super().fit(X, y)

    def predict(self, X):
        self.seen.append((self.learned_, set(X[:, 0])))
        return super().predict(X)


class Cheat(Classifier):
    """Knows the labels of all samples by heart, as if variables had been selected with them."""

    def __init__(self, X, y):
        self.X, self.y = X, y

    def predict(self, X):
        known = {row.tobytes(): label for row, label in zip(self.X, self.y, strict=True)}
        return np.array([known[row.tobytes()] for row in np.ascontiguousarray(X)])


class Breaks(Classifier):
    """Raises where it has to learn from a given number of samples."""

    def __init__(self, after=0):
        self.after = after

    def fit(self, X, y):
        calls.append(None)
        if len(calls) > self.after:
            raise ZeroDivisionError("my own mistake")
        return super().fit(X, y)


calls = []


def run(command, *args):
    done = subprocess.run([command, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def agree(found, told):
    """The numbers of Python are those that the command printed."""
    of = lambda interval: None if interval is None else interval._asdict()  # noqa: E731
    assert of(found.balanced_accuracy) == told["balanced_accuracy"]
    assert found.p_value == told["p_value"]
    assert found.stability.index == (told["stability"]["index"], told["stability"]["low"], told["stability"]["high"])
    panel = [{"name": entry.name, "frequency": entry.frequency, "stable": entry.stable} for entry in found.panel]
    assert panel == told["panel"]
    assert [method.name for method in found._methods()] == [method["name"] for method in told["methods"]]
    for ours, theirs in zip(found._methods(), told["methods"], strict=True):
        assert of(ours.rate) == theirs["rate"]
        assert of(ours.auc) == theirs["auc"]
        assert of(ours.log_loss) == theirs["log_loss"]
        assert {str(label): of(recall) for label, recall in ours.recall.items()} == theirs["recall"]
        assert ours.confusion.tolist() == theirs["confusion"]
        assert ours.n_variables == theirs["variables"]


def test_numbers_are_those_of_the_command(command, genes, tmp_path):
    X, y = genes
    few = ("--repeats", 2, "--permutations", 4, "--pairs", 5, "--seed", 3)
    same_few = {"n_repeats": 2, "n_permutations": 4, "n_pairs": 5, "random_state": 3}
    told = run(
        command, "validate", "--data", "leukemia", "--out", tmp_path / "a", *few, "--compare", "pca,men-paper", "--json"
    )
    found = validate(None, X, y, **same_few, compare=["pca", "men-paper"], n_jobs=2)
    agree(found, json.loads(told))
    # A search that is spelled out.
    lists = ("--nonzeros", "5,10", "--ridge", "0.3,1", "--refit", "discriminant", "--rule", "centroid,gaussian")
    how = ("--inner-folds", 4, "--score", "log_loss", "--one-standard-error")
    told = run(command, "validate", "--data", "leukemia", "--out", tmp_path / "b", *few, *lists, *how, "--json")
    search = ManifoldElasticNetCV(
        n_nonzeros=[5, 10],
        ridge=[0.3, 1.0],
        refit="discriminant",
        rule=["centroid", "gaussian"],
        metric="cosine",
        cv=4,
        scoring="neg_log_loss",
        one_standard_error=True,
    )
    agree(validate(search, X, y, **same_few), json.loads(told))


def test_groups_are_those_of_the_command(command, tmp_path):
    X, y = waves(48)
    patients = np.array(["b", "a", "c", "d", "e", "f", "h", "g"])[np.arange(48) // 6]
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])])
    frame.assign(patient=patients, label=y).to_csv(tmp_path / "d.csv", index=False)
    few = ("--permutations", 3, "--pairs", 3, "--nonzeros", 3, "--ridge", "0.3,3", "--refit", "panel")
    few = (*few, "--rule", "gaussian", "--json")
    data = ("--data", tmp_path / "d.csv", "--label", "label", "--groups", "patient")
    search = ManifoldElasticNetCV(n_nonzeros=3, ridge=[0.3, 3.0], refit="panel", rule="gaussian", metric="cosine", cv=3)
    how = {"n_permutations": 3, "n_pairs": 3, "groups": patients}
    told = run(command, "validate", *data, "--out", tmp_path / "a", "--leave-one-group-out", *few)
    agree(validate(search, frame, y, leave_one_group_out=True, **how), json.loads(told))
    told = run(command, "validate", *data, "--out", tmp_path / "b", "--repeats", 2, "--folds", 4, *few)
    agree(validate(search, frame, y, n_repeats=2, n_splits=4, **how), json.loads(told))


def test_defaults_are_those_of_the_engine():
    names = {"folds": "n_splits", "repeats": "n_repeats", "permutations": "n_permutations", "pairs": "n_pairs"}
    names |= {"seed": "random_state"}
    signature = inspect.signature(validate).parameters
    for name, value in json.loads(_core.validation_defaults()).items():
        assert signature[names.get(name, name)].default == value, name


def test_results_do_not_depend_on_the_number_of_threads():
    X, y = waves()
    for estimator in (ManifoldElasticNet(panel_size=4), RandomForestClassifier(10)):
        one, two = (
            validate(
                estimator,
                X,
                y,
                n_repeats=2,
                n_permutations=5,
                n_pairs=4,
                compare={"forest": RandomForestClassifier(5), "lr": LogisticRegression()},
                n_jobs=jobs,
            )
            for jobs in (1, 2)
        )
        assert results(one) == results(two)


def test_groups_are_never_split():
    X, y = waves(60)
    patients = np.arange(60) // 4
    X[:, 0] = patients
    for how in ({"leave_one_group_out": True}, {"n_splits": 3}):
        Recorder.seen = []
        validate(Recorder(), X, y, groups=patients, n_repeats=2, n_permutations=3, n_pairs=0, n_jobs=2, **how)
        folds = {"leave_one_group_out": 15 + 3 * 15, "n_splits": 2 * 3 + 3 * 3}[next(iter(how))]
        assert len(Recorder.seen) == folds
        for learned, decided in Recorder.seen:
            assert not learned & decided
            assert len(decided) == 1 or "n_splits" in how
    # Without groups they are split.
    Recorder.seen = []
    validate(Recorder(), X, y, **FOLDS)
    assert any(learned & decided for learned, decided in Recorder.seen)


def test_groups_reach_a_search_that_asks_for_them():
    X, y = waves(60)
    grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=GroupKFold(3))
    found = validate(grid, X, y, groups=np.arange(60) // 4, **FOLDS)
    assert found.balanced_accuracy.mean > 0.7
    assert {choice.split(" = ")[0] for choice in found.choices} == {"n_neighbors"}


def test_a_leak_is_seen_and_honest_methods_are_at_chance():
    X, y = noise()
    cheat = validate(Cheat(X, y), X, y, n_repeats=2, n_permutations=19, n_pairs=0)
    assert cheat.balanced_accuracy.mean == 1.0
    means = []
    for seed in range(4):
        X, y = noise(seed=seed)
        honest = validate(
            ManifoldElasticNetCV(n_nonzeros=[5, 20], ridge=1.0, rule="gaussian", refit="discriminant", cv=3),
            X,
            y,
            n_repeats=3,
            n_permutations=0,
            n_pairs=0,
            compare=["anova-lda"],
        )
        means.append([honest.balanced_accuracy.mean, honest.comparison["anova-lda"].balanced_accuracy.mean])
    # 240 decisions: two standard errors are 6.5 points.
    assert (np.abs(np.mean(means, axis=0) - 0.5) < 0.1).all(), means
    assert honest.balanced_accuracy.low < 0.5 < honest.balanced_accuracy.high


def test_permuted_labels_tell_signal_from_noise():
    X, y = waves(45)
    assert validate(GaussianNB(), X, y, n_repeats=1, n_permutations=19).p_value == 0.05
    found = validate(GaussianNB(), *noise(p=5, seed=4), n_repeats=1, n_permutations=200)
    assert found.p_value > 0.05
    assert found.permutation.early
    assert found.permutation.as_good == 20
    assert len(found.permutation.permuted) < found.permutation.asked == 200
    assert found.permutation.p_value.low < found.p_value < found.permutation.p_value.high


def test_a_run_continues_in_its_folder(tmp_path):
    X, y = waves()
    how = {"n_repeats": 2, "n_permutations": 6, "n_pairs": 3, "compare": {"nb": GaussianNB()}}
    whole = validate(ManifoldElasticNet(panel_size=3), X, y, **how, out=tmp_path / "whole")
    calls.clear()
    with pytest.raises(ZeroDivisionError):
        validate(Breaks(3), X, y, **how, out=tmp_path / "broken")
    lines = (tmp_path / "broken" / "work.jsonl").read_text().splitlines()
    assert len(lines) >= 4, "a header and what was finished"
    # Half of the lines, the last one cut short by a kill.
    lines = (tmp_path / "whole" / "work.jsonl").read_text().splitlines()
    (tmp_path / "half").mkdir()
    cut = "\n".join(lines[: len(lines) // 2]) + "\n" + lines[-1][:20]
    (tmp_path / "half" / "work.jsonl").write_text(cut)
    again = validate(ManifoldElasticNet(panel_size=3), X, y, **how, out=str(tmp_path / "half"))
    assert results(again) == results(whole)
    for name in ("work.jsonl", "scores.csv", "panel.csv", "permutations.csv", "samples.csv", "run.toml"):
        assert (tmp_path / "half" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    # Nothing is computed again.
    calls.clear()
    validate(Breaks(10**9), X, y, **FOLDS, out=tmp_path / "counted")
    assert len(calls) == 5
    validate(Breaks(10**9), X, y, **FOLDS, out=tmp_path / "counted")
    assert len(calls) == 5
    with pytest.raises(ValueError, match="another"):
        validate(Breaks(10**9 + 1), X, y, **FOLDS, out=tmp_path / "counted")


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
    table = pd.read_csv(tmp_path / "panel.csv")
    assert list(table["name"]) == [entry.name for entry in found.panel]
    np.testing.assert_array_equal(table["weight_1"], [entry.weights[0] for entry in found.panel])
    assert list(pd.read_csv(tmp_path / "scores.csv")["auc"]) == found.scores["auc"].tolist()
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


def test_exceptions_of_an_estimator_come_out_with_the_fold():
    X, y = waves()
    calls.clear()
    with pytest.raises(ZeroDivisionError, match="my own mistake") as caught:
        validate(Breaks(2), X, y, **FOLDS)
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == ["menet.validate: Breaks, repeat 1, fold 3"]
    # The traceback leads to the line.
    assert any(entry.name == "fit" and "test_validate" in str(entry.path) for entry in caught.traceback)
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


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize("estimator", ["menet.ManifoldElasticNet(n_nonzeros=20)", "GaussianNB()"])
def test_ctrl_c_interrupts(estimator):
    script = f"""
        import numpy as np, menet
        from sklearn.naive_bayes import GaussianNB
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 1000))
        print("begun", flush=True)
        try:
            menet.validate({estimator}, X, np.arange(200) % 2, n_repeats=100_000, n_jobs=2)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\n"


def test_sparse_samples_give_the_same(tmp_path):
    X, y = waves()
    X[X < 0.5] = 0.0
    how = {"n_repeats": 1, "n_permutations": 2, "n_pairs": 3, "compare": ["l1-logistic", "pca"]}
    dense = validate(ManifoldElasticNet(panel_size=4), X, y, **how)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        found = validate(ManifoldElasticNet(panel_size=4), kind(X), y, **how, out=tmp_path / kind.__name__)
        assert results(found) == results(dense)
        assert results(validate(LogisticRegression(), kind(X), y, **FOLDS))[0][0][0] == "LogisticRegression"


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
            ("search", ManifoldElasticNetCV(n_nonzeros=[2, 3], ridge=0.3, cv=2)),
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
        (
            {"estimator": ManifoldElasticNetCV(n_nonzeros=[2, 3], panel_size=[2, 3])},
            ValueError,
            "give a list of only one of them",
        ),
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


def test_more_folds_than_samples_leave_one_out():
    X, y = waves(15)
    found = validate(GaussianNB(), X, y, n_splits=100, **FOLDS)
    assert (found.samples.tested == 1).all()
    Recorder.seen = []
    validate(Recorder(), X, y, n_splits=100, **FOLDS)
    assert [len(decided) for _, decided in Recorder.seen] == [1] * 15


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
