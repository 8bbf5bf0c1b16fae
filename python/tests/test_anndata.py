"""Fits of AnnData objects: the same bits as fits of the arrays, results that a file keeps, one clear error each."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

import menet
from menet import L1, ManifoldElasticNet, ManifoldElasticNetCV, Nearest
from menet._anndata import COLUMNS

ad = pytest.importorskip("anndata")

N, P = 90, 30
WRITTEN = ("X_menet", "menet", "menet")


def cells(seed=0, container=np.asarray, dtype=np.float64, n=N):
    """Return counts of genes in three types of cells, with their logarithms as a layer."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    rates = np.full((n, P), 1.0)
    for k in range(3):
        rates[kind == k, 2 * k : 2 * k + 2] = 6.0
    counts = rng.poisson(rates)
    obs = pd.DataFrame(
        {
            # A category without cells.
            "cell_type": pd.Categorical(np.array(["B", "T", "NK"])[kind], categories=["T", "B", "NK", "platelet"]),
            "plate": pd.Categorical(np.array(["p1", "p2"])[(np.arange(n) // 3) % 2]),
            "patient": [f"patient {i % 5}" for i in range(n)],
            "weight": 1.0 + np.arange(n) % 4,
        },
        index=[f"cell {i}" for i in range(n)],
    )
    var = pd.DataFrame(index=[f"gene {j}" for j in range(P)])
    adata = ad.AnnData(container(counts.astype(dtype)), obs=obs, var=var)
    adata.layers["log"] = container(np.log1p(counts).astype(np.float64 if np.dtype(dtype).kind == "i" else dtype))
    return adata


@pytest.fixture
def adata():
    return cells()


def nothing_written(adata):
    return [key in there for key, there in zip(WRITTEN, (adata.obsm, adata.varm, adata.uns), strict=True)] == [
        False
    ] * 3


class TestFit:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csc_array])
    @pytest.mark.parametrize("layer", [None, "log"])
    def test_has_the_bits_of_the_fit_of_arrays(self, container, dtype, layer):
        adata = cells(container=container, dtype=dtype)
        X = adata.X if layer is None else adata.layers[layer]
        y = adata.obs["cell_type"]
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type", layer=layer)
        same = ManifoldElasticNet(n_nonzeros=5).fit(X, y)
        np.testing.assert_array_equal(men.components_, same.components_)
        np.testing.assert_array_equal(men.transform(adata), same.transform(X))
        assert men.transform(adata).dtype == same.transform(X).dtype
        np.testing.assert_array_equal(men.predict_proba(adata), same.predict_proba(X))
        np.testing.assert_array_equal(men.predict_log_proba(adata), same.predict_log_proba(X))
        np.testing.assert_array_equal(men.decision_function(adata), same.decision_function(X))
        np.testing.assert_array_equal(men.predict(adata), same.predict(X))
        np.testing.assert_array_equal(men.prepared(adata), same.prepared(X))
        assert men.classes_.tolist() == ["B", "NK", "T"] == same.classes_.tolist()
        assert men.classes_.dtype == same.classes_.dtype
        assert men.feature_names_in_.tolist() == adata.var_names.tolist()
        assert men.layer_ == layer
        assert set(men.panel_) <= set(adata.var_names)

    def test_writes_its_results(self, adata):
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type", "weight", batch="plate", layer="log")
        projected = men.transform(adata, batch="plate")
        np.testing.assert_array_equal(adata.obsm["X_menet"], projected)
        np.testing.assert_array_equal(adata.varm["menet"], men.components_.T)
        found = adata.uns["menet"]
        named = {name: found[name] for name in ("label", "layer", "sample_weight", "batch", "estimator")}
        assert list(named.values()) == ["cell_type", "log", "weight", "plate", "ManifoldElasticNet"]
        assert json.loads(found["params"])["n_nonzeros"] == 5
        assert found["panel"].tolist() == men.panel_.tolist()
        assert found["rule"] == "nearest"
        assert found["kkt_violation"].max() < 1e-9
        # Other results are replaced, and what is not ours stays.
        adata.uns["other"] = 1
        smaller = ManifoldElasticNet(n_nonzeros=2).fit(adata, "cell_type")
        np.testing.assert_array_equal(adata.varm["menet"], smaller.components_.T)
        assert adata.uns["other"] == 1
        assert not {"layer", "batch", "sample_weight"} & set(adata.uns["menet"])

    @pytest.mark.parametrize("labels", ["text", "whole numbers", "truth values"])
    def test_a_file_keeps_its_results(self, adata, labels, tmp_path):
        kinds = adata.obs["cell_type"].cat.codes.to_numpy()
        column = {"text": adata.obs["cell_type"], "whole numbers": kinds, "truth values": kinds > 0}[labels]
        adata.obs["label"] = column
        penalty, weights = L1(factors=np.r_[np.inf, np.ones(P - 1)]), {kind: 1.0 for kind in set(column)}
        men = ManifoldElasticNet(n_nonzeros=5, unlabelled=np.nan, penalty=penalty, class_weight=weights)
        men.fit(adata, "label", layer="log")
        adata.write_h5ad(tmp_path / "cells.h5ad")
        read = ad.read_h5ad(tmp_path / "cells.h5ad")
        np.testing.assert_array_equal(read.obsm["X_menet"], adata.obsm["X_menet"])
        np.testing.assert_array_equal(read.varm["menet"], adata.varm["menet"])
        assert set(read.uns["menet"]) == set(adata.uns["menet"])
        for name, value in adata.uns["menet"].items():
            assert np.array_equal(read.uns["menet"][name], value), name
        params = json.loads(read.uns["menet"]["params"])
        assert params["penalty"]["class"] == "L1"
        assert params["penalty"]["factors"] == ["inf", *[1.0] * (P - 1)]
        assert params["unlabelled"] == "nan"
        np.testing.assert_array_equal(men.transform(read), men.transform(adata))

    def test_a_failed_fit_changes_nothing(self, adata):
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata.copy(), "cell_type", layer="log")
        before = men.components_.copy()
        adata.obs["plate"] = [f"p{i}" for i in range(N)]
        with pytest.raises(ValueError, match="batch"):
            men.fit(adata, "cell_type", batch="plate")
        adata.X[3, 4] = np.nan
        with pytest.raises(ValueError, match="row 3, variable 'gene 4'"):
            men.fit(adata, "cell_type")
        assert nothing_written(adata)
        np.testing.assert_array_equal(men.components_, before)
        assert men.layer_ == "log"
        assert not {"_layer", *(f"_{name}" for name in COLUMNS)} & set(vars(men))

    def test_a_part_becomes_an_object_of_its_own(self):
        for container in (np.asarray, sparse.csr_matrix, sparse.csr_array):
            adata = cells(container=container)
            part = adata[::2, 5:]
            with pytest.warns(ad.ImplicitModificationWarning):
                men = ManifoldElasticNet(n_nonzeros=5).fit(part, "cell_type")
            assert not part.is_view
            assert part.obsm["X_menet"].shape == (N // 2, 2)
            assert nothing_written(adata)
            same = ManifoldElasticNet(n_nonzeros=5).fit(container(adata.X[::2, 5:]), adata.obs["cell_type"].iloc[::2])
            np.testing.assert_array_equal(men.components_, same.components_)
            kept = pickle.loads(pickle.dumps(men))
            np.testing.assert_array_equal(kept.transform(adata[1::2]), men.transform(adata[1::2]))

    def test_weights_and_batches_by_name(self, adata):
        y, w, plate = (adata.obs[name] for name in ("cell_type", "weight", "plate"))
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type", sample_weight="weight", batch="plate")
        same = ManifoldElasticNet(n_nonzeros=5).fit(adata.X, y, sample_weight=w, batch=plate)
        arrays = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type", sample_weight=w.to_numpy(), batch=plate)
        for other in (same, arrays):
            np.testing.assert_array_equal(men.components_, other.components_)
        assert men.batches_ == ["p1", "p2"]
        new = cells(seed=1)
        for method in ("transform", "predict", "predict_proba", "decision_function", "prepared"):
            expected = getattr(same, method)(new.X, batch=new.obs["plate"])
            np.testing.assert_array_equal(getattr(men, method)(new, batch="plate"), expected)
        expected = same.score(new.X, new.obs["cell_type"], new.obs["weight"], batch=new.obs["plate"])
        assert men.score(new, "cell_type", "weight", batch="plate") == expected
        np.testing.assert_array_equal(
            clone(men).fit_transform(adata, "cell_type", batch="plate", sample_weight="weight"),
            same.transform(adata.X, batch=plate),
        )

    @pytest.mark.parametrize("kind", ["category", "object", "Int64", "float", "category of Int64"])
    def test_cells_without_a_label(self, adata, kind):
        numbers = pd.Series(adata.obs["cell_type"].cat.codes.to_numpy(), index=adata.obs_names)
        numeric = kind in ("Int64", "float", "category of Int64")
        labels = numbers.astype("Int64") if numeric else adata.obs["cell_type"].astype("object")
        labels = labels.mask(np.arange(N) >= 60).astype(kind.split()[0])
        adata.obs["label"] = labels
        for unlabelled in (None, -1, "B"):
            with pytest.raises(ValueError, match=r"no label for 30 of 90 samples.*unlabelled=numpy\.nan.*notna"):
                ManifoldElasticNet(unlabelled=unlabelled).fit(adata, "label")
        assert nothing_written(adata)
        men = ManifoldElasticNet(unlabelled=np.nan, n_nonzeros=5).fit(adata, "label")
        y = labels.astype("object").where(labels.notna(), -1 if numeric else "none").tolist()
        same = ManifoldElasticNet(unlabelled=y[-1], n_nonzeros=5).fit(adata.X, y)
        np.testing.assert_array_equal(men.components_, same.components_)
        assert men.classes_.tolist() == same.classes_.tolist()
        assert men.classes_.dtype.kind == ("f" if kind == "float" else "i" if numeric else "O")
        assert adata.obsm["X_menet"].shape == (N, 2)
        array = ManifoldElasticNet(unlabelled=np.nan, n_nonzeros=5).fit(adata.X, labels)
        np.testing.assert_array_equal(array.components_, men.components_)
        with pytest.raises(ValueError, match=r"no label for 30 of 90 samples: leave them out \(adata\["):
            men.score(adata, "label")
        labelled = adata[adata.obs["label"].notna()].copy()
        with pytest.warns(UserWarning, match="used in the fit"):
            assert men.score(labelled, "label") > 0.9

    def test_a_search_reads_it_too(self, adata):
        search = ManifoldElasticNetCV(
            ridge=0.3,
            refit="discriminant",
            rule=Nearest(metric="cosine"),
            param_grid={"n_nonzeros": [2, 5]},
            cv=GroupKFold(3),
            scoring="neg_log_loss",
        )
        search.fit(adata, "cell_type", "weight", groups="patient", batch="plate", layer="log")
        X, (y, w, groups, batch) = (
            adata.layers["log"],
            (adata.obs[n] for n in ("cell_type", "weight", "patient", "plate")),
        )
        same = clone(search).fit(X, y, w, groups=groups, batch=batch)
        np.testing.assert_array_equal(search.components_, same.components_)
        assert search.best_params_ == same.best_params_ == json.loads(adata.uns["menet"]["best_params"])
        assert adata.uns["menet"]["groups"] == "patient"
        np.testing.assert_array_equal(adata.obsm["X_menet"], same.transform(X, batch=batch))
        new = cells(seed=1)[:, ::-1].copy()
        expected = same.score(
            new.layers["log"][:, ::-1], new.obs["cell_type"], new.obs["weight"], batch=new.obs["plate"]
        )
        assert search.score(new, "cell_type", "weight", batch="plate") == expected
        assert search.best_estimator_.layer_ == "log" == search.at(n_nonzeros=1).layer_


class TestNewSamples:
    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
    def test_variables_are_matched_by_name(self, container):
        men = ManifoldElasticNet(n_nonzeros=5).fit(cells(container=container), "cell_type", layer="log")
        new = cells(seed=1, container=container)
        more = ad.AnnData(container(np.ones((N, 3))), obs=new.obs, var=pd.DataFrame(index=["a", "b", "c"]))
        more.layers["log"] = more.X
        joined = ad.concat([more, new], axis=1, merge="same")
        shuffled = joined[:, np.random.default_rng(0).permutation(P + 3)]
        assert shuffled.n_vars == P + 3
        for other in (joined, shuffled, shuffled.copy()):
            np.testing.assert_array_equal(men.transform(other), men.transform(new))
            np.testing.assert_array_equal(men.predict_proba(other), men.predict_proba(new))
            np.testing.assert_array_equal(men.prepared(other), men.prepared(new))
            assert men.score(other, "cell_type") == men.score(new, "cell_type")
        assert "X_menet" not in new.obsm

    def test_missing_variables_are_named(self, adata):
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type")
        with pytest.raises(ValueError, match="lacks 2 of the 30 variables of the fit: 'gene 28', 'gene 29'; add"):
            men.prepared(adata[:, :28])
        panel, others = men.panel_, adata.var_names.difference(men.panel_)
        named = ", ".join(map(repr, panel[1:]))
        message = f"lacks {len(panel) - 1} of the {len(panel)} variables that the model needs: {named}; add"
        with pytest.raises(ValueError, match=message):
            men.transform(adata[:, [*others, panel[0]]])

    def test_the_panel_is_enough(self, adata):
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type")
        new = cells(seed=1)
        few = new[:, men.panel_[::-1]]
        assert few.n_vars < P
        for method in ("transform", "predict", "predict_log_proba"):
            np.testing.assert_array_equal(getattr(men, method)(few), getattr(men, method)(new))
            np.testing.assert_array_equal(getattr(men.panel_model(), method)(new), getattr(men, method)(new))
        assert men.score(few, "cell_type") == men.score(new, "cell_type")

    def test_pickles_and_smaller_models_know_the_layer(self, adata):
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type", layer="log")
        new = cells(seed=1)
        for kept in (pickle.loads(pickle.dumps(men)), men.at(n_nonzeros=5)):
            assert kept.layer_ == "log"
            np.testing.assert_array_equal(kept.predict_proba(new), men.predict_proba(new))
        pickle.loads(pickle.dumps(men)).at(n_nonzeros=3).predict(new)

    def test_a_model_file_does_not_know_the_layer(self, adata, tmp_path):
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type", layer="log")
        men.save(tmp_path / "cells.safetensors")
        read = ManifoldElasticNet.load(tmp_path / "cells.safetensors")
        with pytest.raises(ValueError, match=r"a layer \('log'\): set its attribute `layer_`"):
            read.predict(adata)
        read.layer_ = "log"
        expected = men.transform(adata)
        np.testing.assert_array_equal(read.transform(adata), expected)
        # Without layers there is no doubt.
        del read.layer_, adata.layers["log"]
        adata.X = np.log1p(adata.X)
        np.testing.assert_array_equal(read.transform(adata), expected)

    def test_frames_and_arrays_beside_it(self, adata):
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type")
        np.testing.assert_array_equal(men.transform(adata.to_df()), men.transform(adata))
        with pytest.warns(UserWarning, match="valid feature names"):
            men.transform(adata.X)
        framed = men.set_output(transform="pandas").transform(adata)
        assert list(framed.columns) == ["manifoldelasticnet0", "manifoldelasticnet1"]
        men.fit(adata.to_df(), adata.obs["cell_type"])
        assert not hasattr(men, "layer_")
        men.fit(adata.X, adata.obs["cell_type"])
        with pytest.raises(ValueError, match=r"without names of variables.*give it adata\.X"):
            men.predict(adata)

    def test_metadata_are_routed(self, adata):
        with config_context(enable_metadata_routing=True):
            men = ManifoldElasticNet(n_nonzeros=5).set_fit_request(layer=True, batch=True, sample_weight=False)
            assert men.get_metadata_routing().fit.requests["layer"] is True
            assert clone(men).get_metadata_routing().fit.requests["layer"] is True
            men.fit(adata, "cell_type", layer="log", batch="plate")
        assert ManifoldElasticNet().get_metadata_routing().fit.requests["layer"] is None


class TestRefused:
    """One clear error, and nothing is written."""

    def refused(self, adata, y, match, error=ValueError, **how):
        men = ManifoldElasticNet()
        with pytest.raises(error, match=match):
            men.fit(adata, y, **how)
        assert not hasattr(men, "components_")
        if isinstance(adata, ad.AnnData):
            assert nothing_written(adata)

    def test_columns(self, adata):
        self.refused(
            adata, "celltype", r"`y` is 'celltype', but adata\.obs has no such column; did you mean 'cell_type'"
        )
        self.refused(adata, "zzz", r"no such column; it has 'cell_type', 'plate', 'patient', 'weight'")
        self.refused(adata, "cell_type", "`batch` is 'plates', .*did you mean 'plate'", batch="plates")
        self.refused(adata, "cell_type", "`sample_weight` is 'weights', .*'weight'", sample_weight="weights")
        weighed = {"sample_weight": "patient"}
        self.refused(adata, "cell_type", "`sample_weight` is 'patient', .*must be numbers", TypeError, **weighed)
        adata.obs["plate"] = adata.obs["plate"].where(adata.obs["plate"] != "p1")
        self.refused(adata, "cell_type", "`batch` has no value for sample 0", batch="plate")
        adata.obs["weight"] = adata.obs["weight"].astype("Int64").mask(adata.obs["weight"] > 3)
        self.refused(adata, "cell_type", "NaN", sample_weight="weight")
        adata.obs["one"] = "T"
        self.refused(adata, "one", "class")

    @pytest.mark.parametrize("y", [None, 3, np.arange(N) % 3, ["cell_type"]])
    def test_labels_that_are_no_name(self, adata, y):
        self.refused(adata, y, r"`y` is of the type .* name of a column of adata\.obs \('cell_type'", TypeError)
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type")
        with pytest.raises(TypeError, match="`y` must be the name"):
            men.score(adata, y)

    def test_layers(self, adata):
        self.refused(adata, "cell_type", r"`layer` is 'logs', but adata\.layers .*did you mean 'log'", layer="logs")
        self.refused(adata, "cell_type", "`layer` is 3, but .* it has 'log'", layer=3)
        self.refused(
            adata.X, adata.obs["cell_type"], "`layer` is 'log', .*type ndarray.* leave `layer` out", layer="log"
        )
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type", layer="log")
        new = cells(1)
        del new.layers["log"]
        with pytest.raises(ValueError, match=r"`layer` is 'log', but adata\.layers has no such layer; it has none"):
            men.predict(new)

    def test_samples(self, adata, tmp_path):
        self.refused(adata[:0].copy(), "cell_type", "empty: it has 0 samples and 30 variables")
        self.refused(adata[:, :0].copy(), "cell_type", "empty: it has 90 samples and 0 variables")
        adata.write_h5ad(tmp_path / "cells.h5ad")
        backed = ad.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        self.refused(backed, "cell_type", r"backed by the file '.*cells\.h5ad'.*adata\.to_memory\(\)")
        backed.file.close()
        twice = adata.copy()
        twice.var_names = ["gene 0", "gene 0", *twice.var_names[2:]]
        self.refused(twice, "cell_type", r"1 names more than once: 'gene 0'; .*var_names_make_unique\(\)")
        men = ManifoldElasticNet(n_nonzeros=5).fit(adata.copy(), "cell_type")
        with pytest.raises(ValueError, match="more than once"):
            men.predict(twice)
        adata.X = None
        self.refused(adata, "cell_type", r"adata\.X is None: name one of its layers with `layer` \('log'\)")
        ManifoldElasticNet(n_nonzeros=5).fit(adata, "cell_type", layer="log")

    def test_samples_of_dask(self, adata):
        da = pytest.importorskip("dask.array")
        adata.X = da.from_array(adata.X, chunks=(30, -1))
        self.refused(adata, "cell_type", r"adata\.X is of the type dask\.array.*to_memory\(\)", TypeError)

    def test_estimators_that_do_not_read_it(self, adata):
        for kind in (menet.PCA, menet.FLDA, menet.DLA, menet.StabilitySelection):
            with pytest.raises(TypeError, match=rf"AnnData object, but {kind.__name__} does not .*adata\.to_df"):
                kind().fit(adata, "cell_type")
        pca = menet.PCA().fit(adata.to_df(), adata.obs["cell_type"])
        with pytest.raises(TypeError, match="AnnData object, but PCA"):
            pca.transform(adata)
        with pytest.raises(TypeError, match=r"AnnData object, but menet\.validate"):
            menet.validate(ManifoldElasticNet(), adata, "cell_type")
        assert nothing_written(adata)

    def test_the_estimator_on_dask(self, adata):
        pytest.importorskip("distributed")
        da = pytest.importorskip("dask.array")
        import menet.dask

        men = menet.dask.ManifoldElasticNet(n_nonzeros=5)
        with pytest.raises(TypeError, match=r"AnnData object, but menet\.dask does not"):
            men.fit(adata, "cell_type")
        assert nothing_written(adata)
        with pytest.raises(ValueError, match="`layer` is 'log', but `X` is of the type Array"):
            men.fit(da.from_array(adata.X, chunks=(30, -1)), adata.obs["cell_type"], layer="log")


def test_anndata_is_not_imported():
    script = "import sys, menet; menet.ManifoldElasticNet().fit([[0.0], [1.0]] * 6, [0, 1] * 6); "
    found = subprocess.run([sys.executable, "-c", script + "print('anndata' in sys.modules)"], capture_output=True)
    assert found.stdout.strip() == b"False", found.stderr
