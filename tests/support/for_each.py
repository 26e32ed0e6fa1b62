"""A promise about every row of a table, kept by one test that names all the rows which break it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

Row = TypeVar("Row")


def for_each(
    rows: Iterable[Row], name: Callable[[Row], str] = str
) -> Callable[[Callable[[Row], None]], Callable[[], None]]:
    """Makes a check of one row a test of all of them."""
    table = list(rows)

    def decorate(check: Callable[[Row], None]) -> Callable[[], None]:
        @functools.wraps(check)
        def test() -> None:
            assert table, "there is nothing to check"
            broken = []
            for row in table:
                try:
                    check(row)
                except (Exception, pytest.fail.Exception) as problem:
                    broken.append(f"{name(row)}: {str(problem) or repr(problem)}")
            if broken:
                raise AssertionError(f"{len(broken)} of {len(table)}:\n" + "\n".join(broken))

        # Otherwise pytest takes the row for a fixture.
        test.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        return test

    return decorate
