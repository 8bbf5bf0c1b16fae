"""Penalties, groups, a graph over variables, and variables that are always or never in: on Dask as in memory."""

import json
import re
from itertools import pairwise
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from scipy import sparse

import menet
from menet import L1, Mcp, Scad
from menet.dask import ManifoldElasticNet
from menet.dask.command import main

ROWS, NAMES = 600, [f"pixel {k}" for k in range(64)]
LINES = [[8 * row + column for column in range(8)] for row in range(8)]
CHAIN = sparse.diags_array([np.full(63, 2.0)] * 2, offsets=[-1, 1])


def words_of(value):
    """Return what names a set of parameters in the list of tests."""
    if not isinstance(value, dict):
        return None
    stage = value["penalty"]
    changed = stage if isinstance(stage, str) else [name for name, one in vars(stage).items() if one is not None]
    return f"{type(stage).__name__} {' '.join(changed)}"


@pytest.fixture(scope="module")
def few(digits):
    return digits[0][:ROWS], digits[1][:ROWS]


def same(found, expected):
    assert np.array_equal(found.components_ != 0, expected.components_ != 0)
    assert np.abs(found.components_ - expected.components_).max() <= 1e-10 * np.abs(expected.components_).max()
    assert len(found.always_) == len(expected.always_)


@pytest.mark.parametrize(
    "params",
    [
        {"penalty": "adaptive"},
        {"penalty": "reweighted"},
        {"penalty": Scad(gamma=4.0)},
        {"penalty": "mcp"},
        {"penalty": "l0", "n_nonzeros": 4},
        {"penalty": L1(feature_groups=LINES), "n_nonzeros": 2},
        {"penalty": L1(feature_groups=LINES, group_axes="together"), "n_nonzeros": 2},
        {"penalty": L1(group_axes="together")},
        {"penalty": L1(feature_graph="chain")},
        {"penalty": L1(feature_graph="grid:8x8", graph_weight=3.0)},
        {"penalty": Mcp(feature_graph=CHAIN)},
        {"penalty": L1(always=[20, 43], never=[36])},
        {"penalty": L1(factors=np.linspace(0.5, 2.0, 64))},
    ],
    ids=words_of,
)
def test_they_do_what_they_do_in_memory(few, params, tmp_path):
    X, y = few
    params = {"n_nonzeros": 6} | params
    found = ManifoldElasticNet(**params).fit(da.from_array(X, chunks=(250, -1)), y)
    expected = menet.ManifoldElasticNet(**params).fit(X, y)
    same(found, expected)
    same(found.at(n_nonzeros=2), expected.at(n_nonzeros=2))
    same(found.at(n_components=3), expected.at(n_components=3))
    found.save(tmp_path / "m.safetensors")
    same(menet.ManifoldElasticNet.load(tmp_path / "m.safetensors"), expected)


