"""Drawing: what is on the Axes, where it is drawn, and what is refused."""

import builtins
import subprocess
from itertools import pairwise

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.exceptions import NotFittedError

from menet import FLDA, PCA, ManifoldElasticNet, ManifoldElasticNetCV, lars_path, plot
from menet.plot._looks import COLOURS

COLUMNS = "data,train_per_class,method,repeat,dimension,rate"


SEARCHED = {"n_nonzeros": [3, 10, 30], "ridge": [0.03, 1.0], "rule": ["centroid", "gaussian"]}


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def men(genes):
    """A model with names."""
    return ManifoldElasticNet.preset("paper", n_nonzeros=12).fit(*genes)


@pytest.fixture(scope="module")
def pixels(digits):
    """A model whose variables make squares."""
    X, y = digits
    return ManifoldElasticNet.preset("paper", n_nonzeros=10).fit(X[:300], y[:300])


def lines_of(ax):
    """The lines of data: an axhline has no more than two points, at 0 and 1."""
    return [line for line in ax.lines if not np.array_equal(line.get_xdata(), [0, 1])]


def boxes(ax):
    """Where the texts beside and above are drawn, in pixels."""
    ax.figure.canvas.draw()
    # That of an annotation would count its leader too.
    return [Text.get_window_extent(text) for text in ax.texts]


def test_path_has_a_line_a_variable_that_is_ever_used(men):
    ax = plot.path(men, 1)
    path = men.path(1)
    lines = lines_of(ax)
    assert len(lines) == np.count_nonzero(path.coefs.any(axis=1))
    left, right = ax.get_xlim()
    assert left > path.lambdas[0] > right == path.lambdas[-1], "levels fall to the right"
    ends = sorted(line.get_ydata()[-1] for line in lines)
    np.testing.assert_array_equal(ends, np.sort(path.coefs[path.coefs.any(axis=1), -1]))


def test_path_names_the_heaviest_and_no_names_overlap(men):
    for labels, height in ((0, 4), (3, 4), (8, 4), (12, 4), (12, 1.5)):
        _, ax = plt.subplots(figsize=(6, height), layout="constrained")
        plot.path(men, labels=labels, ax=ax)
        heaviest = np.argsort(-np.abs(men.components_[0]), kind="stable")[:labels]
        assert {text.get_text() for text in ax.texts} == set(men.feature_names_in_[heaviest])
        placed = sorted(boxes(ax), key=lambda box: box.y0)
        assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(placed))
        assert all(box.x0 >= 0 and box.x1 <= ax.figure.bbox.x1 for box in placed), "nothing is cut off"


def test_path_of_a_path_names_positions_and_reaches_level_zero():
    path = lars_path(np.eye(3), [3.0, -2.0, 0.0])
    ax = plot.path(path, labels=5)
    assert [text.get_text() for text in ax.texts] == ["1", "0"], "from below; variable 2 is never used"
    assert ax.get_xlim()[1] == 0


def test_path_that_never_moves():
    ax = plot.path(lars_path(np.eye(2), [0.0, 0.0]))
    assert not lines_of(ax)
    assert not ax.texts


def test_path_takes_names_as_they_are(digits):
    X, y = digits
    frame = pd.DataFrame(X, columns=[f"$pixel_{j}$ with a name that is far too long {j}" for j in range(64)])
    ax = plot.path(ManifoldElasticNet(n_nonzeros=4).fit(frame[:200], y[:200]), labels=4)
    ax.figure.canvas.draw()
    assert all(text.get_text().startswith("$pixel_") and len(text.get_text()) == 22 for text in ax.texts)


def test_keywords_are_passed_on(men):
    for name in ("linewidth", "lw"):
        assert {line.get_linewidth() for line in lines_of(plot.path(men, **{name: 3.5}))} == {3.5}
    assert plot.rates({"men": [0.5, 0.9]}, c="red", label="mine").get_legend().get_texts()[0].get_text() == "mine"


