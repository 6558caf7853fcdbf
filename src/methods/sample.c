/*
 * sample.c - decides which of all points stay in the sample.
 *
 * Every point has a random priority, which depends only on how many points came before it. If there
 * is no room, the point of lowest priority of the largest kind is dropped; so each kind keeps those
 * of highest priority, however the points were divided into calls.
 */
#include "methods/sample.h"

#include <string.h>

#include <imp/method.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

enum {
    ENOUGH = 5,    /* points with which a class counts as known */
    PART_NEW = 4,  /* choose again when one in this many points is new */
    PART_KINDS = 4 /* or one in this many classes */
};

/* The priority of a point: the smaller, the better; never 0. */
static uint64_t place_of(uint64_t arrival)
{
    imp_random random = imp_random_start(0, IMP_STREAM_SAMPLE, arrival);
    return imp_random_u64(&random) | 1;
}

/* The index of a kind, given the number of classes. */
static size_t kind_of(int32_t label, size_t classes)
{
    return label >= IMP_UNLABELED ? (size_t)(label + 1) : classes + 1 + (size_t)(-2 - label);
}

static imp_stratum *stratum_of(const imp_sample *sample, int32_t label)
{
    return &sample->stratum[kind_of(label, sample->classes)];
}

static size_t most_labeled(const imp_sample *sample)
{
    return 2 * sample->classes > IMP_MOST_LABELED ? 2 * sample->classes : IMP_MOST_LABELED;
}

/* Replaces the kinds and their counts. */
static void take_kinds(imp_sample *sample, size_t classes, size_t strangers, double *seen,
                       imp_stratum *stratum)
{
    imp_release(sample->seen);
    imp_release(sample->stratum);
    sample->seen = seen;
    sample->stratum = stratum;
    sample->classes = classes;
    sample->strangers = strangers;
    imp_sample_count(sample);
}

/* Zeroed arrays for take_kinds(). */
static imp_status make_kinds(size_t kinds, double **seen, imp_stratum **stratum, imp_error *error)
{
    *seen = imp_allocate_zeroed(kinds, sizeof **seen);
    *stratum = imp_allocate_zeroed(kinds, sizeof **stratum);
    if (*seen && *stratum)
        return IMP_OK;
    imp_release(*seen);
    imp_release(*stratum);
    return imp_fail_memory(error, "points that a mixture keeps");
}

imp_status imp_sample_make_room(imp_sample *sample, size_t classes, size_t strangers,
                                imp_error *error)
{
    if (sample->seen && classes <= sample->classes && strangers <= sample->strangers)
        return IMP_OK;
    classes = classes < sample->classes ? sample->classes : classes;
    strangers = strangers < sample->strangers ? sample->strangers : strangers;
    double *seen;
    imp_stratum *stratum;
    imp_status status = make_kinds(1 + classes + strangers, &seen, &stratum, error);
    if (status)
        return status;
    if (sample->seen) {
        memcpy(seen, sample->seen, (1 + sample->classes) * sizeof *seen);
        memcpy(seen + 1 + classes, sample->seen + 1 + sample->classes,
               sample->strangers * sizeof *seen);
    }
    take_kinds(sample, classes, strangers, seen, stratum);
    return IMP_OK;
}

/* Makes room for one more point, growing geometrically. */
static imp_status enlarge(imp_sample *sample, imp_error *error)
{
    if (sample->count < sample->room)
        return IMP_OK;
    size_t count = sample->count, room = count + count / 2 + 16, d = sample->dimensions;
    float *rows = imp_enlarge(sample->rows, count * d, room * d, sizeof *rows);
    int32_t *label = imp_enlarge(sample->label, count, room, sizeof *label);
    double *weight = imp_enlarge(sample->weight, count, room, sizeof *weight);
    uint64_t *arrival = imp_enlarge(sample->arrival, count, room, sizeof *arrival);
    bool enough = rows && label && weight && arrival;
    imp_release(enough ? sample->rows : rows);
    imp_release(enough ? sample->label : label);
    imp_release(enough ? sample->weight : weight);
    imp_release(enough ? sample->arrival : arrival);
    if (!enough)
        return imp_fail_memory(error, "points that a mixture keeps");
    sample->rows = rows;
    sample->label = label;
    sample->weight = weight;
    sample->arrival = arrival;
    sample->room = room;
    return IMP_OK;
}

