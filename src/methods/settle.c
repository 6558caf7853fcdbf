/*
 * settle.c - Algorithm 1 with unlabelled points that weigh less than labelled ones.
 *
 * Growing (step 3) is the paper's, with one threshold for labelled points and another for the
 * others. A labelled point belongs to the nearest cluster of its class, so that the initial class
 * mean of a multi-modal class disappears; an unlabelled one has soft shares (step 4), which are
 * weighted in the means of labelled clusters (step 5). At a threshold of 0 every labelled point is
 * a cluster and there are no class means, so the nearest neighbour decides.
 */
#include "methods/settle.h"

#include <math.h>

#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/imp.h"

static imp_points labeled_points(const imp_settling *given)
{
    return (imp_points){.dimensions = given->dimensions,
                        .first = given->labeled,
                        .label = given->label,
                        .first_count = given->labeled_count};
}

static double weight_of(const imp_settling *given, size_t i)
{
    return given->labeled_weight ? given->labeled_weight[i] : 1;
}

/* Whether unlabelled points do anything. */
static bool are_free(const imp_settling *given)
{
    return given->unlabeled->count > 0 && (given->weight > 0 || isfinite(given->lambda_u));
}

/* ---- unlabelled points, some at a time ---- */

enum { TOGETHER = 1024, PART = 64, PARTS = TOGETHER / PART, LEAST_PIECE = 16 };

/* Unlabelled points that threads divide among themselves. */
typedef struct crowd {
    const imp_settling *given;
    imp_clusters *clusters;
    imp_points points; /* labelled ones, then a block */
    size_t begin, end; /* up to TOGETHER of the block */
    int threads;
    double *z;     /* (threads, room): scratch */
    size_t room;   /* clusters */
    size_t pieces; /* of the dimensions, for sums */
    double distance[TOGETHER];
    imp_shares shares[PARTS];
    imp_first_failure failure;
} crowd;

static size_t parts_of(const crowd *some)
{
    return (some->end - some->begin + PART - 1) / PART;
}

static size_t end_of(const crowd *some, size_t begin)
{
    return some->end - begin < PART ? some->end : begin + PART;
}

/* Scratch for the clusters there are. */
static imp_status make_room(crowd *some, imp_error *error)
{
    size_t values, k = some->clusters->count;
    if (k <= some->room)
        return IMP_OK;
    imp_release(some->z);
    some->room = 0;
    some->z = imp_multiply(k, (size_t)some->threads, &values)
                  ? imp_allocate(values, sizeof *some->z)
                  : NULL;
    if (!some->z)
        return imp_fail_memory(error, "shares of points");
    some->room = k;
    return IMP_OK;
}

/* What is done with them. */
typedef imp_status visit(crowd *some, imp_error *error);

/* Takes the unlabelled points from the state's on, in order and a block at a time. */
static imp_status each_block(const imp_settling *given, imp_clusters *clusters,
                             imp_cluster_state *state, visit *take, imp_error *error)
{
    const imp_point_source *source = given->unlabeled;
    imp_reader reader;
    crowd some = {.given = given,
                  .clusters = clusters,
                  .points = labeled_points(given),
                  .threads = imp_parallel_threads(given->crew ? given->crew->threads : 0)};
    size_t d = given->dimensions;
    some.pieces = d / LEAST_PIECE < (size_t)some.threads ? d / LEAST_PIECE : (size_t)some.threads;
    some.pieces = some.pieces > 0 ? some.pieces : 1;
    imp_status status = imp_reader_create(&reader, source, NULL, imp_source_block(source), error);
    for (size_t end; state->done < source->count && !status;) {
        size_t begin = state->done;
        end = source->count - begin < reader.most ? source->count : begin + reader.most;
        some.points.second_count = some.points.unlabeled_count = end - begin;
        status = imp_reader_read(&reader, begin, end - begin, &some.points.second, error);
        for (some.begin = 0; some.begin < end - begin && !status; some.begin = some.end) {
            size_t left = end - begin - some.begin;
            some.end = some.begin + (left < TOGETHER ? left : TOGETHER);
            status = take(&some, error);
        }
        if (status)
            break;
        state->done = end;
        if (given->crew)
            status = imp_crew_done(given->crew, begin, end, error);
    }
    for (size_t i = 0; i < PARTS; i++)
        imp_shares_release(&some.shares[i]);
    imp_release(some.z);
    imp_reader_release(&reader);
    return status;
}

/* ---- step 3 ---- */

static void measure_part(size_t part, int worker, void *context)
{
    (void)worker;
    crowd *some = context;
    size_t begin = some->begin + part * PART, end = end_of(some, begin);
    for (size_t i = begin; i < end; i++)
        imp_nearest_cluster(some->clusters, some->points.second + i * some->given->dimensions,
                            IMP_UNLABELED, &some->distance[i - some->begin]);
}

/* Step 3 for unlabelled points: those far from all clusters there are at first are compared with
 * the ones that others start. */
static imp_status grow(crowd *some, imp_error *error)
{
    const imp_settling *given = some->given;
    imp_clusters *clusters = some->clusters;
    size_t known = clusters->count;
    imp_status status = IMP_OK;
    imp_parallel(parts_of(some), some->threads, measure_part, some);
    for (size_t i = some->begin; i < some->end && !status; i++) {
        const float *x = some->points.second + i * given->dimensions;
        bool far = some->distance[i - some->begin] > given->lambda_u;
        for (size_t c = known; c < clusters->count && far; c++)
            far = imp_clusters_distance(clusters, c, x) > given->lambda_u;
        if (far)
            status = imp_clusters_add(clusters, IMP_UNLABELED, given->sigma, x, error);
    }
    return status;
}

