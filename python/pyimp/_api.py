"""What of include/imp the package uses, in the words of ctypes.

Structures and functions stand in the order of their headers, which are their manual. Arrays are
passed as addresses (`address()` in _library.py); a test compares every structure with the headers.
"""

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

# ---- status.h ----

OK, EINVAL, ENOMEM, EIO, EFORMAT, EUNSUPPORTED = range(6)


class Error(Structure):
    _fields_ = [("status", c_int), ("message", c_char * 500)]


# ---- option.h ----

FLAG, INTEGER, NUMBER = range(3)


class OptionInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("help", c_char_p),
        ("kind", c_int),
        ("least", c_double),
        ("most", c_double),
        ("initial", c_double),
    ]


# ---- rule.h ----


class Rule(Structure):
    _fields_ = [
        ("alpha", c_double),
        ("sigma_l", c_double),
        ("sigma_u", c_double),
        ("lambda", c_double),
        ("steps", c_double),
    ]


# ---- cluster.h ----

ORDERS = {"auto": 0, "given": 1, "random": 2, "farthest-first": 3}


class ClusterPair(Structure):
    _fields_ = [("a", c_uint32), ("b", c_uint32), ("apart", c_bool)]


class ClusterOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("method", c_char_p),
        ("rule", Rule),
        ("clusters", c_size_t),
        ("order", c_int),
        ("seed", c_uint64),
        ("threads", c_int),
        ("label", c_void_p),
        ("pairs", c_void_p),
        ("pair_count", c_size_t),
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
        ("choice", c_int),
        ("sampled", c_size_t),
        ("groups", c_size_t),
        ("apart", c_double),
        ("cluster_label", c_void_p),
    ]


# In the order of imp_cluster_choice.
CLUSTER_CHOICES = ("given", "apart", "wanted", "gap", "likely")


# ---- suggest.h ----

REASONS = ("typical", "unsure")


class SuggesterOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("group", c_void_p),
        ("metric", c_int),
        ("threads", c_int),
    ]


class Suggestion(Structure):
    _fields_ = [
        ("point", c_size_t),
        ("reason", c_int),
        ("group", c_int32),
        ("guess", c_int32),
        ("sure", c_double),
    ]


class SuggesterSummary(Structure):
    _fields_ = [
        ("points", c_size_t),
        ("dimensions", c_size_t),
        ("groups", c_size_t),
        ("groups_asked", c_size_t),
        ("answered", c_size_t),
        ("skipped", c_size_t),
        ("metric", c_int),
        ("expected", c_double),
    ]


# ---- metrics.h ----

AVERAGES = {"arithmetic": 0, "geometric": 1, "min": 2, "max": 3}


class Interval(Structure):
    _fields_ = [("mean", c_double), ("half_width", c_double)]


# ---- dataset.h ----

INKS = {"own": 0, "as-is": 1, "invert": 2}
INVERSIONS = {"none": 0, "all": 1, "light": 2}


class GlyphOptions(Structure):
    _fields_ = [
        ("seed", c_uint64),
        ("alphabets", c_uint32),
        ("fewest_characters", c_uint32),
        ("most_characters", c_uint32),
        ("drawings", c_uint32),
    ]


class DatasetOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("size", c_uint32),
        ("channels", c_uint32),
        ("ink", c_int),
        ("mean", c_float * 3),
        ("deviation", c_float * 3),
        ("pixel_limit", c_size_t),
        ("rotations", c_uint32),
        ("split", c_char_p),
        ("split_seed", c_uint64),
        ("glyphs", GlyphOptions),
        ("skip_broken", c_bool),
        ("threads", c_int),
    ]


class ClassInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("super_class", c_int64),
        ("split", c_int),
        ("first_image", c_size_t),
        ("images", c_size_t),
    ]


# ---- episode.h ----

EPISODE_KINDS = {"classes": 0, "super-classes": 1, "unsupervised": 2}


class Augmentation(Structure):
    _fields_ = [
        (name, c_double) for name in ("flip", "shift", "turn", "zoom", "shear", "colour", "stroke")
    ]


class EpisodeOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int),
        ("purpose", c_int),
        ("pool", c_int),
        ("seed", c_uint64),
        ("way", c_uint32),
        ("fewest_way", c_uint32),
        ("modes", c_uint32),
        ("shot", c_uint32),
        ("fewest_shot", c_uint32),
        ("unbalanced", c_bool),
        ("queries", c_uint32),
        ("unlabeled", c_uint32),
        ("distractors", c_uint32),
        ("labeled_fraction", c_double),
        ("labeled_seed", c_uint64),
        ("augment", Augmentation),
    ]


