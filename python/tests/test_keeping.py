"""Models that are kept: pickle, skops, and the model file that the command shares."""

import copy
import pickle
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from conftest import same
from scipy import sparse
from sklearn.base import clone
from test_estimator_checks import ESTIMATORS

import menet
from menet import L1, Centroid, Manifold, ManifoldElasticNet, Prepare, datasets


def test_a_pickle_keeps_no_more_of_the_training_samples_than_paths_use(genes):
    X, y = genes
    men = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    data = pickle.dumps(men)
    assert len(data) < X.to_numpy().nbytes / 3
    same(pickle.loads(data), men, X)
    # Once more from what was unpickled.
    again = pickle.loads(pickle.dumps(pickle.loads(data)))
    same(again.at(n_nonzeros=3), men.at(n_nonzeros=3), X)


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(40) % 3 - 1,
        (np.arange(40) % 3).astype(np.uint8),
        np.arange(40) % 3 / 1.0,
        np.arange(40) % 2 == 0,
        np.array(["10", "9", "a b"])[np.arange(40) % 3],
        np.array(["10", "9"])[np.arange(40) % 2],
        np.array(["ä", "z"], dtype=object)[np.arange(40) % 2],
    ],
    ids=["integers", "bytes", "numbers", "booleans", "text", "text that looks like integers", "objects"],
)
def test_labels_survive_a_file(labels, tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 6))
    men = ManifoldElasticNet(penalty=L1(factors=[1, 2, np.inf, 1, 1, 0.5]), n_nonzeros=4).fit(X, labels)
    men.save(tmp_path / "m.safetensors")
    loaded = ManifoldElasticNet.load(tmp_path / "m.safetensors")
    same(loaded, men, X)
    assert list(loaded.classes_) == list(np.unique(labels))
    assert loaded.classes_.dtype.kind == ("U" if labels.dtype.kind == "O" else labels.dtype.kind.replace("u", "i"))
    assert loaded.score(X, labels) == men.score(X, labels)
    assert not loaded.components_[:, 2].any()
    assert loaded.get_params() == men.get_params()
    assert loaded.penalty.factors == [1, 2, np.inf, 1, 1, 0.5]
    assert loaded.definiteness_ == men.definiteness_
    np.testing.assert_array_equal(loaded.kkt_violation_, men.kkt_violation_)
    assert loaded.n_features_in_ == 6


def test_a_loaded_model_made_smaller_says_what_it_cannot(genes, tmp_path):
    X, y = genes
    men = ManifoldElasticNet.preset("paper", n_nonzeros=5).fit(X, y)
    men.save(str(tmp_path / "m.safetensors"))
    loaded = ManifoldElasticNet.load(str(tmp_path / "m.safetensors"))
    assert list(loaded.feature_names_in_) == list(X.columns)
    assert [list(a) for a in loaded.selected_features_] == [list(a) for a in men.selected_features_]
    sparser = loaded.at(n_nonzeros=2)
    np.testing.assert_array_equal(sparser.transform(X), men.at(n_nonzeros=2).transform(X))
    with pytest.raises(ValueError, match="made smaller without its training samples"):
        sparser.predict(X)
    with pytest.raises(ValueError, match="made smaller without its training samples"):
        sparser.save(tmp_path / "no")
    assert not (tmp_path / "no").exists()
    assert loaded.at(n_components=1).score(X, y) > 0.5