/* The largest kind that a point of kind `own`, not counted yet, competes with; ties go to its own.
 */
static int32_t largest(const imp_sample *sample, int32_t own)
{
    int32_t label = own;
    size_t most = stratum_of(sample, own)->kept + 1;
    for (size_t c = 0; c < sample->classes && own >= 0; c++)
        if (sample->stratum[c + 1].kept > most) {
            most = sample->stratum[c + 1].kept;
            label = (int32_t)c;
        }
    for (size_t k = 0; k <= sample->strangers && own < 0; k++) {
        int32_t other = k == 0 ? IMP_UNLABELED : imp_stranger(k - 1);
        if (stratum_of(sample, other)->kept > most) {
            most = stratum_of(sample, other)->kept;
            label = other;
        }
    }
    return label;
}

/* The point of that kind with the last priority. */
static size_t last_in_line(const imp_sample *sample, int32_t label)
{
    size_t last = sample->count;
    uint64_t worst = 0;
    for (size_t i = 0; i < sample->count; i++)
        if (sample->label[i] == label && place_of(sample->arrival[i]) > worst) {
            worst = place_of(sample->arrival[i]);
            last = i;
        }
    return last;
}

static void put(imp_sample *sample, size_t i, const float *x, int32_t label, double weight,
                uint64_t arrival)
{
    memcpy(sample->rows + i * sample->dimensions, x, sample->dimensions * sizeof *x);
    sample->label[i] = label;
    sample->weight[i] = weight;
    sample->arrival[i] = arrival;
    stratum_of(sample, label)->kept++;
    stratum_of(sample, label)->worst = 0;
    sample->labeled_kept += label >= 0;
    sample->news++;
}

/* Keeps the point if there is room or its priority is better than another's. */
static imp_status keep(imp_sample *sample, const float *x, int32_t label, double weight,
                       uint64_t arrival, imp_error *error)
{
    size_t in_use = label >= 0 ? sample->labeled_kept : sample->count - sample->labeled_kept;
    if (in_use < (label >= 0 ? most_labeled(sample) : IMP_MOST_FREE)) {
        imp_status status = enlarge(sample, error);
        if (!status)
            put(sample, sample->count++, x, label, weight, arrival);
        return status;
    }
    int32_t from = largest(sample, label);
    imp_stratum *stratum = stratum_of(sample, from);
    if (from == label && stratum->worst > 0 && place_of(arrival) > stratum->worst)
        return IMP_OK;
    size_t last = last_in_line(sample, from);
    if (last < sample->count)
        stratum->worst = place_of(sample->arrival[last]);
    if (last == sample->count || (from == label && place_of(arrival) > stratum->worst))
        return IMP_OK;
    stratum->kept--;
    stratum->worst = 0;
    sample->labeled_kept -= from >= 0;
    put(sample, last, x, label, weight, arrival);
    return IMP_OK;
}

imp_status imp_sample_add(imp_sample *sample, const float *x, int32_t label, double weight,
                          imp_error *error)
{
    imp_status status = keep(sample, x, label, weight, sample->arrived, error);
    if (status)
        return status;
    sample->arrived++;
    sample->seen[kind_of(label, sample->classes)]++;
    return IMP_OK;
}

double imp_sample_share(const imp_sample *sample, size_t i)
{
    size_t kind = kind_of(sample->label[i], sample->classes);
    return sample->seen[kind] / (double)sample->stratum[kind].kept;
}

bool imp_sample_count(imp_sample *sample)
{
    sample->labeled_kept = 0;
    for (size_t k = 0; k < 1 + sample->classes + sample->strangers; k++)
        sample->stratum[k] = (imp_stratum){0};
    for (size_t i = 0; i < sample->count; i++) {
        int32_t label = sample->label[i];
        bool known = label >= IMP_UNLABELED ? label < (int64_t)sample->classes
                                            : -2 - (int64_t)label < (int64_t)sample->strangers;
        if (!known)
            return false;
        stratum_of(sample, label)->kept++;
        sample->labeled_kept += label >= 0;
    }
    return true;
}

