"""The problems: seeded data, who solves them, how a result is checked, and the least time that it could take.

A problem's data are made in the processes that solve it; sizes and the floor belong to its class.
"""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import peers

FASHION = Path("/usr/share/datasets/fashion-mnist")


def violation(c, b, W):
    """The worst violation of optimality of each column at its own level, relative to the largest correlation."""
    level = np.where(W != 0, np.abs(c), 0).max(axis=0)
    broken = np.where(W != 0, np.abs(c - level * np.sign(W)), np.maximum(np.abs(c) - level, 0))
    return float((broken.max(axis=0) / np.abs(b).max(axis=0)).max())


def support(W):
    """The mean number of nonzeros of a column."""
    return f"{np.count_nonzero(W, axis=0).mean():.0f}"


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def responses(X, d, seed):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((X.shape[1], d)) * (rng.random((X.shape[1], d)) < 0.02)
    # By einsum: products of BLAS have other bits on one thread than on two, and the data must be the same.
    return np.asfortranarray(5 * np.einsum("ij,jk->ik", X, W) + rng.standard_normal((len(X), d)))


def unit_columns(X):
    X = X - X.mean(axis=0)
    return np.asfortranarray(X / np.linalg.norm(X, axis=0))


class Problem:
    """What all of them have; `solvers` begins with menet, or is compared with one of menet's stages."""

    solvers = (("menet", peers.menet_fit),)
    parts = ()
    may_refuse = False

    @staticmethod
    def missing():
        """What this machine lacks for it, in words."""
        return None

    @staticmethod
    def floor(machine):
        """Seconds below which no implementation could go, or none."""
        return None


class Lars(Problem):
    """The LARS stage of the paper's size, Gram matrix included, on smooth random pictures."""

    n, p, d, K, ridge = 400, 1600, 40, 200, 0.3
    title = "LARS, n = 400, p = 1600, d = 40, K = 200, ridge 0.3"
    solvers = (
        ("menet", peers.menet_lars),
        ("SPAMS", peers.spams_lars),
        ("scikit-learn", peers.scikit_learn_lars),
        ("scikit-learn, two processes", peers.scikit_learn_processes),
        ("mlpack", peers.mlpack_lars),
    )

    def __init__(self):
        from scipy.ndimage import gaussian_filter

        rng = np.random.default_rng(0)
        pictures = [gaussian_filter(rng.standard_normal((40, 40)), 2).ravel() for _ in range(self.n)]
        self.X = unit_columns(np.array(pictures))
        self.Y = responses(self.X, self.d, 1)

    def check(self, W):
        c = self.X.T @ (self.Y - self.X @ W) - self.ridge * W
        return {"kkt": violation(c, self.X.T @ self.Y, W), "support": support(W), "digest": digest(W)}

    @classmethod
    def floor(cls, machine):
        # Half of the Gram matrix, and the check of all variables at every knot.
        return (cls.n * cls.p**2 + cls.d * cls.p * cls.K**2) / machine.flops


class Wide(Lars):
    """Many more variables than samples; SPAMS and scikit-learn would form a p x p matrix."""

    n, p, d, K = 300, 20_000, 9, 100
    title = "LARS, n = 300, p = 20,000, d = 9, K = 100, ridge 0.3"
    solvers = (("menet", peers.menet_lars),)

    def __init__(self):
        self.X = unit_columns(np.random.default_rng(2).standard_normal((self.n, self.p)))
        self.Y = responses(self.X, self.d, 3)

    @classmethod
    def floor(cls, machine):
        # The bar rather than the floor: the matrix read once a step.
        return cls.K * cls.n * cls.p * 8 / machine.bandwidth


