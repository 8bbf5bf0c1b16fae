"""Drawing what a model and a validation found: what is on the Axes, and what is refused."""

from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Ellipse
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.exceptions import NotFittedError

from menet import ManifoldElasticNet, plot
from menet.plot._looks import COLOURS

HOSTILE = "$\\frac{a$ <b> " + "x" * 80


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def men(genes):
    return ManifoldElasticNet(n_nonzeros=8).fit(*genes)


@pytest.fixture(scope="module")
def hostile():
    """Samples with names that are long, empty, or look like mathematics: (X, y, model)."""
    rng = np.random.default_rng(0)
    y = np.array([HOSTILE, "", "c" * 200])[np.arange(45) % 3]
    X = rng.random((45, 12)) + (np.arange(12) % 3 == np.arange(45)[:, None] % 3)
    X = pd.DataFrame(X, columns=[" ", *(f"{HOSTILE}{j}" for j in range(11))])
    return X, y, ManifoldElasticNet(n_nonzeros=6).fit(X, y)


def result(**changes):
    """A validation as `menet.validate` gives it."""
    interval = SimpleNamespace(mean=0.005, low=0.0001, high=0.018)
    rng = np.random.default_rng(1)
    sizes = [
        SimpleNamespace(variables=v, balanced=b, standard_error=0.02, chosen=v == 5, best=v == 20)
        for v, b in ((1, 0.6), (2, 0.8), (5, 0.93), (20, 0.95), (60, 0.99))
    ]
    parts = {
        "permutation": SimpleNamespace(observed=0.91, permuted=0.3 + 0.1 * rng.random(150), p_value=interval),
        "stability": SimpleNamespace(
            index=interval, size=3, threshold=0.6, frequencies=[(4, 0.95), (1, 0.6), (0, 0.2)], by_size=[]
        ),
        "sizes": sizes,
        "confusion": [[18, 1, 0], [0, 8, 0], [1, 0, 10]],
        "classes": ["ALL-B", "ALL-T", "AML"],
        "feature_names": [f"gene {j}" for j in range(6)],
    }
    return SimpleNamespace(**{**parts, **changes})


def ticks(ax, which="y"):
    return [label.get_text() for label in getattr(ax, f"get_{which}ticklabels")()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(ax):
    """The points of every drawn set of samples, with their opacity."""
    return [(np.asarray(dots.get_offsets()), dots.get_alpha()) for dots in ax.collections if len(dots.get_offsets())]


def test_samples_lie_where_the_model_projects_them(men, genes):
    X, y = genes
    ax = plot.samples(men, X, y, axes=(1, 0))
    drawn = np.concatenate([where for where, _ in points(ax)])
    expected = men.transform(X)[:, [1, 0]]
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(expected, axis=0))
    assert legend(ax) == ["ALL-B", "ALL-T", "AML"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("axis 1", "axis 0")
    assert sum(isinstance(patch, Ellipse) for patch in ax.patches) == 3
    assert not plot.samples(men, X, y, ellipses=False).patches


def test_samples_that_are_held_out_are_full(men, genes):
    X, y = genes
    mask = np.arange(38) % 4 == 0
    for held_out in (mask, np.flatnonzero(mask).tolist()):
        drawn = points(plot.samples(men, X, y, held_out=held_out))
        full = np.concatenate([where for where, alpha in drawn if alpha > 0.5])
        np.testing.assert_allclose(np.sort(full, axis=0), np.sort(men.transform(X)[mask], axis=0))
        assert sum(len(where) for where, _ in drawn) == 38
    # The ellipses are of those that are not held out.
    ellipse = next(patch for patch in plot.samples(men, X, y, held_out=mask).patches if isinstance(patch, Ellipse))
    first = men.transform(X)[~mask & (np.asarray(y) == "ALL-B")]
    np.testing.assert_allclose(ellipse.get_center(), first.mean(axis=0))


def test_ellipses_hold_their_share():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20000, 2)) @ np.array([[3.0, 1.0], [0.0, 0.5]])
    model = SklearnPCA(2).fit(X)
    ax = plot.samples(model, X, np.zeros(len(X)))
    (ellipse,) = ax.patches
    # The unit circle of the patch, in the units of the data.
    inside = ellipse.get_patch_transform().inverted().transform(model.transform(X))
    assert abs(np.mean((inside**2).sum(axis=1) <= 1) - 0.95) < 0.005


