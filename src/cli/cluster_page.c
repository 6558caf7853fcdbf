/*
 * cluster_page.c - a sorted pile of pictures as a page: a map, and group by group. Thousands of
 * pictures make several pages; the first has the map and an overview of all groups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/cluster.h"
#include "cli/page.h"
#include "cli/progress.h"

enum {
    THUMBNAIL = 96,
    SMALL = 80,      /* twice the size shown in the overview */
    PER_PAGE = 2000, /* pictures */
    BATCH = 256      /* thumbnails made at once */
};

static size_t page_of(size_t place)
{
    return place / PER_PAGE;
}

/* Makes the thumbnails at places first .. first + count - 1, at most BATCH. */
static void make_ahead(imp_page *page, const imp_sorting *work, size_t first, size_t count,
                       uint32_t side)
{
    imp_thumbnail_of wanted[BATCH];
    for (size_t i = 0; i < count; i++)
        wanted[i] = (imp_thumbnail_of){&work->pile.gallery, work->order[first + i], side};
    imp_page_ahead(page, wanted, count);
}

static void write_facts(imp_page *page, const imp_sorting *work)
{
    imp_page_write(page, "<p class=\"soft\">The pictures in ");
    imp_page_text(page, work->folder);
    imp_page_write(page, ", sorted without labels (%s, lambda %.4g; model ", work->given->method,
                   work->found->lambda);
    imp_page_text(page, work->model);
    imp_page_write(page, ").</p>\n");
    imp_page_doubt(page, work->doubt);
}

static void write_metric(imp_page *page, const json_t *metrics, const char *key, const char *name)
{
    imp_page_write(page, "<div><dt>%s</dt><dd>%.3f</dd></div>\n", name,
                   json_real_value(json_object_get(metrics, key)));
}

/* How well the groups agree with the pictures' sub-folders. */
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
    imp_page_write(page, "</dl>\n<p class=\"soft\">A dashed frame marks a picture from a different "
                         "sub-folder than most of its group.</p>\n");
}

/* ---- the map ---- */

static const char map_caption[] =
    "Pictures that look alike to the model are close together (first two principal components of "
    "its embedding). Colours and numbers are those of the groups.";

/* A group's name and place on the map. */
typedef struct label {
    char name[24];
    char link[4200];
} label;

static void write_map(imp_page *page, const imp_sorting *work, const char *path)
{
    size_t count = work->pile.rows.count, d = work->pile.rows.dimensions;
    imp_map_point *points = imp_allocate(count, sizeof *points);
    label *labels = imp_allocate(work->group_count, sizeof *labels);
    const char **texts = imp_allocate(work->group_count, 2 * sizeof *texts);
    if (!page->status && (!points || !labels || !texts))
        page->status = imp_fail_memory(&page->error, "a map");
    if (!page->status) {
        const char **names = texts, **links = texts + work->group_count;
        for (size_t g = 0; g < work->group_count; g++) {
            const imp_group *group = &work->groups[g];
            snprintf(labels[g].name, sizeof labels[g].name, "%zu", g + 1);
            snprintf(labels[g].link, sizeof labels[g].link, "%s#g%zu",
                     imp_page_link(path, 0, page_of(group->first)).text, g + 1);
            names[g] = labels[g].name;
            links[g] = labels[g].link;
            for (size_t i = group->first; i < group->first + group->count; i++)
                points[i] = (imp_map_point){
                    .at = work->pile.rows.values + work->order[i] * d,
                    .group = (int32_t)g,
                    .mark = IMP_MAP_KNOWN,
                    .title = work->pile.gallery.pictures[work->order[i]].path,
                    .link = work->order[i],
                };
        }
        imp_map map = {points, count, d, names, links, work->group_count, map_caption};
        imp_page_map(page, &map);
    }
    imp_release(points);
    imp_release(labels);
    imp_release(texts);
}

/* ---- the overview ---- */

/* A tile for each group, with its most typical pictures; if there are very many groups, the
 * smallest have none. */
static void write_overview(imp_page *page, const imp_sorting *work, const char *path)
{
    enum { PICTURES = 4, FEW = 250, MOST = 1000 };
    size_t groups = work->group_count, each = groups <= FEW ? PICTURES : 1;
    size_t shown = groups < MOST ? groups : MOST;
    imp_page_write(page, "<nav class=\"tiles%s\" aria-label=\"Groups\">\n",
                   each == 1 ? " many" : "");
    for (size_t g = 0; g < shown; g++) {
        const imp_group *group = &work->groups[g];
        size_t count = group->count < each ? group->count : each;
        imp_page_write(page, "<a href=\"%s#g%zu\" style=\"%s\"><span>",
                       imp_page_link(path, 0, page_of(group->first)).text, g + 1,
                       imp_page_tint(g).text);
        make_ahead(page, work, group->first, count, SMALL);
        for (size_t i = group->first; i < group->first + count; i++)
            imp_page_picture(page, &work->pile.gallery, work->order[i], SMALL);
        imp_page_write(page, "</span>%zu <small>%zu</small></a>\n", g + 1, group->count);
    }
    imp_page_write(page, "</nav>\n");
    if (groups > shown)
        imp_page_write(page, "<p class=\"soft\">And %zu smaller groups, on the last pages.</p>\n",
                       groups - shown);
}

