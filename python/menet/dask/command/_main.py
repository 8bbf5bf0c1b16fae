"""The command ``python -m menet.dask``: its options, its messages and its exit codes."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from menet import _core
from menet._settings import CORE_NAMES
from menet.dask.command._errors import CommandError

DESCRIPTION = (
    "Fit and apply the Manifold Elastic Net to data in many files, which need not fit in memory. Without --scheduler, "
    "processes on this machine do the work; with it, any Dask cluster whose workers see the files under the same paths "
    "and have menet installed. The command `menet` reads the models, and this command reads those of `menet`."
)

ABOUT = {
    "fit": "Learn a sparse projection from labelled data, and save it as a model.",
    "transform": "Project data with a model, and write the scores.",
    "predict": "Classify data by the rule of a model, with probabilities.",
}

EXAMPLES = {
    "fit": "--data 'part-*.parquet' --label y --panel-size 20 --model m.safetensors",
    "transform": "--model m.safetensors --data 'new-*.parquet' --out scores.parquet",
    "predict": "--model m.safetensors --data new.csv --out labels.csv --probabilities",
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """End the command with one line."""
        message = message.removeprefix("argument ").replace("the following arguments are required:", "give")
        message = message.replace("unrecognized arguments:", "there is no such option, or a pattern lacks quotes:")
        raise CommandError(f"{message}; see {self.prog} --help")


def main(argv: list[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    with _signals():
        try:
            args = _parser().parse_args(argv)
            with warnings.catch_warnings():
                # Sending a large graph once is cheaper than what the warning recommends.
                warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
                warnings.showwarning = lambda text, *_, **__: None if args.quiet else complain(f"note: {text}")
                from menet.dask.command import _run

                getattr(_run, args.command)(args)
            return 0
        except KeyboardInterrupt as stopped:
            number = stopped.args[0] if stopped.args else int(signal.SIGINT)
            complain(f"stopped by {signal.Signals(number).name}; nothing was written")
            return 128 + number
        except Exception as e:
            message, code = message_and_code(e)
            complain(f"error: {message}")
            return code


def message_and_code(e: Exception) -> tuple[str, int]:
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
        message = str(e).replace("`X`", "--data")
        for python, core in CORE_NAMES.items():
            message = message.replace(f"`{python}`", f"`{core}`")
        return message, 2
    return f"{type(e).__name__}: {e}", 1


def complain(line: str) -> None:
    """Print one line on standard error."""
    with contextlib.suppress(BrokenPipeError):
        print(" ".join(line.split()), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """End in order when a signal asks for it. Only the first one counts, so that cleaning up comes to its end."""
    heard: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        if not heard:
            heard.append(number)
            raise KeyboardInterrupt(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m menet.dask", description=DESCRIPTION, allow_abbrev=False)
    commands: Any = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, about in ABOUT.items():
        command = commands.add_parser(
            name,
            help=about,
            description=about,
            usage="%(prog)s --data PATTERN --model FILE" + ("" if name == "fit" else " --out PATH") + " [OPTIONS]",
            epilog=f"example: python -m menet.dask {name} {EXAMPLES[name]}",
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        model = "the model file to write" if name == "fit" else "a model file"
        command.add_argument("--model", required=True, type=Path, metavar="FILE", help=model)
        if name != "fit":
            npy = ", .npy" if name == "transform" else ""
            kinds = f".csv, .parquet{npy} for one file, or a name without an ending for a folder with Parquet files"
            command.add_argument("--out", required=True, type=Path, metavar="PATH", help=f"where to write: {kinds}")
        if name == "predict":
            every = "also write the probability of every class, in one column probability:NAME per class"
            command.add_argument("--probabilities", action="store_true", help=every)
        command.add_argument("-q", "--quiet", action="store_true", help="print errors only")
        command.add_argument("--json", action="store_true", help="print one JSON object instead of text")
        command.add_argument("--overwrite", action="store_true", help="replace a file that is there")
        _data_and_cluster(command)
        if name == "fit":
            _parameters(command)
    return parser


def _data_and_cluster(parser: argparse.ArgumentParser) -> None:
    from menet.dask.command._read import ENDINGS

    files = f"files ({' '.join(ENDINGS)}): a path, a pattern in quotes such as 'part-*.parquet', or a folder of files"
    add = parser.add_argument_group("Data").add_argument
    add("--data", required=True, metavar="PATTERN", help=f"{files}; part-2 comes before part-10")
    add("--label", default="label", metavar="NAME", help="name of the label column [default: label]")
    add("--labels", type=Path, metavar="FILE", help="a file with one label per line, or an npy file")
    add("--id", metavar="NAME", help="name of the column with the names of the samples; outputs repeat it")
    add("--drop", action="append", default=[], metavar="NAME", help="a column to leave out; can be repeated")
    rows = "rows per chunk, about [default: as many as make 32 MB]; results change only in their last digits"
    add("--rows", type=_count, metavar="N", help=rows)
    add = parser.add_argument_group("Cluster").add_argument
    add("--scheduler", metavar="ADDRESS", help="a running scheduler, such as tcp://host:8786")
    add("--workers", type=_count, metavar="N", help="processes of the local cluster [default: from the cores]")
    add("--threads", type=_count, metavar="N", help="threads per worker [default: all cores together]")
    add(
        "--memory",
        metavar="SIZE",
        help="memory per worker, such as 2GB [default: that of this machine, in equal parts]",
    )
    spilled = "where the local cluster keeps what does not fit in memory [default: beside the output]"
    add("--temporary", type=Path, metavar="FOLDER", help=spilled)


def _parameters(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("Parameters, as of `menet fit`").add_argument
    for path, name, value, text in _core.param_flags():
        add(f"--{name}", dest=path, metavar=value, help=text.replace("%", "%%"))
    add("--feature-groups", type=Path, metavar="FILE", help=_core.FEATURE_GROUPS_HELP)
    add("--set", action="append", default=[], metavar="NAME=VALUE", help=_core.SET_HELP)
    add("--params", type=Path, metavar="FILE", help=_core.PARAMS_HELP)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, 1 or more")
    return int(text)
