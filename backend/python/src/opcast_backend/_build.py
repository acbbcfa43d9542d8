"""Libraries that are built when they are first needed.

A package without a prebuilt library builds it on import, with the recipe that opcast generated from
the same plan as ``opcast build``, into a cache. What lies there is used again only if everything
that could have changed it is the same: the recipe, the sources, the compilers, the headers.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import _cache, _content, _recipe, _tools
from ._name import NAME

_HOME = Path(__file__).parent


def built(name: str) -> Path | None:
    """Return a library that is built now or lies in the cache; None if the package cannot build it."""
    try:
        return _built(name)
    except (ImportError, OSError, subprocess.SubprocessError) as error:
        raise ImportError(f"{__package__}: {name} cannot be built: {error}") from None


def _built(name: str) -> Path | None:
    if not (_HOME / "recipes" / "cpu.ninja").is_file():
        return None
    recipe = _recipe.find()
    root = recipe.root()
    if root is None or f"build/release/{name}:" not in recipe.text:
        return None
    for _ in range(5):  # sources may change under a build, but not for ever
        if found := _Build(recipe, root, name).result():
            return found
    raise ImportError("its sources keep changing")


class _Build:
    """One library in the cache, under a key that is a digest of all that decides its bytes."""

    def __init__(self, recipe: _recipe.Recipe, root: Path, name: str) -> None:
        self.recipe, self.root, self.name = recipe, root, name
        self.folders = shlex.split(recipe.variable("folders"))
        self.suffixes = set(shlex.split(recipe.variable("suffixes")))
        self.linked = shlex.split(recipe.variable("linked"))
        self.whole = shlex.split(recipe.variable("whole"))
        self.sources = self.digest()
        self.key = self.build_key()
        self.cache = _cache.folder(NAME)
        self.entry = self.cache / f"{self.key[:32]}-{name}"
        # Outside of the entry: somebody who could change the library there could change its digest, too.
        self.states = self.cache / f"{self.entry.name}.json"

    def build_key(self) -> str:
        """Return the key of what is built, as ``opcast build`` has it."""
        variables = _tools.variables(shlex.split(self.recipe.variable("environment")))
        sum_ = hashlib.sha256()
        for text in (self.recipe.text, self.recipe.toolchain(), variables, self.sources):
            encoded = text.encode(errors="surrogateescape")
            sum_.update(f"{len(encoded)}\n".encode() + encoded)
        return sum_.hexdigest()

    def digest(self) -> str:
        """Return the digest of all files that decide what the library is."""
        sum_ = hashlib.sha256()
        for path in self.files():
            content = (self.root / path).read_bytes()
            sum_.update(f"{path} {len(content)}\n".encode(errors="surrogateescape") + content)
        return sum_.hexdigest()

    def files(self) -> list[str]:
        """Return the manifest, sources, headers and what is linked, relative to the root."""
        found = {"opcast.toml", *self.linked}  # one folder may hold another
        for folder in self.folders:
            for parent, folders, files in os.walk(self.root / folder):
                carried = {"source", "headers"} if Path(parent) == _HOME else set[str]()
                folders[:] = set(filter(_searched, folders)) - carried
                here = Path(parent).relative_to(self.root)
                for name in files:  # editors keep locks and drafts under hidden names
                    known = folder in self.whole or Path(name).suffix in self.suffixes
                    if known and not name.startswith(".") and Path(parent, name).is_file():
                        found.add(str(here / name))
        return sorted(found)

    def result(self) -> Path | None:
        """Return the library, or None if its sources changed while it was built."""
        if not self.valid():
            waiting = f"waiting for another process that builds {self.name}"
            with _cache.locked(
                self.cache / f"{self.entry.name}.lock", lambda: _say(waiting)
            ) as lock:
                if not self.valid() and not self.build(lock):
                    return None
        return self.entry / self.name

    def valid(self) -> bool:
        """Say whether the entry is whole and the headers beyond the sources are as they were."""
        try:
            files = json.loads(_cache.content(self.states, self.cache))
            library = _cache.content(self.entry / self.name, self.cache)
            digest = files.pop(self.name)
            return hashlib.sha256(library).hexdigest() == digest and files == _content.states(files)
        except (OSError, ValueError, KeyError, AttributeError):
            return False

    def build(self, lock: int) -> bool:
        """Compile in a folder of its own and put the result in place in one step."""
        _cache.sweep(self.cache, self.entry.name)
        work = Path(tempfile.mkdtemp(prefix=f".{self.entry.name}-", dir=self.cache))
        try:
            # File systems count in steps of milliseconds; the step of the last edit shall be over.
            time.sleep(0.01)
            stamp = work / "stamp"
            stamp.touch()
            headers = self.compile(work, lock)
            states = _content.states(headers)
            read = [*headers, *(self.root / path for path in self.files())]
            touched = any(_content.changed(path) >= _content.changed(stamp) for path in read)
            if touched or self.digest() != self.sources:
                return False
            done = work / "done"
            done.mkdir(0o700)
            library = work / "build" / "release" / self.name
            states[self.name] = _content.digest(library)
            (work / "states").write_text(json.dumps(states))
            self.put(library.rename(done / self.name), (work / "states").rename(done / "states"))
            return True
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def put(self, library: Path, states: Path) -> None:
        """Put a library and what its validity depends on in place; the former is not valid before the latter."""
        for path in (library, states):
            path.chmod(0o600)  # whatever the umask
        _cache.sync(library.parent)
        states = states.rename(library.parent.parent / "states")
        if os.path.lexists(self.entry):
            self.entry.rename(library.parent.parent / "old")
        library.parent.rename(self.entry)
        states.rename(self.states)

    def links(self) -> list[str]:
        """Return what a build sees of the root: for the root itself, all that it holds."""
        names = [*self.folders, *self.linked]
        if "." in names:
            names += [path.name for path in self.root.iterdir() if _searched(path.name)]
        return sorted({*names} - {"."})

    def compile(self, work: Path, lock: int) -> list[str]:
        """Run ninja and return the files beyond the sources that were read."""
        for name in self.links():
            link = work / name
            if not link.exists():  # else it lies in a folder that is linked already
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(self.root / name)
        out = work / "build" / "release"
        out.mkdir(parents=True, exist_ok=True)
        variables = self.recipe.machine(work, self.key[:16], self.sources, self.root)
        text = (variables + self.recipe.text).encode(errors="surrogateescape")
        (out / "build.ninja").write_bytes(text)
        devices = "cpu and cuda" if self.recipe.cuda else "cpu"
        words = [_tools.ninja(), "-f", "build/release/build.ninja"]
        target = f"build/release/{self.name}"
        _run_ninja([*words, target], work, f"{self.name} for {devices}", lock)
        deps = subprocess.run(
            [*words, "-t", "deps"], cwd=work, check=True, capture_output=True, text=True
        )
        read = {line[4:] for line in deps.stdout.splitlines() if line.startswith("    ")}
        covered = set(self.files())
        beyond = {path for path in map(os.path.normpath, read) if path not in covered}
        link = shlex.split(self.recipe.variable("link_words"))
        libraries = _tools.outside_libraries(self.recipe.cxx, link, self.root)
        return sorted({*(str(self.root / path) for path in beyond), *libraries})


def _searched(name: str) -> bool:
    """Say whether an entry of a folder can hold sources, as ``opcast build`` says."""
    return not name.startswith(".") and name not in {"build", "dist"}


def _run_ninja(words: list[str], folder: Path, what: str, lock: int) -> None:
    """Build with a line on stderr about the progress; what the compilers say ends in the error.

    Compilers hold the lock, too: should this process be killed, nobody builds beside them.
    """
    begin = time.monotonic()
    _say(f"building {what}")
    live = sys.stderr is not None and sys.stderr.isatty()
    said: list[str] = []
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t] ", "MAKEFLAGS": ""}  # no jobserver
    with subprocess.Popen(
        words, cwd=folder, env=environment, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        pass_fds=(lock,),
    ) as ninja:  # fmt: skip
        try:
            for line in ninja.stdout or ():
                if not line.startswith("["):
                    said.append(line)
                elif live:
                    _say(f"building {what} {line.partition(' ')[0]}", end="\r")
        except BaseException:
            ninja.terminate()
            raise
    if ninja.returncode != 0:
        raise ImportError("the compiler says\n" + "".join(said)[-20000:])
    _say(f"built {what} in {time.monotonic() - begin:.0f} s")


def _say(text: str, end: str = "\n") -> None:
    if sys.stderr is not None:
        print(
            f"{NAME}: {text}\x1b[K" if end == "\r" else f"{NAME}: {text}",
            end=end,
            file=sys.stderr,
            flush=True,
        )