def run(command, *args):
    done = subprocess.run([command, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_model_of_python_loads_in_the_command(command, genes, tmp_path):
    X, y = genes
    men = ManifoldElasticNet(n_nonzeros=8).fit(X, y)
    men.save(tmp_path / "m.safetensors")
    run(command, "transform", "--model", tmp_path / "m.safetensors", "--data", "leukemia", "--out", tmp_path / "z.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), men.transform(X))
    labels = run(command, "predict", "--model", tmp_path / "m.safetensors", "--data", "leukemia", "--out", "-")
    found = [line.split(",") for line in labels.splitlines()]
    column = found[0].index("label")
    assert [row[column] for row in found[1:]] == list(men.predict(X))


@pytest.mark.parametrize("name", ["leukemia", "digits"])
def test_a_model_of_the_command_loads_in_python(command, name, tmp_path):
    model = tmp_path / "m.safetensors"
    run(command, "fit", "--data", name, "--nonzeros", 8, "--model", model)
    run(command, "transform", "--model", model, "--data", name, "--out", tmp_path / "z.npy")
    loaded = ManifoldElasticNet.load(model)
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file has names, these arrays have none
        np.testing.assert_array_equal(loaded.transform(X), np.load(tmp_path / "z.npy"))
        assert loaded.score(X, y) == 1.0
        fresh = ManifoldElasticNet(n_nonzeros=8).fit(X, y)
        same(loaded, fresh, X)
    assert loaded.classes_.dtype.kind == fresh.classes_.dtype.kind
    assert loaded.get_params() == fresh.get_params()


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_what_is_no_model_is_refused(content, tmp_path):
    file = tmp_path / "m.safetensors"
    with pytest.raises(FileNotFoundError, match=r"m\.safetensors"):
        ManifoldElasticNet.load(file)
    with pytest.raises(IsADirectoryError):
        ManifoldElasticNet.load(tmp_path)
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.safetensors: not a usable menet model"):
        ManifoldElasticNet.load(file)
    with pytest.raises(ValueError, match="is a device"):
        ManifoldElasticNet.load("/dev/zero")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ManifoldElasticNet().fit([[0.0], [1.0], [3.0]], [0, 1, 1]).save(tmp_path / "nowhere" / "m")


def small(digits):
    return digits[0][:200], digits[1][:200]


def through_skops(model):
    io = pytest.importorskip("skops.io", reason="skops is not installed")
    data = io.dumps(model)
    untrusted = io.get_untrusted_types(data=data)
    # Nothing asks for trust but our estimators, and SciPy's sparse arrays, which skops can read.
    assert all(name.startswith(("menet.", "scipy.sparse.")) for name in untrusted), untrusted
    return io.loads(data, trusted=untrusted)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("keep", [lambda m: pickle.loads(pickle.dumps(m)), through_skops, copy.deepcopy])
def test_every_estimator_is_read_as_it_was_written(estimator, keep, digits):
    X, y = small(digits)
    model = estimator(n_components=3).fit(X, y)
    # Twice: what was read can be written again.
    kept = keep(keep(model))
    same(kept, model, digits[0])
    same(kept.at(n_components=2), model.at(n_components=2), digits[0])
    assert kept.get_params() == model.get_params()
    # What is lazily rebuilt must not be in the way of a new fit.
    same(clone(kept).fit(X, y), model, digits[0])
    same(kept.fit(X, y), model, digits[0])


@pytest.mark.parametrize("keep", [lambda m: pickle.loads(pickle.dumps(m)), through_skops, copy.deepcopy])
def test_stages_are_read_as_they_were_written(keep, digits):
    X, y = small(digits)
    model = ManifoldElasticNet(
        n_nonzeros=5,
        prepare=Prepare(scale="pareto"),
        manifold=Manifold(kappa=0.2),
        penalty=L1(factors=np.linspace(0.5, 2.0, 64), never=[36]),
        rule=Centroid(priors="equal"),
    ).fit(X, y)
    kept = keep(keep(model))
    assert all(kept.get_params(deep=False)[name] == one for name, one in model.get_params(deep=False).items())
    assert kept.penalty is not model.penalty
    same(kept, model, digits[0])
    same(kept.at(n_nonzeros=3), model.at(n_nonzeros=3), digits[0])
    same(clone(kept).fit(X, y), model, digits[0])


def test_skops_reads_a_search_and_sparse_training_samples(digits, genes):
    X, y = small(digits)
    search = menet.ManifoldElasticNetCV(ridge=0.3, refit="panel", param_grid={"n_nonzeros": [3, 6]}, cv=2).fit(X, y)
    kept = through_skops(search)
    same(kept, search, X)
    same(kept.best_estimator_.at(n_nonzeros=2), search.at(n_nonzeros=2), X)
    assert kept.best_params_ == search.best_params_
    assert kept.cv_results_.keys() == search.cv_results_.keys()
    men = ManifoldElasticNet(n_nonzeros=5).fit(sparse.csr_array(X), y)
    same(through_skops(men).at(n_nonzeros=3), men.at(n_nonzeros=3), X)
    X, y = genes
    named = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
    assert list(through_skops(named).feature_names_in_) == list(X.columns)


def test_a_search_keeps_its_model_once(digits):
    X, y = small(digits)
    search = menet.ManifoldElasticNetCV(n_nonzeros=3, ridge=0.3, refit="panel", cv=2).fit(X, y)
    assert search._model is search.best_estimator_._model
    kept = pickle.loads(pickle.dumps(search))
    assert kept._model is kept.best_estimator_._model


@pytest.mark.parametrize("estimator", [ManifoldElasticNet, menet.PCA])
def test_the_core_keeps_the_model_between_calls(estimator, digits):
    X, y = small(digits)
    model = estimator(n_components=2).fit(X, y)
    for fitted in (model, pickle.loads(pickle.dumps(model))):
        before = fitted._model
        expected = fitted.transform(X), fitted.predict(X)
        # The axes are in the core: what Python shows of them is not read again.
        fitted.components_ = np.full_like(fitted.components_, np.nan)
        np.testing.assert_array_equal(fitted.transform(X), expected[0])
        np.testing.assert_array_equal(fitted.predict(X), expected[1])
        assert fitted._model is before


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of another kind")
def test_no_file_name_ends_the_interpreter(digits, tmp_path):
    men = ManifoldElasticNet(n_nonzeros=5).fit(*small(digits))
    with pytest.raises(ValueError, match="`file` is '-', but must be the path of a file"):
        men.save("-")
    script = """
        import sys, menet
        X, y = menet.datasets.load_digits(return_X_y=True)
        men = menet.ManifoldElasticNet(n_nonzeros=5).fit(X[:200], y[:200])
        sys.stdin.readline()
        for name in ("-", "./-"):
            try:
                men.save(name)
            except ValueError as e:
                print(e, file=sys.stderr)
        print("alive", file=sys.stderr)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    process.stdout.close()
    _, errors = process.communicate("go\n", timeout=60)
    assert errors.splitlines()[-1] == "alive"
    assert "Python does not write to standard output" in errors
    # The second is a file of that name.
    same(ManifoldElasticNet.load(tmp_path / "-"), men, digits[0])