class Episode(Structure):
    _fields_ = [
        ("index", c_uint64),
        ("kind", c_int),
        ("way", c_size_t),
        ("supports", c_size_t),
        ("queries", c_size_t),
        ("unlabeled", c_size_t),
        ("images", c_void_p),
        ("labels", c_void_p),
        ("truth", c_void_p),
        ("groups", c_size_t),
        ("classes", c_void_p),
    ]


# ---- method.h ----


class EpisodeView(Structure):
    _fields_ = [
        ("dimensions", c_size_t),
        ("way", c_size_t),
        ("support", c_void_p),
        ("support_label", c_void_p),
        ("support_count", c_size_t),
        ("query", c_void_p),
        ("query_label", c_void_p),
        ("query_count", c_size_t),
        ("unlabeled", c_void_p),
        ("unlabeled_count", c_size_t),
    ]


class NamedValue(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class MethodInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("summary", c_char_p),
        ("rule", Rule),
        ("has_lambda", c_bool),
        ("has_steps", c_bool),
        ("uses_unlabeled", c_bool),
        ("hard", c_bool),
        ("unsupervised", c_bool),
        ("options", POINTER(OptionInfo)),
        ("option_count", c_size_t),
        ("sampled", c_bool),
    ]


class MethodOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rule", Rule),
        ("own", NamedValue * 8),
        ("open_set", c_bool),
        ("seed", c_uint64),
    ]


class MethodParameter(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("rank", c_size_t),
        ("shape", c_size_t * 2),
        ("offset", c_size_t),
        ("count", c_size_t),
    ]


class MethodResult(Structure):
    _fields_ = [
        ("loss", c_double),
        ("lambda", c_double),
        ("predictions", c_void_p),
        ("probabilities", c_void_p),
        ("outcomes", c_size_t),
        ("deciding_cluster", c_void_p),
        ("open_predictions", c_void_p),
        ("cluster_count", c_size_t),
        ("cluster_label", c_void_p),
        ("cluster_sigma", c_void_p),
        ("cluster_weight", c_void_p),
        ("cluster_mean", c_void_p),
        ("support_gradient", c_void_p),
        ("query_gradient", c_void_p),
        ("unlabeled_gradient", c_void_p),
        ("parameter_gradient", c_void_p),
    ]


# ---- evaluate.h ----

PURPOSES = {"training": 0, "validation": 1, "testing": 2}
POOLS = {"own": 0, "train": 1, "val": 2, "test": 3, "all": 4}
EvaluationProceed = CFUNCTYPE(c_bool, c_size_t, c_size_t, c_void_p)


class Evaluation(Structure):
    _fields_ = [
        ("accuracy", Interval),
        ("open_accuracy", Interval),
        ("clusters", Interval),
        ("clusters_per_class", c_double),
        ("unlabeled_clusters", c_double),
        ("loss", c_double),
        ("lambda", c_double),
    ]


class EvaluationOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("purpose", c_int),
        ("pool", c_int),
        ("seed", c_uint64),
        ("episodes", c_size_t),
        ("episode_statistics", c_bool),
        ("threads", c_int),
        ("proceed", EvaluationProceed),
        ("context", c_void_p),
    ]


# ---- train.h ----


class TrainTimes(Structure):
    _fields_ = [(name, c_double) for name in ("feed", "network", "method", "optimizer")]


class TrainLine(Structure):
    _fields_ = [
        ("update", c_uint64),
        ("loss", c_double),
        ("accuracy", c_double),
        ("clusters", c_double),
        ("sigma_l", c_double),
        ("sigma_u", c_double),
        ("rate", c_double),
        ("norm", c_double),
        ("validation", c_double),
        ("images_per_second", c_double),
        ("seconds", c_double),
        ("validation_open", c_double),
    ]


class TrainReport(Structure):
    _fields_ = [
        ("update", c_uint64),
        ("updates", c_uint64),
        ("times", TrainTimes),
        ("line", TrainLine),
        ("new_line", c_bool),
        ("validation", c_double),
        ("validation_open", c_double),
        ("best", c_double),
        ("best_update", c_uint64),
        ("seconds_left", c_double),
        ("has_model", c_bool),
    ]


