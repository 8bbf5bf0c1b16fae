"""The command ``python -m menet.dask``.

=============  =====================================================
module         contents
=============  =====================================================
`_main`        options, messages and exit codes
`_run`         what the subcommands do
`_cluster`     a local cluster, or the address of a scheduler
`_read`        files to samples, labels and names of samples
`_tables`      the columns of CSV and Parquet files
`_write`       results to files, whole or not at all
`_errors`      what ends the command early
=============  =====================================================

Parameters, labels and the roles of columns are read in the core, as those of ``menet fit`` are.
"""

from menet.dask.command._main import main

__all__ = ["main"]
