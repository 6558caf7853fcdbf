"""What of include/imp the package uses, in the words of ctypes.

Structures and functions stand in the order of their headers, which are their manual. Arrays are
passed as addresses (`address()` in _library.py); a test compares every structure with the headers.
"""

from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_size_t,
    c_uint64,
    c_void_p,
)

# ---- status.h ----

OK, EINVAL, ENOMEM, EIO, EFORMAT, EUNSUPPORTED = range(6)


class Error(Structure):
    _fields_ = [("status", c_int), ("message", c_char * 500)]


# ---- cluster.h ----

RULES = {"imp": 0, "dp-means": 1}
ORDERS = {"auto": 0, "given": 1, "random": 2, "farthest-first": 3}


class ClusterOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rule", c_int),
        ("lambda", c_double),
        ("clusters", c_size_t),
        ("sigma", c_double),
        ("steps", c_size_t),
        ("order", c_int),
        ("seed", c_uint64),
        ("threads", c_int),
    ]


class Clustering(Structure):
    _fields_ = [
        ("points", c_size_t),
        ("dimensions", c_size_t),
        ("clusters", c_size_t),
        ("assignment", c_void_p),
        ("cluster_size", c_void_p),
        ("mean", c_void_p),
        ("lambda", c_double),
        ("objective", c_double),
        ("steps", c_size_t),
        ("converged", c_bool),
        ("sigma", c_double),
    ]


# ---- metrics.h ----

AVERAGES = {"arithmetic": 0, "geometric": 1, "min": 2, "max": 3}


class Interval(Structure):
    _fields_ = [("mean", c_double), ("half_width", c_double)]


# ---- mixture.h ----


class MixtureOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("sigma_l", c_double),
        ("sigma_u", c_double),
        ("alpha", c_double),
        ("lambda", c_double),
        ("cluster_steps", c_size_t),
    ]


class MixturePredictions(Structure):
    _fields_ = [
        ("label", c_void_p),
        ("probability", c_void_p),
        ("distance", c_void_p),
        ("cluster", c_void_p),
    ]


class MixtureSummary(Structure):
    _fields_ = [
        ("dimensions", c_size_t),
        ("classes", c_size_t),
        ("clusters", c_size_t),
        ("lambda", c_double),
        ("sigma_l", c_double),
        ("sigma_u", c_double),
        ("weight", c_double),
    ]


class MixtureCluster(Structure):
    _fields_ = [
        ("label", c_int32),
        ("sigma", c_double),
        ("weight", c_double),
        ("mean", POINTER(c_double)),
    ]


# ---- model.h ----

INVERSIONS = {"none": 0, "all": 1, "light": 2}


class ModelSummary(Structure):
    _fields_ = [
        ("channels", c_size_t),
        ("height", c_size_t),
        ("width", c_size_t),
        ("inversion", c_int),
        ("mixture", MixtureOptions),
    ]


# The headers' names of the structures above.
STRUCTURES = {
    "imp_error": Error,
    "imp_cluster_options": ClusterOptions,
    "imp_clustering": Clustering,
    "imp_interval": Interval,
    "imp_mixture_options": MixtureOptions,
    "imp_mixture_predictions": MixturePredictions,
    "imp_mixture_summary": MixtureSummary,
    "imp_mixture_cluster": MixtureCluster,
    "imp_model_summary": ModelSummary,
}

# ---- functions: what they return, what they take ----

_status, _error = c_int, POINTER(Error)
_count, _points, _labels = c_size_t, c_void_p, c_void_p
_object, _new = c_void_p, POINTER(c_void_p)

FUNCTIONS = {
    "imp_version": (c_char_p, []),
    # cluster.h
    "imp_cluster_options_init": (None, [POINTER(ClusterOptions)]),
    "imp_cluster": (_status, [_points, _count, _count, POINTER(ClusterOptions), _new, _error]),
    "imp_clustering_free": (None, [_object]),
    "imp_cluster_assign": (_status, [_points, _count, _points, _count, _count, _labels, _error]),
    # encoder.h
    "imp_encoder_create": (_status, [_object, _new, _error]),
    "imp_encoder_free": (None, [_object]),
    "imp_encoder_output_size": (_count, [_object]),
    "imp_encoder_encode": (_status, [_object, _points, _count, c_int, _points, _error]),
    # metrics.h
    "imp_mean_interval": (Interval, [c_void_p, _count]),
    "imp_accuracy": (Interval, [_labels, _labels, _count]),
    "imp_contingency_create": (_status, [_labels, _labels, _count, _new, _error]),
    "imp_contingency_free": (None, [_object]),
    "imp_purity": (c_double, [_object]),
    "imp_nmi": (c_double, [_object, c_int]),
    "imp_ami": (_status, [_object, c_int, POINTER(c_double), _error]),
    "imp_adjusted_rand": (c_double, [_object]),
    # mixture.h
    "imp_mixture_options_init": (None, [POINTER(MixtureOptions)]),
    "imp_mixture_fit": (
        _status,
        [_points, _labels, _count, _count, POINTER(MixtureOptions), _new, _error],
    ),
    "imp_mixture_free": (None, [_object]),
    "imp_mixture_add": (_status, [_object, _points, _labels, _count, _count, _new, _error]),
    "imp_mixture_predict": (
        _status,
        [_object, _points, _count, _count, c_bool, POINTER(MixturePredictions), _error],
    ),
    "imp_mixture_summarize": (MixtureSummary, [_object]),
    "imp_mixture_cluster_at": (MixtureCluster, [_object, _count]),
    "imp_mixture_note": (c_char_p, [_object]),
    "imp_mixture_set_note": (_status, [_object, c_char_p, _error]),
    "imp_mixture_save": (_status, [_object, c_char_p, _error]),
    "imp_mixture_load": (_status, [c_char_p, _new, _error]),
    "imp_mixture_to_bytes": (_status, [_object, _new, POINTER(c_size_t), _error]),
    "imp_mixture_bytes_free": (None, [c_void_p]),
    "imp_mixture_from_bytes": (_status, [c_char_p, _count, _new, _error]),
    # model.h
    "imp_model_summarize": (_status, [c_char_p, POINTER(ModelSummary), _error]),
    "imp_model_images": (_status, [POINTER(ModelSummary), c_void_p, _count, _points, _error]),
    # network.h
    "imp_network_free": (None, [_object]),
    "imp_network_load": (_status, [c_char_p, c_char_p, c_void_p, _new, _error]),
}
