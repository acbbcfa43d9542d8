"""Train the digit network in one framework, and compare with a run that nothing splits."""

from __future__ import annotations

import functools
import importlib.util
from importlib import import_module

import processes
from data import BATCH, HELD_OUT
from learning import Job, Outcome
from processes import Worker

FRAMEWORKS = ("torch", "jax")
STEPS = 600
ENOUGH = 0.96
CLOSE = 1e-4


def fault(job: Job, *, compare: bool) -> str:
    """Return why the job makes no sense; empty if it does."""
    if job.devices > 1 and job.framework != "jax":
        return f"--devices: only jax simulates devices: use --processes {job.devices}"
    parts = job.processes * job.devices
    if BATCH % parts:
        return f"expected a number of parts that divides the {BATCH} images of a batch, got {parts}"
    if compare and parts == 1:
        return "--compare: expected several processes or devices"
    return ""


def lacking(job: Job) -> str:
    """Return what is not installed for the job; empty if all is."""
    for name in (job.framework, f"opcast_{job.framework}"):
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed: run `make build` and use .venv/bin/python"
    return ""


def train(job: Job) -> Outcome:
    """Train in processes of their own, and print how it went."""
    print(f"training in {_where(job)}", flush=True)
    outcome = processes.run(job.processes, functools.partial(_train, job))
    print(f"{outcome.accuracy:.1%} of the {HELD_OUT} held-out digits are right", flush=True)
    return outcome


def agrees(job: Job, outcome: Outcome) -> bool:
    """Train the same unsplit, print the largest difference of a loss, and return whether it is small."""
    alone = train(job._replace(processes=1, devices=1))
    largest = max(abs(a - b) for a, b in zip(alone.losses, outcome.losses))
    print(f"largest difference of a loss in {job.steps} steps: {largest:.1e}")
    return largest <= CLOSE


def _train(job: Job, worker: Worker) -> Outcome:
    """Train as one of the processes; only they import the framework."""
    return import_module(f"train_{job.framework}").train(job, worker)


def _where(job: Job) -> str:
    where = f"{job.framework}, {job.processes} process{'es' if job.processes > 1 else ''}"
    return f"{where} of {job.devices} devices" if job.devices > 1 else where