/* One cluster per class, and those that lambda adds. */
static imp_status start(const imp_settling *given, imp_clusters *clusters, imp_error *error)
{
    imp_points points = labeled_points(given);
    double sigma = given->sigma;
    imp_status status = IMP_OK;
    imp_clusters_restart(clusters, given->dimensions);
    if (given->lambda > 0) {
        status = imp_clusters_add_class_means(clusters, &points, given->way, sigma, error);
        if (!status && isfinite(given->lambda))
            status = imp_grow_clusters(clusters, &points, given->lambda, sigma, sigma, NULL, error);
    }
    for (size_t i = 0; i < given->labeled_count && !status && given->lambda == 0; i++) {
        const float *x = given->labeled + i * given->dimensions;
        status = imp_clusters_add(clusters, given->label[i], sigma, x, error);
    }
    return status;
}

/* ---- steps 4 and 5 ---- */

static void share_part(size_t part, int worker, void *context)
{
    crowd *some = context;
    size_t labeled = some->given->labeled_count, begin = some->begin + part * PART;
    imp_shares *shares = &some->shares[part];
    imp_error error;
    shares->count = 0;
    imp_status status = imp_assign_softly(some->clusters, &some->points, labeled + begin,
                                          labeled + end_of(some, begin),
                                          some->z + (size_t)worker * some->room, shares, &error);
    imp_first_failure_note(&some->failure, part, status, &error);
    for (size_t i = 0; i < shares->count; i++)
        if (some->clusters->label[shares->share[i].cluster] >= 0)
            shares->share[i].z *= some->given->weight;
}

static void sum_piece(size_t piece, int worker, void *context)
{
    (void)worker;
    crowd *some = context;
    size_t d = some->given->dimensions;
    for (size_t part = 0; part < parts_of(some); part++)
        imp_means_add_to(some->clusters, &some->points, &some->shares[part],
                         imp_block_begin(d, some->pieces, piece),
                         imp_block_begin(d, some->pieces, piece + 1));
}

/* Step 4 for unlabelled points, and their part of step 5. A number is summed by one thread, in the
 * order of the points. */
static imp_status share(crowd *some, imp_error *error)
{
    imp_status status = make_room(some, error);
    if (status)
        return status;
    imp_first_failure_begin(&some->failure);
    imp_parallel(parts_of(some), some->threads, share_part, some);
    status = imp_first_failure_end(&some->failure, error);
    if (!status)
        imp_parallel(some->pieces, some->threads, sum_piece, some);
    return status;
}

/* The part of labelled points in steps 4 and 5. */
static imp_status share_labeled(const imp_settling *given, imp_clusters *clusters, imp_error *error)
{
    const imp_points points = labeled_points(given);
    imp_shares shares = {0};
    imp_status status = IMP_OK;
    imp_means_begin(clusters);
    for (size_t i = 0; i < given->labeled_count && !status; i++) {
        double distance;
        const float *x = given->labeled + i * given->dimensions;
        size_t c = imp_nearest_cluster(clusters, x, given->label[i], &distance);
        status = imp_shares_add(&shares, i, c, weight_of(given, i), error);
    }
    if (!status)
        imp_means_add(clusters, &points, &shares);
    imp_shares_release(&shares);
    return status;
}

static imp_status refine(const imp_settling *given, imp_clusters *clusters,
                         imp_cluster_state *state, imp_error *error)
{
    imp_status status = state->done == 0 ? share_labeled(given, clusters, error) : IMP_OK;
    if (!status && are_free(given))
        status = each_block(given, clusters, state, share, error);
    if (!status)
        imp_means_finish(clusters, NULL);
    return status;
}

/* ---- Algorithm 1 ---- */

/* Every labelled point stays a cluster. */
static void keep_points(const imp_settling *given, imp_clusters *clusters)
{
    for (size_t i = 0; i < clusters->count; i++) {
        double weight = clusters->weight[i] = weight_of(given, i);
        for (size_t j = 0; j < given->dimensions; j++)
            imp_clusters_sum(clusters, i)[j] = weight * imp_clusters_mean(clusters, i)[j];
    }
}

imp_status imp_settle(const imp_settling *given, imp_clusters *clusters, imp_error *error)
{
    imp_cluster_state own = {0}, *state = given->state ? given->state : &own;
    imp_status status = given->resumed ? IMP_OK : start(given, clusters, error);
    if (!status && state->part == IMP_PART_FIRST) {
        if (isfinite(given->lambda_u))
            status = each_block(given, clusters, state, grow, error);
        if (status)
            return status;
        state->part = IMP_PART_MEANS;
        state->done = 0;
    }
    if (!status && given->lambda == 0 && !are_free(given)) {
        keep_points(given, clusters);
        return IMP_OK;
    }
    for (; state->passes < given->steps && !status; state->passes++) {
        status = refine(given, clusters, state, error);
        if (status)
            return status;
        state->done = 0;
    }
    return status ? status : imp_check_classes(clusters, given->way, error);
}