def test_regions_are_what_the_model_predicts(men, genes):
    X, y = genes
    ax = plot.samples(men, X, y, regions=True)
    (image,) = ax.images
    left, right, low, high = image.get_extent()
    picture = np.asarray(image.get_array())
    n = len(picture)
    z = men.transform(X)
    column = np.rint((z[:, 0] - left) / (right - left) * (n - 1)).astype(int)
    row = np.rint((z[:, 1] - low) / (high - low) * (n - 1)).astype(int)
    given = np.array([None, *men.classes_])[picture[row, column]]
    assert np.mean(given == men.predict(X)) > 0.9, "a sample lies in the region of its prediction"
    with pytest.raises(ValueError, match="`regions` needs"):
        plot.samples(men, X, y, axes=(0,), regions=True)


def test_samples_of_one_axis_have_a_line_per_class(genes):
    X, y = genes
    one = ManifoldElasticNet(n_nonzeros=5, n_components=1).fit(X, y)
    ax = plot.samples(one, X, y)
    assert ticks(ax) == ["AML", "ALL-T", "ALL-B"], "from below"
    for place, (where, _) in enumerate(points(ax)):
        assert np.all(np.abs(where[:, 1] - (2 - place)) <= 0.25)
    assert not ax.patches


def test_samples_have_names_if_given(men, genes):
    X, y = genes
    ax = plot.samples(men, X, y, names=[f"$patient_{i}$" for i in range(38)])
    ax.figure.canvas.draw()
    assert len(ax.texts) == 38
    with pytest.raises(ValueError, match="`names` has 1 names, but there are 38 samples"):
        plot.samples(men, X, y, names=["one"])


def test_samples_of_many_classes_have_names_at_their_centres(faces):
    X, y, *_ = faces
    model = ManifoldElasticNet(n_nonzeros=3, n_components=2).fit(X, y)
    ax = plot.samples(model, X, y)
    assert ax.get_legend() is None
    assert {text.get_text() for text in ax.texts} == {str(name) for name in np.unique(y)}
    first = np.median(model.transform(X)[np.asarray(y) == np.unique(y)[0]], axis=0)
    np.testing.assert_allclose(ax.texts[0].get_position(), first)


def test_samples_refuse_what_does_not_fit(men, genes):
    X, y = genes
    with pytest.raises(ValueError, match=r"`y` has shape \(3,\)"):
        plot.samples(men, X, y[:3])
    with pytest.raises(IndexError, match="axis 2 was asked for, but there are 0 to 1"):
        plot.samples(men, X, y, axes=(0, 2))
    with pytest.raises(ValueError, match="one or two numbers"):
        plot.samples(men, X, y, axes=(0, 1, 1))
    for wrong in ([38], [-1], [0.5], np.ones(3, dtype=bool)):
        with pytest.raises(ValueError, match="`held_out`"):
            plot.samples(men, X, y, held_out=wrong)
    with pytest.raises(NotFittedError):
        plot.samples(ManifoldElasticNet(), X, y)


def test_loadings_are_weights_times_deviations(men, genes):
    X, _ = genes
    ax = plot.loadings(men, axis=1, top=5)
    effects = men.components_[1] * X.to_numpy().std(axis=0, ddof=1)
    order = np.argsort(-np.abs(effects), kind="stable")[:5]
    assert ticks(ax) == list(men.feature_names_in_[order])
    widths = np.array([bar.get_width() for bar in ax.patches])
    ratio = widths / effects[order]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    assert abs(ratio[0] - 1) < 0.02, "whichever n the standard deviation is over"
    # Each in the colour of its class.
    table = men.panel_table().set_index("variable")["class"]
    classes = [list(men.classes_).index(table[name]) for name in men.feature_names_in_[order]]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [COLOURS[place] for place in classes]
    assert set(legend(ax)) == {men.classes_[place] for place in classes}