def test_path_refuses_what_has_none(men):
    with pytest.raises(TypeError, match="`model` is a PCA, but must be"):
        plot.path(PCA())
    with pytest.raises(NotFittedError):
        plot.path(ManifoldElasticNet())
    with pytest.raises((ValueError, IndexError)):
        plot.path(men, 2)
    with pytest.raises(TypeError, match="`labels`"):
        plot.path(men, labels="all")


def test_bases_are_scaled_images_with_white_zeros(pixels):
    ax = plot.bases(pixels, n_components=7, columns=3)
    assert len(ax.images) == 7
    assert [text.get_text() for text in ax.texts] == [str(k) for k in range(7)]
    assert not ax.axison
    for image, axis in zip(ax.images, pixels.components_, strict=False):
        shown = np.asarray(image.get_array())
        assert shown.shape == (8, 8)
        assert np.abs(shown).max() == 1
        np.testing.assert_array_equal(np.sign(shown).ravel(), np.sign(axis))
        colours = image.to_rgba(image.get_array())[..., :3].reshape(64, 3)
        np.testing.assert_array_equal((colours == 1).all(axis=1), axis == 0)
    extents = [image.get_extent() for image in ax.images]
    assert len({(left, top) for left, _, _, top in extents}) == 7, "each has its place"
    assert ax.get_xlim()[1] >= max(extent[1] for extent in extents)
    assert ax.get_ylim()[0] >= max(extent[2] for extent in extents)


@pytest.mark.parametrize("shape", [(8, 8), (4, 16), (16, 4), (1, 64)])
def test_bases_of_any_shape_have_numbers_that_can_be_read(pixels, shape):
    ax = plot.bases(pixels, shape, n_components=99)
    assert len(ax.images) == 9
    assert np.asarray(ax.images[0].get_array()).shape == shape
    assert all(text.get_fontsize() >= 6 for text in ax.texts)
    placed = boxes(ax)
    assert all(not a.overlaps(b) for i, a in enumerate(placed) for b in placed[:i])


def test_bases_of_any_estimator(pixels, digits):
    X, y = digits
    for model in (FLDA(n_components=3).fit(X[:300], y[:300]), SklearnPCA(3).fit(X)):
        assert len(plot.bases(model).images) == 3
    assert plot.bases(pixels, n_components=1, cmap="gray").images[0].get_cmap().name == "gray"


def test_bases_refuse_a_wrong_shape(pixels, men):
    with pytest.raises(ValueError, match="`shape` is 8 x 9, 72 pixels, but the axes have 64 variables"):
        plot.bases(pixels, (8, 9))
    with pytest.raises(ValueError, match="5000 variables make no square: give `shape`"):
        plot.bases(men)
    with pytest.raises(ValueError, match="`shape` is 64, but must be the height and width of the images"):
        plot.bases(pixels, 64)
    with pytest.raises(ValueError, match="`n_components` is 0"):
        plot.bases(pixels, n_components=0)
    with pytest.raises(NotFittedError):
        plot.bases(PCA())


def test_rates_of_a_mapping():
    ax = plot.rates({"once": [0.5, 0.75, 0.75], "twice": [[0.2, 0.4, 0.6], [0.4, 0.4, np.nan]], "none": [np.nan]})
    once, twice = (line for line in ax.lines if len(line.get_xdata()) == 3)
    np.testing.assert_array_equal(once.get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(once.get_ydata(), [50, 75, 75])
    np.testing.assert_allclose(twice.get_ydata(), [30, 40, 60])
    rings = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if len(line.get_xdata()) == 1]
    assert rings == [(2, 75), (3, 60)]
    assert len(ax.collections) == 1, "a band for that with repeats alone"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["once: 75.0 % at 2", "twice: 60.0 % at 3"]


def test_rates_refuse_what_is_not_fractions():
    with pytest.raises(ValueError, match="the rates of 'men' go from 50 to 93, but in a mapping they are fractions"):
        plot.rates({"men": [50, 93]})
    with pytest.raises(ValueError, match="shape"):
        plot.rates({"men": 0.5})
    with pytest.raises(ValueError, match="no rates to draw"):
        plot.rates({})
    with pytest.raises(ValueError, match="these are a mapping"):
        plot.rates({"men": [0.5]}, data="orl")


