/*
 * page_map.c - embedded points as an SVG map, on which similar pictures are close together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/page.h"
#include "draw/projection.h"

enum { WIDTH = 960, HEIGHT = 560, MARGIN = 28 };

/* More points would not improve the estimate of the plane. */
enum { MOST_FITTED = 2000 };

/* More would hide each other. */
enum { MOST_POINTS = 1500, BUSY = 300 };

static imp_status fit_plane(const imp_map *map, imp_projection *plane, imp_error *error)
{
    size_t step = (map->count + MOST_FITTED - 1) / MOST_FITTED, count = 0, d = map->dimensions;
    float *rows = imp_allocate(map->count / step + 1, d * sizeof *rows);
    if (!rows)
        return imp_fail_memory(error, "a map");
    for (size_t i = 0; i < map->count; i += step)
        if (map->points[i].mark != IMP_MAP_CLUSTER)
            memcpy(rows + count++ * d, map->points[i].at, d * sizeof *rows);
    imp_status status = imp_projection_fit(plane, rows, count, d, error);
    imp_release(rows);
    return status;
}

/* The points' positions in SVG units; (count, 2). */
static void place(const imp_map *map, const imp_projection *plane, double *spots)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < map->count; i++) {
        double *spot = spots + 2 * i;
        imp_projection_apply(plane, map->points[i].at, spot);
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], spot[axis]);
            high[axis] = fmax(high[axis], spot[axis]);
        }
    }
    double scale = fmin((WIDTH - 2.0 * MARGIN) / fmax(high[0] - low[0], 1e-9),
                        (HEIGHT - 2.0 * MARGIN) / fmax(high[1] - low[1], 1e-9));
    for (size_t i = 0; i < map->count; i++) {
        double *spot = spots + 2 * i;
        spot[0] = 0.5 * WIDTH + scale * (spot[0] - 0.5 * (low[0] + high[0]));
        spot[1] = 0.5 * HEIGHT - scale * (spot[1] - 0.5 * (low[1] + high[1]));
    }
}

/* ---- points ---- */

static void draw_point(imp_page *page, const imp_map_point *point, const double *spot)
{
    if (point->link != SIZE_MAX)
        imp_page_write(page, "<a href=\"#p%zu\">", point->link);
    if (point->group < 0)
        imp_page_write(page, "<g class=\"gray\"><title>");
    else
        imp_page_write(page, "<g style=\"%s\"><title>", imp_page_tint((size_t)point->group).text);
    imp_page_text(page, point->title);
    imp_page_write(page, "</title>");
    switch (point->mark) {
    case IMP_MAP_CLUSTER:
        imp_page_write(page, "<path class=\"cross\" d=\"M%.1f %.1fl12 12m0 -12l-12 12\"/>",
                       spot[0] - 6, spot[1] - 6);
        break;
    case IMP_MAP_KNOWN:
        imp_page_write(page, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\"/>", spot[0], spot[1]);
        break;
    case IMP_MAP_ASKED:
        imp_page_write(page, "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\"/>", spot[0], spot[1]);
        break;
    }
    imp_page_write(page, "</g>%s\n", point->link != SIZE_MAX ? "</a>" : "");
}

/* ---- density ---- */

/* Thousands of dots would hide each other. Grid cells show how many points there are, and the group
 * if most of them belong to one. */
enum { CELL = 8, ACROSS = WIDTH / CELL, DOWN = HEIGHT / CELL, LEVELS = 4 };

typedef struct cell {
    size_t count, lead; /* all points; and the group's lead during the vote */
    int32_t group;
} cell;

static cell *cell_at(cell *grid, const double *spot)
{
    int x = (int)(spot[0] / CELL), y = (int)(spot[1] / CELL);
    x = x < 0 ? 0 : x >= ACROSS ? ACROSS - 1 : x;
    y = y < 0 ? 0 : y >= DOWN ? DOWN - 1 : y;
    return &grid[y * ACROSS + x];
}

/* The group with more than half of a cell's points wins it, in any order (Boyer and Moore's
 * majority vote); a narrow winner gets no colour. */
