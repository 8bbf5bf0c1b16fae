"""One problem: menet's fit against the oracle's."""

from __future__ import annotations

import warnings

import numpy as np
import oracle
import refits
import rules
from prepare import Ambiguous, Preparation, samples

import menet

# What may be off, relative to the largest number of its kind.
TOLERANCE = 1e-7

# What a fit may refuse, and the oracle does not look for.
REFUSED = [
    "tie for the first place",
    "class centres coincide",
    "constant over the",
    "uses no variable",
    "which its centre is learned from",
    "with factor 0",
    "no path selects a variable",
    'but must be "euclidean"',
    "give a target of rank",
    "no variable is left otherwise",
    "every sample lacks",
    "but must be variables that are missing in at most",
    "between -1 and 1",
]


class Off(Exception):
    """The fit is not the oracle's."""


def near(what, found, expected, tolerance=TOLERANCE, size=None):
    """Refuse numbers that differ, relative to a size, or to the largest of them."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if found.shape != expected.shape:
        raise Off(f"{what}: {found.shape} instead of {expected.shape}")
    size = np.abs(expected).max(initial=1e-300) if size is None else size
    off = np.abs(found - expected).max(initial=0.0) / size
    if not off <= tolerance:
        raise Off(f"{what}: off by {off:.1e}")


def compare(problem):
    """Return how a problem went: "same", "refused" or "ambiguous". Raise Off if the fit is wrong."""
    s = problem.settings
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            men = estimator(s).fit(problem.X, problem.y, sample_weight=problem.weights, batch=problem.batches)
    except ValueError as e:
        if any(part in str(e) for part in REFUSED):
            return "refused"
        raise Off(f"refused: {e}") from e
    try:
        with np.errstate(all="ignore"):
            checked(problem, men)
    except Ambiguous:
        return "ambiguous"
    return "same"


def estimator(s):
    """Return the estimator with these settings."""
    ridge, priors = s["refit_ridge"], s["priors"]
    kind, metric = asked(s)
    voting = {"k": s["n_neighbors"], "metric": metric, "priors": priors}
    refits_of = {
        "none": menet.NoRefit(),
        "axis": menet.AxisRefit(ridge=ridge, relax=s["relax"]),
        "panel": menet.PanelRefit(ridge=ridge),
        "discriminant": menet.DiscriminantRefit(),
    }
    rules_of = {
        None: menet.AutoRule(**voting),
        "nearest": menet.Nearest(**voting),
        "centroid": menet.Centroid(priors=priors),
        "gaussian": menet.Gaussian(priors=priors),
    }
    targets_of = {
        "centres": menet.CentresTarget(),
        "whitened": menet.WhitenedTarget(shrinkage=s["target_shrinkage"], spread=s["target_spread"]),
    }

    def of(stage, *names, **others):
        return stage(**{name: s[name] for name in names}, **others)

    return menet.ManifoldElasticNet(
        **{name: s[name] for name in ("n_components", "n_nonzeros", "panel_size", "ridge")},
        **{name: s[name] for name in ("class_weight", "unlabelled") if name in s},
        prepare=of(menet.Prepare, "impute", "max_missing", "scale", "batch_scale"),
        patch=menet.Patch(
            kind=s["patch"],
            k_within=s["k_within"],
            k_between=s["k_between"],
            bandwidth=s["bandwidth"],
            regularizer=s["lle_regularizer"],
            dimension=s["ltsa_dimension"],
        ),
        manifold=of(menet.Manifold, "alpha", "beta", "kappa", "definiteness", "floor"),
        target=targets_of[s["target"]],
        penalty=of(menet.L1, "standardize", "always", "never", factors=s["penalty_factors"]),
        refit=refits_of[s["refit"]],
        rule=rules_of[kind],
        compute=of(menet.Compute, "route", "gram"),
    )


def checked(problem, men):
    """Compare all stages."""
    s = problem.settings
    labelled = problem.y >= 0
    X, y = problem.X[labelled], problem.y[labelled]
    classes, codes = np.unique(y, return_inverse=True)
    weights = np.ones(len(y)) if problem.weights is None else problem.weights[labelled]
    if problem.balanced:
        weights = weights / np.bincount(codes, weights=weights)[codes]
    preparation = Preparation(X, weights / weights[weights > 0].mean(), problem.batches, s)
    if preparation.asked:
        near("missing fractions", men.missing_fraction_, weights @ np.isnan(X) / weights.sum())
    found = samples(preparation.apply(X, problem.batches), codes, weights, preparation.apply(problem.X[~labelled]))
    near("mean", men.mean_, found.mean, size=np.abs(found.raw).max())
    gram, b, lengths, kappa = oracle.reduced(found, s)
    near("kappa", men.definiteness_["kappa_used"], kappa, 1e-6)
    W, panel, given, kind, metric = axes(s, men, found, gram, b, lengths)
    near("axes", men.components_.T, W)
    # A variable that is exactly balanced between the classes may have a weight of 0 but for rounding.
    of_note = np.abs(W).max(axis=1) > 1e-9 * np.abs(W).max()
    if not np.array_equal(men.get_support()[of_note], np.isin(np.flatnonzero(of_note), panel)):
        raise Off(f"panel: {men.get_support(indices=True)} instead of {panel}")
    Z = found.centred[: found.labelled] @ W
    new = (preparation.apply(problem.new, problem.new_batches) - found.mean) @ W
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = men.transform(problem.new, batch=problem.new_batches)
        # A sample that lacks the whole panel has no place, and gets the priors.
        unknown = np.isnan(problem.new[:, men.get_support(indices=True)]).all(axis=1)
        if not np.array_equal(np.isnan(scores), np.repeat(unknown[:, None], scores.shape[1], axis=1)):
            raise Off("samples without a value of the panel")
        near("scores", scores[~unknown], new[~unknown], size=np.abs(Z).max())
        labels = men.predict(problem.new, batch=problem.new_batches)
        probabilities = men.predict_proba(problem.new, batch=problem.new_batches)
    logs = rules.log_probabilities(s, kind, metric, found, Z, new, given)
    logs[unknown] = rules.log_priors(s, found)
    near("probabilities", probabilities, np.exp(logs), 1e-5)
    ordered = np.sort(logs, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-6
    # With several voters, votes decide before distances do.
    if not np.array_equal(labels[clear], classes[logs.argmax(axis=1)][clear]):
        raise Off("labels")


def axes(s, men, found, gram, b, lengths):
    """Certify the paths, and return the axes, the panel, the covariance of the scores if used, the rule and metric."""
    p, paths = len(gram), b.shape[1]
    factors = np.array(s["penalty_factors"] or np.ones(p), dtype=float)
    factors[s["always"] or []], factors[s["never"] or []] = 0.0, np.inf
    factors[found.norms == 0] = np.inf
    units = (1 + s["ridge"]) / lengths
    ridge = gram + s["ridge"] * np.eye(p)
    free = np.flatnonzero(factors == 0)
    for k in range(paths):
        path = men.path(k)
        certified(path, ridge, b[:, k], factors, units)
    ends = [men.path(k).coefs[:, -1] / units for k in range(paths)]
    most = s["n_nonzeros"] or min(max(2 * found.labelled, 50), 100)
    for w in ends:
        if np.count_nonzero(np.delete(w, free)) > most:
            raise Off("more nonzeros than allowed")
    refit, size = s["refit"], s["panel_size"]
    shares = refit in ("panel", "discriminant")
    reading = [w for w in ends]
    if size is not None and not shares:
        reading = within_size([men.path(k) for k in range(paths)], size, free, units)
    panel = np.flatnonzero(np.any([w != 0 for w in reading], axis=0))
    if size is not None and shares:
        panel = refits.dropped(found, panel.tolist(), set(free.tolist()), size)
    if not len(panel):
        raise Off("no variable")
    kind_of_paths, _ = rule(s, 1 if size == 1 else paths)
    W = weights(s, found, (gram, b), (reading, panel), units)
    given = refits.covariance(found, panel, W) if kind_of_paths == "gaussian" else None
    return (W, np.flatnonzero(np.any(W != 0, axis=1)), given, *rule(s, W.shape[1]))


def weights(s, found, reduced, selected, units):
    """Return the axes on the selected variables, in the units of prepared samples."""
    (gram, b), (reading, panel) = reduced, selected
    used = [k for k, w in enumerate(reading) if np.any(w)]
    ridge = s["ridge"] if s["refit_ridge"] is None else s["refit_ridge"]
    if s["refit"] == "discriminant":
        return refits.discriminants(found, panel, len(reading))[0]
    if s["refit"] == "none":
        return np.array([reading[k] * units for k in used]).T
    W = np.zeros((len(gram), len(reading)))
    for k, w in enumerate(reading):
        support = panel if s["refit"] == "panel" else np.flatnonzero(w)
        if len(support):
            solved = refits.solve(gram[np.ix_(support, support)] + ridge * np.eye(len(support)), b[support, k : k + 1])
            relax = s["relax"] if s["refit"] == "axis" else 1.0
            W[support, k] = (1 - relax) * w[support] + relax * solved[:, 0]
    W = (W if s["refit"] == "panel" else W[:, used]) * units[:, None]
    return W * refits.spread(found, W)


def rule(s, axes):
    """Return the rule and the metric that are used on so many axes."""
    kind, metric = asked(s)
    return kind or ("gaussian" if axes == 1 else "nearest"), "euclidean" if axes == 1 else metric or "cosine"


def asked(s):
    """Return the rule and the metric of the settings, those of the preset where they are left open."""
    paper = s["preset"] == "paper"
    return s["rule"] or ("nearest" if paper else None), s["metric"] or ("euclidean" if paper else None)


def certified(path, gram, b, factors, units):
    """Check the conditions of optimality at every knot, and between two."""
    levels, knots = path.lambdas, path.coefs / units[:, None]
    for k, level in enumerate(levels):
        points = [(level, knots[:, k])]
        if k:
            points.append(((level + levels[k - 1]) / 2, (knots[:, k] + knots[:, k - 1]) / 2))
        for at, w in points:
            off = refits.violation(gram, b, factors, w, at)
            if not off <= TOLERANCE:
                raise Off(f"knot {k} of {len(levels)}: conditions violated by {off:.1e}")
    if "largest number" in path.ended:
        c = np.abs(b - gram @ knots[:, -1])
        waiting = (knots[:, -1] == 0) & np.isfinite(factors) & (factors > 0)
        if not np.any(np.abs(c - levels[-1] * factors)[waiting] <= TOLERANCE * np.abs(b).max()):
            raise Off("the path could go on with the same variables")
    elif "level 0" in path.ended and levels[-1] != 0:
        raise Off("the path did not reach level 0")


def within_size(paths, size, free, units):
    """Return the paths at the largest common K whose union is small enough, or else at the lowest such level."""

    def count(read):
        return len(set(np.flatnonzero(np.any([w != 0 for w in read], axis=0))) - set(free))

    found = None
    most = max(max(np.count_nonzero(np.delete(w, free)) for w in path.coefs.T) for path in paths)
    for k in range(1, most + 1):
        read = [reached(path, k) for path in paths]
        if count(read) > size:
            break
        found = read
    if found is None or not any(np.any(w) for w in found):
        found = None
        for level in sorted({float(level) for path in paths for level in path.lambdas}, reverse=True):
            read = [path.at_lambda(max(level, path.lambdas[-1])) for path in paths]
            if count(read) > size:
                break
            found = read
    return [w / units for w in found]


def reached(path, k):
    """Return the coefficients of a path at k variables, or at its end."""
    try:
        return path.at_nonzeros(k)
    except ValueError:
        return path.coefs[:, -1]
