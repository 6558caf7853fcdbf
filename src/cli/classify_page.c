/*
 * classify_page.c - classified pictures as a page, grouped by answer, with the reasons. Thousands
 * of pictures make several pages; the first has the map and links to all answers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/classify.h"
#include "cli/page.h"
#include "cli/progress.h"

enum { LARGE = 96, SMALL = 44 }; /* thumbnail sizes; small ones are shown at half size */

enum {
    PER_PAGE = 1000, /* queries */
    BATCH = 128      /* thumbnails made at once */
};

/* The answers in page order: class by class, "none of these" last, least certain first within
 * each. */
typedef struct sequence {
    size_t *query;    /* (queries) */
    size_t *first;    /* (classes + 2): where each class begins; -1 is last */
    const char *path; /* name of the first page */
    size_t pages;
} sequence;

static size_t class_count(const imp_classification *work);

static size_t slot_of(const imp_classification *work, int32_t class)
{
    return class < 0 ? class_count(work) : (size_t) class;
}

static size_t page_of(size_t place)
{
    return place / PER_PAGE;
}

static void clear_sequence(sequence *all)
{
    imp_release(all->query);
    imp_release(all->first);
}

static imp_status make_sequence(const imp_classification *work, const char *path, sequence *all,
                                imp_error *error)
{
    size_t count = work->queries.rows.count, slots = class_count(work) + 1, used = 0;
    *all = (sequence){.query = imp_allocate(count, sizeof *all->query),
                      .first = imp_allocate_zeroed(slots + 1, sizeof *all->first),
                      .path = path,
                      .pages = (count + PER_PAGE - 1) / PER_PAGE};
    if (!all->query || !all->first) {
        clear_sequence(all);
        return imp_fail_memory(error, "a page");
    }
    for (size_t slot = 0; slot < slots; slot++) {
        all->first[slot] = used;
        for (size_t i = 0; i < count; i++)
            if (slot_of(work, work->answers[work->order[i]].class) == slot)
                all->query[used++] = work->order[i];
    }
    all->first[slots] = used;
    return IMP_OK;
}

/* ---- names and colours ---- */

static size_t class_count(const imp_classification *work)
{
    return work->support.gallery.class_count;
}

static void write_class(imp_page *page, const imp_classification *work, int32_t class)
{
    imp_page_text(page, class < 0 ? "none of these" : work->support.gallery.classes[class]);
}

/* The attribute that gives an element its class's colour. */
static void write_colour(imp_page *page, int32_t class)
{
    if (class < 0)
        imp_page_write(page, " class=\"gray\"");
    else
        imp_page_write(page, " style=\"%s\"", imp_page_tint((size_t) class).text);
}

/* The number of a cluster within its class, from 1; *of becomes the class's number of clusters. */
static size_t number_in_class(const imp_classification *work, size_t cluster, size_t *of)
{
    const int32_t *label = work->result.cluster_label;
    size_t number = 0;
    *of = 0;
    for (size_t c = 0; c < work->result.cluster_count; c++)
        if (label[c] == label[cluster]) {
            ++*of;
            number += c <= cluster;
        }
    return number;
}

static size_t clusters_of(const imp_classification *work, int32_t class)
{
    size_t count = 0;
    for (size_t c = 0; c < work->result.cluster_count; c++)
        count += work->result.cluster_label[c] == class;
    return count;
}

/* ---- above the answers ---- */

static void write_facts(imp_page *page, const imp_classification *work)
{
    const imp_method_result *result = &work->result;
    imp_page_write(page, "<p class=\"soft\">From the %zu pictures in ", work->support.rows.count);
    imp_page_text(page, work->given->files.support);
    imp_page_write(page, ", which made %zu cluster%s (", result->cluster_count,
                   result->cluster_count == 1 ? "" : "s");
    imp_page_text(page, work->method);
    if (!isnan(result->lambda))
        imp_page_write(page, ", lambda %.4g", result->lambda);
    imp_page_write(page, "; model ");
    imp_page_text(page, work->model);
    imp_page_write(page, ").</p>\n");
    imp_page_doubt(page, work->doubt);
}

static void write_link(imp_page *page, const imp_classification *work, const sequence *all,
                       int32_t class)
{
    size_t slot = slot_of(work, class);
    imp_page_write(page, "<a href=\"%s#c%d\"",
                   imp_page_link(all->path, 0, page_of(all->first[slot])).text, (int)class);
    write_colour(page, class);
    imp_page_write(page, ">");
    write_class(page, work, class);
    imp_page_write(page, " <small>%zu</small></a>\n", all->first[slot + 1] - all->first[slot]);
}