def test_names_of_a_data_frame(few):
    X, y = few
    frame = pd.DataFrame(X, columns=NAMES)
    params = {"penalty": L1(always=["pixel 20"], never=["pixel 36"]), "n_nonzeros": 5}
    found = ManifoldElasticNet(**params).fit(dd.from_pandas(frame, npartitions=3), y)
    same(found, menet.ManifoldElasticNet(**params).fit(frame, y))
    groups = {name: f"line {k // 8}" for k, name in enumerate(NAMES)}
    params = {"penalty": L1(feature_groups=groups), "n_nonzeros": 2}
    found = ManifoldElasticNet(**params).fit(dd.from_pandas(frame, npartitions=3), y)
    same(found, menet.ManifoldElasticNet(**params).fit(frame, y))


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"penalty": L1(always=[64])}, "`penalty.always` is 64.*0 to 63"),
        ({"penalty": L1(never=["pixel 3"])}, "`penalty.never` is a list with .*pixel 3.*no names"),
        ({"penalty": L1(always=[3], never=[3])}, "penalty.always.*penalty.never|penalty.never.*penalty.always"),
        ({"penalty": L1(feature_groups=[[1, 99]])}, "feature_groups.*99"),
        ({"penalty": L1(feature_groups=[[1, 2]]), "panel_size": 5}, "panel_size"),
        ({"penalty": L1(feature_graph="grid")}, "penalty.feature_graph.*grid:HEIGHTxWIDTH"),
        ({"penalty": L1(feature_graph="grid:5x5")}, "5 x 5.*64 variables"),
        ({"penalty": L1(feature_graph=sparse.eye_array(5))}, "penalty.feature_graph"),
        ({"penalty": L1(graph_weight=2.0)}, "penalty.graph_weight"),
        ({"penalty": "lasso"}, "penalty.*lasso.*mcp"),
        ({"penalty": Scad(gamma=1.0)}, "penalty.gamma"),
        ({"penalty": L1(factors=np.ones(3))}, "penalty.factors.*3.*64|64.*3"),
    ],
    ids=words_of,
)
def test_what_memory_refuses_is_refused_before_any_work(few, params, words):
    X, y = few

    def late(block):
        raise AssertionError("a chunk was computed")

    lazy = da.from_array(X, chunks=(250, -1)).map_blocks(late, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises((ValueError, TypeError), match=words) as told:
        ManifoldElasticNet(**params).fit(lazy, y)
    with pytest.raises((ValueError, TypeError)) as in_memory:
        menet.ManifoldElasticNet(**params).fit(X, y)
    assert str(told.value) == str(in_memory.value)


# The command


@pytest.fixture(scope="module")
def address():
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", memory_limit=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def files(tmp_path, monkeypatch, few):
    """The samples as a table with names and as an array without, and files of groups and edges for both."""
    monkeypatch.chdir(tmp_path)
    X, y = few
    pd.DataFrame(X, columns=NAMES).assign(y=y).to_csv("d.csv", index=False)
    np.save("x.npy", X)
    np.save("y.npy", y)
    for kind, variable in (("named", NAMES), ("numbered", [str(k + 1) for k in range(64)])):
        lines = [f"{name},line {k // 8}" for k, name in enumerate(variable)]
        Path(f"{kind}-groups.csv").write_text("\n".join(["variable,group", *lines]))
        Path(f"{kind}-edges.csv").write_text("\n".join(f"{a},{b},2" for a, b in pairwise(variable)))
    return {"named": ("--data", "d.csv", "--label", "y"), "numbered": ("--data", "x.npy", "--labels", "y.npy")}


@pytest.mark.parametrize("kind", ["named", "numbered"])
@pytest.mark.parametrize(
    ("flags", "params"),
    [
        (("--always", "21,44", "--never", "37"), {"penalty": L1(always=[20, 43], never=[36])}),
        (("--feature-groups", "groups.csv"), {"penalty": L1(feature_groups=LINES)}),
        (("--feature-graph", "edges.csv"), {"penalty": L1(feature_graph=CHAIN)}),
        (("--feature-graph", "grid:8x8", "--penalty", "scad"), {"penalty": Scad(feature_graph="grid:8x8")}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_flags(address, files, few, kind, flags, params, capsys):
    flags = [f"{kind}-{flag}" if flag.endswith(".csv") else flag for flag in flags]
    if kind == "named":
        flags = [re.sub(r"\d+", lambda at: NAMES[int(at[0]) - 1], flag) if "x" not in flag else flag for flag in flags]
    args = [*files[kind], "--nonzeros", "3", *flags, "--rows", "250", "--model", "m.safetensors", "--json"]
    assert main(["fit", "--scheduler", address, *args]) == 0
    same(menet.ManifoldElasticNet.load("m.safetensors"), menet.ManifoldElasticNet(n_nonzeros=3, **params).fit(*few))
    report = json.loads(capsys.readouterr().out)
    always = (["pixel 20", "pixel 43"] if kind == "named" else ["21", "44"]) if "--always" in flags else []
    assert report["always"] == always and report["penalty"]["kind"] == ("scad" if "scad" in flags else "l1")
    assert (report["groups"] is not None) == ("--feature-groups" in flags)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--always", "a,,b"), "--always: .*a name is empty"),
        (("--always", "0"), '`penalty.always` is "0", but must be a number from 1 to 64'),
        (("--never", "pixel 3"), '`penalty.never` is "pixel 3".*the variables have no names'),
        (("--feature-groups", "none.csv"), "--feature-groups none.csv: there is no such file"),
        (("--feature-groups", "named-groups.csv"), "named-groups.csv: line 2: .*number from 1 to 64"),
        (("--feature-graph", "grid:0x8"), "grid:0x8: there is no such file, .*grid:HEIGHTxWIDTH or a file of edges"),
        (("--feature-graph", "grid"), "`penalty.feature_graph` .*grid:HEIGHTxWIDTH"),
        (("--feature-graph", "numbered-groups.csv"), "`penalty.feature_graph` .*number from 1 to 64"),
        (
            ("--feature-groups", "numbered-groups.csv", "--model", "numbered-groups.csv", "--overwrite"),
            "would overwrite --feature-groups",
        ),
        (
            ("--feature-graph", "numbered-edges.csv", "--model", "numbered-edges.csv", "--overwrite"),
            "would overwrite --feature-graph",
        ),
    ],
    ids=str,
)
def test_flags_that_are_wrong(address, files, flags, words, capsys):
    args = ["fit", "--scheduler", address, *files["numbered"], "--model", "m.safetensors", *flags]
    assert main(args) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert re.search(words, printed.err), printed.err
    assert not Path("m.safetensors").exists()
