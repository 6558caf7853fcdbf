#!/usr/bin/python3
"""k-means of scikit-learn and faiss, scikit-learn's Gaussian mixture, and plain NumPy, for the
clustering comparison.

usage: kmeans.py sklearn-lloyd|sklearn-elkan|sklearn-mixture|faiss|numpy

bench/README.md explains the comparison, the setup of each peer, and the protocol.
"""

import collections
import concurrent.futures
import json
import statistics
import sys
import time
import warnings

from peer import serve

NAMES = ("sklearn-lloyd", "sklearn-elkan", "sklearn-mixture", "faiss", "numpy")
LEAST_SECONDS, MOST_CALLS = 2, 1000  # what is over sooner is repeated: the first call also starts threads
ROWS = 512  # of a block of numpy's: its scores stay in the cache


def status_mb(key):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024
    return 0


def timed(work):
    """What `work` returns, its median seconds, and how many MiB were resident at most meanwhile."""
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass
    times, before = [], time.process_time()
    while sum(times) < LEAST_SECONDS and len(times) < MOST_CALLS:
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return result, {"seconds": round(statistics.median(times), 7), "calls": len(times),
                    "cpu_seconds": round((time.process_time() - before) / len(times), 7),
                    "resident_mb": status_mb("VmHWM")}


def fit_sklearn(algorithm, x, centers, passes):
    """Given centers and no tolerance: `passes` passes, unless nothing changes any more."""
    model = sklearn.cluster.KMeans(n_clusters=len(centers), init=centers, n_init=1,
                                   max_iter=passes, tol=0, algorithm=algorithm, copy_x=False)
    with warnings.catch_warnings():  # that so few passes do not converge
        warnings.simplefilter("ignore")
        result, answer = timed(lambda: model.fit(x))
    answer.update(passes=result.n_iter_, seconds_per_pass=answer["seconds"] / result.n_iter_,
                  distance_per_point=result.inertia_ / len(x))
    return answer


def step_mixture(x, centers):
    """One step of expectation and maximization, without what fit() does before and after it."""
    k = len(centers)
    ones = numpy.ones(k, x.dtype)

    def work():
        model = sklearn.mixture.GaussianMixture(k, covariance_type="spherical")
        model.weights_, model.means_ = ones / k, centers
        model.covariances_ = model.precisions_ = model.precisions_cholesky_ = ones
        _, shares = model._e_step(x)
        model._m_step(x, shares)
        return model

    _, answer = timed(work)
    answer.update(passes=1, seconds_per_pass=answer["seconds"], distance_per_point=0)
    return answer


def fit_faiss(x, centers, passes):
    """On all points: faiss would train on 256 per cluster otherwise."""
    k, d = centers.shape

    def work():
        model = faiss.Kmeans(d, k, niter=passes, max_points_per_centroid=len(x),
                             min_points_per_centroid=1)
        model.train(x, init_centroids=centers)
        return model

    model, answer = timed(work)
    answer.update(passes=passes, seconds_per_pass=answer["seconds"] / passes,
                  distance_per_point=float(model.obj[-1]) / len(x))
    return answer


def assign_faiss(x, centers):
    index = faiss.IndexFlatL2(centers.shape[1])
    index.add(centers)
    (distances, nearest), answer = timed(lambda: index.search(x, 1))
    return nearest[:, 0], answer


def assign_numpy(x, centers, threads):
    """|c|^2 - 2xc, a block of rows per thread at a time: a product and its smallest column."""
    turned = numpy.ascontiguousarray(-2 * centers.T)
    squares = (centers * centers).sum(axis=1)
    nearest = numpy.empty(len(x), numpy.int32)

    def share(worker):
        scores = numpy.empty((ROWS, len(centers)), numpy.float32)
        for begin in range(worker * ROWS, len(x), threads * ROWS):
            rows = x[begin:begin + ROWS]
            block = scores[:len(rows)]
            numpy.matmul(rows, turned, out=block)
            block += squares
            nearest[begin:begin + ROWS] = block.argmin(axis=1)

    def work():
        with threadpoolctl.threadpool_limits(1, "blas"):
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                list(pool.map(share, range(threads)))

    _, answer = timed(work)
    return nearest, answer