/* ---- the map ---- */

static const char map_caption[] =
    "Pictures that look alike to the model are close together (first two principal components of "
    "its embedding). Dots: labelled pictures; gray: unlabelled. Rings: the classified pictures. "
    "Crosses: clusters. Below, a dashed frame marks an unlabelled picture that looks like the "
    "class.";

/* Titles of the map's points, in one block of memory. */
typedef struct titles {
    char *text;
    size_t used, room;
} titles;

static const char *add_title(titles *all, const char *path, const char *class, double probability)
{
    char *title = all->text + all->used;
    int length = isnan(probability) ? snprintf(title, all->room - all->used, "%s (%s)", path, class)
                                    : snprintf(title, all->room - all->used, "%s: %s, %.1f%%", path,
                                               class, 100 * probability);
    all->used += (size_t)length + 1;
    return title;
}

static const char *class_name(const imp_classification *work, int32_t class, const char *none)
{
    return class < 0 ? none : work->support.gallery.classes[class];
}

static void fill_map(const imp_classification *work, imp_map_point *points, titles *all)
{
    const imp_method_result *result = &work->result;
    size_t d = work->support.rows.dimensions;
    for (size_t c = 0; c < result->cluster_count; c++) {
        int32_t class = result->cluster_label[c];
        *points++ = (imp_map_point){
            .at = result->cluster_mean + c * d,
            .group = class,
            .mark = IMP_MAP_CLUSTER,
            .title = add_title(all, "cluster", class_name(work, class, "no label"), NAN),
            .link = SIZE_MAX,
        };
    }
    for (size_t i = 0; i < work->support.rows.count; i++) {
        const imp_gallery_picture *picture = &work->support.gallery.pictures[i];
        const char *class = class_name(work, picture->class, "no label");
        *points++ = (imp_map_point){
            .at = work->support.rows.values + i * d,
            .group = picture->class,
            .mark = IMP_MAP_KNOWN,
            .title = add_title(all, picture->path, class, NAN),
            .link = SIZE_MAX,
        };
    }
    for (size_t q = 0; q < work->queries.rows.count; q++) {
        const imp_answer *answer = &work->answers[q];
        const char *class = class_name(work, answer->class, "none of these");
        *points++ = (imp_map_point){
            .at = work->queries.rows.values + q * d,
            .group = answer->class,
            .mark = IMP_MAP_ASKED,
            .title =
                add_title(all, work->queries.gallery.pictures[q].path, class, answer->probability),
            .link = q,
        };
    }
}

/* Room for every title: a path or "cluster", a class and punctuation. */
static size_t title_room(const imp_classification *work)
{
    enum { AROUND = 40 };
    size_t longest = 0, room = 0;
    for (size_t c = 0; c < class_count(work); c++) {
        size_t length = strlen(work->support.gallery.classes[c]);
        longest = length > longest ? length : longest;
    }
    for (size_t i = 0; i < work->support.rows.count; i++)
        room += strlen(work->support.gallery.pictures[i].path) + longest + AROUND;
    for (size_t q = 0; q < work->queries.rows.count; q++)
        room += strlen(work->queries.gallery.pictures[q].path) + longest + AROUND;
    return room + work->result.cluster_count * (longest + AROUND);
}

static void write_map(imp_page *page, const imp_classification *work, const sequence *sections)
{
    size_t count = work->result.cluster_count + work->support.rows.count + work->queries.rows.count;
    titles all = {.room = title_room(work)};
    all.text = imp_allocate(all.room, 1);
    imp_map_point *points = imp_allocate(count, sizeof *points);
    imp_page_path *texts = imp_allocate(class_count(work), sizeof *texts);
    const char **links = imp_allocate(class_count(work), sizeof *links);
    if (!page->status && (!all.text || !points || !texts || !links))
        page->status = imp_fail_memory(&page->error, "a map");
    if (!page->status) {
        fill_map(work, points, &all);
        for (size_t c = 0; c < class_count(work); c++) {
            texts[c] = imp_page_link(sections->path, 0, page_of(sections->first[c]));
            size_t used = strlen(texts[c].text);
            snprintf(texts[c].text + used, sizeof texts[c].text - used, "#c%zu", c);
            links[c] = texts[c].text;
        }
        imp_map map = {.points = points,
                       .count = count,
                       .dimensions = work->support.rows.dimensions,
                       .names = (const char *const *)work->support.gallery.classes,
                       .links = links,
                       .groups = class_count(work),
                       .caption = map_caption};
        imp_page_map(page, &map);
    }
    imp_release(points);
    imp_release(texts);
    imp_release(links);
    imp_release(all.text);
}

