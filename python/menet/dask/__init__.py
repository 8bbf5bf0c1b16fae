"""The Manifold Elastic Net on Dask, for samples that do not fit on one machine.

`ManifoldElasticNet` has the parameters and the attributes of `menet.ManifoldElasticNet`, and learns the same model. It
fits Dask arrays and data frames: no process ever holds all samples. It works on any cluster that a
`distributed.Client` is connected to, and on Dask's local scheduler without one.

`progress` shows a bar per stage of a fit. ``python -m menet.dask --help`` describes the command.
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
except ImportError as e:
    raise ImportError(f'menet.dask needs Dask, which is not complete here ({e}): pip install "menet[dask]"') from None

from menet.dask._estimator import ManifoldElasticNet
from menet.dask._progress import progress

__all__ = ["ManifoldElasticNet", "progress"]