TrainProceed = CFUNCTYPE(c_bool, POINTER(TrainReport), c_void_p)
TrainNotice = CFUNCTYPE(None, c_char_p, c_void_p)


class TrainOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("folder", c_char_p),
        ("threads", c_int),
        ("proceed", TrainProceed),
        ("context", c_void_p),
        ("notice", TrainNotice),
        ("minutes", c_double),
        ("tensorboard", c_bool),
        ("skip_broken", c_bool),
    ]


class TrainResult(Structure):
    _fields_ = [
        ("update", c_uint64),
        ("finished", c_bool),
        ("best", c_double),
        ("best_update", c_uint64),
        ("seconds", c_double),
    ]


# ---- mixture.h ----


METRICS = {
    "auto": 0,
    "as-is": 1,
    "scaled": 2,
    "standard": 3,
    "unit": 4,
    "root": 5,
    "cosine": 6,
}
WHITENINGS = {"auto": 0, False: 1, True: 2}
PRESETS = {"auto": 0, "paper": 1}


class MixtureOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rule", Rule),
        ("preset", c_int),
        ("metric", c_int),
        ("whitening", c_int),
        ("unlabeled_weight", c_double),
        ("open_set_rate", c_double),
        ("view_count", c_size_t),
        ("view_dimensions", c_void_p),
        ("view_weights", c_void_p),
        ("point_weight", c_void_p),
    ]


class MixturePredictions(Structure):
    _fields_ = [
        ("label", c_void_p),
        ("probability", c_void_p),
        ("distance", c_void_p),
        ("cluster", c_void_p),
    ]


class MixtureChoice(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("metric", c_int),
        ("whitened", c_bool),
        ("unlabeled_weight", c_double),
        ("held_out", c_size_t),
        ("loss", c_double),
        ("accuracy", c_double),
        ("open_set_distance", c_double),
        ("candidates", c_size_t),
        ("little", c_bool),
        ("every_point", c_bool),
        ("views", c_size_t),
        ("open_set_rate", c_double),
        ("open_set_points", c_size_t),
    ]


class MixtureCandidate(Structure):
    _fields_ = [
        ("metric", c_int),
        ("whitened", c_bool),
        ("lambda", c_double),
        ("loss", c_double),
    ]


class MixtureView(Structure):
    _fields_ = [
        ("dimensions", c_size_t),
        ("metric", c_int),
        ("weight", c_double),
        ("loss", c_double),
    ]


class MixtureSummary(Structure):
    _fields_ = [
        ("dimensions", c_size_t),
        ("classes", c_size_t),
        ("clusters", c_size_t),
        ("rule", Rule),
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


class ModelOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ink", c_int),
        ("embedder", c_char_p),
        ("patience", c_double),
        ("cache", c_char_p),
    ]


class ModelInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dimensions", c_size_t),
        ("channels", c_size_t),
        ("height", c_size_t),
        ("width", c_size_t),
        ("inversion", c_int),
        ("network", c_char_p),
        ("parameters", c_size_t),
        ("method", c_char_p),
        ("rule", Rule),
        ("data", c_char_p),
        ("fingerprint", c_char_p),
        ("update", c_uint64),
        ("validation", c_double),
        ("embedder", c_char_p),
        ("embedder_version", c_char_p),
        ("embedded_by", c_char_p),
    ]


class Picture(Structure):
    _fields_ = [
        ("width", c_size_t),
        ("height", c_size_t),
        ("channels", c_size_t),
        ("pixels", c_void_p),
    ]


# ---- work.h ----


class Work(Structure):
    _fields_ = [
        ("points", c_size_t),
        ("clusters", c_size_t),
        ("distances", c_double),
        ("passes", c_size_t),
        ("sentence", c_char_p),
    ]


WorkNotice = CFUNCTYPE(c_bool, POINTER(Work), c_void_p)