/* ---- answers ---- */

/* The pictures of a cluster; unlabelled ones that look like its class have a dashed frame. */
static void write_cluster(imp_page *page, const imp_classification *work, size_t cluster)
{
    enum { MOST = 24 };
    size_t shown = 0, all_of_it = 0;
    int32_t class = work->result.cluster_label[cluster];
    size_t of, number = number_in_class(work, cluster, &of);
    imp_page_write(page, "<div>");
    if (of > 1)
        imp_page_write(page, "<small>cluster %zu</small>", number);
    imp_page_write(page, "<ul class=\"strip\">\n");
    for (size_t i = 0; i < work->support.rows.count; i++) {
        if (work->support_cluster[i] != cluster || all_of_it++ >= MOST)
            continue;
        shown++;
        bool guess = class >= 0 && work->support.gallery.pictures[i].class < 0;
        imp_page_write(page, "<li%s>", guess ? " class=\"guess\"" : "");
        imp_page_picture(page, &work->support.gallery, i, 2 * SMALL);
        imp_page_write(page, "</li>\n");
    }
    imp_page_write(page, "</ul>");
    if (all_of_it > shown)
        imp_page_write(page, "<small>and %zu more</small>", all_of_it - shown);
    imp_page_write(page, "</div>\n");
}

/* The pictures that a class was learned from, cluster by cluster. */
static void write_clusters(imp_page *page, const imp_classification *work, int32_t class)
{
    imp_page_write(page, "<p class=\"soft\">%s</p>\n<div class=\"clusters\">\n",
                   class < 0 ? "Like these, which have no label" : "Learned from");
    for (size_t c = 0; c < work->result.cluster_count; c++)
        if (work->result.cluster_label[c] == class)
            write_cluster(page, work, c);
    imp_page_write(page, "</div>\n");
}

enum { BARS = 3 };

/* The likeliest outcomes, in order; returns their number, at most BARS. */
static size_t likeliest(const float *probability, size_t outcomes, size_t *top)
{
    size_t count = 0;
    for (size_t o = 0; o < outcomes; o++) {
        size_t place = count;
        while (place > 0 && probability[o] > probability[top[place - 1]])
            place--;
        if (place == BARS)
            continue;
        count += count < BARS;
        for (size_t i = count - 1; i > place; i--)
            top[i] = top[i - 1];
        top[place] = o;
    }
    return count;
}

/* The likeliest answers as bars; after the first, only those that do not round to zero. */
static void write_bars(imp_page *page, const imp_classification *work, size_t query)
{
    size_t outcomes = work->result.outcomes, top[BARS];
    const float *probability = work->result.probabilities + query * outcomes;
    size_t count = likeliest(probability, outcomes, top);
    for (size_t i = 0; i < count && (i == 0 || probability[top[i]] >= 0.0005f); i++) {
        int32_t class = top[i] < class_count(work) ? (int32_t)top[i] : -1;
        double percent = 100 * (double)probability[top[i]];
        imp_page_write(page, "<div class=\"bar\"><span style=\"--p:%.1f%%;", percent);
        if (class < 0)
            imp_page_write(page, "--wash:var(--line)\">");
        else
            imp_page_write(page, "%s\">", imp_page_tint(top[i]).text);
        write_class(page, work, class);
        imp_page_write(page, "</span><b>%.1f%%</b></div>\n", percent);
    }
}

/* A support's path relative to the support folder. */
static const char *below_support(const imp_classification *work, const char *path)
{
    const char *folder = work->given->files.support;
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/')
        length--;
    if (strncmp(path, folder, length) != 0 || path[length] != '/')
        return path;
    return path + length + strspn(path + length, "/");
}

/* Makes the thumbnails of the next cards, in the order in which they are used. */
static void make_ahead(imp_page *page, const imp_classification *work, const size_t *queries,
                       size_t count)
{
    imp_thumbnail_of wanted[2 * BATCH];
    for (size_t i = 0; i < count; i++) {
        size_t nearest = work->answers[queries[i]].nearest;
        wanted[2 * i] = (imp_thumbnail_of){&work->queries.gallery, queries[i], LARGE};
        wanted[2 * i + 1] = (imp_thumbnail_of){&work->support.gallery, nearest, 2 * SMALL};
    }
    imp_page_ahead(page, wanted, 2 * count);
}

