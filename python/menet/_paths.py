"""Paths, and what can be read off them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from menet import _core
from menet._input import Floats
from menet._settings import count, number, whole_number

if TYPE_CHECKING:
    from typing_extensions import Self


class _Read:
    """What one path and many have in common."""

    _paths: _core.Paths
    _response: int
    feature_names: NDArray[Any] | None

    @classmethod
    def _of(cls, paths: _core.Paths, response: int = 0, names: NDArray[Any] | None = None) -> Self:
        out = cls()
        out._paths, out._response, out.feature_names = paths, response, names
        return out


class LarsPath(_Read):
    """The path of one response: knots, with straight lines between them.

    Attributes
    ----------
    lambdas : ndarray of shape (n_knots,)
        The level at every knot, decreasing: the largest absolute correlation, divided by its penalty factor.
    coefs : ndarray of shape (n_features, n_knots)
        The coefficients at every knot. Those of the elastic net are the naive ones.
    entered : list of list of int
        The positions of the variables that begin to move at every knot. They are nonzero just below it. There are
        several if variables tie.
    left : list of list of int
        The positions of the variables that return to zero at every knot.
    kkt : ndarray of shape (n_knots,)
        How far the coefficients are from optimal at every knot: the largest violation of the optimality conditions,
        computed again from the Gram matrix, relative to the largest correlation.
    ended : str
        Why the path ended, in words.
    rounds : int or None
        The number of weighted paths, after a first one without weights. None without such rounds.
    settled : bool or None
        Whether another round would change nothing. None without rounds.
    stationarity : float or None
        How far the end of the path is from stationary under its concave penalty, with the weights at that point,
        measured as ``kkt``. None for the penalties "l1", "adaptive" and "l0".
    local : list of bool or None
        With the penalty "l0", for 1, 2, ... variables, whether it is certain that no exchange of a variable makes the
        subset better.
    feature_names : ndarray of shape (n_features,) or None
        Names of the variables, if the samples had names.
    """

    @property
    def lambdas(self) -> Floats:
        """The level at every knot."""
        return self._paths.lambdas(self._response)

    @property
    def coefs(self) -> Floats:
        """The coefficients at every knot."""
        return self._paths.coefs(self._response)

    @property
    def entered(self) -> list[list[int]]:
        """The variables that begin to move at every knot."""
        return self._paths.entered(self._response)

    @property
    def left(self) -> list[list[int]]:
        """The variables that return to zero at every knot."""
        return self._paths.left(self._response)

    @property
    def kkt(self) -> Floats:
        """The largest violation of the optimality conditions at every knot."""
        return self._paths.kkt(self._response)

    @property
    def ended(self) -> str:
        """Why the path ended."""
        return self._paths.ended(self._response)

    @property
    def rounds(self) -> int | None:
        """The number of weighted paths, after a first one without weights."""
        found = self._paths.rounds(self._response)
        return None if found is None else found[0]

    @property
    def settled(self) -> bool | None:
        """Whether another round would change nothing."""
        found = self._paths.rounds(self._response)
        return None if found is None else found[1]

    @property
    def stationarity(self) -> float | None:
        """How far the end of the path is from stationary."""
        found = self._paths.rounds(self._response)
        return None if found is None else found[2]

    @property
    def local(self) -> list[bool] | None:
        """Whether no exchange of a variable makes the subset of 1, 2, ... variables better."""
        return self._paths.local(self._response)

    def at_lambda(self, level: float) -> Floats:
        """Return the coefficients at a level.

        Parameters
        ----------
        level : float
            The level, not below the last one of the path.

        Returns
        -------
        ndarray of shape (n_features,)
            The coefficients.
        """
        return self._paths.at_lambda(_level(level), self._response)[:, 0]

    def at_nonzeros(self, k: int) -> Floats:
        """Return the coefficients where the support is about to exceed `k`.

        Parameters
        ----------
        k : int
            The largest number of nonzeros. There may be fewer where variables tie.

        Returns
        -------
        ndarray of shape (n_features,)
            The coefficients.
        """
        return self._paths.at_nonzeros(count("k", k, least=1), self._response)[:, 0]

    def __repr__(self) -> str:
        """Return the number of knots, the range of levels and the certificate."""
        knots = self.lambdas
        return f"LarsPath({len(knots)} knots from level {knots[0]:.4g} to {knots[-1]:.4g}, kkt {self.kkt.max():.1e})"


class LarsPaths(_Read):
    """The paths of many responses: the attributes of `LarsPath`, in lists. Each is built on demand.

    Attributes
    ----------
    lambdas : list of ndarray of shape (n_knots,)
        The level at every knot.
    coefs : list of ndarray of shape (n_features, n_knots)
        The coefficients at every knot.
    entered : list of list of list of int
        The positions of the variables that begin to move at every knot.
    left : list of list of list of int
        The positions of the variables that return to zero at every knot.
    kkt : list of ndarray of shape (n_knots,)
        The largest violation of the optimality conditions at every knot.
    ended : list of str
        Why the paths ended.
    rounds, settled, stationarity, local : list
        What is known of the penalties.
    feature_names : ndarray of shape (n_features,) or None
        Names of the variables, if the samples had names.
    """

    def __len__(self) -> int:
        """Return the number of responses."""
        return len(self._paths)

    def __iter__(self) -> Iterator[LarsPath]:
        """Iterate over the paths."""
        return (self[k] for k in range(len(self)))

    def __getitem__(self, response: int) -> LarsPath:
        """Return the path of one response."""
        k = whole_number("response", response)
        if not -len(self) <= k < len(self):
            raise IndexError(f"response {k} was asked for, but there are 0 to {len(self) - 1}")
        return LarsPath._of(self._paths, k % len(self), self.feature_names)

    @property
    def lambdas(self) -> list[Floats]:
        """The level at every knot."""
        return [self._paths.lambdas(k) for k in range(len(self))]

    @property
    def coefs(self) -> list[Floats]:
        """The coefficients at every knot."""
        return [self._paths.coefs(k) for k in range(len(self))]

    @property
    def entered(self) -> list[list[list[int]]]:
        """The variables that begin to move at every knot."""
        return [self._paths.entered(k) for k in range(len(self))]

    @property
    def left(self) -> list[list[list[int]]]:
        """The variables that return to zero at every knot."""
        return [self._paths.left(k) for k in range(len(self))]

    @property
    def kkt(self) -> list[Floats]:
        """The largest violation of the optimality conditions at every knot."""
        return [self._paths.kkt(k) for k in range(len(self))]

    @property
    def ended(self) -> list[str]:
        """Why the paths ended."""
        return [self._paths.ended(k) for k in range(len(self))]

    @property
    def rounds(self) -> list[int | None]:
        """The number of weighted paths."""
        return [path.rounds for path in self]

    @property
    def settled(self) -> list[bool | None]:
        """Whether another round would change nothing."""
        return [path.settled for path in self]

    @property
    def stationarity(self) -> list[float | None]:
        """How far the ends of the paths are from stationary."""
        return [path.stationarity for path in self]

    @property
    def local(self) -> list[list[bool] | None]:
        """Whether no exchange of a variable makes the subsets better."""
        return [path.local for path in self]

    def at_lambda(self, level: float) -> Floats:
        """Return the coefficients at a level.

        Parameters
        ----------
        level : float
            The level, not below the last one of any path.

        Returns
        -------
        ndarray of shape (n_features, n_responses)
            The coefficients.
        """
        return self._paths.at_lambda(_level(level), None)

    def at_nonzeros(self, k: int) -> Floats:
        """Return the coefficients where the support of each response is about to exceed `k`.

        Parameters
        ----------
        k : int
            The largest number of nonzeros. There may be fewer where variables tie.

        Returns
        -------
        ndarray of shape (n_features, n_responses)
            The coefficients.
        """
        return self._paths.at_nonzeros(count("k", k, least=1), None)

    def __repr__(self) -> str:
        """Return the number of responses and the certificate."""
        worst = max(float(kkt.max()) for kkt in self.kkt)
        return f"LarsPaths({len(self)} responses, kkt {worst:.1e})"


def _level(value: float) -> float:
    level = number("level", value)
    if not level >= 0:
        raise ValueError(f"`level` is {level}, but must be at least 0")
    return level
