"""The command ``python -m menet.dask``: its options, its messages and its exit codes."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from menet.dask.command import _flags
from menet.dask.command._errors import CommandError, Stopped

DESCRIPTION = (
    "Fit and apply the Manifold Elastic Net to data in many files, which need not fit in memory. Without --scheduler, "
    "processes on this machine do the work; with it, any Dask cluster whose workers see the files under the same paths "
    "and have menet installed. The command `menet` reads the models, and this command reads those of `menet`."
)

FIT_EXAMPLES = """\
examples:
  python -m menet.dask fit --data 'part-*.parquet' --label y --panel-size 20 --model m.safetensors
  python -m menet.dask fit --data images/ --labels labels.npy --model m.safetensors --workers 2 --memory 2GB
  python -m menet.dask fit --scheduler tcp://host:8786 --data '/shared/part-*.csv' --label y --model m.safetensors
"""

TRANSFORM_EXAMPLES = """\
examples:
  python -m menet.dask transform --model m.safetensors --data 'new-*.parquet' --out scores
  python -m menet.dask transform --model m.safetensors --data images/ --out scores.npy
"""

PREDICT_EXAMPLES = """\
examples:
  python -m menet.dask predict --model m.safetensors --data 'new-*.parquet' --out labels.csv
  python -m menet.dask predict --model m.safetensors --data 'new-*.parquet' --out labels.parquet --probabilities
"""

APPLY = "--model FILE --data PATTERN --out PATH"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """End the command with one line."""
        message = message.removeprefix("argument ").replace("the following arguments are required:", "give")
        message = message.replace("give COMMAND", "give a command: fit, transform or predict")
        raise CommandError(f"{message}; see {self.prog} --help")


def main(argv: list[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    try:
        args, unknown = _parser().parse_known_args(argv)
        if unknown:
            raise CommandError(_unknown(unknown[0], args))
    except CommandError as failure:
        complain(f"error: {failure}")
        return failure.code
    with _signals(), _warnings(quiet=args.quiet):
        try:
            args.run(args)
            return 0
        except (Stopped, KeyboardInterrupt) as stopped:
            number = getattr(stopped, "number", int(signal.SIGINT))
            complain(f"stopped by {signal.Signals(number).name}; nothing was written")
            return 128 + number
        except Exception as e:
            message, code = _message_and_code(e)
            complain(f"error: {' '.join(message.split())}")
            return code


def _unknown(word: str, args: argparse.Namespace) -> str:
    """Return what to say about a word on the command line that is no option."""
    help_of = f"see python -m menet.dask {args.command} --help"
    if not word.startswith("-"):
        return f"{word}: this is not the value of an option; give one --data, with a pattern in quotes; {help_of}"
    flag = word.partition("=")[0]
    flags = [_flags.flag_of(name) for name in vars(args) if name not in ("run", "command")]
    # Python's name of a parameter stands for its flag: --n-nonzeros for --nonzeros.
    own = _flags.flag_of(flag.lstrip("-").replace("-", "_"))
    near = [own] if own in flags else difflib.get_close_matches(flag, flags, 1)
    return f"{flag}: there is no such option; " + "".join(f"do you mean {one}? " for one in near) + help_of


def complain(line: str) -> None:
    """Print a line on standard error."""
    with contextlib.suppress(BrokenPipeError):
        print(line, file=sys.stderr, flush=True)


def _message_and_code(e: Exception) -> tuple[str, int]:
    """Return what an error says to the user, and the exit code: 2 for input, 1 for the rest."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    if isinstance(e, CommandError):
        return str(e), e.code
    if isinstance(e, KilledWorker | MemoryError):
        what = "workers died again and again" if isinstance(e, KilledWorker) else str(e) or "there is not enough memory"
        return f"{what}; give more --memory, use fewer --workers, or make chunks smaller with --rows", 1
    if isinstance(e, FutureCancelledError | CommClosedError | TimeoutError):
        return "the scheduler went away; nothing was written: start it and run the command again", 1
    if isinstance(e, FileNotFoundError):
        return f"{e.filename or e}: there is no such file, or a worker does not see it under this path", 2
    if isinstance(e, OSError):
        return f"{e.filename or ''}: {e.strerror or e}".removeprefix(": "), 1
    if isinstance(e, ValueError | TypeError):
        return _flags.with_flags(str(e)), 2
    return f"{type(e).__name__}: {e}", 1


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """End in order when a signal asks for it. Only the first one counts, so that cleaning up comes to its end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        if not heard:
            heard.append(number)
            raise Stopped(number)

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _warnings(*, quiet: bool) -> Iterator[None]:
    """Show warnings as notices, each once."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        notice(quiet, _flags.with_flags(str(message)))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def notice(quiet: bool, line: str) -> None:
    """Print a line on standard error about something doubtful."""
    if not quiet:
        complain(f"note: {' '.join(line.split())}")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m menet.dask", description=DESCRIPTION, allow_abbrev=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    fit = _command(
        commands,
        "fit",
        "--data PATTERN --model FILE",
        _fit,
        "Learn a sparse projection from labelled data, and save it as a model.",
        FIT_EXAMPLES,
    )
    fit.add_argument("--model", required=True, type=Path, metavar="FILE", help="the model file to write")
    _data(fit)
    _cluster(fit)
    _flags.add(fit)
    transform = _command(
        commands, "transform", APPLY, _transform, "Project data with a model, and write the scores.", TRANSFORM_EXAMPLES
    )
    predict = _command(
        commands,
        "predict",
        APPLY,
        _predict,
        "Classify data by the rule of a model, with probabilities.",
        PREDICT_EXAMPLES,
    )
    folder = "or a name without an ending for a folder with one file per chunk"
    for command, endings, what in (
        (transform, ".csv, .npy or .parquet for one file, ", " (Parquet for tables, an npy stack for arrays)"),
        (predict, ".csv or .parquet for one file, ", " (Parquet)"),
    ):
        command.add_argument("--model", required=True, type=Path, metavar="FILE", help="a model file")
        command.add_argument(
            "--out", required=True, type=Path, metavar="PATH", help=f"where to write: {endings}{folder}{what}"
        )
        _data(command)
        _cluster(command)
    predict.add_argument(
        "--probabilities",
        action="store_true",
        help="also write the probability of every class, in one column probability:NAME per class",
    )
    return parser


