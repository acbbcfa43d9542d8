"""What the workers of all frameworks share: making arguments, calling, reporting what came back."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from opcast_worker import attributes, foreign, warm
from opcast_worker.abilities import Abilities, probes
from opcast_worker.bound import (
    Answer,
    Bound,
    Memory,
    Report,
    Request,
    Unsupported,
    describe_error,
    memories,
    memory,
)
from opcast_worker.lists import inputs_first, single


class Caller(Abilities):
    """Calls the ops of a collection in one framework: the package under test is ``<collection>_<adaptor>``."""

    word = ""
    """Name of the framework's array type in error texts."""

    kind: type[Any] | tuple[type[Any], ...] = object
    """That type, or those types, once the framework is imported."""

    def __init__(self, config: Request) -> None:
        """Import the package under test; a missing framework is reported in the greeting."""
        self.config = config
        self.lists: Request | None = None  # of the request that is being answered
        self.in_order = False  # the same: arguments come in the order of the function's parameters
        self.groups: dict[str, Any] = {"special": self}
        self.missing = self.version = ""
        self.native: Any
        self.backend: Any = None
        self.package: Any = None
        try:
            self.version = self.prepare()
            if "callables" in config:
                self.package = foreign.package(config["callables"])
            elif "library" in config:
                self.native = foreign.library(config["library"])
        except (ImportError, Unsupported) as error:
            self.missing = str(error)
            return
        self.load()

    def load(self) -> None:
        """Import what is under test."""
        if "callables" in self.config:
            self.native = foreign.Uncounted(None)
        elif "library" not in self.config:
            collection = self.config["collection"]
            self.backend = importlib.import_module(f"{collection}_backend")
            self.package = self.adaptor(collection)
            # The same library that the package has loaded, for its counters.
            path = str(self.backend.library_path())
            self.native = importlib.import_module("tvm_ffi").load_module(path)

    def adaptor(self, collection: str) -> Any:
        """Import the package under test."""
        return importlib.import_module(f"{collection}_{self.config['adaptor']}")

    def prepare(self) -> str:
        """Import the framework and return its version.

        ImportError and Unsupported mean that it cannot be used here.
        """
        raise NotImplementedError

    def ready(self) -> None:
        """Do what has to come before the first call, in a process that answers the suite's requests."""

    def make(self, spec: Request, data: Memory) -> Any:
        """Build an array over data with exactly the given dtype, shape, strides and offset."""
        raise NotImplementedError

    def read(self, array: Any) -> tuple[Request, bytes]:
        """Describe an array and return its elements in row-major order."""
        raise NotImplementedError

    def dtype(self, name: str) -> Any:
        """Return the framework's object for a dtype."""
        raise NotImplementedError

    def span(self, array: Any) -> tuple[int, int]:
        """Return the first address of an array's memory and the one after its last."""
        raise NotImplementedError

    def contents(self, array: Any, data: Memory) -> bytes:
        """Return the present bytes of the buffer behind an array that was made over data."""
        del array
        return bytes(data)

    def invoke(self, call: Bound, mode: str) -> Any:
        """Make the call; frameworks with other ways to call override this."""
        if mode != "eager":
            raise Unsupported(f"no mode {mode}")
        return call()

    def function(self, op: str) -> Callable[..., Any]:
        """Return the public function of an op, which takes the inputs in the order of the definition."""
        return single(self.whole(op), self.lists)

    def whole(self, op: str) -> Callable[..., Any]:
        """Return that function as it takes lists: whole, and not array by array."""
        function, backend = getattr(self.package, op), self.backend
        return (
            function if self.in_order or not backend else inputs_first(function, backend.ops()[op])
        )

    def info(self, op: str) -> Any:
        """Return what the collection says about an op, with the arrays of lists one by one."""
        info = self.backend.ops()[op]
        return self.backend.single(info, tuple(self.lists["lengths"])) if self.lists else info

    def bind(
        self,
        op: str,
        args: list[Any],
        kwargs: Request,
        out: list[Any],
        mutated: tuple[int, ...],
        scratch: list[Any],
    ) -> Bound:
        """Return the call with the given output arrays; adaptors allocate scratch themselves."""
        del scratch
        if out:
            kwargs = {**kwargs, "out": out[0] if len(out) == 1 else tuple(out)}
        return Bound(self.function(op), args, kwargs, self.kind, op, mutated)

    def greeting(self) -> Request:
        """Say who is here."""
        return {
            "version": self.version,
            "missing": self.missing,
            "word": self.word,
            "abilities": self.abilities(),
            "probes": {group: probes(holder) for group, holder in self.groups.items()},
        }

    def probe_huge_attr(self, call: Bound) -> Any:
        """Give numbers that no 64 bits hold."""
        return attributes.huge(call)

    def probe_dtype_like(self, call: Bound) -> Any:
        """Give something that has a dtype in the place of a dtype."""
        return attributes.dtype_like(self, call)

    def probe_equal_attr(self, call: Bound) -> Any:
        """Give what equals an attribute's value."""
        return attributes.equal(self, call)

    def receive(self, array: Any) -> Any:
        """Import an array of another framework through DLPack, without a copy."""
        return importlib.import_module(self.config["adaptor"]).from_dlpack(array)

    def offer(self, array: Any) -> Any:
        """Return an array as other frameworks import it: itself, unless some cannot read what it says."""
        return array

    def hands_over(self, dtype: str) -> bool:
        """Say whether arrays of a dtype pass through DLPack."""
        del dtype
        return True

    def call(self, request: Request, blobs: list[bytes]) -> Answer:
        """Make the arguments, call the op, report results, error and what became of the arguments.

        The blobs of the answer are the results, then the memory behind each array argument.
        """
        self.lists = request["lists"]
        buffers = memories(blobs)
        made: list[tuple[Any, Request]] = []

        def own(spec: Request) -> Any:
            return self.make(spec, memory(spec, memories(blobs)))

        def array(spec: Request) -> Any:
            twin = next((a for a, s in made if s["index"] == spec["twin"]), None)
            one = self.make(spec, memory(spec, buffers)) if twin is None else twin
            made.append((one, spec))
            return one

        def value(tagged: Request) -> Any:
            return self.untag(tagged, array)

        try:
            warm.up(self.config, lambda: self.plain(request, own))
            args = [value(v) for v in request["args"]]
            keywords = {k: value(v) for k, v in request["kwargs"].items()}
            kwargs = {k: keywords[k] for k in request["order"]}
            out = [value(v) for v in request["out"]]
            scratch = [value(v) for v in request["scratch"]]
            arguments = list(made)
            mutated = tuple(request["mutated"])
            call = self.bind(request["op"], args, kwargs, out, mutated, scratch)
            call = replace(call, options=value(request["options"]))
            results, reply = self.attempt(request, call)
        except Unsupported as error:
            return {"unsupported": str(error)}, []
        answer: list[bytes] = []
        for result in results:
            described: Request = {"none": True}
            data = b""
            if result is not None:
                described, data = self.read(result)
            described["given"] = next((i for i, o in enumerate(out) if o is result), -1)
            described["same"] = next((s["index"] for a, s in arguments if a is result), -1)
            reply["outputs"].append(described)
            answer.append(data)
        for array, spec in arguments:
            reply["arrays"].append({"index": spec["index"], "span": self.span(array)})
            answer.append(self.contents(array, memory(spec, buffers)))
        return reply, answer

    def plain(self, request: Request, array: Callable[[Request], Any]) -> Callable[[], Any]:
        """Return the plain call of a request, on arrays of its own."""
        args = [self.untag(v, array) for v in request["args"]]
        kwargs = {k: self.untag(v, array) for k, v in request["kwargs"].items()}
        return lambda: self.function(request["op"])(*args, **kwargs)

    def wait(self, result: Any) -> None:
        """Wait until a result is there; frameworks that return before override this."""
        del result

    def use_threads(self, number: int) -> None:
        """Compute with so many threads; frameworks that do not go by the CPUs of their process override this."""
        del number

    def owned(self, array: Any) -> Any:
        """Return a copy of an array in memory that the framework itself has allocated."""
        return array.copy()

    def prepared(self, function: Callable[..., Any], settings: Request) -> Callable[..., Any]:
        """Return a function of arrays alone, as users call it who want it fast."""
        return partial(function, **settings) if settings else function

    def compiled_peers(self, peers: dict[str, Any]) -> dict[str, Any]:
        """Return what the framework's compiler makes of peers, by names of their own."""
        del peers
        return {}

    def attempt(self, request: Request, call: Bound) -> tuple[list[Any], Request]:
        """Call once; return the results and an answer with error and number of launches."""
        op, kernel, probe = request["op"], request["kernel"], request["probe"]
        reply: Request = {"error": None, "outputs": [], "arrays": []}
        results: list[Any] = []
        if kernel:
            self.native["_opcast_force"](op, kernel)
        before = self.native["_opcast_calls"](op)
        try:
            if probe:
                group, name = probe.split(".")
                result = getattr(self.groups[group], "probe_" + name)(call)
            else:
                result = self.invoke(call, request["mode"])
            if isinstance(result, Report):
                reply["notes"], result = result.notes, result.results
            results = list(result) if isinstance(result, (tuple, list)) else [result]  # pyright: ignore[reportUnknownArgumentType]
        except Unsupported:
            raise
        except Exception as error:  # whatever the op raises is the answer
            reply["error"] = describe_error(error)
        finally:
            if kernel:
                self.native["_opcast_force"](op, "")
        reply["calls"] = self.native["_opcast_calls"](op) - before
        return results, reply

    def untag(self, tagged: Request, array: Callable[[Request], Any]) -> Any:
        """Turn a tagged value into a Python value; array makes the arrays."""
        ((kind, value),) = tagged.items()
        if kind == "array":
            return array(value)
        if kind in {"list", "tuple"}:
            items = [self.untag(v, array) for v in value]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {k: self.untag(v, array) for k, v in value.items()}
        if kind == "float":
            return float(value)
        if kind == "np_scalar":
            numpy, number = importlib.import_module("numpy"), self.untag(value, array)
            return numpy.asarray(number)[()]
        if kind == "dtype":
            return self.dtype(value)
        if kind == "floats":
            return [float(v) for v in value]
        return value
