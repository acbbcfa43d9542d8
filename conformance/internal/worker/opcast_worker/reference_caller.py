"""Evaluates the definitions' references in float64: the oracle, and the only place to run text."""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
import textwrap
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from opcast_worker.bound import Answer, Memory, Request, memories, memory
from opcast_worker.host import NDArray, strided
from opcast_worker.lists import spread
from opcast_worker.precisions import PRECISIONS, evaluated, integers, parts, widen
from opcast_worker.slopes import risen, slopes

Invalid = Literal["ignore", "warn"]


class Reference:
    """Answers what an op should give."""

    def __init__(self, root: str = "") -> None:
        """Start with no compiled module; root is the folder of the project, if it is known."""
        self.modules: dict[str, Request] = {}
        self.root = root

    def greeting(self) -> Request:
        """Say who is here."""
        return {"version": np.__version__}

    def reference(self, request: Request, blobs: list[bytes]) -> Answer:
        """Evaluate a reference on the given arguments."""
        try:
            evaluate = self.evaluation(request, invalid="warn")
            low = self.in_torch(request)
            results = evaluated(evaluate, self.arguments(request, blobs, low=low))
            given = request["arguments"].values()
            lacking = any("none" in v or v.get("bool") is False for v in given)
            if text := misfit(results, request["complex"], may_lack=lacking):
                return {"error": text, "outputs": []}, []
            return described(results, request["complex"])
        except (Exception, SystemExit) as error:  # the author's text may raise anything, or end
            return {"error": f"{type(error).__name__}: {error}", "outputs": []}, []

    def independent(self, request: Request, blobs: list[bytes]) -> Answer:
        """Evaluate an author's second formula. Its parameters that are no arguments are modules."""
        arguments, modules = self.arguments(request, blobs), dict[str, Any]()
        try:
            function = self.module(request)["independent"]
        except (Exception, SystemExit) as error:  # the author's module may raise anything, or end
            return {"error": f"{type(error).__name__}: {error}", "outputs": []}, []
        try:
            for name in inspect.signature(function).parameters:
                if name not in arguments:
                    modules[name] = importlib.import_module(name)
        except ModuleNotFoundError as error:
            return {"error": "", "missing": str(error), "outputs": []}, []
        if "jax" in modules:
            modules["jax"].config.update("jax_enable_x64", True)
        if "torch" in modules:
            modules["torch"].backends.opt_einsum.enabled = False  # torch_formula says why
            arguments = {k: torch_formula().tensor(v) for k, v in arguments.items()}
        try:
            found = accepting(function)({**arguments, **modules})
        except Exception as error:  # the author's text may raise anything
            return {"error": f"{type(error).__name__}: {error}", "outputs": []}, []
        return described(results_of(request, found), request["complex"])

    def properties(self, request: Request, blobs: list[bytes]) -> Answer:
        """Let an author's function look at the arguments and results of a call, and say what it asserts in vain."""
        known = self.arguments(request, blobs)
        buffers = memories(blobs)
        for name, tagged in request["results"].items():
            known[name] = self.argument(tagged, partial(widen, whole=None, real="float64"), buffers)
        try:
            accepting(self.module(request)["properties"])(known)
        except AssertionError as error:
            return {"error": str(error) or asserted(error)}, []
        except Exception as error:  # the author's text may raise anything
            return {"error": f"{type(error).__name__}: {error}"}, []
        return {"error": ""}, []

    def import_modules(self, request: Request, blobs: list[bytes]) -> Answer:
        """Import what an author's formulas ask for; what is wrong with them shows when they are evaluated."""
        del blobs
        with contextlib.suppress(Exception, SystemExit):
            if "torch" in inspect.signature(self.module(request)["reference"]).parameters:
                torch_formula()
        with contextlib.suppress(Exception, SystemExit):
            for name in inspect.signature(self.module(request)["independent"]).parameters:
                if name not in request["order"]:
                    importlib.import_module(name)
        return {}, []

    def samples(self, request: Request, blobs: list[bytes]) -> Answer:
        """Let an author make the contents of inputs for the given sizes."""
        del blobs
        try:
            rng = np.random.default_rng(request["seed"])
            sizes = {k: tuple(v) if isinstance(v, list) else v for k, v in request["sizes"].items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            made: dict[str, Any] = self.module(request)["samples"](rng, sizes)
            exact = [integers(np.asarray(v)) for v in made.values()]
            arrays = [parts(np.asarray(v)).astype(np.float64) for v in made.values()]
        except (Exception, SystemExit) as error:  # the author's text may raise anything, or end
            return {"error": f"{type(error).__name__}: {error}"}, []
        shapes = [np.shape(v) for v in made.values()]
        answer = {"error": "", "names": list(made), "shapes": shapes, "integers": exact}
        return answer, [a.tobytes() for a in arrays]

    def differences(self, request: Request, blobs: list[bytes]) -> Answer:
        """Differentiate the sum of the products of results and cotangents.

        Central differences with one step and with twice the step combine to one of order four; their distance
        tells kinks. Answers values and distances for each wanted input.
        """
        buffers = memories(blobs)
        weights = [
            strided(v["array"], memory(v["array"], buffers)) if "array" in v else None
            for v in request["cotangents"]
        ]
        answer: list[bytes] = []
        try:
            evaluate = self.evaluation(request)
            arguments = self.arguments(request, blobs, low=self.in_torch(request))

            def rise(name: str, low: NDArray, high: NDArray) -> float:
                # Element by element before the sum: what did not change adds no rounding error, nor
                # NaN if it is infinite, as a log-sum-exp of nothing is.
                ends = [evaluate(copy.deepcopy({**arguments, name: end})) for end in (low, high)]
                triples = [(a, b, w) for a, b, w in zip(*ends, weights) if w is not None]
                return sum(float(np.sum((risen(a, b) * np.conj(w)).real)) for a, b, w in triples)

            for name in request["inputs"]:
                answer += slopes(partial(rise, name), arguments[name])
        except Exception as error:  # the author's text may raise anything
            return {"error": f"{type(error).__name__}: {error}"}, []
        return {"error": ""}, answer

    def arguments(self, request: Request, blobs: list[bytes], *, low: bool = False) -> Request:
        """Return the arguments of a reference by name, with numbers of 8 bits as they are if it takes those."""
        arguments: Request = {}
        buffers = memories(blobs)
        whole, real = PRECISIONS[request["precision"]]
        assert real != "longdouble" or np.finfo(real).nmant > 52, "longdouble is float64 here"
        for name in request["order"]:
            exact = whole if name in request["free"] else None
            convert = partial(widen, whole=exact, real=real, low=low)
            arguments[name] = self.argument(request["arguments"][name], convert, buffers)
        return arguments

    def argument(
        self, tagged: Request, convert: Callable[[NDArray], NDArray], buffers: list[Memory]
    ) -> Any:
        """Return one argument of a reference."""
        ((kind, value),) = tagged.items()
        if kind == "list":
            return [self.argument(item, convert, buffers) for item in value]
        if kind == "array":
            return convert(strided(value, memory(value, buffers)))
        return float(value) if kind == "float" else value

    def evaluation(
        self, request: Request, invalid: Invalid = "ignore"
    ) -> Callable[[Request], tuple[Any, ...]]:
        """Return a function from arguments by name to results."""
        call = accepting(self.function(request), invalid)
        if self.in_torch(request):
            real = PRECISIONS[request["precision"]][1]
            call = partial(torch_formula().evaluate, call, real)
        return lambda arguments: results_of(request, call(arguments))

    def in_torch(self, request: Request) -> bool:
        """Say whether the reference is written in PyTorch, which it takes as an argument."""
        return "torch" in inspect.signature(self.function(request)).parameters

    def function(self, request: Request) -> Callable[..., Any]:
        """Compile the body, or the module, of a reference."""
        if request["module"]:
            return self.module(request)["reference"]
        text = request["text"].strip("\n")
        body = textwrap.indent(text, "    ")
        whole = f"def reference({', '.join(request['order'])}):\n{body}\n"
        return self.names(whole, request["file"], text)["reference"]

    def module(self, request: Request) -> Request:
        """Return the names of an author's module, which lies beside the definition."""
        return self.names(request["text"], request["file"].removesuffix(".toml") + ".py")

    def names(self, text: str, file: str, body: str = "") -> Request:
        """Run a text once and return its names. A body is a part of the file, whose lines errors tell."""
        if text not in self.modules:
            scope: Request = {"xp": np, "np": np}
            before = self.line(file, body) - 2 if body else 0  # without the line of the function
            if before < 0:
                file = f"the reference of {Path(file).stem}"
            exec(compile("\n" * before + text, file, "exec"), scope)
            self.modules[text] = scope
        return self.modules[text]

    def line(self, file: str, body: str) -> int:
        """Return the line of a file in which a text begins; 0 if it is written otherwise there."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            whole = (Path(self.root) / file).read_text(encoding="utf-8")
            if self.root and body in whole:
                return whole[: whole.index(body)].count("\n") + 1
        return 0


def results_of(request: Request, result: Any) -> tuple[Any, ...]:
    """Return what a function gives as one array for each result, with those of lists one by one."""
    results: Any = result if isinstance(result, tuple) else (result,)  # pyright: ignore[reportUnknownVariableType]
    lists = request.get("lists")
    return tuple(spread(lists["results"], results)) if lists else results


def accepting(
    function: Callable[..., Any], invalid: Invalid = "ignore"
) -> Callable[[Request], Any]:
    """Return what calls an author's function with those values that its parameters name.

    ``invalid`` says what NumPy does about numbers that an operation has no result for.
    """
    wanted = inspect.signature(function).parameters

    def call(values: Request) -> Any:
        with np.errstate(all="ignore", invalid=invalid):
            return function(**{k: v for k, v in values.items() if k in wanted})

    return call


def misfit(results: tuple[Any, ...], complexes: list[bool], *, may_lack: bool) -> str:
    """Say which result is no array of numbers, in a sentence; nothing if all are.

    Only where an input is left out, or an attribute false, may a result be None.
    """
    for i, r in enumerate(results):
        of = f"result {i}: " if len(results) > 1 else ""
        kind = type(r).__name__
        if r is None:
            if not may_lack:
                return f"{of}expected an array, got None"
            continue
        try:
            array = plain(r)
            if np.iscomplexobj(array) and not any(complexes[i : i + 1]):
                return f"{of}expected real numbers, got {array.dtype.name}"
            array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)
        except (TypeError, ValueError):
            ragged = isinstance(r, (list, tuple))
            more = ", whose elements are no numbers or differ in length" if ragged else ""
            return f"{of}expected an array of numbers, got {kind}{more}"
    return ""


def asserted(error: BaseException) -> str:
    """Return the place of an assertion that has no text of its own."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"the assertion in line {last.lineno} of {Path(last.filename).name} does not hold"


def described(results: tuple[Any, ...], complexes: list[bool]) -> Answer:
    """Return results as an answer: in float64, or large integers with all digits; complex numbers as two parts."""
    outputs: list[Request] = []
    answer: list[bytes] = []
    for i, r in enumerate(results):
        exact = plain([] if r is None else r)
        if any(complexes[i : i + 1]):
            exact = np.stack([exact.real, exact.imag], -1)
        array = exact.astype(np.float64)
        outputs.append({"shape": array.shape, "absent": r is None, "integers": integers(exact)})
        answer.append(array.tobytes())
    return {"error": "", "outputs": outputs}, answer


def plain(result: Any) -> NDArray:
    """Return a result as an array; tensors know how to get there."""
    if hasattr(result, "resolve_conj"):  # PyTorch conjugates later
        result = result.resolve_conj()
    return np.asarray(result.detach().cpu().numpy() if hasattr(result, "detach") else result)


def torch_formula() -> Any:
    """Return the module that needs PyTorch."""
    return importlib.import_module("opcast_worker.torch_formula")


def create(config: Request) -> Reference:
    """Return the oracle, which looks for definitions in the project."""
    return Reference(config.get("root", ""))