def distance_per_point(x, centers, nearest):
    """In double, on every hundredth point: whether an assignment is as good as another."""
    some = x[::100].astype(float) - centers[nearest[::100]]
    return float((some * some).sum() / len(some))


def answer_to(name, what, words, load):
    threads = int(words[-1])
    x, resident = load(words[0])
    centers = numpy.load(words[1])
    if name == "faiss":
        faiss.omp_set_num_threads(threads)
    with threadpoolctl.threadpool_limits(threads):
        if what == "assign":
            nearest, answer = (assign_faiss(x, centers) if name == "faiss" else
                               assign_numpy(x, centers, threads))
            answer.update(passes=1, seconds_per_pass=answer["seconds"],
                          distance_per_point=distance_per_point(x, centers, nearest))
        elif name == "faiss":
            answer = fit_faiss(x, centers, int(words[2]))
        elif name == "sklearn-mixture":
            answer = step_mixture(x, centers)
        else:
            answer = fit_sklearn(name.split("-")[1], x, centers, int(words[2]))
    answer["beyond_mb"] = round(answer.pop("resident_mb") - resident, 1)
    answer.update(what=what, n=len(x), d=x.shape[1], clusters=len(centers), threads=threads)
    return answer


def hello(name):
    """Versions, and which BLAS does the products."""
    blas = [info for info in threadpoolctl.threadpool_info() if info["user_api"] == "blas"]
    answer = {"blas": "; ".join("{internal_api} {version} {architecture}, {threading_layer}"
                                .format_map(collections.defaultdict(str, info))
                                for info in blas) or "none that threadpoolctl knows"}
    if name == "faiss":
        answer.update(version="faiss " + faiss.__version__,
                      compiled=faiss.get_compile_options().strip())
    elif name == "numpy":
        answer.update(version="NumPy " + numpy.__version__)
    else:
        answer.update(version="scikit-learn " + sklearn.__version__)
    return answer


def warm_up(name):
    """A small run, so that nothing is loaded within a timing."""
    x = numpy.random.default_rng(0).standard_normal((3000, 8), numpy.float32)
    centers = x[:30].copy()
    if name == "faiss":
        assign_faiss(x, centers)
        fit_faiss(x, centers, 2)
    elif name == "numpy":
        assign_numpy(x, centers, 2)
    elif name == "sklearn-mixture":
        step_mixture(x, centers)
    else:
        fit_sklearn(name.split("-")[1], x, centers, 2)


def main(name):
    known = {}
    requests = {"sklearn-mixture": {"step": 3}, "numpy": {"assign": 3},
                "faiss": {"kmeans": 4, "assign": 3}}.get(name, {"kmeans": 4})

    def load(path):
        if path not in known:
            known.clear()
            points = numpy.load(path)
            known[path] = points, status_mb("VmRSS")
        return known[path]

    def reply(what, words):
        if what == "hello":
            return hello(name)
        return answer_to(name, what, words, load) if len(words) == requests.get(what) else None

    warm_up(name)
    serve(name, reply, "hello, " + ", ".join(requests))


if __name__ == "__main__":
    if sys.argv[1:] not in [[name] for name in NAMES]:
        sys.exit(__doc__)
    try:
        import numpy
        import threadpoolctl
        if sys.argv[1] == "faiss":
            import faiss
        elif sys.argv[1] != "numpy":
            import sklearn.cluster
            import sklearn.mixture
    except ImportError as error:
        sys.stdin.readline()
        print(json.dumps({"peer": sys.argv[1], "unavailable": f"{error} (Debian: python3-sklearn, "
                          "python3-faiss, python3-threadpoolctl)"}), flush=True)
        sys.exit(0)
    main(sys.argv[1])
