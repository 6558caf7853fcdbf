/*
 * cluster_page.c - a sorted pile of pictures as a page: a map, and group by group.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/cluster.h"
#include "cli/page.h"

enum { THUMBNAIL = 96 };

static void write_facts(imp_page *page, const imp_sorting *work)
{
    imp_page_write(page, "<p class=\"soft\">The pictures in ");
    imp_page_text(page, work->folder);
    imp_page_write(page, ", sorted without being told anything about them (%s, lambda %.4g; model ",
                   work->given->method, work->found->lambda);
    imp_page_text(page, work->model);
    imp_page_write(page, ").</p>\n");
    imp_page_doubt(page, work->doubt);
}

static void write_metric(imp_page *page, const json_t *metrics, const char *key, const char *name)
{
    imp_page_write(page, "<div><dt>%s</dt><dd>%.3f</dd></div>\n", name,
                   json_real_value(json_object_get(metrics, key)));
}

/* How well the groups agree with the sub-folders that the pictures came in. */
static void write_metrics(imp_page *page, const imp_sorting *work)
{
    if (!work->metrics)
        return;
    imp_page_write(page,
                   "<dl aria-label=\"Agreement with the sub-folders\">\n"
                   "<div><dt>sub-folders</dt><dd>%zu</dd></div>\n",
                   work->pile.gallery.class_count);
    write_metric(page, work->metrics, "purity", "purity");
    write_metric(page, work->metrics, "nmi", "normalised mutual information");
    write_metric(page, work->metrics, "ami", "adjusted mutual information");
    imp_page_write(page, "</dl>\n<p class=\"soft\">A dashed frame is a picture from another "
                         "sub-folder than most of its group.</p>\n");
}

/* ---- the map ---- */

static const char map_caption[] =
    "Pictures that look alike to the model lie close together (two principal components of its "
    "embedding). The colour and the number are the group's.";

typedef struct number {
    char text[24];
} number;

static void write_map(imp_page *page, const imp_sorting *work)
{
    size_t count = work->pile.rows.count, d = work->pile.rows.dimensions;
    imp_map_point *points = imp_allocate(count, sizeof *points);
    number *numbers = imp_allocate(work->group_count, sizeof *numbers);
    const char **names = imp_allocate(work->group_count, sizeof *names);
    if (!page->status && (!points || !numbers || !names))
        page->status = imp_fail_memory(&page->error, "a map");
    if (!page->status) {
        for (size_t g = 0; g < work->group_count; g++) {
            const imp_group *group = &work->groups[g];
            snprintf(numbers[g].text, sizeof numbers[g].text, "%zu", g + 1);
            names[g] = numbers[g].text;
            for (size_t i = group->first; i < group->first + group->count; i++)
                points[i] = (imp_map_point){
                    .at = work->pile.rows.values + work->order[i] * d,
                    .group = (int32_t)g,
                    .mark = IMP_MAP_KNOWN,
                    .title = work->pile.gallery.pictures[work->order[i]].path,
                    .link = work->order[i],
                };
        }
        imp_map map = {points, count, d, names, work->group_count, map_caption};
        imp_page_map(page, &map);
    }
    imp_release(points);
    imp_release(numbers);
    imp_release(names);
}

/* ---- groups ---- */

/* The sub-folder that most of a group's pictures came in, and how many did; -1 for none. */
static int32_t main_class(const imp_sorting *work, const imp_group *group, size_t *most)
{
    const imp_gallery_picture *pictures = work->pile.gallery.pictures;
    int32_t best = -1;
    *most = 0;
    for (size_t i = group->first; i < group->first + group->count; i++) {
        int32_t class = pictures[work->order[i]].class;
        size_t count = 0;
        for (size_t k = group->first; k < group->first + group->count; k++)
            count += pictures[work->order[k]].class == class;
        if (class >= 0 && count > *most) {
            *most = count;
            best = class;
        }
    }
    return best;
}

static void write_group(imp_page *page, const imp_sorting *work, size_t index)
{
    const imp_gallery *gallery = &work->pile.gallery;
    const imp_group *group = &work->groups[index];
    imp_page_write(page,
                   "<section id=\"g%zu\" style=\"--h:%d\">\n<h2>Group %zu <small>%zu "
                   "picture%s",
                   index + 1, imp_page_hue(index), index + 1, group->count,
                   group->count == 1 ? "" : "s");
    size_t most;
    int32_t class = main_class(work, group, &most);
    if (class >= 0) {
        imp_page_write(page, ", %zu from ", most);
        imp_page_text(page, gallery->classes[class]);
    }
    imp_page_write(page, "</small></h2>\n<ul class=\"pile\">\n");
    for (size_t i = group->first; i < group->first + group->count; i++) {
        size_t picture = work->order[i];
        bool odd = class >= 0 && gallery->pictures[picture].class != class;
        imp_page_write(page, "<li id=\"p%zu\"%s>", picture, odd ? " class=\"odd\"" : "");
        imp_page_picture(page, gallery, picture, THUMBNAIL);
        imp_page_write(page, "<small><bdi>");
        imp_page_text(page, imp_page_name(gallery->pictures[picture].path));
        imp_page_write(page, "</bdi></small></li>\n");
    }
    imp_page_write(page, "</ul>\n</section>\n");
}

imp_status imp_sorting_page(const imp_sorting *work, const char *path, imp_error *error)
{
    char title[100];
    size_t groups = work->group_count, count = work->pile.rows.count;
    snprintf(title, sizeof title, "%zu picture%s in %zu group%s", count, count == 1 ? "" : "s",
             groups, groups == 1 ? "" : "s");
    imp_page page;
    imp_page_begin(&page, path, title);
    write_facts(&page, work);
    write_metrics(&page, work);
    imp_page_write(&page, "<nav aria-label=\"Groups\">\n");
    for (size_t g = 0; g < groups; g++)
        imp_page_write(&page, "<a href=\"#g%zu\" style=\"--h:%d\">%zu <small>%zu</small></a>\n",
                       g + 1, imp_page_hue(g), g + 1, work->groups[g].count);
    imp_page_write(&page, "</nav>\n");
    write_map(&page, work);
    for (size_t g = 0; g < groups; g++)
        write_group(&page, work, g);
    return imp_page_end(&page, error);
}
