"""The loop of the Python peers: a request in, a line of JSON out. bench/README.md describes the protocol."""

import json
import sys


def serve(name, reply, requests):
    """Answers requests until `quit` or the end of input.

    reply(what, words) is given a request's first word and the other ones, and returns what the answer
    holds, or None if it is not one of the `requests`, which a sentence lists then.
    """
    for line in sys.stdin:
        what, *words = line.split() or [""]
        if what == "quit":
            break
        answer = reply(what, words)
        if answer is None:
            answer = {"unavailable": f"{name} answers {requests} and quit, not '{line.strip()}'"}
        print(json.dumps({"peer": name, **answer}), flush=True)
