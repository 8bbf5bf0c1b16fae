"""The extension module. Only the modules beside it use it; they document what people call."""

from collections.abc import Callable
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from menet._weights import SampleWeighting

# Dense, or a matrix or array of SciPy in the format csr or csc.
_Samples = NDArray[np.float64] | NDArray[np.float32] | Any
# The rows or columns of a chunk.
_Piece = NDArray[np.float64] | NDArray[np.float32]
_Floats = NDArray[np.float64]
_Codes = NDArray[np.int64]
# Variable, axes, rank of entry, weight, effect, importance, class with the others fixed, class with the largest mean,
# class means.
_PanelRow = tuple[int, list[int], int | None, float, float | None, float, int | None, int | None, list[float]]
# Variables, counts of classes, centres, norms, units, squares, fourth powers.
_Ranges = list[tuple[float, float]]
_Sums = tuple[_Codes, list[int], _Floats, list[float], list[float], _Ranges, _Floats, _Floats]
# Numbers of neighbours, and their squared distances.
_Nearest = tuple[_Codes, _Floats]
_Groups = list[tuple[str, int]]
_Options = tuple[float, int | None, float, _Floats | None, bool, str]
# A penalty, its shape and its epsilon.
_Penalty = tuple[str, float | None, float | None]

__all__ = [
    "BAND",
    "DENSE_BYTES",
    "FEATURE_GROUPS_HELP",
    "GRAM_LIMIT",
    "INNER_FOLDS",
    "PARAMS_HELP",
    "SET_HELP",
    "VERSION",
    "Baseline",
    "CommandParams",
    "Model",
    "ModelWithoutRule",
    "Paths",
    "align",
    "basis",
    "builtin_set",
    "cells",
    "check_pieces",
    "check_variables",
    "choices",
    "class_sums",
    "column_roles",
    "confusion_chart",
    "defaults",
    "describe",
    "distinct",
    "fingerprints",
    "gram",
    "gram_paths",
    "group_lasso",
    "heatmap_chart",
    "histogram",
    "home_and_probes",
    "images",
    "label_texts",
    "merge_nearest",
    "missing_texts",
    "moments",
    "nearest_between",
    "nearest_in",
    "nearest_within",
    "needs_samples",
    "neighbor_groups",
    "outline",
    "param_flags",
    "patches",
    "path_defaults",
    "presets",
    "project",
    "project_all",
    "reconstructed",
    "regression_paths",
    "search",
    "solve",
    "spread",
    "stability_index",
    "stable_selection",
    "stacked",
    "target",
    "to_json",
    "to_onnx",
    "to_sql",
    "together",
    "triangle",
    "triangle_rank",
    "validate",
    "validation_defaults",
]

DENSE_BYTES: int
BAND: int
FEATURE_GROUPS_HELP: str
GRAM_LIMIT: int
INNER_FOLDS: int
PARAMS_HELP: str
SET_HELP: str
VERSION: str

@final
class Baseline:
    @staticmethod
    def fit(
        name: str,
        settings: dict[str, Any],
        x: _Samples,
        codes: _Codes,
        classes: list[str],
        components: int | None,
        metric: str,
        threads: int,
    ) -> Baseline: ...
    @staticmethod
    def from_parts(mean: _Floats, axes: _Floats, gallery: _Floats, codes: _Codes, metric: str) -> Baseline: ...
    def first(self, d: int) -> Baseline: ...
    def project(self, x: _Samples, threads: int, single: bool) -> Any: ...
    def classify(self, z: _Floats, threads: int) -> _Codes: ...
    def components(self) -> _Floats: ...
    def mean(self) -> _Floats: ...
    def gallery(self) -> _Floats: ...
    def codes(self) -> _Codes: ...
    def metric(self) -> str: ...
    def unsettled(self) -> str | None: ...

@final
class CommandParams:
    def __new__(
        cls, given: list[tuple[str, str]], sets: list[str], file: str | PathLike[str] | None
    ) -> CommandParams: ...
    def edges_file(self) -> str | None: ...
    def tables(
        self, feature_names: list[str] | None, variables: int, groups: str | PathLike[str] | None
    ) -> dict[str, Any]: ...