def _command(
    commands: Any, name: str, usage: str, run: Callable[[argparse.Namespace], None], about: str, examples: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=about,
        usage=f"%(prog)s {usage} [OPTIONS]",
        epilog=examples,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, command=name)
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there under the name of the output")
    return parser


def _data(parser: argparse.ArgumentParser) -> None:
    from menet.dask.command._read import DELIMITERS, ENDINGS

    group = parser.add_argument_group("Data")
    group.add_argument(
        "--data",
        required=True,
        metavar="PATTERN",
        help=f"files ({' '.join(ENDINGS)}): a path, a pattern in quotes such as 'part-*.parquet', a folder of such "
        "files, or an npy stack; part-2 comes before part-10",
    )
    group.add_argument("--label", default="label", metavar="NAME", help="name of the label column [default: label]")
    group.add_argument("--labels", type=Path, metavar="FILE", help="a file with one label per line, or an npy file")
    group.add_argument(
        "--id",
        metavar="NAME",
        help="name of the column with the names of the samples; it is not a variable, and outputs repeat it",
    )
    group.add_argument(
        "--drop", action="append", default=[], metavar="NAME", help="a column to leave out; can be repeated"
    )
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--no-header",
        dest="header",
        action="store_const",
        const=False,
        help="the first line of a text file is a sample; columns are named by number, as in --label 5",
    )
    header.add_argument(
        "--header",
        dest="header",
        action="store_const",
        const=True,
        help="the first line of a text file holds names, although it looks like a sample",
    )
    group.add_argument(
        "--delimiter",
        metavar="SIGN",
        help=f"the separator of fields in a text file: {', '.join(DELIMITERS)}, or another character [default: from "
        "the file's ending]",
    )
    group.add_argument(
        "--decimal",
        default=".",
        choices=[".", ",", "point", "comma"],
        metavar="SIGN",
        help="the decimal sign of a text file: . or , [default: .]",
    )
    group.add_argument(
        "--rows",
        type=_count,
        metavar="N",
        help="rows per chunk, about [default: as many as make a chunk of 32 MB]; it changes speed and memory, and "
        "results only in their last digits",
    )


def _cluster(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Cluster")
    group.add_argument("--scheduler", metavar="ADDRESS", help="a running scheduler, such as tcp://host:8786")
    group.add_argument(
        "--workers", type=_count, metavar="N", help="processes of the local cluster [default: from the cores]"
    )
    group.add_argument("--threads", type=_count, metavar="N", help="threads per worker [default: all cores together]")
    group.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory per worker, such as 2GB [default: most of what is free, shared equally]",
    )
    group.add_argument(
        "--temporary",
        type=Path,
        metavar="FOLDER",
        help="where the local cluster keeps what does not fit in memory [default: beside the output]",
    )


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, 1 or more")
    return number


def _fit(args: argparse.Namespace) -> None:
    from menet.dask.command import _run

    _run.fit(args)


def _transform(args: argparse.Namespace) -> None:
    from menet.dask.command import _run

    _run.transform(args)


def _predict(args: argparse.Namespace) -> None:
    from menet.dask.command import _run

    _run.predict(args)
