/*
 * mixture_edit.c - makes mixtures from mixtures: merging two, forgetting, and naming a cluster
 * without a label.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/imp.h"
#include "methods/mixture.h"

/* Drops clusters of negative weight; the others keep their order. */
static void drop_marked(imp_clusters *clusters)
{
    size_t kept = 0;
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->weight[c] >= 0)
            imp_clusters_move(clusters, c, kept++);
    clusters->count = kept;
}

/* Ends an edit of `copy`, which may be NULL: it becomes *out or, on failure, is freed. */
static imp_status finish(imp_mixture *copy, imp_status status, imp_mixture **out, imp_error *error)
{
    if (!status && copy->chosen.any)
        status = imp_reference_place(&copy->reference, &copy->sample, error);
    if (status) {
        imp_mixture_free(copy);
        copy = NULL;
    }
    *out = copy;
    return status;
}

/* ---- merging ---- */

/* The cluster of that label nearest to the mean, if it is within lambda; otherwise clusters.count.
 */
static size_t find_partner(const imp_mixture *mixture, size_t known, int32_t label,
                           const double *mean)
{
    const imp_clusters *clusters = &mixture->clusters;
    size_t partner = clusters->count;
    double nearest = INFINITY;
    for (size_t c = 0; c < known; c++) {
        double distance = 0;
        for (size_t j = 0; j < clusters->dimensions; j++) {
            double difference = imp_clusters_mean(clusters, c)[j] - mean[j];
            distance += difference * difference;
        }
        if (clusters->label[c] == label && distance <= mixture->rule.lambda && distance < nearest) {
            nearest = distance;
            partner = c;
        }
    }
    return partner;
}

/* Clusters of `other` are merged only with those of `merged`, not with each other. */
static imp_status fuse_clusters(imp_mixture *merged, const imp_mixture *other, imp_error *error)
{
    imp_clusters *clusters = &merged->clusters;
    size_t known = clusters->count;
    for (size_t c = 0; c < other->clusters.count; c++) {
        int32_t label = other->clusters.label[c];
        size_t to = find_partner(merged, known, label, imp_clusters_mean(&other->clusters, c));
        if (to == clusters->count) {
            imp_status status =
                imp_clusters_add(clusters, label, imp_mixture_sigma(merged, label), NULL, error);
            if (status)
                return status;
        }
        clusters->weight[to] += other->clusters.weight[c];
        for (size_t j = 0; j < clusters->dimensions; j++)
            imp_clusters_sum(clusters, to)[j] += imp_clusters_sum(&other->clusters, c)[j];
        imp_mixture_place(merged, to);
    }
    return IMP_OK;
}

static bool same_views(const imp_views *a, const imp_views *b)
{
    bool same = a->count == b->count;
    for (size_t v = 0; v < a->count && same; v++)
        same = a->view[v].metric.dimensions == b->view[v].metric.dimensions;
    return same;
}

static imp_status check_alike(const imp_mixture *mixture, const imp_mixture *other,
                              imp_error *error)
{
    imp_status status = imp_mixture_check_dimensions(mixture, other->clusters.dimensions, error);
    if (!status && !same_views(&mixture->views, &other->views))
        return imp_fail(error, IMP_EINVAL, "the two mixtures have different views of points");
    if (!status && mixture->chosen.any != other->chosen.any)
        return imp_fail(error, IMP_EINVAL,
                        "the options of one mixture were chosen from the data, the other uses the "
                        "paper's; fit both in the same way");
    return status;
}