@final
class Model:
    @staticmethod
    def fit(
        settings: dict[str, Any],
        x: _Samples,
        codes: _Codes,
        counting: SampleWeighting,
        classes: list[str],
        label_kind: str,
        feature_names: list[str] | None,
        threads: int,
        variables: list[int] | None = None,
        batches: list[str] | None = None,
    ) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def at(
        self,
        nonzeros: int | None,
        components: int | None,
        panel_size: int | None,
        training: tuple[_Samples, _Codes, SampleWeighting] | None,
        whole: bool,
        threads: int,
    ) -> Model: ...
    def on_panel(self) -> Model: ...
    def fills_from_neighbors(self) -> bool: ...
    def wanted(self, nonzeros: int | None, components: int | None, panel_size: int | None) -> list[int]: ...
    def axes_at(
        self, nonzeros: int | None, components: int | None, panel_size: int | None, sums: _Sums, threads: int
    ) -> ModelWithoutRule: ...
    def project(self, x: _Samples, threads: int, single: bool, batches: list[str] | None = None) -> Any: ...
    def prepared(
        self,
        x: _Samples,
        threads: int,
        batches: list[str] | None = None,
        variables: list[int] | None = None,
    ) -> _Floats: ...
    def doubts_of(self, x: _Samples, threads: int, batches: list[str] | None = None) -> list[str]: ...
    def preparation(self) -> str: ...
    def classify(self, z: _Floats, threads: int) -> _Codes: ...
    def log_probabilities(self, z: _Floats, threads: int) -> _Floats: ...
    def decision_values(self, z: _Floats, threads: int) -> _Floats: ...
    def panel(self) -> list[int]: ...
    def always(self) -> list[int]: ...
    def panel_table(self) -> list[_PanelRow]: ...
    def effects(self) -> tuple[list[list[tuple[int, float, int | None]]], bool]: ...
    def reachable(self) -> list[int]: ...
    def path_count(self) -> int: ...
    def seen(self, x: _Samples, threads: int) -> int: ...
    def components(self) -> _Floats: ...
    def mean(self) -> _Floats: ...
    def kkt(self) -> _Floats: ...
    def levels(self) -> _Floats: ...
    def selected(self) -> list[list[int]]: ...
    def facts(self) -> str: ...
    def params(self) -> str: ...
    def penalty_factors(self) -> list[float] | None: ...
    def classes(self) -> list[str]: ...
    def selected_groups(self) -> list[list[str]] | None: ...
    def label_kind(self) -> str | None: ...
    def feature_names(self) -> list[str] | None: ...
    def path(self, component: int) -> Paths: ...
    def warnings(self) -> list[str]: ...

@final
class Paths:
    @staticmethod
    def from_bytes(bytes: bytes, units: int | list[float]) -> Paths: ...
    def __len__(self) -> int: ...
    def lambdas(self, response: int) -> _Floats: ...
    def coefs(self, response: int) -> _Floats: ...
    def entered(self, response: int) -> list[list[int]]: ...
    def left(self, response: int) -> list[list[int]]: ...
    def kkt(self, response: int) -> _Floats: ...
    def ended(self, response: int) -> str: ...
    def at_lambda(self, level: float, response: int | None) -> _Floats: ...
    def at_nonzeros(self, nonzeros: int, response: int | None) -> _Floats: ...
    def rounds(self, response: int) -> tuple[int, bool, float | None] | None: ...
    def local(self, response: int) -> list[bool] | None: ...
    def troubles(self) -> list[tuple[int, str]]: ...

