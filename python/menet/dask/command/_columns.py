"""The role of every column of a table: label, name of the sample, variable, or none.

The rules are those of the command ``menet`` (the page "Data" of the docs), so that both read the same file alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from menet._exact import EXACT as EXACT
from menet.dask.command._errors import CommandError, listed, quoted

# Names of columns that name samples, in upper or lower case.
INDEX = ("id", "index", "sample_id", "sampleid", "sample id", "rownames", "row_names")

# The label column, unless --label names another.
LABEL = "label"


@dataclass(frozen=True)
class ColumnOptions:
    """What the options say about columns."""

    label: str = LABEL
    id: str | None = None
    drop: tuple[str, ...] = ()
    # The variables of a model in its order; None for a fit, or if the model has no names.
    variables: tuple[str, ...] | None = None


@dataclass
class ColumnRoles:
    """The role of every column, by name."""

    label: str | None = None
    id: str | None = None
    # What the column of sample names is called in outputs.
    id_name: str = "id"
    variables: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def roles(
    source: str, names: list[str], wanted: ColumnOptions, *, index: list[str], is_text: Callable[[str], bool]
) -> ColumnRoles:
    """Return the role of every column. `index` are columns that the file itself declares as an index of the rows."""
    if repeated := next((name for name, count in Counter(names).items() if count > 1), None):
        raise CommandError(f"{source}: the column name {quoted(repeated)} appears more than once; rename one of them")
    _check_names(source, names, wanted)
    found, of_model = ColumnRoles(), set(wanted.variables or ())
    for at, name in enumerate(names):
        if name in wanted.drop:
            continue
        if name == wanted.label and not (wanted.id == name == LABEL):
            found.label = name
        elif name == wanted.id:
            found.id = found.id_name = name
        elif name not in of_model and _is_index(at, name, index):
            _index_column(at, name, wanted, found, is_text)
        else:
            found.variables.append(name)
    if wanted.variables is not None:
        _arrange(source, found, wanted.variables)
    if not found.variables:
        raise CommandError(f"{source}: there are no variables among its {len(names)} columns")
    return found


def text_column(source: str, name: str, text: str, where: str = "") -> str:
    """Return the message about a variable that holds something else than numbers."""
    name, digits = quoted(name), text.strip().lstrip("+-")
    whole, comma, part = digits.partition(",")
    if comma and part and (whole + part).isdecimal():
        return f"{source}: {where}column {name}: {quoted(text)} has a decimal comma; give --decimal ,"
    return (
        f"{source}: {where}column {name}: {quoted(text)} is not a number; leave the column out with --drop {name}, or "
        f"say what it is with --label {name} (the classes) or --id {name} (names of the samples)"
    )


def whole_number(source: str, name: str, where: str = "") -> str:
    """Return the message about a variable with whole numbers that double precision does not hold."""
    shown = quoted(name)
    return (
        f"{source}: {where}column {shown} has whole numbers beyond 2^53, which double precision would round; leave the "
        f"column out with --drop {shown}, or name the samples by it with --id {shown}"
    )


def check_alike(
    file: str, names: list[str], first: str, known: list[str], found: ColumnRoles, wanted: ColumnOptions
) -> None:
    """Refuse a later file that is not of the table of the first one: a column is missing, twice there, or new."""
    present = Counter(names)
    if repeated := next((name for name, count in present.items() if count > 1), None):
        raise CommandError(f"{file}: the column name {quoted(repeated)} appears more than once; rename one of them")
    for column in (found.label, found.id, *found.variables):
        if column is not None and column not in present:
            raise CommandError(
                f"{file}: there is no column {quoted(column)}, but {first} has one; give files of one table"
            )
    # A model says itself which columns are its variables.
    if wanted.variables is None and (new := [name for name in names if name not in set(known)]):
        verb = "is a column" if len(new) == 1 else "are columns"
        raise CommandError(f"{file}: {listed(new)} {verb} that {first} lacks; give files of one table")


def _check_names(source: str, names: list[str], wanted: ColumnOptions) -> None:
    asked = [(name, "to leave out") for name in wanted.drop]
    if wanted.id is not None:
        asked.append((wanted.id, "to name the samples"))
    if wanted.label != LABEL:
        asked.append((wanted.label, "to take the labels from"))
    for name, purpose in asked:
        if name not in names:
            raise CommandError(f"{source}: there is no column {quoted(name)} {purpose} among {listed(names)}")
    # The usual column of labels gives way to an option that names it.
    if wanted.id == wanted.label != LABEL:
        raise CommandError(f"{source}: --id and --label both name the column {quoted(wanted.label)}")


def _is_index(at: int, name: str, index: list[str]) -> bool:
    """Return whether a column is the index that pandas or R wrote."""
    return (at == 0 and not name) or _generic(name) or name.lower() in INDEX or name in index


def _generic(name: str) -> bool:
    return not name or name.startswith("Unnamed: ") or (name.startswith("__index_level_") and name.endswith("__"))


def _index_column(
    at: int, name: str, wanted: ColumnOptions, found: ColumnRoles, is_text: Callable[[str], bool]
) -> None:
    """Let an index of text, or one with a name, name the samples, and leave out a count of the rows."""
    if wanted.id is None and found.id is None and (not _generic(name) or is_text(name)):
        found.id = name
        found.id_name = "id" if _generic(name) else name
        what = "names the samples and is not used as a variable"
    else:
        what = "is an index of the rows and is left out"
    found.notices.append(f"column {at + 1} ({quoted(name)}) {what}; if it is a variable, rename it")


def _arrange(source: str, found: ColumnRoles, variables: tuple[str, ...]) -> None:
    """Take the variables of a model, in its order."""
    present = set(found.variables)
    if missing := [name for name in variables if name not in present]:
        raise CommandError(
            f"{source}: {len(missing)} of the {len(variables)} variables of the model are missing: "
            f"{', '.join(map(quoted, missing))}; "
            "give data with the columns that the model needs"
        )
    found.variables = list(variables)