/* Class c becomes number[c]; all must differ. */
static imp_status renumber(imp_mixture *mixture, const int32_t *number, imp_error *error)
{
    imp_clusters *clusters = &mixture->clusters;
    imp_sample *sample = &mixture->sample;
    size_t classes = 0;
    for (size_t c = 0; c < mixture->classes; c++)
        for (size_t other = 0; other <= c; other++)
            if (number[c] < 0 || (other < c && number[other] == number[c]))
                return imp_fail(error, IMP_EINVAL,
                                "class %zu of the second mixture becomes class %d; it must be a "
                                "number of at least 0 that no other class becomes",
                                c, (int)number[c]);
            else if ((size_t)number[c] >= classes)
                classes = (size_t)number[c] + 1;
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->label[c] >= 0)
            clusters->label[c] = number[clusters->label[c]];
    mixture->classes = classes;
    if (!mixture->chosen.any)
        return IMP_OK;
    int32_t *label = imp_allocate(sample->count, sizeof *label);
    if (!label)
        return imp_fail_memory(error, "a mixture");
    for (size_t i = 0; i < sample->count; i++)
        label[i] = sample->label[i] >= 0 ? number[sample->label[i]] : sample->label[i];
    imp_status status = imp_sample_relabel(sample, label, classes, sample->strangers, error);
    imp_release(label);
    return status;
}

static imp_status merge(imp_mixture *merged, const imp_mixture *other, imp_error *error)
{
    if (other->classes > merged->classes)
        merged->classes = other->classes;
    imp_status status = IMP_OK;
    if (merged->chosen.any) {
        status = imp_sample_join(&merged->sample, &other->sample, error);
        return status ? status : imp_mixture_renew(merged, error);
    }
    return fuse_clusters(merged, other, error);
}

imp_status imp_mixture_merge_as(const imp_mixture *mixture, const imp_mixture *other,
                                const int32_t *number, imp_mixture **out, imp_error *error)
{
    *out = NULL;
    imp_status status = check_alike(mixture, other, error);
    if (status)
        return status;
    imp_mixture *merged = imp_mixture_copy(mixture, error);
    imp_mixture *taken = number && merged ? imp_mixture_copy(other, error) : NULL;
    if (!merged || (number && !taken))
        status = IMP_ENOMEM;
    if (!status && number)
        status = renumber(taken, number, error);
    for (size_t c = mixture->classes; taken && c < taken->classes && !status; c++) {
        bool there = false;
        for (size_t i = 0; i < taken->clusters.count && !there; i++)
            there = taken->clusters.label[i] == (int32_t)c;
        if (!there)
            status = imp_fail(error, IMP_EINVAL,
                              "no class becomes class %zu; new classes continue the numbering "
                              "without a gap",
                              c);
    }
    if (!status)
        status = merge(merged, taken ? taken : other, error);
    imp_mixture_free(taken);
    return finish(merged, status, out, error);
}

imp_status imp_mixture_merge(const imp_mixture *mixture, const imp_mixture *other,
                             imp_mixture **out, imp_error *error)
{
    return imp_mixture_merge_as(mixture, other, NULL, out, error);
}

/* ---- forgetting ---- */

/* What happens to the points in the sample of an edited mixture. */
typedef struct edit {
    imp_mixture *mixture;
    bool *gone;     /* (sample.count), */
    int32_t *label; /* (sample.count): the new label of the others */
} edit;

static imp_status begin_edit(edit *e, imp_mixture *mixture, imp_error *error)
{
    size_t count = mixture->sample.count;
    *e = (edit){mixture, imp_allocate_zeroed(count, sizeof *e->gone),
                imp_allocate(count, sizeof *e->label)};
    return e->gone && e->label ? IMP_OK : imp_fail_memory(error, "a mixture");
}

static void release_edit(edit *e)
{
    imp_release(e->gone);
    imp_release(e->label);
}

/* Drops marked clusters, which have a negative weight, and points of the sample that are `gone`;
 * the others get their new labels. */