# The headers' names of the structures above.
STRUCTURES = {
    "imp_error": Error,
    "imp_option_info": OptionInfo,
    "imp_rule": Rule,
    "imp_cluster_options": ClusterOptions,
    "imp_clustering": Clustering,
    "imp_suggester_options": SuggesterOptions,
    "imp_suggestion": Suggestion,
    "imp_suggester_summary": SuggesterSummary,
    "imp_cluster_pair": ClusterPair,
    "imp_interval": Interval,
    "imp_glyph_options": GlyphOptions,
    "imp_dataset_options": DatasetOptions,
    "imp_class_info": ClassInfo,
    "imp_augmentation": Augmentation,
    "imp_episode_options": EpisodeOptions,
    "imp_episode": Episode,
    "imp_episode_view": EpisodeView,
    "imp_named_value": NamedValue,
    "imp_method_info": MethodInfo,
    "imp_method_options": MethodOptions,
    "imp_method_parameter": MethodParameter,
    "imp_method_result": MethodResult,
    "imp_evaluation": Evaluation,
    "imp_evaluation_options": EvaluationOptions,
    "imp_train_times": TrainTimes,
    "imp_train_line": TrainLine,
    "imp_train_report": TrainReport,
    "imp_train_options": TrainOptions,
    "imp_train_result": TrainResult,
    "imp_mixture_options": MixtureOptions,
    "imp_mixture_predictions": MixturePredictions,
    "imp_mixture_choice": MixtureChoice,
    "imp_mixture_candidate": MixtureCandidate,
    "imp_mixture_view": MixtureView,
    "imp_mixture_summary": MixtureSummary,
    "imp_mixture_cluster": MixtureCluster,
    "imp_model_options": ModelOptions,
    "imp_model_info": ModelInfo,
    "imp_picture": Picture,
    "imp_work": Work,
}

# ---- functions: what they return, what they take ----

_status, _error = c_int, POINTER(Error)
_count, _points, _labels = c_size_t, c_void_p, c_void_p
_object, _new = c_void_p, POINTER(c_void_p)

