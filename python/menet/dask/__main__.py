"""The command ``python -m menet.dask``."""

import sys

from menet.dask.command import main

# A local cluster starts processes that import this file again.
if __name__ == "__main__":
    sys.exit(main())