static imp_status apply_edit(edit *e, size_t classes, imp_error *error)
{
    imp_mixture *mixture = e->mixture;
    imp_sample *sample = &mixture->sample;
    drop_marked(&mixture->clusters);
    mixture->classes = classes;
    if (!mixture->chosen.any)
        return IMP_OK;
    size_t kept = 0;
    for (size_t i = 0; i < sample->count; i++)
        if (!e->gone[i])
            e->label[kept++] = e->label[i];
    imp_sample_drop(sample, e->gone);
    const imp_clusters *clusters = &mixture->clusters;
    return imp_sample_relabel(sample, e->label, classes,
                              imp_mixture_stranger_number(clusters, clusters->count), error);
}

imp_status imp_mixture_forget_class(const imp_mixture *mixture, int32_t class, imp_mixture **out,
                                    imp_error *error)
{
    *out = NULL;
    if (class < 0 || (size_t) class >= mixture->classes)
        return imp_fail(error, IMP_EINVAL, "there is no class %d; classes are 0 to %zu", (int)class,
                        mixture->classes - 1);
    if (mixture->classes == 1)
        return imp_fail(error, IMP_EINVAL, "class 0 is the only one, and a mixture needs a class");
    imp_mixture *copy = imp_mixture_copy(mixture, error);
    if (!copy)
        return IMP_ENOMEM;
    edit e;
    imp_status status = begin_edit(&e, copy, error);
    for (size_t c = 0; c < copy->clusters.count; c++) {
        int32_t *label = &copy->clusters.label[c];
        if (*label == class)
            copy->clusters.weight[c] = -1;
        *label -= *label > class;
    }
    for (size_t i = 0; i < copy->sample.count && !status; i++) {
        int32_t label = copy->sample.label[i];
        e.gone[i] = label == class;
        e.label[i] = label - (label >= class);
    }
    /* The labels of dropped points are not among the remaining classes. */
    if (!status)
        status = apply_edit(&e, copy->classes - 1, error);
    release_edit(&e);
    return finish(copy, status, out, error);
}

/* Marks the points of the sample that belong to marked clusters. */
static imp_status mark_points(edit *e, imp_error *error)
{
    imp_mixture *mixture = e->mixture;
    const imp_clusters *clusters = &mixture->clusters;
    const imp_sample *sample = &mixture->sample;
    float *room;
    const float *rows;
    imp_status status =
        imp_mixture_enter(mixture, sample->rows, sample->count, &room, &rows, error);
    for (size_t i = 0; i < sample->count && !status; i++) {
        int32_t label = e->label[i] = sample->label[i];
        if (label >= 0) {
            double distance;
            size_t c =
                imp_nearest_cluster(clusters, rows + i * sample->dimensions, label, &distance);
            e->gone[i] = clusters->weight[c] < 0;
        }
    }
    /* The k-th cluster without a label, and how many of those before it are dropped. */
    for (size_t c = 0, k = 0, fewer = 0; c < clusters->count && !status; c++) {
        if (clusters->label[c] >= 0)
            continue;
        bool goes = clusters->weight[c] < 0;
        for (size_t i = 0; i < sample->count; i++)
            if (sample->label[i] == imp_stranger(k)) {
                e->gone[i] = goes;
                e->label[i] = imp_stranger(goes ? 0 : k - fewer);
            }
        fewer += goes;
        k++;
    }
    imp_release(room);
    return status;
}

imp_status imp_mixture_forget_clusters(const imp_mixture *mixture, const size_t *cluster,
                                       size_t count, imp_mixture **out, imp_error *error)
{
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (cluster[i] >= mixture->clusters.count)
            return imp_fail(error, IMP_EINVAL, "there is no cluster %zu; clusters are 0 to %zu",
                            cluster[i], mixture->clusters.count - 1);
    imp_mixture *copy = imp_mixture_copy(mixture, error);
    if (!copy)
        return IMP_ENOMEM;
    imp_clusters *clusters = &copy->clusters;
    for (size_t i = 0; i < count; i++)
        clusters->weight[cluster[i]] = -1;
    edit e;
    imp_status status = begin_edit(&e, copy, error);
    if (!status)
        status = mark_points(&e, error);
    for (size_t i = 0; i < count && !status; i++) {
        int32_t label = clusters->label[cluster[i]];
        bool another = label < 0 && mixture->classes > 0;
        for (size_t c = 0; c < clusters->count && !another; c++)
            another = clusters->label[c] == label && clusters->weight[c] >= 0;
        if (!another && label >= 0)
            status = imp_fail(
                error, IMP_EINVAL,
                "no other cluster of class %d would be left than cluster %zu; forget the class",
                (int)label, cluster[i]);
        else if (!another)
            status = imp_fail(error, IMP_EINVAL, "no cluster would be left");
    }
    if (!status)
        status = apply_edit(&e, copy->classes, error);
    release_edit(&e);
    return finish(copy, status, out, error);
}

