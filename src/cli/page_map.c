/*
 * page_map.c - embedded points as an SVG: alike pictures lie close together.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/page.h"
#include "draw/projection.h"

enum { WIDTH = 960, HEIGHT = 560, MARGIN = 28 };

/* More points would not tell the plane any better. */
enum { MOST_FITTED = 2000 };

/* More names would lie on top of each other. */
enum { MOST_NAMES = 40 };

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

/* Where the points fall, in the SVG's own units; (count, 2). */
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

static void draw_point(imp_page *page, const imp_map_point *point, const double *spot)
{
    if (point->link != SIZE_MAX)
        imp_page_write(page, "<a href=\"#p%zu\">", point->link);
    if (point->group < 0)
        imp_page_write(page, "<g class=\"gray\"><title>");
    else
        imp_page_write(page, "<g style=\"--h:%d\"><title>", imp_page_hue((size_t)point->group));
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

static bool is_of_group(const imp_map_point *point, size_t group)
{
    return point->group == (int32_t)group && point->mark != IMP_MAP_CLUSTER;
}

/* Writes the group's name above the point of it that lies nearest to the middle of all. */
static void draw_name(imp_page *page, const imp_map *map, const double *spots, size_t group)
{
    double middle[2] = {0, 0}, nearest = INFINITY;
    size_t count = 0;
    const double *at = NULL;
    for (size_t i = 0; i < map->count; i++)
        if (is_of_group(&map->points[i], group)) {
            middle[0] += spots[2 * i];
            middle[1] += spots[2 * i + 1];
            count++;
        }
    for (size_t i = 0; i < map->count; i++) {
        double distance = hypot(spots[2 * i] - middle[0] / (double)count,
                                spots[2 * i + 1] - middle[1] / (double)count);
        if (is_of_group(&map->points[i], group) && distance < nearest) {
            nearest = distance;
            at = spots + 2 * i;
        }
    }
    if (!at)
        return;
    imp_page_write(page, "<text x=\"%.1f\" y=\"%.1f\">", at[0], fmax(at[1] - 12, 14));
    imp_page_text(page, map->names[group]);
    imp_page_write(page, "</text>\n");
}

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
                       "<figure class=\"map\"><svg viewBox=\"0 0 %d %d\" role=\"group\" "
                       "aria-label=\"Map of the pictures\">\n",
                       WIDTH, HEIGHT);
        for (size_t i = 0; i < map->count; i++)
            draw_point(page, &map->points[i], spots + 2 * i);
        for (size_t g = 0; g < map->groups && map->groups <= MOST_NAMES; g++)
            draw_name(page, map, spots, g);
        imp_page_write(page, "</svg>\n<figcaption>%s</figcaption></figure>\n", map->caption);
    }
    imp_projection_clear(&plane);
    imp_release(spots);
}