/* ---- groups ---- */

/* The sub-folder of most of a group's pictures, or -1, and how many there are. `counts` is room for
 * a number per sub-folder. */
static int32_t main_class(const imp_sorting *work, const imp_group *group, size_t *counts,
                          size_t *most)
{
    const imp_gallery *gallery = &work->pile.gallery;
    int32_t best = -1;
    *most = 0;
    memset(counts, 0, gallery->class_count * sizeof *counts);
    for (size_t i = group->first; i < group->first + group->count; i++) {
        int32_t class = gallery->pictures[work->order[i]].class;
        if (class >= 0 && ++counts[class] > *most) {
            *most = counts[class];
            best = class;
        }
    }
    return best;
}

/* Writes those pictures of a group that are at places begin .. end - 1. */
static void write_group(imp_page *page, const imp_sorting *work, size_t index, size_t *counts,
                        size_t begin, size_t end)
{
    enum { LETTERS = 15 }; /* in a line below a picture */
    const imp_gallery *gallery = &work->pile.gallery;
    const imp_group *group = &work->groups[index];
    bool goes_on = begin > group->first;
    imp_page_write(page,
                   "<section id=\"g%zu\" style=\"%s\">\n<h2>Group %zu%s <small>%zu "
                   "picture%s",
                   index + 1, imp_page_tint(index).text, index + 1, goes_on ? ", continued" : "",
                   group->count, group->count == 1 ? "" : "s");
    size_t most;
    int32_t class = main_class(work, group, counts, &most);
    if (class >= 0) {
        imp_page_write(page, ", %zu from ", most);
        imp_page_text(page, gallery->classes[class]);
    }
    imp_page_write(page, "</small></h2>\n<ul class=\"pile\">\n");
    for (size_t i = begin; i < end; i++) {
        size_t picture = work->order[i];
        const char *name = imp_page_name(gallery->pictures[picture].path);
        bool odd = 2 * most > group->count && gallery->pictures[picture].class != class;
        if ((i - begin) % BATCH == 0)
            make_ahead(page, work, i, end - i < BATCH ? end - i : BATCH, THUMBNAIL);
        imp_page_write(page, "<li id=\"p%zu\"%s>", picture, odd ? " class=\"odd\"" : "");
        imp_page_picture(page, gallery, picture, THUMBNAIL);
        imp_page_write(page, "<small>");
        imp_page_text(page, imp_page_short(name, LETTERS).text);
        imp_page_write(page, "</small></li>\n");
    }
    imp_page_write(page, "</ul>\n</section>\n");
}

/* ---- the pages ---- */

static imp_status write_page(const imp_sorting *work, const char *path, const char *title,
                             size_t number, size_t pages, size_t *counts, imp_error *error)
{
    size_t begin = number * PER_PAGE, count = work->pile.rows.count;
    size_t end = begin + PER_PAGE < count ? begin + PER_PAGE : count;
    imp_page page;
    imp_page_begin(&page, imp_page_number(path, number).text, title);
    imp_page_pager(&page, path, number, pages);
    if (number == 0) {
        write_facts(&page, work);
        write_metrics(&page, work);
        write_overview(&page, work, path);
        write_map(&page, work, path);
    }
    for (size_t g = 0; g < work->group_count; g++) {
        size_t first = work->groups[g].first, last = first + work->groups[g].count;
        if (first < end && last > begin)
            write_group(&page, work, g, counts, first > begin ? first : begin,
                        last < end ? last : end);
    }
    imp_page_pager(&page, path, number, pages);
    return imp_page_end(&page, error);
}

imp_status imp_sorting_page(const imp_sorting *work, const char *path, imp_error *error)
{
    char title[100];
    size_t groups = work->group_count, count = work->pile.rows.count;
    size_t pages = (count + PER_PAGE - 1) / PER_PAGE;
    snprintf(title, sizeof title, "%zu picture%s in %zu group%s", count, count == 1 ? "" : "s",
             groups, groups == 1 ? "" : "s");
    size_t *counts = imp_allocate(work->pile.gallery.class_count + 1, sizeof *counts);
    if (!counts)
        return imp_fail_memory(error, "a page");
    imp_progress_line line = imp_progress_start(false);
    imp_status status = IMP_OK;
    /* The first page is written last, so that all pages it links to exist. */
    for (size_t i = pages; i-- > 0 && !status;) {
        imp_progress_show(&line, pages - 1 - i, pages, false, "pages");
        status = write_page(work, path, title, i, pages, counts, error);
    }
    imp_progress_end(&line);
    imp_release(counts);
    return status;
}
