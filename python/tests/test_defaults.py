"""What is written in Python and must be what the core says."""

import ast
import inspect
import json
from typing import get_args

import pytest
from numpydoc.docscrape import ClassDoc
from test_estimator_checks import ESTIMATORS

import menet
from menet import _choices, _core
from menet._search import SCORINGS, SEARCHED
from menet._settings import NOT_OF_THE_CORE, OUTSIDE, core_name

DEFAULTS = json.loads(_core.defaults())

# Every method of the core is an estimator, or one with a parameter changed.
PENALTIES = ["adaptive", "reweighted", "scad", "mcp", "l0", "graph"]
VARIANTS = {"lpp": "slpp", "unpe": "npe", "men-alpha0": "men", "men-paper": "men"} | {
    f"men-{penalty}": "men" for penalty in PENALTIES
}


def core_method(estimator):
    return getattr(estimator, "_core_name", "men")


def test_every_method_of_the_core_is_offered():
    offered = {core_method(estimator) for estimator in ESTIMATORS}
    assert set(DEFAULTS) - set(VARIANTS) == offered
    assert set(VARIANTS.values()) <= offered


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_signatures_have_the_defaults_of_the_core(estimator):
    expected = DEFAULTS[core_method(estimator)]
    signature = inspect.signature(estimator.__init__).parameters
    given = {core_name(name): p.default for name, p in signature.items() if name != "self"}
    outside = {core_name(name) for name in OUTSIDE | NOT_OF_THE_CORE} - set(expected)
    assert {name: value for name, value in given.items() if name not in outside} == {
        # How many axes is every estimator's own question.
        **({"components": None} if "components" in expected else {}),
        **expected,
    }
    assert given["components"] is None
    assert given["n_jobs"] is None
    assert given["metric"] == (None if estimator is menet.ManifoldElasticNet else "euclidean")
    kinds = {name: p.kind for name, p in signature.items()}
    positional = [name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert positional in (["self", "n_components"], ["self", "n_components", "n_nonzeros"])


@pytest.mark.parametrize("function", [menet.lars_path, menet.lars_path_gram])
def test_paths_have_the_defaults_of_the_core(function):
    keywords = inspect.getfullargspec(function).kwonlydefaults
    assert keywords.pop("n_jobs") is None
    of_penalty = {name: keywords.pop(name) for name in ("penalty", "penalty_shape", "penalty_epsilon")}
    assert of_penalty == {name: DEFAULTS["men"][name] for name in of_penalty}
    assert tuple(keywords.values()) == _core.path_defaults()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_documentation_names_every_parameter_with_its_default(estimator):
    documented = {entry.name: entry for entry in ClassDoc(estimator)["Parameters"]}
    signature = {n: p for n, p in inspect.signature(estimator.__init__).parameters.items() if n != "self"}
    assert list(documented) == list(signature)
    for name, parameter in signature.items():
        kind = documented[name].type
        if parameter.default is None:
            assert kind.endswith("optional"), (name, kind)
        else:
            written = kind.split("default=")[1]
            assert json.loads(written.replace("True", "true").replace("False", "false")) == parameter.default


def test_a_search_has_the_same_parameters_and_lists_for_some():
    one, many = (
        {name: p.default for name, p in inspect.signature(kind.__init__).parameters.items() if name != "self"}
        for kind in (menet.ManifoldElasticNet, menet.ManifoldElasticNetCV)
    )
    assert list(many) == [*one, "cv", "scoring", "one_standard_error", "most_stable", "verbose"]
    lists = {name for name, value in many.items() if isinstance(value, tuple)}
    assert lists == {"ridge", "refit", "rule", "metric"}
    assert {name: value for name, value in many.items() if name in one.keys() - lists} == {
        name: value for name, value in one.items() if name not in lists
    }
    assert lists < set(SEARCHED) < set(one)
    assert set(many["rule"]) == set(_core.choices()["rule"])
    assert set(many["metric"]) == set(_core.choices()["metric"])
    documented = {entry.name: entry for entry in ClassDoc(menet.ManifoldElasticNetCV)["Parameters"]}
    assert list(documented) == list(many)
    for name, value in many.items():
        kind = documented[name].type
        written = None if kind.endswith("optional") else ast.literal_eval(kind.split("default=")[1])
        assert written == value, name


def test_documentation_says_what_presets_stand_for():
    entry = next(e for e in ClassDoc(menet.ManifoldElasticNet)["Parameters"] if e.name == "preset")
    text = " ".join(entry.desc)
    for preset, values in json.loads(_core.presets()).items():
        of_preset = text.split(f'"{preset}": ')[1].split(". ")[0]
        for name, value in values.items():
            assert f"``{name}={json.dumps(value)}``" in of_preset, (preset, name, value)


@pytest.mark.parametrize(
    "parameter",
    ["preset", "refit", "rule", "patch", "target", "definiteness", "neighbors", "metric", "route", "gram"],
)
def test_documentation_lists_every_choice(parameter):
    entry = next(e for e in ClassDoc(menet.ManifoldElasticNet)["Parameters"] if e.name == parameter)
    listed = entry.type[entry.type.index("{") : entry.type.index("}") + 1]
    assert sorted(json.loads(listed.replace("{", "[").replace("}", "]"))) == sorted(_core.choices()[parameter])
    with pytest.raises(ValueError, match=f"`{parameter}` is 'nonsense', but must be one of"):
        menet.ManifoldElasticNet(**{parameter: "nonsense"}).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


def test_types_of_choices_are_those_of_the_core():
    core = _core.choices()
    assert sorted(core.pop("score")) == sorted(name for name, _, _ in SCORINGS.values())
    assert {name: sorted(get_args(kind)) for name, kind in _choices.BY_PARAMETER.items()} == {
        name: sorted(names) for name, names in core.items()
    }
    assert get_args(_choices.Scoring) == tuple(SCORINGS)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, menet.ManifoldElasticNetCV])
def test_every_choice_has_its_type(estimator):
    hints = inspect.get_annotations(estimator.__init__)
    for name in hints.keys() & _choices.BY_PARAMETER.keys():
        assert "str" not in hints[name].split(), (name, hints[name])
        kind = next(kind for kind, what in vars(_choices).items() if what is _choices.BY_PARAMETER[name])
        assert kind in hints[name], (name, hints[name])
