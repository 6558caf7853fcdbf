"""Text files into vectors, by a network for sentences or by the words that are in them.

    python3 -m pyimp.embedders.text                                        # words, no network
    python3 -m pyimp.embedders.text model.onnx --tokenizer tokenizer.json  # a network

A network is an ONNX file with its tokenizer, as sentence transformers are exported, and needs the
packages onnxruntime and tokenizers; a vector is the mean of its tokens. Without one, words and
pairs of neighbouring words are counted and hashed, which needs nothing and knows no meanings.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import zlib
from collections import Counter

from ._protocol import serve
from ._version_of import version_of, with_external_data

DIMENSIONS = 1024  # of counted words
MOST_BYTES = 1 << 20  # of a file that are read


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python3 -m pyimp.embedders.text",
        description="Text files into vectors, for imp --embedder",
    )
    add = parser.add_argument
    add("model", nargs="?", help="an ONNX file; without it words are counted")
    add("--tokenizer", metavar="FILE", help="the model's tokenizer.json")
    add("--tokens", type=int, default=256, help="of a text that are read")
    add("--batch", type=int, default=32, help="texts at a time")
    add("--threads", type=int, default=0, help="0 is one per core")
    given = parser.parse_args(arguments)
    if given.model is None:
        own = os.path.abspath(__file__)
        serve("words", "1", DIMENSIONS, _each(count_words), given.batch, files=[own])
        return
    tokenizer = given.tokenizer or os.path.join(os.path.dirname(given.model), "tokenizer.json")
    if not os.path.exists(tokenizer):
        sys.exit(f"there is no tokenizer '{tokenizer}'; name it with --tokenizer FILE")
    network = Sentences(given.model, tokenizer, given.tokens, given.threads)
    files = [*with_external_data(given.model), tokenizer]
    serve(
        os.path.splitext(os.path.basename(given.model))[0],
        version_of(files, {"tokens": given.tokens}),
        network.dimensions,
        network.embed,
        given.batch,
        files,
    )


def read_text(path: str) -> str:
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES)
    if b"\0" in data:
        raise ValueError("it is no text: it holds zero bytes")
    return data.decode("utf-8", "replace")


def count_words(text: str) -> list[float]:
    """Words and pairs of neighbours, each in a place and with a sign by its hash, so that those in one
    place cancel; the tenth time a word occurs counts less than the first."""
    words = re.findall(r"\w+", text.lower())
    counts = Counter(words)
    counts.update(" ".join(pair) for pair in zip(words, words[1:]))
    vector = [0.0] * DIMENSIONS
    for word, count in counts.items():
        code = zlib.crc32(word.encode())
        vector[code % DIMENSIONS] += (1 if code & 0x80000000 else -1) * (1 + math.log(count))
    if not counts:
        raise ValueError("it has no words")
    return vector


def _each(function):
    def embed(paths: list[str]) -> list:
        answers = []
        for path in paths:
            try:
                answers.append(function(read_text(path)))
            except Exception as error:
                answers.append(error)
        return answers

    return embed


class Sentences:
    """A network that takes the numbers of tokens."""

    def __init__(self, model: str, tokenizer: str, tokens: int, threads: int) -> None:
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self.inputs = {node.name for node in self.session.get_inputs()}
        self.tokenizer = tokenizers.Tokenizer.from_file(tokenizer)
        self.tokenizer.enable_truncation(tokens)
        self.tokenizer.enable_padding()
        self.dimensions = self._run(["a"]).shape[1]

    def _run(self, texts: list[str]):
        import numpy as np

        encoded = self.tokenizer.encode_batch(texts)
        known = {
            "input_ids": [item.ids for item in encoded],
            "attention_mask": [item.attention_mask for item in encoded],
            "token_type_ids": [item.type_ids for item in encoded],
        }
        given = {n: np.array(v, np.int64) for n, v in known.items() if n in self.inputs}
        values = self.session.run(None, given)[0]
        if values.ndim == 2:
            return values
        mask = np.array(known["attention_mask"], np.float32)[:, :, None]
        return (values * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)

    def embed(self, paths: list[str]) -> list:
        answers: list = []
        for path in paths:
            try:
                answers.append(read_text(path))
            except Exception as error:
                answers.append(error)
        good = [i for i, answer in enumerate(answers) if isinstance(answer, str)]
        if good:
            for i, vector in zip(good, self._run([answers[i] for i in good])):
                answers[i] = vector
        return answers


if __name__ == "__main__":
    main()
