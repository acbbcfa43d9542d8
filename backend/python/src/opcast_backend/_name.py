"""The name of the collection."""

from __future__ import annotations

NAME = (__package__ or "").rpartition(".")[2].removesuffix("_backend")
"""Name of the collection. The package may lie in another one."""
