"""An object inside of an argument: one file of a commit, one comment of a review, one call of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    also_called: ClassVar[Mapping[str, str]] = {}
    """Other names that people and models use, and the fields they mean."""

    @model_validator(mode="before")
    @classmethod
    def _under_other_names(cls, value: Any) -> Any:
        if not cls.also_called or not isinstance(value, Mapping):
            return value
        renamed: dict[Any, Any] = {}
        for name, each in value.items():
            field = cls.also_called.get(name, name)
            # Of two values for one field none is lost: the second keeps its name, and is refused under it.
            renamed[name if field in renamed or (field != name and field in value) else field] = each
        return renamed