@pytest.fixture
def run(tmp_path):
    """A run of two data sets, as `menet evaluate --out` writes it; PCA has more axes than FLDA."""
    rows = [COLUMNS]
    for data, size, methods in (("orl", 5, "pca flda"), ("orl", 7, "pca flda"), ("my, set", 5, "flda")):
        for method in methods.split():
            for repeat in range(2):
                for dimension in range(1, 4 if method == "pca" else 3):
                    quoted = f'"{data}"' if "," in data else data
                    rows.append(f"{quoted},{size},{method},{repeat},{dimension},{10 * dimension + size + repeat}")
    (tmp_path / "results.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def test_rates_of_a_run(run):
    for results in (run, str(run), run / "results.csv"):
        ax = plot.rates(results, data="orl", train_per_class=7)
        pca, flda = (line for line in ax.lines if len(line.get_xdata()) > 1)
        np.testing.assert_allclose(pca.get_ydata(), [17.5, 27.5, 37.5])
        np.testing.assert_allclose(flda.get_ydata(), [17.5, 27.5])
        assert len(ax.collections) == 2


def test_rates_of_what_the_command_writes(command, tmp_path):
    what = "--data digits --methods pca,flda --dims 1-3 --train-per-class 10 --repeats 2 --quiet".split()
    subprocess.run([command, "evaluate", *what, "--out", tmp_path / "run"], check=True, capture_output=True)
    ax = plot.rates(tmp_path / "run")
    assert [len(line.get_xdata()) for line in ax.lines] == [3, 1, 3, 1]
    assert ax.get_legend().get_texts()[0].get_text().startswith("pca: ")


def test_a_method_looks_the_same_whatever_is_chosen(run):
    both = plot.rates(run, data="orl", train_per_class=5)
    alone = plot.rates(run, data="my, set")
    assert alone.lines[0].get_color() == both.lines[2].get_color() == COLOURS[1]


def test_rates_of_an_ambiguous_run_say_what_there_is(run):
    there = "there is data='orl' with train_per_class=5, data='orl' with train_per_class=7, data='my, set' with"
    with pytest.raises(ValueError, match=f"choose 3 sets of results; {there}"):
        plot.rates(run)
    with pytest.raises(ValueError, match=f"choose 2 sets of results; {there}"):
        plot.rates(run, data="orl")
    with pytest.raises(ValueError, match=f"choose nothing; {there}"):
        plot.rates(run, data="yale")


def test_rates_of_no_run(tmp_path):
    with pytest.raises(FileNotFoundError):
        plot.rates(tmp_path)
    (tmp_path / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=f"is no results.csv of `menet evaluate`: its first line is not {COLUMNS}"):
        plot.rates(tmp_path)
    (tmp_path / "results.csv").write_text(COLUMNS + "\n")
    with pytest.raises(ValueError, match="there is nothing at all"):
        plot.rates(tmp_path)


@pytest.fixture(scope="module")
def search(genes):
    """A search over two refits and two rules."""
    return ManifoldElasticNetCV(param_grid=SEARCHED).fit(*genes)


def test_selection_draws_the_best_of_every_size_refit_and_rule(search):
    ax = plot.selection(search)
    found = search.cv_results_
    names = ["panel, centroid", "panel, gaussian", "discriminant, centroid", "discriminant, gaussian", "chosen"]
    handles, labels = ax.get_legend_handles_labels()
    assert sorted(labels) == sorted(names)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == names
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "balanced accuracy"
    assert len(ax.containers) == 4
    for handle, label in zip(handles, labels, strict=True):
        if label == "chosen":
            assert handle.get_xdata()[0] == found["mean_n_features"][search.best_index_]
            assert handle.get_ydata()[0] == search.best_score_
            continue
        refit, rule = label.split(", ")
        of = (found["param_refit"] == refit) & (found["param_rule"] == rule)
        best = [found["mean_test_score"][of & (found["param_n_nonzeros"] == k)].max() for k in (3, 10, 30)]
        np.testing.assert_array_equal(handle.lines[0].get_ydata(), best)
        # The bars: one standard error up and down.
        low, high = (cap.get_ydata() for cap in handle.lines[1])
        place = next(
            i for i in np.flatnonzero(of & (found["param_n_nonzeros"] == 3)) if found["mean_test_score"][i] == best[0]
        )
        folds = [found[f"split{fold}_test_score"][place] for fold in range(5)]
        np.testing.assert_allclose(high[0] - low[0], 2 * np.std(folds, ddof=1) / np.sqrt(5), atol=1e-12)
    one = ManifoldElasticNetCV(panel_size=5, refit="panel", rule="gaussian", ridge=1.0, cv=2)
    one.scoring = "neg_log_loss"
    ax = plot.selection(one.fit(np.random.default_rng(0).standard_normal((40, 8)), np.arange(40) % 2))
    assert ax.get_ylabel() == "negative log loss"
    assert len(ax.containers) == 1
    with pytest.raises(TypeError, match="`cv` is a ManifoldElasticNet, but must be a fitted ManifoldElasticNetCV"):
        plot.selection(one.best_estimator_)
    with pytest.raises(NotFittedError):
        plot.selection(ManifoldElasticNetCV())


class ScriptedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that returns the probabilities it was made with."""

    def __init__(self, probabilities):
        self.probabilities = probabilities
        self.classes_ = np.array(["a", "b"])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.array(self.probabilities)


def test_reliability_counts_what_is_right(pixels, digits):
    classifier = ScriptedClassifier([[0.62, 0.38], [0.66, 0.34], [0.35, 0.65], [0.1, 0.9], [0.0, 1.0]])
    ax = plot.reliability(classifier, np.zeros((5, 1)), ["a", "b", "b", "b", "b"])
    (line,) = (container for container in ax.containers if container.get_label() == "predictions")
    np.testing.assert_allclose(line.lines[0].get_xdata(), [(0.62 + 0.66 + 0.65) / 3, 0.95])
    np.testing.assert_allclose(line.lines[0].get_ydata(), [2 / 3, 1.0])
    assert [text.get_text() for text in ax.texts] == ["3", "2"]
    X, y = digits
    ax = plot.reliability(pixels, X[300:], y[300:], bins=20)
    assert sum(int(text.get_text().replace(",", "")) for text in ax.texts) == len(X) - 300
    assert ax.get_xlim() == (0, 1)
    with pytest.raises(TypeError, match="`estimator` is a PCA, which has no predict_proba"):
        plot.reliability(PCA(2).fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"`y` has shape \(3,\), but there are 5 samples"):
        plot.reliability(classifier, np.zeros((5, 1)), ["a", "b", "b"])
    with pytest.raises(ValueError, match="`bins` is 0"):
        plot.reliability(classifier, np.zeros((5, 1)), ["a"] * 5, bins=0)
    with pytest.raises(NotFittedError):
        plot.reliability(ManifoldElasticNet(), X, y)


def test_path_of_a_search_is_that_of_its_best(search):
    ax, best = plot.path(search, 1), plot.path(search.best_estimator_, 1)
    assert [text.get_text() for text in ax.texts] == [text.get_text() for text in best.texts]


def test_axes_are_honoured_and_else_a_figure_is_made(men, pixels, search, digits):
    calls = (
        lambda ax: plot.selection(search, ax=ax),
        lambda ax: plot.reliability(pixels, *digits, ax=ax),
        lambda ax: plot.path(men, ax=ax),
        lambda ax: plot.bases(pixels, ax=ax),
        lambda ax: plot.rates({"men": [0.5, 0.9]}, ax=ax),
    )
    for call in calls:
        _, (left, right) = plt.subplots(1, 2)
        before = plt.get_fignums()
        assert call(right) is right
        assert plt.get_fignums() == before
        assert not left.lines
        assert not left.images
        assert call(None).figure.number not in before


def test_without_matplotlib_it_says_what_to_install(men, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install menet\[plot\]"):
        plot.path(men)
