"""What is written in Python and must be what the core says."""

import importlib.util
import inspect
import json
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc
from test_estimator_checks import ESTIMATORS

import menet
from menet import _core
from menet._parameters import Parameters, settings, stage_of
from menet._search import SCORINGS
from menet._settings import core_name, described, python_name
from menet._stages import CLASSES

ROOT = Path(__file__).parents[2]
DEFAULTS = json.loads(_core.defaults())
BASELINES = [estimator for estimator in ESTIMATORS if estimator is not menet.ManifoldElasticNet]
# The core's names of the penalty's parameters of a path.
NAMES = ("kind", "gamma", "epsilon")
STAGES = sorted({stage for classes in CLASSES.values() for stage in classes.values()}, key=lambda it: it.__name__)

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


@pytest.mark.parametrize("estimator", BASELINES)
def test_signatures_have_the_defaults_of_the_core(estimator):
    expected = DEFAULTS[core_method(estimator)]
    signature = inspect.signature(estimator.__init__).parameters
    given = {core_name(name): p.default for name, p in signature.items() if name != "self"}
    assert (given.pop("components"), given.pop("n_jobs"), given.pop("metric")) == (None, None, "euclidean")
    assert given == {name: value for name, value in expected.items() if name != "components"}


def test_the_estimator_has_the_defaults_of_the_core():
    given = settings(menet.ManifoldElasticNet())
    for path, parameter in described().items():
        table = given[parameter.stage] if parameter.stage else given
        assert table.get(parameter.name, parameter.default) == parameter.default, path


@pytest.mark.parametrize("stage", STAGES)
def test_stages_have_the_defaults_of_the_core(stage):
    made = stage()
    known = {path for path, one in described().items() if one.stage == stage._stage}
    for name, value in made.get_params().items():
        assert value == described()[f"{stage._stage}.{name}"].default
        known.remove(f"{stage._stage}.{name}")
    # What is left is the kind, or belongs to other kinds.
    for path in known:
        of = described()[path].of
        assert path.endswith(".kind") or (of and stage._kind not in of), (stage, path)


def test_every_parameter_of_the_core_can_be_given():
    names = inspect.signature(menet.ManifoldElasticNet).parameters
    assert len(names) <= 16
    for path, one in described().items():
        assert one.stage in names if one.stage else python_name(path) in names, path


def test_the_files_made_from_the_core_are_current():
    script = ROOT / "scripts/stages/__main__.py"
    if not script.exists():
        pytest.skip("the sources are not here")
    spec = importlib.util.spec_from_file_location("stages", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, text in module.written().items():
        assert (ROOT / "python/menet" / name).read_text(encoding="utf-8") == text, f"run scripts/stages: {name}"


@pytest.mark.parametrize("function", [menet.lars_path, menet.lars_path_gram])
def test_paths_have_the_defaults_of_the_core(function):
    keywords = inspect.getfullargspec(function).kwonlydefaults
    assert keywords.pop("n_jobs") is None
    of_penalty = {name: keywords.pop(name) for name in ("penalty", "gamma", "epsilon")}
    assert of_penalty == {name: DEFAULTS["men"]["penalty"][core] for name, core in zip(of_penalty, NAMES, strict=True)}
    assert tuple(keywords.values()) == _core.path_defaults()


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *STAGES])
def test_documentation_names_every_parameter_with_its_default(estimator):
    documented = {entry.name: entry for entry in ClassDoc(estimator)["Parameters"]}
    signature = inspect.signature(estimator).parameters
    assert list(documented) == list(signature)
    for name, parameter in signature.items():
        kind = documented[name].type
        if parameter.default is None:
            assert kind.endswith("optional"), (name, kind)
        else:
            written = kind.split("default=")[1]
            assert (
                json.loads(written.replace("True", "true").replace("False", "false").replace("()", "[]"))
                == parameter.default
            )


def test_a_search_has_the_same_parameters():
    one, many = (inspect.signature(kind).parameters for kind in (menet.ManifoldElasticNet, menet.ManifoldElasticNetCV))
    own = ["param_grid", "cv", "scoring", "one_standard_error", "most_stable", "verbose"]
    assert list(many) == [*one, *own]
    assert [many[name] for name in one] == list(one.values())


@pytest.mark.parametrize("path", [path for path, one in described().items() if one.kind == "choice"])
def test_every_choice_is_taken_and_others_are_refused(path):
    one = described()[path]
    men = menet.ManifoldElasticNet()
    for name in one.names:
        owner = name if path == f"{one.stage}.kind" else None
        stage = stage_of(one.stage, owner) if owner else stage_of(one.stage, (one.of or (None,))[0])
        assert settings(men.set_params(**{one.stage: stage}))[one.stage] is not None
        if owner is None:
            men.set_params(**{f"{one.stage}__{one.name}": name})
            assert settings(men)[one.stage][one.name] == name
    key = one.stage if one.name == "kind" else f"{one.stage}__{one.name}"
    with pytest.raises(ValueError, match="is 'nonsense', but must be one of"):
        settings(menet.ManifoldElasticNet().set_params(**{key: "nonsense"}))


def test_scores_are_those_of_the_core():
    assert sorted(_core.choices()["score"]) == sorted(name for name, _, _ in SCORINGS.values())


def test_presets_are_those_of_the_core():
    presets = json.loads(_core.presets())
    assert settings(menet.ManifoldElasticNet.preset("default")) == settings(menet.ManifoldElasticNet())
    paper = menet.ManifoldElasticNet.preset("paper", ridge=2.0)
    assert (paper.refit, paper.rule, paper.ridge) == ("none", menet.Nearest(metric="euclidean"), 2.0)
    assert settings(menet.ManifoldElasticNet.preset("stable"))["ridge"] == presets["stable"]["ridge"] == 10.0
    with pytest.raises(ValueError, match="`name` is 'papers', but must be one of default, "):
        menet.ManifoldElasticNet.preset("papers")
    assert issubclass(menet.ManifoldElasticNetCV, Parameters)