def test_loadings_refuse_what_does_not_fit(men):
    with pytest.raises(IndexError, match="axis 2 was asked for"):
        plot.loadings(men, axis=2)
    with pytest.raises(ValueError, match="`top` is 0"):
        plot.loadings(men, top=0)
    with pytest.raises(TypeError, match="`model` is a PCA"):
        plot.loadings(SklearnPCA())


def test_heatmap_is_standardized_and_ordered(men, genes):
    X, y = genes
    ax = plot.heatmap(men, X, y)
    picture = np.asarray(ax.images[0].get_array())
    assert sorted(ticks(ax)) == sorted(men.panel_)
    np.testing.assert_allclose(picture.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(picture.std(axis=1, ddof=1), 1)
    # Similar samples are neighbours: closer than in the order of the file.
    values = X[list(men.panel_)].to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)

    def walk(rows):
        return np.linalg.norm(np.diff(rows, axis=0), axis=1).sum()

    assert walk(picture.T) < 0.9 * walk(values)
    # The marks above: one per sample, in its class's row.
    (marks,) = ax.child_axes
    assert ticks(marks) == ["ALL-B", "ALL-T", "AML"]
    marked = np.asarray(marks.images[0].get_array())
    own = np.abs(marked - 0.96).max(axis=2) > 1e-9
    np.testing.assert_array_equal(own.sum(axis=0), 1)
    np.testing.assert_array_equal(own.sum(axis=1), [19, 8, 11])


def test_heatmap_of_sparse_samples_and_many_classes(faces, digits):
    X, y = digits
    model = ManifoldElasticNet(n_nonzeros=5).fit(X[:300], y[:300])
    dense = np.asarray(plot.heatmap(model, X[:300], y[:300]).images[0].get_array())
    same = np.asarray(plot.heatmap(model, sparse.csr_array(X[:300]), y[:300]).images[0].get_array())
    np.testing.assert_array_equal(dense, same)
    assert plot.heatmap(model, X, y).get_xlabel() == "364 of 1,797 samples"
    X, y, *_ = faces
    ax = plot.heatmap(ManifoldElasticNet(n_nonzeros=3).fit(X, y), X, y)
    assert np.asarray(ax.child_axes[0].images[0].get_array()).shape == (1, 200, 3), "one row for forty classes"
    assert len(ticks(ax)) == 60


def test_heatmap_refuses_other_samples(men, genes):
    X, y = genes
    with pytest.raises(ValueError, match="`X` has 3 variables, but the model has 5000"):
        plot.heatmap(men, X.to_numpy()[:, :3], y)


def test_stability_of_a_validation():
    ax = plot.stability(result())
    assert ticks(ax) == ["gene 4", "gene 1", "gene 0"]
    assert [bar.get_width() for bar in ax.patches] == [0.95, 0.6, 0.2]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [COLOURS[0], COLOURS[0], "#b8b8b8"]
    assert legend(ax) == ["threshold 60 %"]
    assert ax.lines[0].get_xdata()[0] == 0.6
    assert len(plot.stability(result(), top=2).patches) == 2
    assert ticks(plot.stability(result(feature_names=None))) == ["4", "1", "0"]
    with pytest.raises(ValueError, match="without half-samples"):
        plot.stability(result(stability=None))


def test_stability_shows_what_the_threshold_is_about():
    found = result().stability
    found.stable_frequencies, found.stable, found.stable_size = [(1, 0.7), (5, 0.65)], [1], 9
    ax = plot.stability(result(stability=found))
    assert ticks(ax) == ["gene 1", "gene 5"]
    assert to_hex(ax.patches[1].get_facecolor()) == "#b8b8b8", "not in the stable panel"
    assert ax.get_xlabel().endswith("panels of 9")


def test_stability_of_a_selection():
    class Selection(BaseEstimator):
        threshold = 0.75

        def fit(self):
            self.frequencies_, self.stable_ = np.array([0.0, 0.9, 0.3]), np.array([1])
            self.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
            return self

        def stability(self, size):
            raise AssertionError("it is a method here, and an attribute of validations")

    with pytest.raises(NotFittedError):
        plot.stability(Selection())
    selection = Selection().fit()
    ax = plot.stability(selection)
    assert ticks(ax) == ["b", "c"], "what is never selected is left out"
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [COLOURS[0], "#b8b8b8"]
    with pytest.raises(TypeError, match="`result_or_selection` is a PCA"):
        plot.stability(SklearnPCA())


