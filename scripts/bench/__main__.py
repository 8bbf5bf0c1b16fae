"""menet beside other packages on the same seeded problems, and beside the machine at its best.

    make bench

Every solver runs in processes of its own, taking turns; in a process it warms up and is then timed up to five times,
or once in all if it takes long. The table has median seconds, the ratio to menet, the worst violation of optimality,
computed here from the data (for other whole fits than that of the faces, the fit's own certificate), the residual of
conjugate gradients where they were used, whether one thread and two give the same bits, support sizes, the peak of
memory, and the floor: operations at the measured speed of matrix products, or bytes at the measured bandwidth.
"""

import argparse
import sys
from itertools import chain
from pathlib import Path

import floor
import growth
import table
import turns
from problems import CASES
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/benchmarks.md"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.splitlines()[0])
    parser.add_argument("--case", nargs="*", choices=CASES, metavar="NAME", help=f"of {', '.join(CASES)}; or none")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each solver")
    parser.add_argument("--growth", action="store_true", help="double n, p, d and K four times, and draw it")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the tables to a file too")
    parser.add_argument("--write", action="store_true", help="put tables and figure in docs")
    parser.add_argument("--again", action="store_true", help="add the ratios of another day to the table in docs")
    parser.add_argument("--here", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        case, solver, count = options.here
        turns.here(case, solver, int(count))
        return
    if options.repeats < 1:
        parser.error(f"--repeats is {options.repeats}, but must be at least 1")
    if options.write and options.case:
        parser.error("--write replaces the whole table: give no --case, or one without names to keep the table")
    if options.again and (options.write or options.growth):
        parser.error("--again adds to the table: give neither --write nor --growth")
    cases = list(CASES) if options.case is None else options.case
    names = [name for name, wanted in (("table", cases), ("growth", options.growth)) if wanted]
    if not names:
        parser.error("there is nothing to do: name a problem after --case, or give --growth")
    if options.write or options.again:
        # Now rather than after a quarter of an hour.
        for name in names:
            table.around(DOCUMENT, name)

    with threadpool_limits(turns.THREADS):
        machine = floor.measure()
    circumstances = table.circumstances(sys.argv[1:], machine)
    blocks = {}
    for name in names:
        found = compared(cases, options.repeats, machine) if name == "table" else grown(options)
        blocks[name] = shown(chain([circumstances, ""], found))
    if options.write:
        for name, lines in blocks.items():
            table.write(DOCUMENT, name, lines)
    if options.again:
        table.again(DOCUMENT, "table", blocks["table"])
    if options.table:
        options.table.write_text("\n\n".join("\n".join(lines) for lines in blocks.values()) + "\n", encoding="utf-8")


def shown(lines):
    """All lines, each printed when it comes."""
    kept = []
    for line in lines:
        print(line, flush=True)
        kept.append(line)
    print()
    return kept


def compared(cases, repeats, machine):
    """The lines of the table, as they come."""
    yield from table.head(table.HEADER)
    for case in cases:
        kind = CASES[case]
        if missing := kind.missing():
            yield table.line([kind.title, missing, *[""] * (len(table.HEADER) - 2)])
            continue
        yield from table.rows(kind, turns.take(case, repeats), machine)


def grown(options):
    """The lines about growth, as they come; its figure is drawn at the end."""
    yield from table.head(growth.HEADER)
    measured = []
    for curve in growth.CURVES:
        seconds = growth.measure(curve, options.repeats)
        measured.append((curve, *seconds))
        yield from growth.rows(curve, *seconds)
    figure = Path("figures/growth.png")
    growth.draw(measured, (DOCUMENT.parent if options.write else ROOT / "target/bench") / figure)
    yield ""
    yield f"![Seconds against n, p, d and K]({figure})"


if __name__ == "__main__":
    main()
