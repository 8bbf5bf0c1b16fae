"""The pages of the command, from its own help: one per subcommand, and one that lists them.

clap prints its definitions in a fixed form. A line that does not fit this form is an error here, so no option is lost.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field

from stage import clear
from stage import write as write_file

HEADING = re.compile(r"(?P<name>[A-Z][^:]*):")
# Options and arguments, with their help on the same line if the help is short.
ENTRY = re.compile(
    r" {2,6}(?P<name>(?:-\w(?:, )?)?(?:--[\w-]+)?(?: ?(?:<[^>]+>|\[[^\]]+\])(?:\.\.\.)?)*)(?: {2,}(?P<help>\S.*))?"
)
BRACKET = re.compile(r" ?\[(default|possible values|aliases): ((?:[^\[\]]|\[[^\]]*\])*)\]$")
PARAMETERS = "Parameters"


@dataclass
class Entry:
    """An option or an argument."""

    name: str
    help: list = field(default_factory=list)

    def told(self):
        """Return the text of the help, its default, and its possible values."""
        lines = list(self.help)
        told = {}
        if "Possible values:" in lines:
            at = lines.index("Possible values:")
            told["possible values"] = "; ".join(line.removeprefix("- ") for line in lines[at + 1 :])
            del lines[at:]
        # A line per choice becomes a part of the sentence.
        choices = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
        rest = [line for line in lines if line.startswith("[")]
        words = [line for line in lines if not line.startswith(("- ", "["))]
        text = " ".join([*words, *(["; ".join(choices)] if choices else []), *rest])
        while found := BRACKET.search(text):
            told[found[1]] = found[2]
            text = text[: found.start()].rstrip()
        return text.strip(), told.get("default"), told.get("possible values")


@dataclass
class Help:
    """What `menet COMMAND --help` says."""

    about: str
    usage: str
    groups: dict
    examples: dict
    notes: list


def help_of(command, *arguments):
    """Read the help of a subcommand. A wide terminal keeps every text on one line."""
    told = subprocess.run(
        [command, *arguments, "--help"],
        env={**os.environ, "COLUMNS": "100000"},
        text=True,
        capture_output=True,
        check=True,
    )
    return parse(told.stdout)


def parse(text):
    """Take a help apart: the text above the usage, the usage, groups of entries, and the examples."""
    about, rest = text.split("\nUsage: ", 1)
    usage, rest = rest.split("\n", 1)
    groups, examples, notes, here = {}, {}, [], None
    for line in filter(str.strip, rest.splitlines()):
        if found := HEADING.fullmatch(line):
            name = found["name"]
            here = (examples if name.startswith(("Example", "Start")) else groups).setdefault(name, [])
        elif here is None or not line.startswith(" "):
            notes.append(line)
        elif any(here is lines for lines in examples.values()):
            here.append(line.strip())
        elif line.startswith(" " * 10):
            here[-1].help.append(line.strip())
        elif (found := ENTRY.fullmatch(line)) and found["name"]:
            here.append(Entry(found["name"], [found["help"]] if found["help"] else []))
        elif found := re.fullmatch(r" {2}([\w-]+) +(\S.*)", line):
            here.append(Entry(found[1], [found[2]]))
        else:
            raise ValueError(f"a line of the help that is no option: {line!r}")
    return Help(about.strip(), usage.strip(), groups, examples, notes)


def write(command, folder):
    """Write all pages to the folder, and the parameters of a fit for the page that explains them."""
    clear(folder)
    top = help_of(command)
    names = [entry.name for entry in top.groups.pop("Commands") if entry.name != "help"]
    pages = {name: help_of(command, name) for name in names}
    for name, told in pages.items():
        write_file(folder / f"{name}.md", page(name, told, top).encode())
    write_file(folder / "index.md", index(top, pages).encode())
    described = subprocess.run([command, "params", "--json"], text=True, capture_output=True, check=True).stdout
    flags = {entry.name.split()[0] for group in pages["fit"].groups.values() for entry in group}
    found = {one["path"]: {**one, "flag": flag(one, flags)} for one in json.loads(described)["parameters"]}
    write_file(folder.parents[1] / "generated/parameters.json", json.dumps(found, indent=1).encode())


def flag(parameter, flags):
    """Return how a parameter is set: by a flag of its own if it has one."""
    name = parameter["stage"] if parameter["name"] == "kind" else parameter["name"]
    own = f"--{name.replace('_', '-')}"
    return own if own in flags and (parameter["common"] or name == "feature_groups") else f"--set {parameter['path']}="


def index(top, pages):
    """The list of all subcommands, and what holds for all of them."""
    rows = "\n".join(f"| [`menet {name}`]({name}.md) | {plain(told.about)} |" for name, told in pages.items())
    contents = "\n".join(f"{name} <{name}>" for name in pages)
    options = "\n\n".join(option(entry) for entry in top.groups["Options"])
    return f"""# The command

These pages are made from the definitions of the command itself, when the site is built. [](../../command-line.md) tells
how the commands work together.

| command | what it does |
|---|---|
{rows}

```{{toctree}}
:hidden:

{contents}
```

## Options of all commands

```{{program}} menet
```

{options}
"""


def page(name, told, top):
    """The page of one subcommand."""
    shared = {entry.name for entry in top.groups["Options"]}
    parts = [f"# menet {name}", plain(sentence(told.about)), f"```text\n{told.usage}\n```"]
    for heading, lines in told.examples.items():
        parts += [f"## {heading}", "```console\n" + "\n".join(f"$ {line}" for line in lines) + "\n```"]
    parts += [plain(note) for note in told.notes]
    parts.append(f"```{{program}} menet {name}\n```")
    for heading, entries in told.groups.items():
        entries = [entry for entry in entries if entry.name not in shared]
        if entries:
            flags = any(entry.name.startswith(("-", "<", "[")) for entry in entries)
            parts += [f"## {plain(heading)}", *([option(entry) for entry in entries] if flags else [table(entries)])]
            if heading.startswith(PARAMETERS):
                parts.insert(-len(entries), "`menet params` lists them all; [](../../guide/parameters.md) has advice.")
    names = ", ".join(f"`{entry.name}`" for entry in top.groups["Options"])
    parts.append(f"[Options of all commands](index.md#options-of-all-commands): {names}.")
    return "\n\n".join(parts) + "\n"


def option(entry):
    """One option, with its default and its values."""
    text, default, values = entry.told()
    lines = [plain(sentence(text))]
    if default:
        lines.append(f"*Default:* {plain(default)}")
    if values:
        lines.append(f"*Values:* {plain(values)}")
    body = "\n\n".join(lines)
    if entry.name.startswith("-"):
        return f"````{{option}} {entry.name}\n{body}\n````"
    return f"````{{describe}} {entry.name}\n{body}\n````"


def table(entries):
    """Names that an option takes, with what they mean."""
    rows = [f"| `{entry.name}` | {plain(entry.told()[0])} |" for entry in entries]
    return "\n".join(["| name | meaning |", "|---|---|", *rows])


def sentence(text):
    """Give a text its full stop."""
    return text if text.endswith((".", ")", ":")) else f"{text}."


def plain(text):
    """Escape what Markdown would take for markup, and set flags as code."""
    text = re.sub(r"(?<![\w`-])(--[a-z][\w-]*)", r"`\1`", text)
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_{}\[\]<>|$#])", r"\\\1", part) for part in parts)
