"""What ends the command early."""

import json


class CommandError(Exception):
    """One line for the user: what was given, where, what is allowed and what to do.

    The exit code is 2 for options and input, 1 for everything else, as in the command ``menet``.
    """

    def __init__(self, message: str, *, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


def listed(names: list[str]) -> str:
    """Return the first few of many names in quotation marks, for messages."""
    more = f", ... ({len(names)} in all)" if len(names) > 8 else ""
    return ", ".join(json.dumps(name[:60], ensure_ascii=False) for name in names[:8]) + more
