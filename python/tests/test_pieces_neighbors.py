"""The neighbours of chunks, against all distances."""

from itertools import pairwise

import numpy as np
import pytest

from menet import _core

GROUPS = [("within", 5), ("between", 4), ("all", 7)]
NONE = np.empty(0, np.int64)


def whole_numbers(n, p, dtype, seed=0):
    """Samples of which nearly every distance is shared, and their classes."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, p)).astype(dtype), rng.integers(0, 3, n)


def brute_force(x, codes, groups=GROUPS):
    x = x.astype(np.float64)
    squared = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    same = codes[:, None] == codes[None]
    others = ~np.eye(len(x), dtype=bool)
    may = {"within": same & others, "between": ~same, "all": others}
    indices, distances = [], []
    for name, k in groups:
        away = np.where(may[name], squared, np.inf)
        order = np.argsort(away, axis=1, kind="stable")[:, :k]
        order = np.pad(order, ((0, 0), (0, k - order.shape[1])))
        near = np.take_along_axis(away, order, axis=1)
        near[:, len(x) :] = np.inf
        indices.append(np.where(np.isinf(near), -1, order))
        distances.append(near)
    return np.hstack(indices), np.hstack(distances)


def in_chunks(x, codes, cuts, groups=GROUPS, mean=None, dropped=NONE, threads=1, known=True):
    mean = x.mean(axis=0, dtype=np.float64) if mean is None else mean
    chunks = [(x[a:b], codes[a:b], a) for a, b in pairwise(cuts)]
    shared = (groups, mean, dropped, threads)
    found = [[_core.nearest_within(*chunk, *shared)] for chunk in chunks]
    for b in range(len(chunks)):
        for a in range(b):
            near = (found[a][0][1], found[b][0][1]) if known else ()
            here, there = _core.nearest_between(*chunks[a], *chunks[b], *shared, *near)
            found[a].append(here)
            found[b].append(there)
    merged = [_core.merge_nearest(parts, groups, threads) for parts in found]
    return tuple(np.concatenate(parts) for parts in zip(*merged, strict=True))


def same(found, wanted):
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "p", "cuts"), [(700, 3, [0, 1, 90, 90, 400, 700]), (60, 1200, [0, 25, 60])])
@pytest.mark.parametrize("known", [True, False])
def test_chunks_have_the_neighbours_of_all_samples(dtype, n, p, cuts, known):
    x, codes = whole_numbers(n, p, dtype)
    same(in_chunks(x, codes, cuts, known=known), brute_force(x, codes))


def test_fewer_samples_than_neighbours_and_none_at_all():
    x, codes = whole_numbers(6, 4, np.float64)
    codes[3] = 7
    indices, squared = in_chunks(x, codes, [0, 0, 2, 6, 6])
    same((indices, squared), brute_force(x, codes))
    assert (indices[3, :5] == -1).all()
    assert np.isinf(squared[3, :5]).all()
    empty = _core.nearest_within(x[:0], codes[:0], 5, GROUPS, np.zeros(4), NONE, 1)
    assert [part.shape for part in empty] == [(0, 16), (0, 16)]


@pytest.mark.parametrize("groups", [[("within", 5), ("between", 5)], [("all", 3)], [("within", 4), ("between", 0)], []])
def test_any_groups(groups):
    x, codes = whole_numbers(200, 3, np.float32)
    found = in_chunks(x, codes, [0, 50, 200], groups)
    if sum(k for _, k in groups):
        same(found, brute_force(x, codes, groups))
    else:
        assert found[0].shape == (200, 0)


def test_any_number_of_threads_and_any_mean_give_the_same():
    x, codes = whole_numbers(3000, 5, np.float32)
    first = in_chunks(x, codes, [0, 1100, 3000])
    same(in_chunks(x, codes, [0, 1100, 3000], threads=2), first)
    same(in_chunks(x, codes, [0, 1100, 3000], mean=np.full(5, -1e3), threads=2), first)
    same(in_chunks(x, codes, [0, 700, 701, 2000, 3000], threads=2), first)


def test_columns_that_are_dropped_take_no_part():
    x, codes = whole_numbers(300, 6, np.float64)
    noisy = x.copy()
    noisy[:, [0, 4]] += np.random.default_rng(1).normal(size=(300, 2))
    x[:, [0, 4]] = 0.0
    same(in_chunks(noisy, codes, [0, 100, 300], dropped=np.array([0, 4])), brute_force(x, codes))


def test_rows_with_numbers_of_their_own():
    x, codes = whole_numbers(400, 3, np.float32)
    mean = np.zeros(3)
    numbers = np.random.default_rng(2).permutation(400)
    found, known = [], ()
    for some in np.split(numbers, [10, 10, 300]):
        near = _core.nearest_in(x, codes, np.arange(400), x[some], codes[some], some, GROUPS, mean, NONE, 1, *known)
        found.append(near)
        known = (near[1],)
    same(_core.merge_nearest(found, GROUPS, 2), brute_force(x, codes))


def test_most_neighbours_are_in_the_buckets_that_rows_look_into():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, 4000)
    x = (rng.normal(size=(4, 8))[codes] * 2 + rng.normal(size=(4000, 8))).astype(np.float32)
    mean = x.mean(axis=0, dtype=np.float64)
    groups = [("within", 5), ("between", 5)]
    some = np.sort(rng.choice(4000, 1000, replace=False))
    centres, bucket_of, probes, share = _core.cells(x[some], codes[some], 16, groups, mean, NONE, 2)
    assert centres.shape == (len(bucket_of), 8)
    assert set(bucket_of) == set(range(16))
    assert 0 < share < 0.5
    chunks = [slice(0, 1500), slice(1500, 1500), slice(1500, 4000)]
    sent = [_core.home_and_probes(x[rows], centres, bucket_of, probes, mean, NONE, 1) for rows in chunks]
    home, looks = (np.concatenate(parts) for parts in zip(*sent, strict=True))
    assert looks.shape == (4000, 16)
    assert looks[np.arange(4000), home].all()
    indices, squared = np.full((4000, 10), -1), np.full((4000, 10), np.inf)
    for bucket in range(16):
        here, there = np.flatnonzero(looks[:, bucket]), np.flatnonzero(home == bucket)
        near = _core.nearest_in(
            x[here], codes[here], here, x[there], codes[there], there, groups, mean, NONE, 2, squared[here]
        )
        merged = _core.merge_nearest([near, (indices[here], squared[here])], groups, 1)
        indices[here], squared[here] = merged
    true, _ = _core.nearest_within(x, codes, 0, groups, mean, NONE, 2)
    hits = (indices[:, :, None] == true[:, None]).any(axis=2)
    assert hits[:, :5].mean() > 0.93
    assert hits[:, 5:].mean() > 0.93
    again = _core.cells(x[some], codes[some], 16, groups, mean, NONE, 1)
    np.testing.assert_array_equal(again[0], centres)
    with pytest.raises(ValueError, match="`buckets` is 251"):
        _core.cells(x[some], codes[some], 251, groups, mean, NONE, 1)


def test_the_groups_of_a_patch_rule():
    assert _core.neighbor_groups({}) == [("within", 5), ("between", 5)]
    assert _core.neighbor_groups({"patch": {"kind": "lle-unsupervised"}}) == [("all", 5), ("between", 0)]
    assert _core.neighbor_groups({"patch": {"kind": "lle", "k_within": 7}}) == [("within", 7), ("between", 0)]


def test_what_does_not_fit_is_refused():
    x, codes = whole_numbers(10, 4, np.float64)
    shared = (GROUPS, np.zeros(4), NONE, 1)

    def refused(match, *arguments, kind=ValueError):
        with pytest.raises(kind, match=match):
            _core.nearest_within(*arguments)

    bad = x.copy()
    bad[7, 2] = np.nan
    refused("row 7, column 2", bad, codes, 0, *shared)
    refused("9 entries, but 10", x, codes[1:], 0, *shared)
    refused("negative", x, codes - 5, 0, *shared)
    refused("sideways", x, codes, 0, [("sideways", 3)], *shared[1:])
    refused("`mean` has 3", x, codes, 0, GROUPS, np.zeros(3), NONE, 1)
    refused("`dropped` is 4", x, codes, 0, GROUPS, np.zeros(4), np.array([4]), 1)
    refused("by rows", np.asfortranarray(x, dtype=np.float32), codes, 0, *shared)
    with pytest.raises(ValueError, match="single precision"):
        _core.nearest_between(x, codes, 0, x.astype(np.float32), codes, 10, *shared)
    with pytest.raises(ValueError, match="known"):
        _core.nearest_between(x, codes, 0, x, codes, 10, *shared, np.zeros((3, 16)))
    found = _core.nearest_within(x, codes, 0, *shared)
    with pytest.raises(ValueError, match="10 x 16"):
        _core.merge_nearest([found, tuple(part[1:] for part in found)], GROUPS, 1)
    with pytest.raises(ValueError, match="empty"):
        _core.merge_nearest([], GROUPS, 1)