class Rows(Problem):
    """All responses together: a variable is used by all or by none. Neighbours are correlated by one half."""

    n, p, d, true, part = 300, 5_000, 9, 50, 0.4
    title = "l2,1, n = 300, p = 5,000, d = 9, level 0.4 of the largest, violations below 1e-9"
    solvers = (
        ("menet", peers.menet_rows),
        ("scikit-learn", peers.scikit_learn_rows),
        ("skglm", peers.skglm_rows),
        ("adelie", peers.adelie_rows),
    )

    def __init__(self):
        rng = np.random.default_rng(8)
        X = rng.standard_normal((self.n, self.p))
        for j in range(1, self.p):
            X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
        self.X = unit_columns(X)
        W = np.zeros((self.p, self.d))
        W[rng.choice(self.p, self.true, replace=False)] = rng.standard_normal((self.true, self.d))
        signal = np.einsum("ij,jk->ik", self.X, W)
        # As much noise as signal.
        self.Y = np.asfortranarray(signal / signal.std() + rng.standard_normal(signal.shape))
        self.first = np.linalg.norm(np.einsum("ij,ik->jk", self.X, self.Y), axis=1).max()
        self.level = self.part * self.first
        self.tolerances = {"scikit-learn": 1e-9, "skglm": 1e-8, "adelie": 1e-20}

    def check(self, W):
        c = self.X.T @ (self.Y - self.X @ W)
        size = np.linalg.norm(W, axis=1, keepdims=True)
        towards = np.divide(W, size, out=np.zeros_like(W), where=size > 0)
        off = np.linalg.norm(c - self.level * towards, axis=1)
        broken = np.where(size[:, 0] > 0, off, np.maximum(off - self.level, 0))
        return {"kkt": float(broken.max() / self.first), "support": support(W), "digest": digest(W)}

    @classmethod
    def floor(cls, machine):
        # The correlations with the responses, and once more at the solution.
        return 4 * cls.n * cls.p * cls.d / machine.flops


class Fit(Problem):
    """A whole fit, with its own certificate."""

    def check(self, model):
        return {
            "kkt": float(model.kkt_violation_.max()),
            "support": support(model.components_.T),
            # Not public, but what a warning is made of.
            "residual": model.cg_residual_,
            "digest": digest(model.components_),
            "stages": model.seconds_,
        }


class Faces(Fit):
    """The paper's size, from pixels to axes, and the same made of NumPy, SciPy and scikit-learn."""

    n, p, d, K = 400, 1600, 39, 200
    title = "fit, ORL faces, n = 400, p = 1600, d = 39, K = 200"
    solvers = (("menet", peers.menet_fit), ("NumPy + scikit-learn", peers.numpy_fit))

    def __init__(self):
        from menet.datasets import load_orl

        self.X, y = load_orl(return_X_y=True)
        self.y = np.asarray(y)

    def check(self, out):
        import numpy_fit

        if hasattr(out, "components_"):
            W, found = out.components_.T, super().check(out)
        else:
            W, ours = out, peers.menet_fit(self, 2)().components_.T
            found = {"support": f"{support(W)}, {agreement(W, ours)}"}
        # Both by the lasso that NumPy makes of the data, at the end of the paths.
        G, b, norms = numpy_fit.reduced(self.X, self.y)
        w = W * norms[:, None] / (1 + numpy_fit.RIDGE)
        return found | {"kkt": violation(b - G @ w, b, w)}

    @classmethod
    def floor(cls, machine):
        # A triangular factor of A times X, half of the Gram matrix, and the check of all variables at every knot.
        return (cls.n**2 * cls.p + cls.n * cls.p**2 + cls.d * cls.p * cls.K**2) / machine.flops


def agreement(W, ours):
    """Whether two projections have the same supports, and how far they are apart."""
    if W.shape != ours.shape:
        return f"{W.shape[1]} axes"
    other = np.count_nonzero(((W != 0) != (ours != 0)).any(axis=0))
    same = "the same" if other == 0 else f"others on {other} axes"
    return f"{same}; W within {np.abs(W - ours).max() / np.abs(ours).max():.0e}"


class Genome(Fit):
    """A whole fit with 200,000 variables."""

    n, p, K = 200, 200_000, 50
    title = "fit, n = 200, p = 200,000, d = 4, K = 50"

    def __init__(self):
        rng = np.random.default_rng(4)
        self.y = np.arange(self.n) % 5
        self.X = rng.standard_normal((self.n, self.p))
        self.X[:, :200] += rng.standard_normal((5, 200))[self.y]

    @classmethod
    def floor(cls, machine):
        # The bar rather than the floor: the matrix read once a step.
        return cls.K * cls.n * cls.p * 8 / machine.bandwidth


class Neighbours(Problem):
    """The neighbours of Fashion-MNIST: menet's are a stage of its fit."""

    title = "its neighbours alone, exact: 5 of the class and 5 of others (faiss: 10 of all)"
    stage = "neighbors"
    solvers = (("faiss", peers.faiss_neighbours),)

    @staticmethod
    def floor(machine):
        # Half of all products of two samples, in single precision.
        return Fashion.n**2 * Fashion.p / machine.single