static size_t fill_grid(const imp_map *map, const double *spots, cell *grid)
{
    size_t most = 1;
    for (size_t i = 0; i < map->count; i++) {
        if (map->points[i].mark == IMP_MAP_CLUSTER)
            continue;
        cell *at = cell_at(grid, spots + 2 * i);
        if (at->lead == 0)
            at->group = map->points[i].group;
        at->lead += at->group == map->points[i].group ? 1 : (size_t)-1;
        most = ++at->count > most ? at->count : most;
    }
    for (int i = 0; i < ACROSS * DOWN; i++)
        if (4 * grid[i].lead < grid[i].count)
            grid[i].group = -1;
    return most;
}

static int level_of(const cell *at, size_t most)
{
    double part = log1p((double)at->count) / log1p((double)most);
    int level = (int)ceil(part * LEVELS);
    return level < 1 ? 1 : level > LEVELS ? LEVELS : level;
}

/* The cells of one group and level as one path; false if there are none. */
static bool draw_level(imp_page *page, const cell *grid, int32_t group, int level, size_t most)
{
    bool any = false;
    for (int i = 0; i < ACROSS * DOWN; i++) {
        if (grid[i].count == 0 || grid[i].group != group || level_of(&grid[i], most) != level)
            continue;
        if (!any)
            imp_page_write(page, "<path class=\"cell l%d\" d=\"", level);
        any = true;
        imp_page_write(page, "M%d %dh%dv%dh-%dz", i % ACROSS * CELL, i / ACROSS * CELL, CELL, CELL,
                       CELL);
    }
    if (any)
        imp_page_write(page, "\"/>\n");
    return any;
}

static void draw_density(imp_page *page, const imp_map *map, const double *spots)
{
    cell *grid = imp_allocate_zeroed((size_t)ACROSS * DOWN, sizeof *grid);
    if (!grid) {
        page->status = imp_fail_memory(&page->error, "a map");
        return;
    }
    size_t most = fill_grid(map, spots, grid);
    for (int32_t group = -1; group < (int32_t)map->groups; group++) {
        const char *link = group >= 0 && map->links ? map->links[group] : NULL;
        if (link)
            imp_page_write(page, "<a href=\"%s\">", link);
        if (group < 0)
            imp_page_write(page, "<g class=\"gray\">");
        else
            imp_page_write(page, "<g style=\"%s\"><title>", imp_page_tint((size_t)group).text);
        if (group >= 0) {
            imp_page_text(page, map->names[group]);
            imp_page_write(page, "</title>");
        }
        for (int level = 1; level <= LEVELS; level++)
            draw_level(page, grid, group, level, most);
        imp_page_write(page, "</g>%s\n", link ? "</a>" : "");
    }
    imp_release(grid);
}

/* ---- names ---- */

/* A group and its most central point. */
typedef struct place_of_group {
    size_t group, count;
    double sum[2], at[2], nearest;
} place_of_group;

static int compare_sizes(const void *a, const void *b)
{
    const place_of_group *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return left->group < right->group ? -1 : left->group > right->group;
}

static bool counts(const imp_map *map, size_t point)
{
    const imp_map_point *one = &map->points[point];
    return one->mark != IMP_MAP_CLUSTER && one->group >= 0 && (size_t)one->group < map->groups;
}

static void find_places(const imp_map *map, const double *spots, place_of_group *places)
{
    for (size_t g = 0; g < map->groups; g++)
        places[g] = (place_of_group){.group = g, .nearest = INFINITY};
    for (size_t i = 0; i < map->count; i++)
        if (counts(map, i)) {
            place_of_group *own = &places[map->points[i].group];
            own->count++;
            own->sum[0] += spots[2 * i];
            own->sum[1] += spots[2 * i + 1];
        }
    for (size_t i = 0; i < map->count; i++)
        if (counts(map, i)) {
            place_of_group *own = &places[map->points[i].group];
            double distance = hypot(spots[2 * i] - own->sum[0] / (double)own->count,
                                    spots[2 * i + 1] - own->sum[1] / (double)own->count);
            if (distance < own->nearest) {
                own->nearest = distance;
                memcpy(own->at, spots + 2 * i, sizeof own->at);
            }
        }
    qsort(places, map->groups, sizeof *places, compare_sizes);
}

typedef struct box {
    double left, top, right, bottom;
} box;

