"""Programs for `imp --embedder`: files into vectors by any network.

    imp classify --support birds new --embedder "python3 -m pyimp.embedders.onnx model.onnx"

`serve` is all that another one needs: it speaks the protocol of docs/embedders.md.
"""

from ._protocol import serve

__all__ = ["serve"]