def path_defaults() -> tuple[float, int | None, float, list[float] | None, bool, str]: ...
def regression_paths(
    x: _Samples,
    y: _Floats,
    options: _Options,
    penalty: _Penalty,
    threads: int,
) -> Paths: ...
def group_lasso(
    x: _Samples,
    y: _Floats,
    groups: list[tuple[str, list[int]]],
    ridge: float,
    axes: str,
    size: int | None,
    levels: list[float],
    threads: int,
) -> list[tuple[_Floats, _Floats, _Floats, list[list[int]], bool]]: ...
def gram_paths(
    gram: _Floats,
    b: _Floats,
    options: _Options,
    penalty: _Penalty,
    threads: int,
    called: str,
) -> Paths: ...
def neighbor_groups(settings: dict[str, Any]) -> _Groups: ...
def nearest_within(
    x: _Samples,
    codes: _Codes,
    start: int,
    groups: _Groups,
    mean: _Floats,
    dropped: _Codes,
    threads: int,
) -> _Nearest: ...
def nearest_between(
    x: _Samples,
    x_codes: _Codes,
    x_start: int,
    y: _Samples,
    y_codes: _Codes,
    y_start: int,
    groups: _Groups,
    mean: _Floats,
    dropped: _Codes,
    threads: int,
    x_known: _Floats | None = None,
    y_known: _Floats | None = None,
) -> tuple[_Nearest, _Nearest]: ...
def nearest_in(
    x: _Samples,
    codes: _Codes,
    numbers: _Codes,
    y: _Samples,
    y_codes: _Codes,
    y_numbers: _Codes,
    groups: _Groups,
    mean: _Floats,
    dropped: _Codes,
    threads: int,
    known: _Floats | None = None,
) -> _Nearest: ...
def cells(
    x: _Samples,
    codes: _Codes,
    buckets: int,
    groups: _Groups,
    mean: _Floats,
    dropped: _Codes,
    threads: int,
) -> tuple[_Floats, _Codes, int, float]: ...
def home_and_probes(
    x: _Samples,
    centres: _Floats,
    bucket_of: _Codes,
    probes: int,
    mean: _Floats,
    dropped: _Codes,
    threads: int,
) -> tuple[_Codes, NDArray[np.bool_]]: ...
def merge_nearest(parts: list[_Nearest], groups: _Groups, threads: int) -> _Nearest: ...
def project(x: _Samples, mean: _Floats, variables: _Codes, weights: _Floats, threads: int) -> _Floats: ...
def search(
    settings: dict[str, Any],
    options: dict[str, str],
    x: _Samples,
    codes: _Codes,
    counting: SampleWeighting,
    classes: list[str],
    label_kind: str,
    folds: list[tuple[list[int], list[int]]],
    feature_names: list[str] | None,
    progress: Callable[[int, int], None] | None,
    threads: int,
    batches: list[str] | None = None,
) -> tuple[list[str], NDArray[np.float64], _Floats, list[str | None], int, str, Model]: ...
def stable_selection(
    settings: dict[str, Any],
    how: dict[str, Any],
    x: _Samples,
    codes: _Codes,
    counting: SampleWeighting,
    classes: list[str],
    feature_names: list[str] | None,
    progress: Callable[[int, int], None] | None,
    threads: int,
    batches: list[str] | None = None,
) -> tuple[list[list[int]], int, list[int], tuple[float, float, float], tuple[float, float, float], int]: ...
def confusion_chart(counts: list[list[float]], classes: list[str]) -> str: ...
def heatmap_chart(x: _Floats, codes: list[int], classes: int) -> tuple[list[int], list[int], list[list[float]]]: ...
def histogram(values: list[float], more: list[float]) -> list[tuple[float, float]]: ...
def stability_index(
    variables: int, selectable: int, orders: list[list[int]], size: int
) -> tuple[float, float, float]: ...
def validate(
    procedures: list[dict[str, Any]],
    how: dict[str, Any],
    x: _Samples,
    names: dict[str, Any],
    files: dict[str, Any],
    progress: Callable[[str, int, int, float | None, bool], None] | None,
    threads: int,
) -> dict[str, Any]: ...
def validation_defaults() -> str: ...
def defaults() -> str: ...
def describe() -> str: ...
def presets() -> str: ...
def check_variables(settings: dict[str, Any], variables: int, feature_names: list[str] | None) -> None: ...
def choices() -> dict[str, list[str]]: ...
def param_flags() -> list[tuple[str, str, str, str]]: ...
def column_roles(
    file: str | PathLike[str],
    names: list[str],
    index: list[str],
    texts: list[bool],
    header: bool,
    label: str,
    id: str | None,
    drop: list[str],
    needed: list[str] | None,
) -> tuple[str | None, str | None, str, list[str], list[str]]: ...
def label_texts(values: list[Any]) -> list[str]: ...
def missing_texts() -> list[str]: ...
def builtin_set(
    name: str,
) -> tuple[_Floats, list[str], list[str] | None, tuple[int, int] | None]: ...

