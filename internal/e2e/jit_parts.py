"""What a package does that builds itself, with a recipe so small that it takes no time."""

from __future__ import annotations

import errno
import fcntl
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

RUNTIME = Path(sys.argv[1])
RECIPE = """\
builddir = build/release
folders = .
suffixes = .cc .h
linked = third/libx.a

rule library
  command = $cxx -shared -fPIC -MD -MF $out.d $in third/libx.a -o $out
  depfile = $out.d
  deps = gcc

build build/release/libdemo.so: library x.cc | third/libx.a
"""


class Demo:
    """A project with a source in its root, and a cache."""

    def __init__(self) -> None:
        base = Path(tempfile.mkdtemp(dir=sys.argv[2]))
        self.project, self.cache = base / "project", base / "cache"
        self.package = self.project / "backend/python/src/demo_backend"
        for path, text in {
            self.project / "opcast.toml": "",
            self.project
            / "x.cc": '#include "inc/x.h"\nint Third();\nint X() { return Third(); }\n',
            self.project / "inc/x.h": "",
            self.project / "build/junk.h": "",
            self.package / "source/inc/x.h": "",
            self.package / "recipes/cpu.ninja": RECIPE,
        }.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name in (
            "_build.py",
            "_cache.py",
            "_content.py",
            "_find.py",
            "_headers.py",
            "_name.py",
            "_recipe.py",
            "_tools.py",
        ):
            shutil.copy(RUNTIME / name, self.package)
        self.archive(1)
        os.environ["OPCAST_CACHE_DIR"] = str(self.cache)
        for name in [name for name in sys.modules if name.startswith("demo_backend")]:
            del sys.modules[name]
        package = types.ModuleType("demo_backend")  # the package itself would load a library
        package.__path__ = [str(self.package)]
        sys.modules["demo_backend"] = package
        self.finder: Any = importlib.import_module("demo_backend._find")
        self.module: Any = importlib.import_module("demo_backend._build")
        self.cached: Any = importlib.import_module("demo_backend._cache")

    def archive(self, value: int) -> None:
        """Make the static library that is linked."""
        third = self.project / "third"
        third.mkdir(exist_ok=True)
        (third / "x.c").write_text(f"int Third() {{ return {value}; }}\n")
        subprocess.run(["c++", "-xc++", "-fPIC", "-c", "x.c"], cwd=third, check=True)
        subprocess.run(["ar", "rcs", "libx.a", "x.o"], cwd=third, check=True)

    def library(self) -> Path:
        """Return the library, built if need be."""
        return self.finder.library(self.package / "lib/libdemo.so")

    def refused(self, why: str) -> None:
        """Check the error of an import."""
        try:
            self.library()
        except ImportError as error:
            text = str(error)
            assert text.startswith("demo_backend: libdemo.so cannot be built: "), text
            assert why in text, text
        else:
            raise AssertionError(f"no error with {why!r}")


def root_and_links(demo: Demo) -> None:
    """Build a source in the root; its headers and what is linked decide the key."""
    first = demo.library()
    assert demo.library() == first
    (demo.project / ".#x.cc").symlink_to("me@here:1")
    (demo.project / ".x.cc").write_text("draft")
    (demo.project / "gone.h").symlink_to("nowhere")
    os.mkfifo(demo.project / "pipe.h")
    (demo.project / "build/junk.h").write_text("// edited")
    (demo.package / "source/inc/x.h").write_text("// edited")
    assert demo.library() == first
    demo.archive(2)
    second = demo.library()
    assert second != first
    (demo.project / "inc/x.h").write_text("// edited")
    assert demo.library() != second
    states = second.parent.with_name(second.parent.name + ".json").read_text()
    assert "x.cc" not in states, states
    assert "x.h" not in states, states


def sweeping(demo: Demo) -> None:
    """Do not mind what another process removes first."""
    demo.cache.mkdir()
    gone, old = demo.cache / ".0-gone", demo.cache / ".1-old"
    old.mkdir()
    os.utime(old, (0, 0))
    with mock.patch.object(Path, "glob", return_value=[gone, old]):
        demo.cached.sweep(demo.cache, "f")
    assert not old.exists()