def test_selection_of_a_validation():
    ax = plot.selection(result())
    assert legend(ax) == ["best at every size", "best", "best less one standard error", "chosen"]
    rings = {line.get_label(): line.get_xydata()[0] for line in ax.lines if line.get_markerfacecolor() == "none"}
    np.testing.assert_allclose(rings["best"], (20, 95))
    np.testing.assert_allclose(rings["chosen"], (5, 93))
    (bound,) = (line for line in ax.lines if line.get_label() == "best less one standard error")
    np.testing.assert_allclose(bound.get_ydata(), 93)
    bars = ax.collections[0].get_segments()
    assert max(end for bar in bars for end in bar[:, 1]) <= 100
    assert plot.selection(result(), color="red").lines[0].get_color() == "red"
    with pytest.raises(ValueError, match="no panel sizes"):
        plot.selection(result(sizes=[]))
    with pytest.raises(TypeError, match="`cv` is a PCA"):
        plot.selection(SklearnPCA())


def test_permutation_counts_every_permutation():
    ax = plot.permutation(result())
    assert sum(bar.get_height() for bar in ax.patches) == 150
    assert ax.lines[0].get_xdata()[0] == pytest.approx(91)
    assert ax.get_title() == "p = 0.005 (0.0001 to 0.018)"
    assert ax.get_xlim()[1] > 91
    equal = SimpleNamespace(observed=0.5, permuted=[0.5] * 7, p_value=SimpleNamespace(mean=1.0, low=0.6, high=1.0))
    assert sum(bar.get_height() for bar in plot.permutation(result(permutation=equal)).patches) == 7
    with pytest.raises(ValueError, match="without a permutation test"):
        plot.permutation(result(permutation=None))
    with pytest.raises(TypeError, match="`result` is a int"):
        plot.permutation(3)


def test_confusion_of_results_and_matrices():
    ax = plot.confusion(result())
    assert ticks(ax) == ticks(ax, "x") == ["ALL-B", "ALL-T", "AML"]
    assert [text.get_text() for text in ax.texts] == ["95", "5", "100", "9", "91"]
    counts = [text.get_text() for text in plot.confusion(result(), normalize=False).texts]
    assert counts == ["18", "1", "8", "1", "10"]
    np.testing.assert_allclose(np.asarray(ax.images[0].get_array())[0], [18 / 19, 1 / 19, 0])
    rare = plot.confusion([[999, 1], [0, 0]])
    assert [text.get_text() for text in rare.texts] == [">99", "<1"]
    assert not plot.confusion(np.eye(40)).texts, "cells that are too small have no numbers"
    for wrong in ([[1, 2]], [1], [[-1]], [[np.nan]]):
        with pytest.raises(ValueError, match="the confusion matrix"):
            plot.confusion(wrong)
    with pytest.raises(ValueError, match="2 classes, but the confusion matrix has 3 rows"):
        plot.confusion(result(classes=["a", "b"]))


def test_everything_draws_on_given_axes_with_hostile_names(hostile):
    X, y, model = hostile
    names = list(X.columns)
    found = result(classes=list(model.classes_), feature_names=names)
    draw = {
        "samples": lambda ax: plot.samples(model, X, y, ax=ax, names=names[:1] * 45),
        "loadings": lambda ax: plot.loadings(model, ax=ax),
        "heatmap": lambda ax: plot.heatmap(model, X, y, ax=ax),
        "stability": lambda ax: plot.stability(found, ax=ax),
        "selection": lambda ax: plot.selection(found, ax=ax),
        "permutation": lambda ax: plot.permutation(found, ax=ax),
        "confusion": lambda ax: plot.confusion(found, ax=ax),
    }
    for name, one in draw.items():
        figure, ax = plt.subplots(layout="constrained")
        assert one(ax) is ax, name
        figure.canvas.draw()
        texts = [text for place in [ax, *ax.child_axes] for text in ticks(place) + ticks(place, "x")]
        assert all(len(text) <= 22 for text in texts), name
    assert "(no name)" in ticks(plot.loadings(model)), "the variable without a name is seen"
