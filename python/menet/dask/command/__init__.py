"""The command ``python -m menet.dask``.

=============  =====================================================
module         contents
=============  =====================================================
`_main`        options, messages and exit codes
`_flags`       options that are parameters of the method
`_run`         what the subcommands do
`_cluster`     a local cluster, or the address of a scheduler
`_read`        files to samples: `_parquet`, `_text` and `_arrays`
`_columns`     which column is a label, a name or a variable
`_classes`     labels in one form
`_source`      samples, labels and names as they were read
`_write`       results to files, whole or not at all
=============  =====================================================
"""

from menet.dask.command._main import main

__all__ = ["main"]
