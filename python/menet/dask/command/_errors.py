"""What ends the command early, and its exit code."""

from __future__ import annotations

import json


class CommandError(Exception):
    """One line for the user: what was given, where, what is allowed and what to do.

    The exit code is 2 for options and input, 1 for everything else, as in the command ``menet``.
    """

    def __init__(self, message: str, *, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


class Stopped(BaseException):
    """A signal asked the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def quoted(text: str) -> str:
    """Return a name in quotation marks on one line, shortened if it is very long."""
    return json.dumps(text if len(text) <= 60 else text[:57] + "...", ensure_ascii=False)


def listed(names: list[str]) -> str:
    """Return the first few of many names, for messages."""
    more = f", ... ({len(names)} in all)" if len(names) > 8 else ""
    return ", ".join(quoted(name) for name in names[:8]) + more