class Fashion(Fit):
    """Fashion-MNIST: a whole fit, beside others of menet's and an exact search for as many neighbours by faiss."""

    n, p, d, K = 60_000, 784, 9, 60
    title = "fit, Fashion-MNIST, n = 60,000, p = 784, d = 9, K = 60"
    solvers = (
        ("menet", peers.menet_fit),
        ("menet, approximate neighbours", peers.menet_approximate),
        ("menet's PCA", peers.menet_pca),
        ("menet's FLDA", peers.menet_flda),
    )
    parts = (Neighbours,)

    def __init__(self):
        self.X, self.y = self.read("train")

    def read(self, name):
        X = gzip.decompress((FASHION / f"{name}-images-idx3-ubyte.gz").read_bytes())[16:]
        y = gzip.decompress((FASHION / f"{name}-labels-idx1-ubyte.gz").read_bytes())[8:]
        return np.frombuffer(X, np.uint8).reshape(-1, self.p).astype(np.float64), np.frombuffer(y, np.uint8)

    def check(self, out):
        # The neighbours by faiss.
        if isinstance(out, np.ndarray):
            return {}
        found = super().check(out) if hasattr(out, "kkt_violation_") else {"support": support(out.components_.T)}
        recall = getattr(out, "neighbor_recall_", None)
        recalled = "" if recall is None else f", recall {recall:.3f}"
        return found | {"support": f"{found['support']} ({out.score(*self.read('t10k')):.1%} of test{recalled})"}

    @staticmethod
    def missing():
        return None if FASHION.exists() else "Debian's dataset-fashion-mnist is not installed"

    @classmethod
    def floor(cls, machine):
        # The neighbours, and half of the Gram matrix.
        return Neighbours.floor(machine) + cls.n * cls.p**2 / machine.flops


class Sparse(Fit):
    """Texts, as it were: 50 words each of 50,000, ten of them from the 500 that the text's subject prefers."""

    n, p, K = 20_000, 50_000, 50
    title = "fit, scipy.sparse, n = 20,000, p = 50,000, 0.1 % nonzero, d = 9, K = 50"
    # A menet that makes it dense asks for 32 GB first.
    may_refuse = True

    def __init__(self):
        from scipy.sparse import csr_array

        rng = np.random.default_rng(6)
        self.y = np.arange(self.n) % 10
        words = rng.integers(self.p, size=(self.n, 50))
        words[:, :10] = 500 * self.y[:, None] + rng.integers(500, size=(self.n, 10))
        weights = rng.exponential(size=words.size)
        starts = np.arange(0, words.size + 1, 50)
        self.X = csr_array((weights, words.ravel(), starts), shape=(self.n, self.p))
        self.X.sum_duplicates()


class Text(Fit):
    """Texts few enough to be dense: 20 to 100 words each, by Zipf's law, a third of them from the text's subject."""

    n, p, K = 1_993, 4_862, 100
    title = "fit, texts, n = 1,993, p = 4,862, 1 % nonzero, d = 1, K = 100"
    classes = 2

    def __init__(self):
        rng = np.random.default_rng(7)
        frequency = 1 / (np.arange(self.p) + 2.7)
        self.y = np.arange(self.n) % self.classes
        self.X = np.zeros((self.n, self.p))
        for row, subject in zip(self.X, self.y, strict=True):
            words = rng.choice(self.p, size=rng.integers(20, 101), p=frequency / frequency.sum())
            shift = (subject + 1) * (self.p // (self.classes + 1)) * (rng.random(words.size) < 1 / 3)
            np.add.at(row, (words + shift) % self.p, 1)
        self.X[self.X > 0] = 1 + np.log(self.X[self.X > 0])


class Texts(Text):
    """The same with twenty subjects."""

    title = "fit, texts, n = 1,993, p = 4,862, 1 % nonzero, d = 19, K = 100"
    classes = 20


class Transform(Problem):
    """A million rows of single precision on nine axes of 60 variables."""

    n, p, K = 1_000_000, 784, 60
    title = "transform, 1,000,000 x 784 float32, d = 9, 60 nonzeros"
    solvers = (("menet", peers.menet_transform), ("NumPy, dense", peers.numpy_transform))

    def __init__(self):
        from menet import ManifoldElasticNet

        rng = np.random.default_rng(5)
        self.X = rng.random((self.n, self.p), dtype=np.float32)
        y = np.arange(2000) % 10
        signal = 0.2 * rng.standard_normal((10, self.p))[y]
        self.model = ManifoldElasticNet.preset("paper", n_nonzeros=self.K).fit(self.X[:2000] + signal, y)

    def check(self, Z):
        return {"digest": digest(Z)}

    @classmethod
    def floor(cls, machine):
        return cls.n * cls.p * 4 / machine.bandwidth


CASES = {
    case.__name__.lower(): case for case in (Lars, Wide, Rows, Faces, Genome, Fashion, Sparse, Text, Texts, Transform)
}
