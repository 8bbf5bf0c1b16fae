"""The solvers: each takes a problem and a number of threads, and returns the work to be timed.

What is done before that, and what the problem makes of the result, is not timed. Who takes one response at a time does
so in as many processes as there should be threads, with one each; scikit-learn also in one, as it is called.
"""

import numpy as np


def menet_lars(problem, threads):
    import menet

    options = {"ridge": problem.ridge, "max_nonzeros": problem.K, "n_jobs": threads}
    return lambda: menet.lars_path(problem.X, problem.Y, **options).at_nonzeros(problem.K)


def spams_lars(problem, threads):
    import spams

    options = {"L": problem.K, "lambda1": 0.0, "lambda2": problem.ridge, "mode": 2, "numThreads": threads}
    return lambda: spams.lasso(problem.Y, D=problem.X, **options).toarray()


def scikit_learn_lars(problem, threads):
    """As it is called: one response after the other, with as many threads as NumPy's products have."""
    from sklearn.linear_model import lars_path_gram

    return scikit_learn(problem, lambda arguments, options: [lars_path_gram(*args, **options) for args in arguments])


def scikit_learn_processes(problem, threads):
    from numpy_fit import in_processes
    from sklearn.linear_model import lars_path_gram

    return scikit_learn(problem, lambda args, options: in_processes(threads, lars_path_gram, args, **options))


def scikit_learn(problem, solve):
    # It counts steps, not variables: near enough for a time.
    options = {"n_samples": 1, "max_iter": problem.K, "method": "lasso", "return_path": False}

    def work():
        G = problem.X.T @ problem.X
        G[np.diag_indices_from(G)] += problem.ridge
        paths = solve(((b, G) for b in (problem.X.T @ problem.Y).T), options)
        return np.column_stack([path[2] for path in paths])

    return work


def mlpack_lars(problem, threads):
    from numpy_fit import in_processes

    import menet

    # It ends at a level, not at a number of variables: at the one where menet's path ends.
    paths = menet.lars_path(problem.X, problem.Y, ridge=problem.ridge, max_nonzeros=problem.K, n_jobs=threads)
    levels = [float(lambdas[-1]) for lambdas in paths.lambdas]

    def work():
        arguments = ((problem.X, y, level) for y, level in zip(problem.Y.T, levels, strict=True))
        return np.column_stack(in_processes(threads, mlpack_response, arguments, ridge=problem.ridge))

    return work


def mlpack_response(X, y, level, ridge):
    from mlpack.lars import Lars

    options = {"no_intercept": True, "no_normalize": True, "use_cholesky": True}
    # Every response makes the Gram matrix anew; coefficients are what is predicted of unit vectors.
    return Lars(lambda1=level, lambda2=ridge, **options).fit(X, y).predict(np.eye(X.shape[1])).ravel()


def menet_rows(problem, threads):
    import menet

    options = {"levels": problem.level, "group_axes": "together", "n_jobs": threads}
    return lambda: menet.group_lasso(problem.X, problem.Y, **options).coef


def scikit_learn_rows(problem, threads):
    from sklearn.linear_model import MultiTaskElasticNet

    # The tolerances of the three others are the largest powers of ten with which their violation is below 1e-9.
    options = {"l1_ratio": 1.0, "fit_intercept": False, "tol": problem.tolerances["scikit-learn"], "max_iter": 10**6}
    model = MultiTaskElasticNet(problem.level / problem.n, **options)
    return lambda: model.fit(problem.X, problem.Y).coef_.T


def skglm_rows(problem, threads):
    from skglm import MultiTaskLasso

    model = MultiTaskLasso(problem.level / problem.n, fit_intercept=False, tol=problem.tolerances["skglm"])
    return lambda: model.fit(problem.X, problem.Y).coef_.T


def adelie_rows(problem, threads):
    import adelie

    options = {
        "intercept": False,
        # Its loss is divided by the number of samples and of responses.
        "lmda_path": [problem.level / (problem.n * problem.d)],
        "penalty": np.ones(problem.p),
        "tol": problem.tolerances["adelie"],
        "early_exit": False,
        "progress_bar": False,
        "n_threads": threads,
    }

    def work():
        X, glm = adelie.matrix.dense(problem.X, n_threads=threads), adelie.glm.multigaussian(y=problem.Y)
        return adelie.grpnet(X=X, glm=glm, **options).betas.toarray()[-1].reshape(problem.p, problem.d)

    return work


def menet_fit(problem, threads):
    from menet import ManifoldElasticNet

    model = ManifoldElasticNet.preset("paper", n_nonzeros=problem.K, n_jobs=threads)
    return lambda: model.fit(problem.X, problem.y)


def menet_approximate(problem, threads):
    from menet import ManifoldElasticNet, Patch

    model = ManifoldElasticNet.preset("paper", n_nonzeros=problem.K, patch=Patch(search="approximate"), n_jobs=threads)
    return lambda: model.fit(problem.X, problem.y)


def numpy_fit(problem, threads):
    from numpy_fit import fit

    return lambda: fit(problem.X, problem.y, problem.K, threads)


def menet_pca(problem, threads):
    from menet import PCA

    return lambda: PCA(problem.d, n_jobs=threads).fit(problem.X, problem.y)


def menet_flda(problem, threads):
    from menet import FLDA

    return lambda: FLDA(problem.d, n_jobs=threads).fit(problem.X, problem.y)


def faiss_neighbours(problem, threads):
    import faiss

    faiss.omp_set_num_threads(threads)

    def work():
        X = problem.X.astype(np.float32)
        index = faiss.IndexFlatL2(problem.p)
        index.add(X)
        # As many as a patch has, and the sample itself.
        return index.search(X, 11)[1]

    return work


def menet_transform(problem, threads):
    model = problem.model.set_params(n_jobs=threads)
    return lambda: model.transform(problem.X)


def numpy_transform(problem, threads):
    W = np.ascontiguousarray(problem.model.components_.T.astype(np.float32))
    return lambda: problem.X @ W
