"""The folder in which built libraries are kept: whose it is, who may write, who waits."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable, Generator
from pathlib import Path


def folder(name: str) -> Path:
    """Return the folder for libraries of a collection, made if need be.

    What lies there is loaded as code, so nobody else may put anything there.
    """
    named = os.environ.get("OPCAST_CACHE_DIR")
    try:
        root = Path(named) if named else Path.home() / ".cache" / "opcast"
    except RuntimeError:
        raise ImportError("there is no home folder: set OPCAST_CACHE_DIR") from None
    for path in (root, root / name):
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(path, error) from None
        state = path.stat()
        if state.st_uid not in {os.geteuid(), 0}:  # root can write anywhere
            raise ImportError(
                f"the cache {path} belongs to user {state.st_uid}: set OPCAST_CACHE_DIR to a folder"
                " of your own"
            )
        if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ImportError(f"others can write into the cache {path}: run chmod go-w {path}")
    return root / name


def _unwritable(path: Path, error: OSError) -> ImportError:
    return ImportError(
        f"nothing can be written into the cache {path} ({error.strerror}): set OPCAST_CACHE_DIR to"
        " a folder of your own"
    )


@contextlib.contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Generator[int]:
    """Keep other processes out; the lock ends with the process and what inherits it.

    The lock is a file, no link to one. Who waits for longer than a second calls ``waiting``, once.
    """
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.EPERM, errno.EROFS}:
            raise
        raise _unwritable(path.parent, error) from None
    try:
        begin: float | None = time.monotonic()
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if begin is not None and time.monotonic() - begin > 1:
                    begin = None
                    waiting()
                time.sleep(0.05)
        yield lock
    finally:
        # Also where a program that inherited it goes on: a compiler's cache may keep a server.
        fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


def sync(folder: Path) -> None:
    """Wait until the files of a folder are on the disk."""
    for path in folder.iterdir():
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def sweep(cache: Path, key: str) -> None:
    """Remove what builds of a key, and any builds a day ago, left when they were killed."""
    for left in cache.glob(".*-*"):
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            if left.name.startswith(f".{key}-") or left.stat().st_mtime < time.time() - 86400:
                shutil.rmtree(left, ignore_errors=True)
