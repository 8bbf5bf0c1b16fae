"""menet.validate: the same numbers as the command, no leak, and no dependence on threads or interruptions."""

import inspect
import json
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from validating import FOLDS, Breaks, Classifier, calls, noise, results, waves

from menet import ManifoldElasticNet, ManifoldElasticNetCV, Prepare, _core, validate


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


def run(command, *args):
    done = subprocess.run([command, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def agree(found, expected):
    """The numbers of Python are those that the command printed."""
    of = lambda interval: None if interval is None else interval._asdict()  # noqa: E731
    assert of(found.balanced_accuracy) == expected["balanced_accuracy"]
    assert found.p_value == expected["p_value"]
    assert found.stability.index == (
        expected["stability"]["index"],
        expected["stability"]["low"],
        expected["stability"]["high"],
    )
    panel = [{"name": entry.name, "frequency": entry.frequency, "stable": entry.stable} for entry in found.panel]
    assert panel == expected["panel"]
    assert [method.name for method in found._methods()] == [method["name"] for method in expected["methods"]]
    for ours, theirs in zip(found._methods(), expected["methods"], strict=True):
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
    expected = run(
        command, "validate", "--data", "leukemia", "--out", tmp_path / "a", *few, "--compare", "pca,men-paper", "--json"
    )
    found = validate(None, X, y, **same_few, compare=["pca", "men-paper"], n_jobs=2)
    agree(found, json.loads(expected))
    # A search that is spelled out.
    lists = ("--nonzeros", "5,10", "--ridge", "0.3,1", "--refit", "discriminant", "--rule", "centroid,gaussian")
    how = ("--inner-folds", 4, "--score", "log_loss", "--one-standard-error")
    expected = run(command, "validate", "--data", "leukemia", "--out", tmp_path / "b", *few, *lists, *how, "--json")
    search = ManifoldElasticNetCV(
        refit="discriminant",
        param_grid={
            "n_nonzeros": [5, 10],
            "ridge": [0.3, 1.0],
            "rule": ["centroid", "gaussian"],
            "rule__metric": ["cosine"],
        },
        cv=4,
        scoring="neg_log_loss",
        one_standard_error=True,
    )
    agree(validate(search, X, y, **same_few), json.loads(expected))


def test_groups_are_those_of_the_command(command, tmp_path):
    X, y = waves(48)
    patients = np.array(["b", "a", "c", "d", "e", "f", "h", "g"])[np.arange(48) // 6]
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])])
    frame.assign(patient=patients, label=y).to_csv(tmp_path / "d.csv", index=False)
    few = ("--permutations", 3, "--pairs", 3, "--nonzeros", 3, "--ridge", "0.3,3", "--refit", "panel")
    few = (*few, "--rule", "gaussian", "--json")
    data = ("--data", tmp_path / "d.csv", "--label", "label", "--groups", "patient")
    search = ManifoldElasticNetCV(n_nonzeros=3, refit="panel", rule="gaussian", param_grid={"ridge": [0.3, 3.0]}, cv=3)
    how = {"n_permutations": 3, "n_pairs": 3, "groups": patients}
    expected = run(command, "validate", *data, "--out", tmp_path / "a", "--leave-one-group-out", *few)
    agree(validate(search, frame, y, leave_one_group_out=True, **how), json.loads(expected))
    expected = run(command, "validate", *data, "--out", tmp_path / "b", "--repeats", 2, "--folds", 4, *few)
    agree(validate(search, frame, y, n_repeats=2, n_splits=4, **how), json.loads(expected))


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
            ManifoldElasticNetCV(
                ridge=1.0, rule="gaussian", refit="discriminant", param_grid={"n_nonzeros": [5, 20]}, cv=3
            ),
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
    shutil.copy(tmp_path / "whole" / "menet-files.txt", tmp_path / "half")
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


def test_more_folds_than_samples_leave_one_out():
    X, y = waves(15)
    found = validate(GaussianNB(), X, y, n_splits=100, **FOLDS)
    assert (found.samples.tested == 1).all()
    Recorder.seen = []
    validate(Recorder(), X, y, n_splits=100, **FOLDS)
    assert [len(decided) for _, decided in Recorder.seen] == [1] * 15


def test_a_fixed_model_of_two_classes_is_the_one_that_fit_makes():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    men = ManifoldElasticNet(panel_size=5)
    found = validate(men, X, y, n_repeats=1, n_permutations=0, n_pairs=0)
    assert found.estimator_.rule_ == men.fit(X, y).rule_ == "gaussian"
    assert found.estimator_.components_.tobytes() == men.components_.tobytes()


def test_the_words_say_how_missing_values_were_filled():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X[::9, 3] = np.nan
    men = ManifoldElasticNet(panel_size=5, prepare=Prepare(impute="median"))
    words = validate(men, X, y, n_repeats=1, n_permutations=0, n_pairs=0).words
    assert "Missing values were filled with the median of the variable" in words[1]
    assert "cross-validation was done once" in words[0]


def test_copies_are_told_and_stay_together():
    X, y = noise(40, 20)
    X, y = np.vstack([X, X]), np.concatenate([y, y])
    with pytest.warns(UserWarning, match="menet.validate: 40 of 80 samples are copies of others"):
        found = validate(ManifoldElasticNet(n_nonzeros=5, rule="nearest"), X, y, **FOLDS)
    assert found.balanced_accuracy.mean < 0.7
    assert "40 of 80 samples are copies" in found.words[0]


def test_few_arrangements_and_failures_are_reported():
    marker = np.arange(60)[:, None] % 2.0
    found = validate(ManifoldElasticNet(), marker, np.arange(60) % 2, n_repeats=1, n_permutations=19, n_pairs=0)
    assert found.permutation.failed > 0
    assert (found.p_value, found.permutation.as_good, found.permutation.limit) == (0.05, 0, None)
    X, y = waves(24, 5, 2)
    y = np.sort(y)
    found = validate(
        ManifoldElasticNet(), X, y, groups=np.arange(24) // 6, n_splits=2, n_repeats=1, n_permutations=19, n_pairs=0
    )
    assert found.permutation.arrangements == 6
    assert "p cannot be below 0.17" in found.permutation.limit
    assert found.permutation.limit in repr(found)
