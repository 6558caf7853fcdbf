"""Reading from model files what the library does not tell: their metadata and single tensors.

The format: 8 bytes little-endian header length, a JSON header, then the tensors' bytes. The
library reads files strictly; what is read here has been found sound by it before.
"""

from __future__ import annotations

import json

import numpy as np

_DTYPES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "|u1"}


class Safetensors:
    def __init__(self, data: bytes) -> None:
        end = 8 + int.from_bytes(data[:8], "little")
        self._header = json.loads(data[8:end])
        self._tensors = data[end:]
        self.metadata: dict[str, str] = self._header.pop("__metadata__", {})

    def tensor(self, name: str) -> np.ndarray | None:
        """The tensor of that name, or None."""
        entry = self._header.get(name)
        if entry is None:
            return None
        begin, end = entry["data_offsets"]
        values = np.frombuffer(self._tensors[begin:end], _DTYPES[entry["dtype"]])
        return values.reshape(entry["shape"])
