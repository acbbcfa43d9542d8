"""Starts the worker of a configuration, with all groups of probes that its framework has."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from opcast_worker.bound import Request
from opcast_worker.caller import Caller

EVERYWHERE = ("watch", "endure")
"""Groups of probes that are the same for every framework: each is a module."""

GROUPS = ("aliasing", "devices", "malformed", "mangled", "mixed", "refusals", "threads")
"""Groups of probes that only some frameworks have: each is a module ``<framework>_<group>``."""


def create(config: Request) -> Any:
    """Make the worker of the module that the configuration names as ``caller``."""
    worker = importlib.import_module(f".{config['caller']}", __package__).create(config)
    if isinstance(worker, Caller) and not worker.missing:
        add(worker)
    return worker


def add(caller: Caller) -> None:
    """Add the groups that every framework has, and those for which this one has a module."""
    for group in EVERYWHERE:
        caller.groups[group] = importlib.import_module(f".{group}", __package__).create(caller)
    adaptor, streams = caller.config["adaptor"], caller.config["device"] != "cpu"
    for group in (*GROUPS, *(("streams",) if streams else ())):
        own = f".{adaptor}_{group}"
        if importlib.util.find_spec(own, __package__):
            caller.groups[group] = importlib.import_module(own, __package__).create(caller)
