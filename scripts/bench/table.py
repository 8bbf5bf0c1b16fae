"""Tables: the rows of what was measured, the machine in words, and their place in a document."""

import os
import re
import shlex
import statistics
import textwrap
from datetime import date
from importlib.metadata import version
from pathlib import Path

HEADER = (
    "problem",
    "solver",
    "seconds",
    "x menet",
    "x menet, other days",
    "violation",
    "CG residual",
    "1 = 2 threads",
    "support",
    "peak GB",
    "floor s",
)


def line(cells):
    return f"| {' | '.join(cells)} |"


def head(columns):
    return [line(columns), "|" + "---|" * len(columns)]


def rows(kind, runs, machine):
    """The rows of one problem and of its parts: menet first, with which the others are compared."""
    lines = problem_rows(kind, {solver: runs[solver] for solver, _ in kind.solvers}, machine)
    for part in kind.parts:
        ours = {"menet, as a stage": stage_runs(runs["menet"], part.stage)}
        lines += problem_rows(part, ours | {solver: runs[solver] for solver, _ in part.solvers}, machine)
    return lines


def stage_runs(runs, stage):
    """The same runs as if nothing but one stage had been timed."""
    return [run if "trouble" in run else {"seconds": [run["stages"][stage]]} for run in runs]


def problem_rows(kind, runs, machine):
    lines, reference = [], None
    for solver, found in runs.items():
        # menet comes first, and its last run, on one thread, is there for its result only.
        timed = found if lines else found[:-1]
        title, floor = ("", None) if lines else (kind.title, kind.floor(machine))
        trouble = next((run["trouble"] for run in found if "trouble" in run), None)
        if trouble:
            lines.append(line([title, solver, trouble, *[""] * (len(HEADER) - 3)]))
            continue
        seconds = statistics.median(second for run in timed for second in run["seconds"])
        reference = reference if lines else seconds
        lines.append(
            line(
                [
                    title,
                    solver,
                    f"{seconds:.3f}",
                    "" if reference is None else f"{seconds / reference:.2f}",
                    "",  # `again` fills it
                    scientific(worst(timed, "kkt")),
                    scientific(worst(timed, "residual")),
                    same(found) if solver == "menet" else "",
                    timed[0].get("support", ""),
                    "" if "peak" not in timed[0] else f"{worst(timed, 'peak'):.2f}",
                    "" if floor is None else f"{floor:.3f}",
                ]
            )
        )
    return lines


def worst(runs, key):
    return max((run[key] for run in runs if run.get(key) is not None), default=None)


def scientific(value):
    return "" if value is None else f"{value:.0e}"


def same(runs):
    """Whether every run, of whatever number of threads, had the same result to the last bit."""
    return "yes" if len({run["digest"] for run in runs}) == 1 else "no"


def machine_in_words():
    """The processor, its cores and caches and the memory; nothing that names the machine."""
    cpu = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", cpu)
    cores = len(os.sched_getaffinity(0))
    cache = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    words = [f"{cores} cores of {model.group(1) if model else 'a processor'}"]
    words += ["AVX-512"] if " avx512f" in cpu else []
    words += [f"{int(cache.read_text().strip().rstrip('K')) // 1024} MB of L3 cache"] if cache.exists() else []
    return ", ".join([*words, f"{memory / 1e9:.0f} GB"])


def circumstances(arguments, machine):
    """Date, machine, versions and command, in a paragraph."""
    packages = ("menet", "numpy", "scikit-learn", "spams-bin", "mlpack", "faiss-cpu", "adelie", "skglm")
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    command = shlex.join(["python", "scripts/bench", *arguments])
    text = f"{date.today()}; {machine_in_words()}; {versions}; two threads each; {machine}."
    return f"{textwrap.fill(text, 140, break_on_hyphens=False)}\n`{command}`:"


def write(document, block, lines):
    """Put lines between the two comments that mark a block of a document, whole or not at all."""
    before, after = around(document, block)
    new = document.with_suffix(".new")
    new.write_text("\n".join([before, *lines, after]), encoding="utf-8")
    new.replace(document)


def again(document, block, lines):
    """Add what was measured on another day to a table of a document: the ratios to its rows, and the day below it."""
    before, after = around(document, block)
    text = document.read_text(encoding="utf-8")
    old = text[len(before) : -len(after)].strip("\n").split("\n")
    circumstances, *_ = lines
    ratio, days = HEADER.index("x menet"), HEADER.index("x menet, other days")
    found = {key: cells[ratio] for key, cells in keyed(lines) if not key[1].startswith("menet")}
    for key, cells in keyed(old):
        if found.get(key):
            place = old.index(line(cells))
            cells[days] = ", ".join(filter(None, [cells[days], found[key]]))
            old[place] = line(cells)
    write(document, block, [*old, "", f"Another day: {circumstances}"])


def keyed(lines):
    """The cells of every row of a table, with problem and solver. The problem stands in the first of its rows alone."""
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in lines if row.startswith("|")]
    problem = ""
    for cells in rows[2:]:
        problem = cells[0] or problem
        yield (problem, cells[1]), cells


def around(document, block):
    """What stands before a block, with the comment that begins it, and after, with the one that ends it."""
    begin, end = f"<!-- bench: {block} -->", f"<!-- bench: end of {block} -->"
    text = document.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise SystemExit(f"{document.name} must have the lines {begin} and {end} once each, in this order")
    return text[: text.index(begin) + len(begin)], text[text.index(end) :]
