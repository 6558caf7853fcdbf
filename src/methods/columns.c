/*
 * columns.c - assigns clusters to columns.
 *
 * Clusters are sorted into sections of equal density parameters and, within a section, by class. A
 * class is divided into slots of at most DEEPEST clusters, as evenly as possible; slots of about
 * the same depth are placed side by side in groups as wide as a vector, and a last group with few
 * slots gives each several lanes, so that few columns stay empty.
 */
#include "methods/columns.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { DEEPEST = 16, LINE = 16 }; /* scores of a cache line */

#define LEAST_REACH 1e-300 /* so that the step is never 0 */

/* A cluster to be placed in a column. */
typedef struct member {
    uint32_t section, class, cluster;
} member;

typedef struct slot {
    uint32_t class, first, depth; /* its members */
} slot;

static int compare_members(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* Deepest first. */
static int compare_slots(const void *a, const void *b)
{
    const slot *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static double distance_from_origin(const imp_columns *columns, const double *mean)
{
    double sum = 0;
    for (size_t j = 0; j < columns->frame.dimensions; j++)
        sum += pow(mean[j] - columns->frame.origin[j], 2);
    return sqrt(sum);
}

/* The section of cluster c, created if necessary; false if there are too many. */
static bool find_section(imp_columns *columns, const imp_clusters *clusters, size_t c,
                         uint32_t *found)
{
    double sigma = clusters->sigma[c], offset = clusters->offset[c];
    size_t s = 0;
    while (s < columns->sections &&
           (columns->section[s].sigma != sigma || columns->section[s].offset != offset))
        s++;
    *found = (uint32_t)s;
    if (s == IMP_MOST_SECTIONS)
        return false;
    if (s == columns->sections)
        columns->section[columns->sections++] =
            (imp_section){.sigma = sigma, .offset = offset, .half = 1 / (2 * sigma)};
    return true;
}

/* Sorts the clusters into members of sections and strays. */
static bool choose_members(imp_columns *columns, const imp_clusters *clusters, size_t classes,
                           bool unlabeled, member *members, size_t *count)
{
    *count = 0;
    for (size_t c = 0; c < clusters->count; c++) {
        int32_t label = clusters->label[c];
        if (label < 0 && !unlabeled)
            continue;
        double far = distance_from_origin(columns, imp_clusters_mean(clusters, c));
        if (far > columns->frame.radius) {
            columns->stray[columns->strays++] = (uint32_t)c;
            continue;
        }
        columns->frame.reach = fmax(columns->frame.reach, far);
        member m = {.class = label < 0 ? (uint32_t)classes : (uint32_t)label,
                    .cluster = (uint32_t)c};
        if (!find_section(columns, clusters, c, &m.section))
            return false;
        members[(*count)++] = m;
    }
    return true;
}

/* Divides members first .. end-1, all of one section, into slots; returns how many. */
static size_t cut_slots(const member *members, size_t first, size_t end, slot *slots)
{
    size_t count = 0;
    while (first < end) {
        size_t next = first;
        while (next < end && members[next].class == members[first].class)
            next++;
        size_t length = next - first, parts = (length + DEEPEST - 1) / DEEPEST;
        for (size_t p = 0; p < parts; p++) {
            size_t begin = imp_block_begin(length, parts, p);
            slots[count++] =
                (slot){.class = members[first].class,
                       .first = (uint32_t)(first + begin),
                       .depth = (uint32_t)(imp_block_begin(length, parts, p + 1) - begin)};
        }
        first = next;
    }
    qsort(slots, count, sizeof *slots, compare_slots);
    return count;
}

/* A group for that many slots, of which the first is the deepest: no wider than they need. */
static imp_slot_group group_for(size_t slots, uint32_t depth, uint32_t lanes)
{
    imp_slot_group group = {.depth = depth, .width = lanes};
    for (; group.width / 2 >= slots && group.depth > 1; group.width /= 2)
        group.depth = (group.depth + 1) / 2;
    return group;
}

/* Places slots side by side, group after group, and pads the section's last panel. */
static void place_slots(imp_columns *columns, imp_section *section, const member *members,
                        const slot *slots, size_t count)
{
    const imp_kernels *kernels = columns->frame.kernels;
    size_t lanes = kernels->lanes, width = kernels->nearest_width;
    section->begin = columns->count;
    section->first_group = columns->groups;
    for (size_t first = 0; first < count; first += lanes) {
        const imp_slot_group group = group_for(count - first, slots[first].depth, (uint32_t)lanes);
        for (size_t lane = 0; lane < lanes; lane++) {
            size_t at = columns->groups * lanes + lane, place = first + lane % group.width;
            const slot *s = place < count ? &slots[place] : NULL;
            columns->slot_class[at] = s && lane < group.width ? (int32_t)s->class : -1;
            columns->column[at] = (uint32_t)(columns->count + lane);
            for (size_t row = 0; row < group.depth; row++) {
                size_t number = lane / group.width * group.depth + row;
                columns->cluster[columns->count + row * lanes + lane] =
                    s && number < s->depth ? (int32_t)members[s->first + number].cluster : -1;
            }
        }
        columns->group[columns->groups++] = group;
        columns->count += group.depth * lanes;
    }
    while (columns->count % width != 0)
        columns->cluster[columns->count++] = -1;
    section->end = columns->count;
    section->end_group = columns->groups;
}

static void arrange(imp_columns *columns, member *members, size_t count, slot *slots)
{
    qsort(members, count, sizeof *members, compare_members);
    size_t first = 0;
    for (size_t s = 0; s < columns->sections; s++) {
        size_t end = first;
        while (end < count && members[end].section == s)
            end++;
        size_t cut = cut_slots(members, first, end, slots);
        place_slots(columns, &columns->section[s], members, slots, cut);
        for (size_t i = first; i < end; i++)
            cut -= i == first || members[i].class != members[i - 1].class;
        columns->single = columns->sections == 1 && cut == 0;
        first = end;
    }
}

/* Packs all columns, in 16 bits or in bytes. */
static imp_status pack(imp_columns *columns, const imp_clusters *clusters, bool bytes,
                       int32_t **packed, imp_error *error)
{
    imp_frame *frame = &columns->frame;
    const imp_kernels *kernels = frame->kernels;
    size_t d = frame->dimensions, width = kernels->nearest_width, numbers, values;
    size_t panel = bytes ? kernels->nearest_panel_bytes(d) : kernels->nearest_panel(d);
    double per_step = bytes ? IMP_LARGEST_BYTE / frame->extent : IMP_LONGEST_ROW / frame->reach;
    float *rows = NULL;
    if (imp_multiply(columns->count / width, panel, &numbers) && imp_multiply(width, d, &values)) {
        *packed = imp_allocate(numbers, sizeof **packed);
        rows = imp_allocate(values, sizeof *rows);
    }
    if (!*packed || !rows) {
        imp_release(rows);
        return imp_fail_memory(error, "the clusters");
    }
    double lost = 0; /* largest squared quantisation error */
    for (size_t first = 0; first < columns->count; first += width) {
        int32_t *to = *packed + first / width * panel;
        bool there[IMP_MOST_NEAREST_WIDTH];
        for (size_t i = 0; i < width; i++) {
            int32_t c = columns->cluster[first + i];
            there[i] = c >= 0;
            for (size_t j = 0; there[i] && j < d; j++)
                rows[i * d + j] =
                    (float)((imp_clusters_mean(clusters, (size_t)c)[j] - frame->origin[j]) *
                            per_step);
        }
        lost = fmax(lost, bytes ? kernels->nearest_pack_bytes(width, d, rows, there, to)
                                : kernels->nearest_pack(width, d, rows, there, to));
    }
    *(bytes ? &frame->lost_of_bytes : &frame->lost) =
        imp_lost_by_packing(lost, bytes, (double)d, per_step);
    imp_release(rows);
    return IMP_OK;
}

imp_status imp_columns_create(imp_columns *columns, const imp_clusters *clusters, size_t classes,
                              bool unlabeled, const float *origin, double radius, imp_error *error)
{
    *columns = (imp_columns){.frame = {.dimensions = clusters->dimensions,
                                       .origin = origin,
                                       .radius = radius,
                                       .reach = LEAST_REACH}};
    imp_status status = imp_kernels_choose(&columns->frame.kernels, error);
    if (status)
        return status;
    /* only the last group of a section is not full, and neighbouring depths differ little: less
     * than one deepest group and the end of a panel stay empty */
    size_t lanes = columns->frame.kernels->lanes, n = clusters->count;
    size_t empty = IMP_MOST_SECTIONS * (lanes * DEEPEST + columns->frame.kernels->nearest_width);
    size_t groups = n / lanes + IMP_MOST_SECTIONS + 1, count;
    member *members = imp_allocate(n, sizeof *members);
    slot *slots = imp_allocate(n, sizeof *slots);
    columns->cluster = imp_allocate(n + empty, sizeof *columns->cluster);
    columns->group = imp_allocate(groups, sizeof *columns->group);
    columns->column = imp_allocate(groups * lanes, sizeof *columns->column);
    columns->slot_class = imp_allocate(groups * lanes, sizeof *columns->slot_class);
    columns->stray = imp_allocate(n, sizeof *columns->stray);
    if (!members || !slots || !columns->cluster || !columns->group || !columns->column ||
        !columns->slot_class || !columns->stray)
        status = imp_fail_memory(error, "the clusters");
    else if (choose_members(columns, clusters, classes, unlabeled, members, &count)) {
        arrange(columns, members, count, slots);
        columns->ordered = columns->single && columns->groups * lanes >= classes + unlabeled;
        for (size_t k = 0; columns->ordered && k < classes + unlabeled; k++)
            columns->ordered = columns->slot_class[k] == (int32_t)k;
    } else {
        columns->sections = 0;
    }
    columns->stride = columns->count + LINE;
    imp_release(members);
    imp_release(slots);
    if (!status)
        status = pack(columns, clusters, false, &columns->packed, error);
    if (status)
        imp_columns_release(columns);
    return status;
}

void imp_columns_release(imp_columns *columns)
{
    imp_release(columns->cluster);
    imp_release(columns->packed);
    imp_release(columns->packed_bytes);
    imp_release(columns->group);
    imp_release(columns->column);
    imp_release(columns->slot_class);
    imp_release(columns->stray);
    *columns = (imp_columns){0};
}

imp_status imp_columns_add_bytes(imp_columns *columns, const imp_clusters *clusters,
                                 imp_error *error)
{
    imp_frame *frame = &columns->frame;
    frame->extent = LEAST_REACH;
    for (size_t i = 0; i < columns->count; i++)
        for (size_t j = 0; columns->cluster[i] >= 0 && j < frame->dimensions; j++) {
            double mean = imp_clusters_mean(clusters, (size_t)columns->cluster[i])[j];
            frame->extent = fmax(frame->extent, fabs(mean - frame->origin[j]));
        }
    return pack(columns, clusters, true, &columns->packed_bytes, error);
}

void imp_columns_score(const imp_columns *columns, bool bytes, imp_rounded *points, int32_t *scores)
{
    const imp_kernels *kernels = columns->frame.kernels;
    size_t d = columns->frame.dimensions;
    if (bytes)
        imp_round_points_to_bytes(&columns->frame, points);
    else
        imp_round_points(&columns->frame, points);
    float ratio = (float)points->by.ratio;
    if (points->by.usable && bytes)
        kernels->nearest_scores_bytes(points->count, d, (const uint8_t *)points->rows, ratio, 0,
                                      columns->count, columns->packed_bytes, scores,
                                      columns->stride);
    else if (points->by.usable)
        kernels->nearest_scores(points->count, d, points->rows, ratio, 0, columns->count,
                                columns->packed, scores, columns->stride);
}