static void write_card(imp_page *page, const imp_classification *work, size_t query)
{
    const imp_answer *answer = &work->answers[query];
    const char *path = work->queries.gallery.pictures[query].path;
    const char *nearest = work->support.gallery.pictures[answer->nearest].path;
    size_t of, number = number_in_class(work, answer->cluster, &of);
    imp_page_write(page, "<li class=\"card\" id=\"p%zu\">", query);
    imp_page_picture(page, &work->queries.gallery, query, LARGE);
    imp_page_write(page, "<div><div class=\"name\" title=\"");
    imp_page_text(page, path);
    imp_page_write(page, "\">");
    imp_page_text(page, imp_page_short(imp_page_name(path), 20).text);
    imp_page_write(page, "</div>\n");
    write_bars(page, work, query);
    imp_page_write(page, "<div class=\"why\">");
    imp_page_picture(page, &work->support.gallery, answer->nearest, 2 * SMALL);
    imp_page_write(page, "<span>");
    if (of > 1)
        imp_page_write(page, "by cluster %zu of %zu; ", number, of);
    imp_page_write(page, "nearest: ");
    imp_page_text(page, imp_page_short(below_support(work, nearest), 40).text);
    imp_page_write(page, "</span></div></div></li>\n");
}

/* Writes those of a class's answers that are at places begin .. end - 1. */
static void write_section(imp_page *page, const imp_classification *work, const sequence *all,
                          int32_t class, size_t begin, size_t end)
{
    size_t slot = slot_of(work, class), count = all->first[slot + 1] - all->first[slot];
    bool goes_on = begin > all->first[slot];
    imp_page_write(page, "<section id=\"c%d\"", (int)class);
    write_colour(page, class);
    imp_page_write(page, ">\n<h2>");
    write_class(page, work, class);
    imp_page_write(page, "%s <small>%zu picture%s</small></h2>\n", goes_on ? ", continued" : "",
                   count, count == 1 ? "" : "s");
    if (!goes_on)
        write_clusters(page, work, class);
    imp_page_write(page, "<ul class=\"cards\">\n");
    for (size_t i = begin; i < end; i++) {
        if ((i - begin) % BATCH == 0)
            make_ahead(page, work, all->query + i, end - i < BATCH ? end - i : BATCH);
        write_card(page, work, all->query[i]);
    }
    imp_page_write(page, "</ul>\n</section>\n");
}

/* ---- the pages ---- */

static imp_status write_page(const imp_classification *work, const sequence *all, const char *title,
                             size_t number, imp_error *error)
{
    size_t begin = number * PER_PAGE, count = work->queries.rows.count;
    size_t end = begin + PER_PAGE < count ? begin + PER_PAGE : count, classes = class_count(work);
    bool others = clusters_of(work, -1) > 0;
    imp_page page;
    imp_page_begin(&page, imp_page_number(all->path, number).text, title);
    imp_page_pager(&page, all->path, number, all->pages);
    if (number == 0) {
        write_facts(&page, work);
        imp_page_write(&page, "<nav aria-label=\"Answers\">\n");
        for (size_t c = 0; c < classes; c++)
            write_link(&page, work, all, (int32_t)c);
        if (others)
            write_link(&page, work, all, -1);
        imp_page_write(&page, "</nav>\n");
        write_map(&page, work, all);
    }
    for (size_t slot = 0; slot < classes + others; slot++) {
        size_t first = all->first[slot], last = all->first[slot + 1];
        bool empty_here = first == last && page_of(first) == number;
        if ((first < end && last > begin) || empty_here)
            write_section(&page, work, all, slot < classes ? (int32_t)slot : -1,
                          first > begin ? first : begin, last < end ? last : end);
    }
    imp_page_pager(&page, all->path, number, all->pages);
    return imp_page_end(&page, error);
}

imp_status imp_classification_page(const imp_classification *work, const char *path,
                                   imp_error *error)
{
    char title[100];
    size_t count = work->queries.rows.count, classes = class_count(work);
    snprintf(title, sizeof title, "%zu picture%s, %zu class%s", count, count == 1 ? "" : "s",
             classes, classes == 1 ? "" : "es");
    sequence all;
    imp_status status = make_sequence(work, path, &all, error);
    if (status)
        return status;
    imp_progress_line line = imp_progress_start(false);
    /* The first page is written last, so that all pages it links to exist. */
    for (size_t i = all.pages; i-- > 0 && !status;) {
        imp_progress_show(&line, all.pages - 1 - i, all.pages, false, "pages");
        status = write_page(work, &all, title, i, error);
    }
    imp_progress_end(&line);
    clear_sequence(&all);
    return status;
}
