"""Documentation in numpydoc's form. (The examples in it are run by pytest's doctests.)"""

import inspect

import pytest
from numpydoc.validate import validate

import menet
import menet.dask
from menet import datasets, plot

# Asked of everybody: sections, parameters, returns, order, full stops. Not asked: an extended summary, a See Also and
# an example of every method.
NOT_ASKED = {"ES01", "SA01", "EX01"}


def public_objects():
    for module in (menet, menet.dask, datasets, plot):
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if not (inspect.isclass(value) or inspect.isfunction(value)) or name.startswith("_"):
                continue
            yield f"{module.__name__}.{name}"
            if inspect.isclass(value):
                for method, what in vars(value).items():
                    if not method.startswith("_") and inspect.isfunction(what):
                        yield f"{module.__name__}.{name}.{method}"
    inherited = "fit transform predict predict_proba predict_log_proba decision_function score get_support panel_table"
    yield from (f"menet.ManifoldElasticNet.{method}" for method in (*inherited.split(), "path", "save", "load"))


@pytest.mark.parametrize("name", sorted(set(public_objects())))
def test_documentation_is_complete(name):
    errors = [error for error in validate(name)["errors"] if error[0] not in NOT_ASKED]
    assert not errors