imp_status imp_mixture_keep_newest(const imp_mixture *mixture, uint64_t points, imp_mixture **out,
                                   imp_error *error)
{
    *out = NULL;
    if (!mixture->chosen.any)
        return imp_fail(error, IMP_EINVAL,
                        "a mixture with the paper's rule keeps no points, so it does not know "
                        "which are old; forget classes or clusters");
    imp_mixture *copy = imp_mixture_copy(mixture, error);
    if (!copy)
        return IMP_ENOMEM;
    imp_sample *sample = &copy->sample;
    edit e;
    imp_status status = begin_edit(&e, copy, error);
    uint64_t oldest = sample->arrived < points ? 0 : sample->arrived - points;
    for (size_t i = 0; i < sample->count && !status; i++)
        e.gone[i] = sample->arrival[i] < oldest;
    if (!status)
        imp_sample_drop(sample, e.gone);
    for (size_t c = 0; c < copy->classes && !status; c++)
        if (sample->stratum[c + 1].kept == 0)
            status = imp_fail(error, IMP_EINVAL,
                              "class %zu has no point among the newest %llu, as far as the mixture "
                              "keeps them; forget the class first",
                              c, (unsigned long long)points);
    if (!status)
        status = imp_mixture_renew(copy, error);
    release_edit(&e);
    return finish(copy, status, out, error);
}

/* ---- naming ---- */

imp_status imp_mixture_name_cluster(const imp_mixture *mixture, size_t cluster, int32_t class,
                                    imp_mixture **out, imp_error *error)
{
    *out = NULL;
    const imp_clusters *old = &mixture->clusters;
    if (cluster >= old->count)
        return imp_fail(error, IMP_EINVAL, "there is no cluster %zu; clusters are 0 to %zu",
                        cluster, old->count - 1);
    if (old->label[cluster] >= 0)
        return imp_fail(error, IMP_EINVAL,
                        "cluster %zu is of class %d; only clusters without a label can be named",
                        cluster, (int)old->label[cluster]);
    if (class < 0 || (size_t) class > mixture->classes)
        return imp_fail(
            error, IMP_EINVAL,
            "class %d cannot be named; classes are numbered from 0 on, and the next one "
            "is %zu",
            (int)class, mixture->classes);
    imp_mixture *copy = imp_mixture_copy(mixture, error);
    if (!copy)
        return IMP_ENOMEM;
    imp_clusters *clusters = &copy->clusters;
    int32_t number = imp_stranger(imp_mixture_stranger_number(clusters, cluster));
    clusters->label[cluster] = class;
    imp_clusters_set_density(clusters, cluster, copy->rule.sigma_l, 0);
    copy->chosen.labeled_mass += copy->chosen.any ? clusters->weight[cluster] : 0;
    edit e;
    imp_status status = begin_edit(&e, copy, error);
    for (size_t i = 0; i < copy->sample.count && !status; i++) {
        int32_t label = copy->sample.label[i];
        e.label[i] = label == number ? class : label + (label < number);
    }
    if (!status)
        status = apply_edit(&e, (size_t) class == copy->classes ? copy->classes + 1 : copy->classes,
                            error);
    release_edit(&e);
    return finish(copy, status, out, error);
}
