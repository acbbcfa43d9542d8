"""The extension, compiled when it is imported, as `torch.utils.cpp_extension` does it."""

from pathlib import Path
from types import ModuleType
from typing import cast

from torch.utils import cpp_extension

_sources = [str(Path(__file__).with_name("ops.cpp"))]
_load = cpp_extension.load  # pyright: ignore
_module = cast(ModuleType, _load("kernels_before", _sources, extra_cflags=["-O3"]))
rms_norm = _module.rms_norm
masked_softmax = _module.masked_softmax
