/*
 * work.c - estimates how many clusters a threshold will make, and tells of work that grows with the
 * square of the points.
 *
 * A sample of the points is taken one after the other, and each that is farther than the threshold
 * from all that started clusters before it starts one. How the number grew over the second half of
 * the sample tells how it will go on. Where there are more clusters than the sample has points, few
 * of them are met twice, and it seems that every point will start one; so a larger sample has to
 * confirm what a small one says.
 */
#include "methods/work.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "methods/clusters.h"
#include "methods/gaussian.h"

enum {
    SAMPLE = 512,  /* points, */
    LARGE = 4096,  /* and those that confirm what these say */
    MANY = 16,     /* one cluster for so many points, or more, and the work counts as quadratic */
    OVERHEAD = 16, /* what a distance costs besides its dimensions, such as an exponential */
};

/* Products, in all passes, that take more than a moment: several seconds of one thread. The
 * estimate itself may take a part of one. */
static const double moment = 1e10, part = 0.2;

static _Thread_local imp_work_notice *notice;
static _Thread_local void *notice_context;

void imp_notice_work(imp_work_notice *wanted, void *context)
{
    notice = wanted;
    notice_context = context;
}

/* ---- the estimate ---- */

/* A sample that is clustered. */
typedef struct trial {
    const imp_plan_of_work *plan;
    size_t count;
    uint32_t number[LARGE];  /* its points, */
    const float *rows;       /* (count, dimensions) */
    size_t leader[LARGE];    /* those that started clusters, */
    size_t leaders, halfway; /* their number, and that of the first half */
    double compared, all;    /* pairs of a point and a leader: that may be compared, and all */
} trial;

static int32_t label_of(const trial *t, size_t i)
{
    return imp_source_label(t->plan->source, t->number[i]);
}

static void lead(trial *t, size_t i)
{
    size_t d = t->plan->source->dimensions;
    int32_t label = label_of(t, i);
    double lambda = label < 0 ? t->plan->lambda_u : t->plan->lambda;
    bool near = false;
    for (size_t k = 0; k < t->leaders; k++) {
        size_t other = t->leader[k];
        bool may = imp_may_join(label, label_of(t, other));
        t->compared += may;
        t->all++;
        near = near ||
               (may && imp_distance_between(t->rows + i * d, t->rows + other * d, d) <= lambda);
    }
    if (!near)
        t->leader[t->leaders++] = i;
}

/* One point of each of as many equal intervals, shuffled. */
static void draw(trial *t, size_t most)
{
    size_t n = t->plan->source->count;
    imp_random random = imp_random_start(1, IMP_STREAM_HELD_OUT, 2);
    t->count = n < most ? n : most;
    for (size_t i = 0; i < t->count; i++) {
        size_t begin = imp_block_begin(n, t->count, i), end = imp_block_begin(n, t->count, i + 1);
        t->number[i] = (uint32_t)(begin + imp_random_below(&random, (uint32_t)(end - begin)));
    }
    imp_random_shuffle(&random, t->number, t->count);
}

/* The number of clusters that all points will have started, if it grows by the power law that it
 * grew by in the sample. */
static double extrapolate(const trial *t)
{
    double n = (double)t->plan->source->count, count = (double)t->count;
    double doubling = (double)t->leaders / (double)(t->halfway > 0 ? t->halfway : 1);
    double power = fmin(fmax(log2(doubling), 0), 1);
    return fmin(n, (double)t->leaders * pow(n / count, power));
}

static imp_status estimate(trial *t, size_t most, imp_work *work, imp_error *error)
{
    const imp_plan_of_work *plan = t->plan;
    imp_reader reader;
    t->leaders = t->halfway = 0;
    t->compared = t->all = 0;
    draw(t, most);
    imp_status status = imp_reader_create(&reader, plan->source, t->number, t->count, error);
    if (!status)
        status = imp_reader_read(&reader, 0, t->count, &t->rows, error);
    for (size_t i = 0; i < t->count && !status; i++) {
        if (i == t->count / 2)
            t->halfway = t->leaders;
        lead(t, i);
    }
    imp_reader_release(&reader);
    double share = t->all > 0 ? t->compared / t->all : 1;
    work->clusters = (size_t)fmax((double)plan->clusters, extrapolate(t));
    work->distances = share * (double)work->points * (double)work->clusters;
    return status;
}

/* ---- telling ---- */

static double products(const imp_work *work, size_t d)
{
    double passes = work->passes > 0 ? (double)work->passes : 1;
    return passes * work->distances * (double)(d + OVERHEAD);
}

static bool is_quadratic(const imp_work *work, size_t d)
{
    return work->clusters >= work->points / MANY && products(work, d) >= moment;
}

static imp_status tell(imp_work *work, imp_error *error)
{
    char sentence[300], each[40] = "";
    if (work->passes > 1)
        snprintf(each, sizeof each, " in each of %zu passes", work->passes);
    else if (work->passes == 0)
        snprintf(each, sizeof each, " in each pass");
    snprintf(sentence, sizeof sentence,
             "%zu points will make about %zu clusters, so time grows with the square of the "
             "points: about %.1g distances%s; fewer clusters, as of a larger lambda, take less",
             work->points, work->clusters, work->distances, each);
    work->sentence = sentence;
    bool begin = notice(work, notice_context);
    work->sentence = NULL;
    return begin ? IMP_OK : imp_fail(error, IMP_EIO, "the work was not begun: it was declined");
}

/* Points of the sample that confirms a small one's estimate: fewer of many dimensions. */
static size_t confirming(size_t d)
{
    return (size_t)fmin(LARGE, fmax(SAMPLE, sqrt(part * moment / (double)(d + OVERHEAD))));
}

imp_status imp_foresee(const imp_plan_of_work *plan, imp_error *error)
{
    size_t n = plan->source->count, d = plan->source->dimensions;
    imp_work work = {.points = n,
                     .distances = (double)n * fmax((double)plan->clusters, (double)n),
                     .passes = plan->passes};
    if (!notice || n == 0 || products(&work, d) < moment)
        return IMP_OK;
    trial *t = imp_allocate_zeroed(1, sizeof *t);
    if (!t)
        return imp_fail_memory(error, "an estimate of the work");
    t->plan = plan;
    imp_status status = estimate(t, SAMPLE, &work, error);
    if (!status && is_quadratic(&work, d) && confirming(d) > SAMPLE && plan->clusters < n / MANY)
        status = estimate(t, confirming(d), &work, error);
    imp_release(t);
    return status || !is_quadratic(&work, d) ? status : tell(&work, error);
}
