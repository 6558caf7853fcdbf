"""Versions that follow from what an embedder is made of."""

from __future__ import annotations

import hashlib
import json
import os


def version_of(files: list[str], settings: dict) -> str:
    """Sixteen digits of the SHA-256 of the files' content and the settings."""
    digest = hashlib.sha256()
    for file in files:
        with open(file, "rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    digest.update(json.dumps(settings, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def with_external_data(model: str) -> list[str]:
    """The model file, and the file beside it that large models keep their weights in."""
    return [file for file in (model, model + "_data", model + ".data") if os.path.exists(file)]