static bool is_free(const box *taken, size_t count, const box *wanted)
{
    if (wanted->left < 0 || wanted->top < 0 || wanted->right > WIDTH || wanted->bottom > HEIGHT)
        return false;
    for (size_t i = 0; i < count; i++)
        if (wanted->left < taken[i].right && taken[i].left < wanted->right &&
            wanted->top < taken[i].bottom && taken[i].top < wanted->bottom)
            return false;
    return true;
}

enum { LETTERS = 18, MOST_NAMES = 60 };

/* Finds room for a name near a point, given its length and letter size; the box is its place. */
static bool find_room(const box *taken, size_t count, const double *at, size_t letters, double size,
                      box *found)
{
    double half = 0.32 * size * (double)letters + 2, high = 1.2 * size, away = 8;
    const double middles[][2] = {{at[0], at[1] - away - 0.5 * high},
                                 {at[0], at[1] + away + 0.5 * high},
                                 {at[0] + away + half, at[1]},
                                 {at[0] - away - half, at[1]}};
    for (size_t i = 0; i < sizeof middles / sizeof *middles; i++) {
        *found = (box){middles[i][0] - half, middles[i][1] - 0.5 * high, middles[i][0] + half,
                       middles[i][1] + 0.5 * high};
        if (is_free(taken, count, found))
            return true;
    }
    return false;
}

/* Writes the names of groups, largest first, where they do not overlap. Letters are larger on a
 * narrow screen; names without room there are hidden there (page.css). */
static void draw_names(imp_page *page, const imp_map *map, const double *spots)
{
    enum { WIDE = 13, NARROW = 26 }; /* letter sizes, in units of the map */
    place_of_group *places = imp_allocate(map->groups, sizeof *places);
    box *wide = imp_allocate(MOST_NAMES, sizeof *wide),
        *narrow = imp_allocate(MOST_NAMES, sizeof *narrow);
    size_t wides = 0, narrows = 0;
    if (!places || !wide || !narrow)
        page->status = imp_fail_memory(&page->error, "a map");
    else
        find_places(map, spots, places);
    for (size_t i = 0; i < map->groups && !page->status && wides < MOST_NAMES; i++) {
        const double *at = places[i].at;
        imp_short_name name = imp_page_short(map->names[places[i].group], LETTERS);
        size_t letters = imp_utf8_length(name.text);
        if (places[i].count == 0 || !find_room(wide, wides, at, letters, WIDE, &wide[wides]))
            continue;
        const box *room = &wide[wides++];
        double x = 0.5 * (room->left + room->right), y = 0.5 * (room->top + room->bottom);
        /* Even when enlarged, it must stay inside. */
        double half = 0.32 * NARROW * (double)letters + 2;
        narrow[narrows] = (box){x - half, y - 0.6 * NARROW, x + half, y + 0.6 * NARROW};
        bool minor = !is_free(narrow, narrows, &narrow[narrows]);
        narrows += !minor;
        imp_page_write(page, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y + 0.35 * WIDE,
                       minor ? " class=\"minor\"" : "");
        imp_page_text(page, name.text);
        imp_page_write(page, "</text>\n");
    }
    imp_release(places);
    imp_release(wide);
    imp_release(narrow);
}

/* ---- the map ---- */

void imp_page_map(imp_page *page, const imp_map *map)
{
    imp_projection plane = {0};
    double *spots = imp_allocate(map->count, 2 * sizeof *spots);
    if (!page->status)
        page->status =
            spots ? fit_plane(map, &plane, &page->error) : imp_fail_memory(&page->error, "a map");
    if (!page->status) {
        place(map, &plane, spots);
        imp_page_write(page,
                       "<figure class=\"map\"><svg viewBox=\"0 0 %d %d\"%s role=\"group\" "
                       "aria-label=\"Map of the pictures\">\n",
                       WIDTH, HEIGHT, map->count > BUSY ? " class=\"busy\"" : "");
        bool dense = map->count > MOST_POINTS;
        if (dense)
            draw_density(page, map, spots);
        for (size_t i = 0; i < map->count && !dense; i++)
            draw_point(page, &map->points[i], spots + 2 * i);
        draw_names(page, map, spots);
        imp_page_write(page, "</svg>\n<figcaption>%s%s</figcaption></figure>\n", map->caption,
                       dense
                           ? " There are too many to draw one by one: the darker a cell, the more "
                             "it holds; it has a group's colour if most belong to that group."
                           : "");
    }
    imp_projection_clear(&plane);
    imp_release(spots);
}