imp_status imp_sample_relabel(imp_sample *sample, const int32_t *label, size_t classes,
                              size_t strangers, imp_error *error)
{
    double *seen;
    imp_stratum *stratum;
    imp_status status = make_kinds(1 + classes + strangers, &seen, &stratum, error);
    if (status)
        return status;
    for (size_t i = 0; i < sample->count; i++)
        seen[kind_of(label[i], classes)] += imp_sample_share(sample, i);
    memcpy(sample->label, label, sample->count * sizeof *label);
    take_kinds(sample, classes, strangers, seen, stratum);
    return IMP_OK;
}

void imp_sample_drop(imp_sample *sample, const bool *gone)
{
    size_t kept = 0, d = sample->dimensions;
    for (size_t i = 0; i < sample->count; i++)
        if (gone[i]) {
            size_t kind = kind_of(sample->label[i], sample->classes);
            sample->seen[kind] -= imp_sample_share(sample, i);
            sample->stratum[kind].kept--;
        }
    for (size_t i = 0; i < sample->count; i++) {
        if (gone[i])
            continue;
        if (i != kept)
            memcpy(sample->rows + kept * d, sample->rows + i * d, d * sizeof *sample->rows);
        sample->label[kept] = sample->label[i];
        sample->weight[kept] = sample->weight[i];
        sample->arrival[kept++] = sample->arrival[i];
    }
    sample->count = kept;
    imp_sample_count(sample);
}

imp_status imp_sample_join(imp_sample *sample, const imp_sample *other, imp_error *error)
{
    size_t strangers = sample->strangers;
    imp_status status =
        imp_sample_make_room(sample, other->classes, strangers + other->strangers, error);
    for (size_t i = 0; i < other->count && !status; i++) {
        int32_t label = other->label[i];
        if (label < IMP_UNLABELED)
            label -= (int32_t)strangers;
        status = keep(sample, other->rows + i * other->dimensions, label, other->weight[i],
                      sample->arrived + other->arrival[i], error);
    }
    for (size_t c = 0; c <= other->classes && !status; c++)
        sample->seen[c] += other->seen[c];
    for (size_t k = 0; k < other->strangers && !status; k++)
        sample->seen[1 + sample->classes + strangers + k] += other->seen[1 + other->classes + k];
    sample->arrived += status ? 0 : other->arrived;
    return status;
}

static size_t known_classes(const imp_sample *sample)
{
    size_t known = 0;
    for (size_t c = 1; c <= sample->classes; c++)
        known += sample->stratum[c].kept >= ENOUGH;
    return known;
}

bool imp_sample_is_due(const imp_sample *sample)
{
    if (sample->news * PART_NEW >= sample->base && sample->news > 0)
        return true;
    size_t known = known_classes(sample);
    return known > sample->kinds && (known - sample->kinds) * PART_KINDS >= sample->kinds;
}

void imp_sample_settle(imp_sample *sample)
{
    sample->news = 0;
    sample->base = sample->count;
    sample->kinds = known_classes(sample);
}

imp_status imp_sample_copy(const imp_sample *from, imp_sample *to, imp_error *error)
{
    size_t n = from->count;
    *to = *from;
    to->room = n;
    to->rows =
        imp_enlarge(from->rows, n * from->dimensions, n * from->dimensions, sizeof *to->rows);
    to->label = imp_enlarge(from->label, n, n, sizeof *to->label);
    to->weight = imp_enlarge(from->weight, n, n, sizeof *to->weight);
    to->arrival = imp_enlarge(from->arrival, n, n, sizeof *to->arrival);
    size_t kinds = from->seen ? 1 + from->classes + from->strangers : 0;
    to->seen = kinds ? imp_enlarge(from->seen, kinds, kinds, sizeof *to->seen) : NULL;
    to->stratum = kinds ? imp_enlarge(from->stratum, kinds, kinds, sizeof *to->stratum) : NULL;
    bool whole = to->rows && to->label && to->weight && to->arrival &&
                 (kinds == 0 || (to->seen && to->stratum));
    return whole ? IMP_OK : imp_fail_memory(error, "points that a mixture keeps");
}

void imp_sample_release(imp_sample *sample)
{
    imp_release(sample->rows);
    imp_release(sample->label);
    imp_release(sample->weight);
    imp_release(sample->arrival);
    imp_release(sample->seen);
    imp_release(sample->stratum);
    *sample = (imp_sample){0};
}
