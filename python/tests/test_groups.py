"""Groups of variables."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import MultiTaskElasticNet

import menet
from menet import L1, ManifoldElasticNet, ManifoldElasticNetCV, StabilitySelection
from menet._groups import mapping, resolved

NAMES = np.array(["a", "b", "c", "d"], dtype=object)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 24))
    y = np.arange(60) % 4
    X[:, :6] += 2 * rng.standard_normal((4, 6))[y]
    X[:, 12:15] += rng.standard_normal((4, 3))[y]
    return X, y


@pytest.mark.parametrize(
    "value",
    [
        [["a", "c"], ["b", "c"]],
        [[0, 2], (1, 2)],
        [np.array([0, 2]), np.array([1, 2])],
        {"a": "0", "c": ["0", "1"], "b": 1},
        {0: "0", 2: {"0", "1"}, 1: "1"},
    ],
)
def test_every_way_to_give_groups(value):
    found = {group["name"]: sorted(group["variables"]) for group in resolved("groups", value, NAMES, 4)}
    assert found == {"0": [0, 2], "1": [1, 2]}


def test_labels_and_the_way_back():
    groups = resolved("groups", ["x", None, "y", "x"], NAMES, 4)
    assert groups == [{"name": "x", "variables": [0, 3]}, {"name": "y", "variables": [2]}]
    assert resolved("groups", mapping(groups), None, 4) == groups
    lists = resolved("groups", [[3, 1], [0]], None, None)
    assert mapping(lists) == [[3, 1], [0]]
    assert mapping(None) is None
    assert resolved("groups", np.array([1, 1, 2, 2]), None, 4)[0] == {"name": "1", "variables": [0, 1]}


@pytest.mark.parametrize(
    ("groups", "kind", "message"),
    [
        ([["a", "z"]], ValueError, "the variable 'z', but the samples have a, b, c"),
        (["x", "y"], ValueError, "2 labels, but there are 4 variables"),
        ("abcd", TypeError, "must be a list of groups"),
        (3, TypeError, "must be a list of groups"),
        ([[0.5]], TypeError, "names or positions"),
        ([[-1]], TypeError, "names or positions"),
    ],
)
def test_groups_that_cannot_be(groups, kind, message):
    with pytest.raises(kind, match=message):
        resolved("groups", groups, NAMES, 4)


def test_names_need_names():
    with pytest.raises(ValueError, match="have no names"):
        resolved("groups", [["a"]], None, 4)


def test_a_fit_uses_whole_groups(problem):
    X, y = problem
    groups = [list(range(start, start + 3)) for start in range(0, 24, 3)]
    men = ManifoldElasticNet(n_nonzeros=2, penalty=L1(feature_groups=groups), refit="none").fit(X, y)
    assert men.kkt_violation_.max() <= 1e-9
    for axis, chosen in zip(men.components_, men.selected_groups_, strict=True):
        assert len(chosen) == 2
        used = set(np.flatnonzero(axis).tolist())
        assert used == {j for g in chosen for j in groups[int(g)]}
    again = clone(men).fit(X, y)
    assert np.array_equal(men.components_, again.components_)


def test_names_labels_and_lists_are_the_same_fit(problem):
    X, y = problem
    names = [f"v{j}" for j in range(24)]
    frame = pd.DataFrame(X, columns=names)
    labels = [f"g{j // 4}" for j in range(24)]
    by_label, by_dict, by_list = (
        ManifoldElasticNet(n_nonzeros=2, penalty=L1(feature_groups=groups)).fit(frame, y)
        for groups in (labels, dict(zip(names, labels, strict=True)), [names[k : k + 4] for k in range(0, 24, 4)])
    )
    assert np.array_equal(by_label.components_, by_dict.components_)
    assert np.array_equal(by_label.components_, by_list.components_)
    assert by_label.selected_groups_ == by_dict.selected_groups_
    assert all(name.startswith("g") for chosen in by_label.selected_groups_ for name in chosen)


def test_all_axes_together(problem):
    X, y = problem
    men = ManifoldElasticNet.preset("paper", n_nonzeros=5, penalty=L1(group_axes="together")).fit(X, y)
    used = men.components_ != 0
    assert used.sum(axis=1).tolist() == [5, 5, 5]
    assert (used == used[0]).all()
    assert len(men.panel_) == 5
    assert len(set(men.levels_.tolist())) == 1


def test_models_keep_their_groups(problem, tmp_path):
    X, y = problem
    labels = [f"g{j // 4}" for j in range(24)]
    men = ManifoldElasticNet(n_nonzeros=2, penalty=L1(feature_groups=labels)).fit(X, y)
    men.save(tmp_path / "model.safetensors")
    back = ManifoldElasticNet.load(tmp_path / "model.safetensors")
    assert back.selected_groups_ == men.selected_groups_
    assert np.array_equal(back.transform(X), men.transform(X))
    assert np.array_equal(clone(back).fit(X, y).components_, men.components_)
    assert ManifoldElasticNet(n_nonzeros=2).fit(X, y).selected_groups_ is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"penalty": L1(feature_groups=[[0, 99]])}, "variable 99 in group"),
        ({"penalty": L1(feature_groups=[[0, 0]])}, "twice"),
        ({"penalty": L1(feature_groups=[[0, 1]]), "panel_size": 3}, "panel_size"),
        ({"penalty": L1(feature_groups=[[0, 1]], factors=np.full(24, 2.0))}, "penalty.factors"),
        ({"penalty": L1(group_axes="both")}, "penalty.group_axes"),
    ],
)
def test_what_does_not_go_with_groups(problem, change, message):
    X, y = problem
    with pytest.raises(ValueError, match=message):
        ManifoldElasticNet(**change).fit(X, y)


def test_what_reads_many_sizes_off_a_path_refuses_groups(problem):
    X, y = problem
    with pytest.raises(ValueError, match="groups"):
        ManifoldElasticNetCV(penalty=L1(feature_groups=[[0, 1]])).fit(X, y)
    with pytest.raises(ValueError, match="groups"):
        StabilitySelection(ManifoldElasticNet(penalty=L1(feature_groups=[[0, 1]]))).fit(X, y)


def test_another_number_of_groups_is_fitted_anew(problem):
    X, y = problem
    large = ManifoldElasticNet(penalty=L1(feature_groups=[[0, 1]]), n_nonzeros=3).fit(X, y)
    own = clone(large).set_params(n_nonzeros=1).fit(X, y)
    np.testing.assert_array_equal(large.at(n_nonzeros=1).components_, own.components_)


def test_rows_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((40, 30)), rng.standard_normal((40, 3))
    first = np.linalg.norm(X.T @ Y, axis=1).max()
    levels = first * np.array([0.8, 0.4, 0.1])
    for ridge in (0.0, 2.0):
        found = menet.group_lasso(X, Y, levels=levels, ridge=ridge, group_axes="together")
        for level, solution in zip(levels, found, strict=True):
            alpha = (level + ridge) / 40
            options = {"l1_ratio": level / (level + ridge), "fit_intercept": False, "tol": 1e-15, "max_iter": 10**6}
            expected = MultiTaskElasticNet(alpha, **options).fit(X, Y).coef_.T
            assert np.abs(solution.coef - expected).max() < 1e-8
            assert solution.kkt.max() < 1e-9
            assert solution.exact


def test_so_many_groups():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40, 30)), rng.standard_normal(40)
    found = menet.group_lasso(X, y, groups=[[0, 1, 2], [2, 3]], n_groups=4, n_jobs=2)
    assert found.exact
    assert found.coef.shape == (30, 1)
    assert len(found.groups[0]) == 4
    one = menet.group_lasso(X, y, groups=[[0, 1, 2], [2, 3]], levels=float(found.level[0]))
    assert np.abs(one.coef - found.coef).max() < 1e-8
    for wrong in ({}, {"n_groups": 2, "levels": 1.0}):
        with pytest.raises(ValueError, match="give one of"):
            menet.group_lasso(X, y, **wrong)
    with pytest.raises(ValueError, match="level"):
        menet.group_lasso(X, y, levels=0.0)
    with pytest.raises(ValueError, match="`Y` has shape"):
        menet.group_lasso(X, y[:3], n_groups=1)


def test_the_command_reads_a_file_of_groups(problem, tmp_path, command):
    X, y = problem
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(24)]).assign(label=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    lines = [f"v{j},g{j // 4}" for j in range(24)]
    (tmp_path / "groups.csv").write_text("\n".join(["variable,group", *lines]))
    model = tmp_path / "model.safetensors"
    arguments = ["--data", tmp_path / "data.csv", "--feature-groups", tmp_path / "groups.csv", "--nonzeros", "2"]
    done = subprocess.run(
        [command, "fit", *arguments, "--model", model, "--json"], capture_output=True, check=True, text=True
    )
    report = json.loads(done.stdout)
    men = ManifoldElasticNet(n_nonzeros=2, penalty=L1(feature_groups=[f"g{j // 4}" for j in range(24)])).fit(X, y)
    assert report["groups"] == men.selected_groups_
    assert np.array_equal(ManifoldElasticNet.load(model).components_, men.components_)
    shown = subprocess.run([command, "inspect", "--model", model], capture_output=True, check=True, text=True).stdout
    assert f"groups of axis 1: {', '.join(men.selected_groups_[0])}" in shown
    (tmp_path / "groups.csv").write_text("v0,g\nv99,g\n")
    failed = subprocess.run([command, "fit", *arguments, "--model", model], capture_output=True, text=True)
    assert failed.returncode != 0
    assert 'line 2: `variable` is "v99"' in failed.stderr