FUNCTIONS = {
    "imp_version": (c_char_p, []),
    # threads.h
    "imp_limit_threads": (c_int, [c_int]),
    # work.h
    "imp_notice_work": (None, [WorkNotice, c_void_p]),
    # cluster.h
    "imp_cluster_options_init": (None, [POINTER(ClusterOptions), _count]),
    "imp_cluster": (_status, [_points, _count, _count, POINTER(ClusterOptions), _new, _error]),
    "imp_clustering_free": (None, [_object]),
    "imp_cluster_assign": (_status, [_points, _count, _points, _count, _count, _labels, _error]),
    # suggest.h
    "imp_suggester_options_init": (None, [POINTER(SuggesterOptions), _count]),
    "imp_suggester_create": (
        _status,
        [_points, _count, _count, POINTER(SuggesterOptions), _new, _error],
    ),
    "imp_suggester_free": (None, [_object]),
    "imp_suggester_answer": (_status, [_object, _count, c_int32, _error]),
    "imp_suggester_next": (
        _status,
        [_object, _count, POINTER(Suggestion), POINTER(c_size_t), _error],
    ),
    "imp_suggester_guess": (None, [_object, _labels, _points]),
    "imp_suggester_summarize": (SuggesterSummary, [_object]),
    # metrics.h
    "imp_mean_interval": (Interval, [c_void_p, _count]),
    "imp_accuracy": (Interval, [_labels, _labels, _count]),
    "imp_contingency_create": (_status, [_labels, _labels, _count, _new, _error]),
    "imp_contingency_free": (None, [_object]),
    "imp_purity": (c_double, [_object]),
    "imp_nmi": (c_double, [_object, c_int]),
    "imp_ami": (_status, [_object, c_int, POINTER(c_double), _error]),
    "imp_adjusted_rand": (c_double, [_object]),
    # dataset.h
    "imp_split_name": (c_char_p, [c_int]),
    "imp_dataset_options_init": (None, [POINTER(DatasetOptions), _count]),
    "imp_dataset_open": (_status, [c_char_p, POINTER(DatasetOptions), _new, _error]),
    "imp_dataset_free": (None, [_object]),
    "imp_dataset_kind": (c_char_p, [_object]),
    "imp_dataset_size": (c_uint32, [_object]),
    "imp_dataset_channels": (c_uint32, [_object]),
    "imp_dataset_classes": (_count, [_object]),
    "imp_dataset_images": (_count, [_object]),
    "imp_dataset_class": (ClassInfo, [_object, _count]),
    "imp_dataset_image": (None, [_object, _count, c_void_p]),
    "imp_dataset_fingerprint": (c_char_p, [_object]),
    "imp_dataset_faults": (_count, [_object]),
    "imp_dataset_fault": (c_char_p, [_object, _count]),
    # episode.h
    "imp_episode_options_init": (None, [POINTER(EpisodeOptions), _count]),
    "imp_episode_draw": (
        _status,
        [_object, POINTER(EpisodeOptions), c_uint64, POINTER(Episode), _error],
    ),
    "imp_episode_clear": (None, [POINTER(Episode)]),
    "imp_episode_pixels": (None, [_object, POINTER(Episode), c_void_p]),
    # method.h
    "imp_method_at": (POINTER(MethodInfo), [_count]),
    "imp_method_options_init": (None, [POINTER(MethodOptions), _count]),
    "imp_method_create": (_status, [c_char_p, POINTER(MethodOptions), _new, _error]),
    "imp_method_free": (None, [_object]),
    "imp_method_parameters": (POINTER(MethodParameter), [_object, POINTER(c_size_t)]),
    "imp_method_values": (POINTER(c_double), [_object, POINTER(c_size_t)]),
    "imp_method_run": (
        _status,
        [_object, POINTER(EpisodeView), c_bool, POINTER(MethodResult), _error],
    ),
    # mixture.h
    "imp_mixture_options_init": (None, [POINTER(MixtureOptions), _count]),
    "imp_mixture_fit": (
        _status,
        [_points, _labels, _count, _count, POINTER(MixtureOptions), _new, _error],
    ),
    "imp_mixture_free": (None, [_object]),
    "imp_mixture_add": (_status, [_object, _points, _labels, _count, _count, _new, _error]),
    "imp_mixture_merge_as": (_status, [_object, _object, _labels, _new, _error]),
    "imp_mixture_forget_class": (_status, [_object, c_int32, _new, _error]),
    "imp_mixture_forget_clusters": (_status, [_object, c_void_p, _count, _new, _error]),
    "imp_mixture_keep_newest": (_status, [_object, c_uint64, _new, _error]),
    "imp_mixture_name_cluster": (_status, [_object, _count, c_int32, _new, _error]),
    "imp_mixture_predict": (
        _status,
        [_object, _points, _count, _count, c_bool, POINTER(MixturePredictions), _error],
    ),
    "imp_mixture_set_open_set_rate": (_status, [_object, c_double, _error]),
    "imp_mixture_transform": (_status, [_object, _points, _count, _count, _points, _error]),
    "imp_mixture_choice_of": (None, [_object, POINTER(MixtureChoice), _count]),
    "imp_mixture_candidate_at": (MixtureCandidate, [_object, _count]),
    "imp_mixture_view_at": (MixtureView, [_object, _count]),
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
    "imp_model_open": (_status, [c_char_p, POINTER(ModelOptions), _new, _error]),
    "imp_model_free": (None, [_object]),
    "imp_model_info_of": (POINTER(ModelInfo), [_object]),
    "imp_model_embed": (_status, [_object, _points, _count, c_int, _points, _error]),
    "imp_model_embed_pictures": (
        _status,
        [_object, POINTER(Picture), _count, c_int, _points, _error],
    ),
    "imp_model_embed_files": (
        _status,
        [_object, POINTER(c_char_p), _count, c_int, c_void_p, c_void_p, _points, _error],
    ),
    # settings.h
    "imp_settings_create": (_status, [c_char_p, _new, _error]),
    "imp_settings_free": (None, [_object]),
    "imp_settings_set": (_status, [_object, c_char_p, c_char_p, _error]),
    "imp_settings_get": (_status, [_object, c_char_p, c_char_p, _count, _error]),
    # train.h
    "imp_train_options_init": (None, [POINTER(TrainOptions), _count]),
    "imp_train": (
        _status,
        [_object, c_void_p, POINTER(TrainOptions), POINTER(TrainResult), _error],
    ),
    "imp_train_settings": (_status, [c_char_p, _new, _error]),
    "imp_train_resume": (
        _status,
        [_object, c_void_p, POINTER(TrainOptions), POINTER(TrainResult), _error],
    ),
    # evaluate.h
    "imp_evaluation_options_init": (None, [POINTER(EvaluationOptions), _count]),
    "imp_evaluation_settings": (_status, [_object, _new, _error]),
    "imp_evaluate_model": (
        _status,
        [
            _object,
            c_void_p,
            _count,
            c_void_p,
            POINTER(EvaluationOptions),
            POINTER(Evaluation),
            _error,
        ],
    ),
    # rule.h
    "imp_rule_option_at": (POINTER(OptionInfo), [_count]),
}
