"""Answer requests over pipes: the Python side of internal/rpc.

Started as ``python main.py CONFIG``, where CONFIG is JSON: the ``caller`` to be (the name of a neighbouring module),
the ``collection`` and the ``paths`` of its packages. A frame is the length of a JSON header as u64, the header
``{"blobs": [lengths], "body": ...}`` and the blobs. The first frame out is the greeting; end of input means exit.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import platform
import signal
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO


def receive(stream: BinaryIO) -> tuple[Any, list[bytes]] | None:
    """Read one frame; None at the end of input."""
    size = stream.read(8)
    if not size:
        return None
    header = json.loads(stream.read(struct.unpack("<Q", size)[0]))
    return header["body"], [stream.read(n) for n in header["blobs"]]


def send(stream: BinaryIO, body: Any, blobs: list[bytes]) -> None:
    """Write one frame."""
    header = json.dumps({"blobs": [len(b) for b in blobs], "body": body}).encode()
    stream.write(struct.pack("<Q", len(header)) + header)
    for blob in blobs:
        stream.write(blob)
    stream.flush()


def main() -> None:
    """Serve requests until the input ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not corrupt the frames
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    config = json.loads(sys.argv[1])
    os.environ.update(config.get("environ", {}))
    sys.path[:0] = [str(Path(__file__).parent), *config["paths"]]
    worker = importlib.import_module(config["caller"]).create(config)
    send(out, {**worker.greeting(), "python": platform.python_version()}, [])
    stream = sys.stdin.buffer
    while (frame := receive(stream)) is not None:
        body, blobs = frame
        send(out, *getattr(worker, body["do"])(body, blobs))


if __name__ == "__main__":
    main()