def environment(demo: Demo) -> None:
    """Say in the package's words what is wrong around it."""
    with mock.patch.dict(os.environ, {"CXX": 'g++ "'}):
        demo.refused('no C++ compiler: $CXX is g++ ": No closing quotation')
    with mock.patch.dict(os.environ):
        del os.environ["OPCAST_CACHE_DIR"]
        for home in ("", None):
            os.environ.pop("HOME", None) if home is None else os.environ.update(HOME=home)
            demo.refused("there is no home folder: set OPCAST_CACHE_DIR")
    for name, shown in {
        "a\nb": "a\\nb",
        "a\x1bb": "a\\x1bb",
        os.fsdecode(b"a\xff"): "a\\udcff",
    }.items():
        with mock.patch.dict(os.environ, OPCAST_CACHE_DIR=str(demo.project / name)):
            demo.refused(
                f"the cache '{demo.project}/{shown}' has a name that is no printable UTF-8"
            )
    with mock.patch.object(os, "statvfs", return_value=mock.Mock(f_flag=os.ST_NOEXEC)):
        demo.refused(
            "since its file system is mounted with noexec: set OPCAST_CACHE_DIR to a folder"
        )


def trust(demo: Demo) -> None:
    """Use no cache that somebody else can write into, at any of its folders or files."""
    demo.cache /= "new/cache"
    os.environ["OPCAST_CACHE_DIR"] = str(demo.cache)
    before = os.umask(0)
    library = demo.library()
    os.umask(before)
    states = library.parent.with_name(library.parent.name + ".json")
    above = [demo.project.parent, demo.cache.parent]
    parts = [demo.cache, demo.cache / "demo", library.parent, library, states]
    for path in [*above[1:], *parts]:
        assert path.stat().st_mode & 0o777 == (0o600 if path.is_file() else 0o700), path
    mine = os.geteuid()
    for path in [*above, *parts]:
        mode = path.stat().st_mode & 0o777
        for others in (0o770, 0o702, *([0o1777] if path not in above else [])):
            path.chmod(others)
            demo.refused(f"the cache {demo.cache} is not safe: others can write into {path}: run")
        path.chmod(mode)
        if mine == 0:
            os.chown(path, 12345, -1)
            demo.refused(f"the cache {demo.cache} is not safe: {path} belongs to user 12345: set")
            os.chown(path, 0, -1)
    demo.cache.chmod(0o755)
    above[0].chmod(0o1777)  # as /tmp
    assert demo.library() == library
    with mock.patch.object(os, "geteuid", return_value=(mine or 12345) + 1):
        if mine:
            demo.refused(f"belongs to user {mine}: set OPCAST_CACHE_DIR to a folder of your own")


def replaced(demo: Demo) -> None:
    """Load no library that was changed, even if nobody else can write into its entry any more."""
    library = demo.library()
    built = library.read_bytes()
    library.write_bytes(b"evil")
    assert demo.library() == library
    assert library.read_bytes() == built
    (library.parent / "headers.json").write_text("{}")
    library.unlink()
    library.symlink_to(shutil.copy(demo.project / "x.cc", demo.project / "evil"))
    assert demo.library() == library
    assert not library.is_symlink()
    assert library.read_bytes() == built
    elsewhere = library.parent.rename(demo.project / "elsewhere")
    library.parent.symlink_to(elsewhere)
    assert demo.library() == library
    assert not library.parent.is_symlink()


def read_only(demo: Demo) -> None:
    """Use what lies in a cache that cannot be written, and say what to do where nothing does."""
    library = demo.library()
    real = os.open

    def opening(path: Any, *rest: Any, **named: Any) -> int:
        if str(path).endswith(".lock"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, *rest, **named)

    with mock.patch.object(os, "open", opening):
        assert demo.library() == library
        shutil.rmtree(library.parent)
        folder = demo.cache / "demo"
        demo.refused(f"nothing can be written into the cache {folder} (Read-only file system): set")
    (demo.project / "file").touch()
    with mock.patch.dict(os.environ, OPCAST_CACHE_DIR=str(demo.project / "file")):
        demo.refused(f"nothing can be written into the cache {demo.project}/file")


def locks(demo: Demo) -> None:
    """Lock a file, not what a link names, and keep its text."""
    demo.cache.mkdir()
    lock, link, waited = demo.cache / "a.lock", demo.cache / "b.lock", list[int]()
    lock.write_text("text")
    with demo.cached.locked(lock, lambda: None):
        other = lock.open()
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited.append(1)
    assert waited == [1]
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    other.close()
    assert lock.read_text() == "text"
    link.symlink_to(lock)
    try:
        with demo.cached.locked(link, lambda: None):
            raise AssertionError("a link was opened as a lock")
    except OSError:
        pass


CHECKS: tuple[Callable[[Demo], None], ...] = (
    root_and_links,
    sweeping,
    environment,
    trust,
    replaced,
    read_only,
    locks,
)
failed = 0
for check in CHECKS:
    try:
        check(Demo())
    except Exception as error:
        failed += 1
        print(f"{check.__name__}: {type(error).__name__}: {error}")
sys.exit(failed)