@final
class ModelWithoutRule:
    def axes(self) -> tuple[_Floats, list[tuple[_Codes, _Floats]]]: ...
    def learn(
        self,
        z: _Floats,
        codes: _Codes,
        fingerprints: NDArray[np.uint64],
        seconds: list[tuple[str, float]],
        threads: int,
    ) -> Model: ...

def check_pieces(settings: dict[str, Any], samples: int, variables: int, classes: int) -> None: ...
def outline(x: _Piece, threads: int) -> tuple[_Floats, _Floats, _Floats, _Floats, tuple[int, int, float] | None]: ...
def class_sums(x: _Piece, codes: _Codes, count: int, about: _Floats, threads: int) -> tuple[_Floats, _Floats]: ...
def moments(
    counts: list[int],
    low: list[float],
    high: list[float],
    sum: list[float],
    squares: list[float],
    about: list[float],
    class_sums: _Floats,
    squares_about: list[float],
) -> tuple[_Floats, _Floats, _Floats, _Codes, list[int]]: ...
def target(
    settings: dict[str, Any],
    counts: list[int],
    mean: _Floats,
    norms: _Floats,
    centres: _Floats,
    scatter: _Floats | None,
    rank: int | None,
    threads: int,
) -> _Floats | None: ...
def spread(
    x: _Piece,
    codes: _Codes,
    variables: _Codes,
    mean: _Floats,
    centres: _Floats,
    factor: _Floats,
    fourths: bool,
    threads: int,
) -> tuple[_Floats, _Floats | None]: ...
def images(
    x: _Piece,
    mean: _Floats,
    factor: _Floats,
    starts: _Codes,
    indices: NDArray[np.uint32],
    values: _Floats,
    alpha: float,
    beta: float,
    threads: int,
) -> tuple[_Floats, float]: ...
def gram(x: _Piece, mean: _Floats, factor: _Floats, images: _Floats, first: int, threads: int) -> _Floats: ...
def triangle(x: _Piece, mean: _Floats, factor: _Floats, threads: int) -> _Floats: ...
def stacked(a: _Floats, b: _Floats, threads: int) -> _Floats: ...
def triangle_rank(triangle: _Floats, threads: int) -> int: ...
def basis(triangle: _Floats, rank: int, threads: int) -> _Floats: ...
def reconstructed(x: _Piece, mean: _Floats, factor: _Floats, basis: _Floats, threads: int) -> _Floats: ...
def needs_samples(settings: dict[str, Any]) -> bool: ...
def patches(
    settings: dict[str, Any], lists: tuple[_Codes, _Floats], start: int, x: _Samples, rows: _Codes, threads: int
) -> tuple[_Codes, _Codes, _Floats]: ...
def align(
    settings: dict[str, Any],
    lists: list[tuple[_Codes, _Floats]],
    entries: list[tuple[_Codes, _Codes, _Floats]],
    threads: int,
) -> tuple[_Codes, NDArray[np.uint32], _Floats, str]: ...
def solve(
    settings: dict[str, Any],
    gram: _Floats,
    counts: list[int],
    mean: _Floats,
    norms: _Floats,
    centres: _Floats,
    target: _Floats,
    facts: dict[str, Any],
    threads: int,
) -> Model: ...
def distinct(x: _Samples, codes: _Codes, counting: SampleWeighting, threads: int) -> tuple[_Codes, _Floats]: ...
def together(
    x: _Samples, codes: _Codes, groups: list[int] | None, threads: int
) -> tuple[list[int] | None, str | None]: ...
def fingerprints(x: _Samples, threads: int) -> NDArray[np.uint64]: ...
def project_all(x: _Samples, mean: _Floats, axes: list[tuple[_Codes, _Floats]], threads: int) -> Any: ...
def to_onnx(model: Model, double: bool) -> bytes: ...
def to_json(model: Model) -> str: ...
def to_sql(model: Model, table: str) -> str: ...
