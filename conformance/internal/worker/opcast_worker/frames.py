"""Frames, in which requests and answers travel over pipes.

A frame is the length of a JSON header as u64, the header ``{"blobs": [lengths], "body": ...}`` and the blobs.
"""

from __future__ import annotations

import json
import struct
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
