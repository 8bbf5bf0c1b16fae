"""The order of the scripts in the galleries."""

ORDER = (
    # Case studies.
    "gene_panel.py",
    "faces.py",
    "spectra.py",
    "sparse_text.py",
    "many_images.py",
    "larger_than_memory.py",
    "paper.py",
    "ties.py",
    # Short examples.
    "genes.py",
    "selection.py",
    "pipeline.py",
    "reliability.py",
)


def in_order(name):
    """Say where a script comes; one that is not listed comes last."""
    return ORDER.index(name) if name in ORDER else len(ORDER)
