"""The folder in which built libraries are kept: whose it is, who may write, who waits."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shlex
import shutil
import stat
import time
from collections.abc import Callable, Generator
from pathlib import Path

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ANOTHER = "set OPCAST_CACHE_DIR to a folder of your own"


def folder(name: str) -> Path:
    """Return the folder for libraries of a collection, made if need be.

    What lies there is loaded as code, so nobody else may put anything there.
    """
    named, home = os.environ.get("OPCAST_CACHE_DIR"), os.environ.get("HOME")
    if not named and not home:
        raise ImportError("there is no home folder: set OPCAST_CACHE_DIR")
    root = Path(os.path.realpath(named or f"{home}/.cache/opcast"))
    if not str(root).isprintable():  # recipes, compilers and loaders take no such path
        raise ImportError(
            f"the cache {str(root)!a} has a name that is no printable UTF-8: {_ANOTHER}"
        )
    with _entered(root / name, root, make=True):
        if os.statvfs(root / name).f_flag & os.ST_NOEXEC:
            raise ImportError(
                f"no library in the cache {root} can be loaded, since its file system is mounted"
                f" with noexec: {_ANOTHER}, on another file system"
            )
    return root / name


def content(path: Path, cache: Path) -> bytes:
    """Return what a file in or below the folder of a collection holds, if only its user can write it."""
    with _entered(path.parent, cache.parent) as folder:
        file = os.open(path.name, _FILE, dir_fd=folder)
        with os.fdopen(file, "rb") as opened:
            _trust(os.fstat(file), path, cache.parent)
            return opened.read()


@contextlib.contextmanager
def _entered(folder: Path, root: Path, *, make: bool = False) -> Generator[int]:
    """Give a descriptor of a folder in the cache, after a look at each one from / to it.

    Each is opened by its name in the one before, so none can be replaced after the look.
    """
    here, found = Path("/"), os.open("/", _FOLDER)
    try:
        _trust(os.fstat(found), here, root)
        for part in folder.parts[1:]:
            here, above = here / part, found
            try:
                found = _opened(part, above, make)
            except OSError as error:
                raise (_unwritable(root, error) if make else error) from None
            os.close(above)
            _trust(os.fstat(found), here, root)
        yield found
    finally:
        os.close(found)


def _opened(name: str, above: int, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):  # another process was faster
        os.mkdir(name, 0o700, dir_fd=above)
    return os.open(name, _FOLDER, dir_fd=above)


def _trust(state: os.stat_result, path: Path, root: Path) -> None:
    """Refuse what others can write into, or replace."""
    if state.st_uid not in {os.geteuid(), 0}:  # root can write anywhere
        raise ImportError(
            f"the cache {root} is not safe: {path} belongs to user {state.st_uid}: {_ANOTHER}"
        )
    # Nobody can replace what others have in a sticky folder, such as /tmp.
    allowed = path in root.parents and state.st_mode & stat.S_ISVTX
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not allowed:
        raise ImportError(
            f"the cache {root} is not safe: others can write into {path}: run chmod go-w"
            f" {shlex.quote(str(path))}, or {_ANOTHER}"
        )


def _unwritable(path: Path, error: OSError) -> ImportError:
    return ImportError(
        f"nothing can be written into the cache {path} ({error.strerror}): {_ANOTHER}"
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
