/* label_page.c - one function for each request of the page. */
#include "serve/label_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "draw/projection.h"

enum { LARGEST_SIDE = 1600, MOST_NAMES = 500, MOST_SIMILAR = 2000, SAMPLES = 4 };

/* ---- the map ---- */

/* The first two principal components, each scaled to 0 .. 65535. */
static imp_status lay_out(imp_label_page *page, imp_error *error)
{
    const imp_project *project = page->project;
    size_t count = project->count, d = project->state.all.dimensions, known = 0;
    float *rows = imp_allocate(count * d, sizeof *rows);
    double *plane = imp_allocate(2 * count, sizeof *plane);
    page->map = imp_allocate_zeroed(2 * count, sizeof *page->map);
    imp_projection projection = {0};
    imp_status status =
        rows && plane && page->map ? IMP_OK : imp_fail_memory(error, "the map of the pile");
    for (size_t i = 0; i < count && !status; i++)
        if (project->place[i] >= 0)
            memcpy(rows + known++ * d, project->points + i * d, d * sizeof *rows);
    if (!status && known > 0)
        status = imp_projection_fit(&projection, rows, known, d, error);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < count && !status; i++) {
        if (project->place[i] < 0)
            continue;
        imp_projection_apply(&projection, project->points + i * d, plane + 2 * i);
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], plane[2 * i + (size_t)axis]);
            high[axis] = fmax(high[axis], plane[2 * i + (size_t)axis]);
        }
    }
    for (size_t k = 0; k < 2 * count && !status; k++)
        if (project->place[k / 2] >= 0 && high[k % 2] > low[k % 2])
            page->map[k] = (uint16_t)(65535 * (plane[k] - low[k % 2]) / (high[k % 2] - low[k % 2]));
    imp_projection_clear(&projection);
    imp_release(rows);
    imp_release(plane);
    return status;
}

imp_status imp_label_page_create(imp_label_page *page, imp_project *project, const char *kind,
                                 const char *place, const imp_label_source *source,
                                 imp_error *error)
{
    *page = (imp_label_page){.project = project, .kind = kind, .place = place, .source = *source};
    imp_status status = lay_out(page, error);
    if (status)
        imp_release(page->map);
    else
        pthread_mutex_init(&page->lock, NULL);
    return status;
}

void imp_label_page_release(imp_label_page *page)
{
    imp_release(page->map);
    pthread_mutex_destroy(&page->lock);
    *page = (imp_label_page){0};
}

/* ---- answers ---- */

static void answer_bytes(imp_response *response, void *data, size_t size)
{
    response->type = "application/octet-stream";
    response->data = data;
    response->size = data ? size : 0;
    response->status = data || size == 0 ? 200 : 503;
}

static void answer_json(imp_response *response, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    answer_bytes(response, text, text ? strlen(text) : 1);
    response->type = "application/json";
}

static unsigned http_status(imp_status status)
{
    switch (status) {
    case IMP_EINVAL:
    case IMP_EFORMAT:
        return 400;
    case IMP_EUNSUPPORTED:
        return 415;
    case IMP_EIO:
        return 507; /* it could not be saved */
    default:
        return 503;
    }
}

static void answer_failure(imp_response *response, imp_status status, const imp_error *error)
{
    answer_json(response, json_pack("{s: o}", "error", imp_json_any_text(error->message)));
    response->status = http_status(status);
}

static void answer_text(imp_response *response, const char *type, const char *text)
{
    *response =
        (imp_response){.type = type, .data = (void *)text, .size = strlen(text), .constant = true};
}

/* The integer value of ?name=, up to `most`. */
static bool read_number(const imp_request *request, const char *name, size_t most, size_t *number)
{
    const char *text = imp_request_argument(request, name);
    char *end = NULL;
    unsigned long long value = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    *number = (size_t)value;
    return end && *end == '\0' && value <= most;
}

/* ---- GET requests ---- */

static void send_state(imp_label_page *page, const imp_request *request, imp_response *response)
{
    (void)request;
    answer_json(response, imp_label_page_state(page));
}

/* Four bytes per item: the class (two bytes, little-endian; 65535: unknown), flags, certainty. */
static void send_labels(imp_label_page *page, const imp_request *request, imp_response *response)
{
    (void)request;
    const imp_project *project = page->project;
    const imp_labelling *all = &project->state.all;
    uint8_t *bytes = malloc(4 * project->count);
    for (size_t i = 0; i < project->count && bytes; i++) {
        bool answered = all->class[i] != IMP_UNKNOWN;
        unsigned class = (unsigned)imp_labelling_class(all, i) & 0xFFFF;
        bytes[4 * i] = (uint8_t)(class & 0xFF);
        bytes[4 * i + 1] = (uint8_t)(class >> 8);
        bytes[4 * i + 2] = (uint8_t)(answered | (project->place[i] < 0) << 1 |
                                     project->changed[i] << 2 | project->state.closed[i] << 3);
        bytes[4 * i + 3] = answered ? 255 : (uint8_t)(254 * all->guess[i].probability);
    }
    answer_bytes(response, bytes, 4 * project->count);
}

static void send_map(imp_label_page *page, const imp_request *request, imp_response *response)
{
    (void)request;
    size_t size = 2 * page->project->count * sizeof *page->map;
    void *copy = malloc(size);
    if (copy)
        memcpy(copy, page->map, size);
    answer_bytes(response, copy, size);
}

/* Every group: its size, how many are named, up to four typical items, and all items. */
static void send_groups(imp_label_page *page, const imp_request *request, imp_response *response)
{
    (void)request;
    const imp_project *project = page->project;
    const imp_label_groups *groups = &project->state.groups;
    uint32_t *order = malloc(groups->points * sizeof *order);
    uint32_t *first = malloc((groups->count + 1) * sizeof *first);
    imp_error error;
    json_t *list = NULL;
    if (order && first && imp_label_groups_order(groups, order, first, &error) == IMP_OK) {
        list = json_array();
        for (size_t g = 0; g < groups->count; g++) {
            size_t answered = 0, present = 0;
            json_t *samples = json_array();
            for (uint32_t k = first[g]; k < first[g + 1]; k++) {
                if (project->place[order[k]] < 0)
                    continue;
                present++;
                answered += project->state.all.class[order[k]] != IMP_UNKNOWN;
                if (json_array_size(samples) < SAMPLES)
                    json_array_append_new(samples, json_integer(order[k]));
            }
            if (present == 0) {
                json_decref(samples);
                continue;
            }
            json_array_append_new(list, json_pack("{s: I, s: I, s: I, s: o}", "group",
                                                  (json_int_t)groups->group[order[first[g]]],
                                                  "size", (json_int_t)present, "answered",
                                                  (json_int_t)answered, "samples", samples));
        }
    }
    free(order);
    free(first);
    answer_json(response, list);
}

typedef struct ranked {
    float key;
    uint32_t item;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->item < y->item ? -1 : 1;
}

static void send_ranked(imp_response *response, ranked *list, size_t count, size_t most)
{
    qsort(list, count, sizeof *list, by_key);
    count = count < most ? count : most;
    uint32_t *items = malloc((count + 1) * sizeof *items);
    for (size_t k = 0; k < count && items; k++)
        items[k] = list[k].item;
    free(list);
    answer_bytes(response, items, count * sizeof *items);
}

/* ?view=all|unsure|answered|class|group|changed, &number= of the class or group: items in the most
 * useful order. */
static void send_items(imp_label_page *page, const imp_request *request, imp_response *response)
{
    const imp_project *project = page->project;
    const imp_labelling *all = &project->state.all;
    const imp_label_groups *groups = &project->state.groups;
    const char *view = imp_request_argument(request, "view");
    size_t number = SIZE_MAX, count = 0;
    read_number(request, "number", UINT32_MAX, &number);
    ranked *list = malloc((project->count + 1) * sizeof *list);
    for (size_t i = 0; i < project->count && list && view; i++) {
        bool answered = all->class[i] != IMP_UNKNOWN, there = project->place[i] >= 0;
        float unsure = all->guess[i].margin;
        ranked entry = {(float)i, (uint32_t)i};
        bool wanted = there && strcmp(view, "all") == 0;
        if (strcmp(view, "unsure") == 0) {
            wanted = there && !answered;
            entry.key = unsure;
        } else if (strcmp(view, "answered") == 0) {
            wanted = answered;
        } else if (strcmp(view, "changed") == 0) {
            wanted = project->changed[i];
        } else if (strcmp(view, "class") == 0) { /* least certain first, then the answers */
            wanted = there && (size_t)imp_labelling_class(all, i) == number;
            entry.key = answered ? INFINITY : unsure;
        } else if (strcmp(view, "group") == 0) {
            wanted = there && groups->group[i] == number;
            entry.key = (float)groups->distance[i];
        }
        if (wanted)
            list[count++] = entry;
    }
    send_ranked(response, list, list ? count : 0, SIZE_MAX);
}

/* ?items=4,7,9: their names and, if there are texts, their beginnings. */
static void send_names(imp_label_page *page, const imp_request *request, imp_response *response)
{
    const imp_project *project = page->project;
    const char *at = imp_request_argument(request, "items");
    json_t *list = json_array();
    while (at && *at && json_array_size(list) < MOST_NAMES) {
        char *end;
        unsigned long item = strtoul(at, &end, 10);
        if (end == at || item >= project->count)
            break;
        json_t *entry = json_pack("{s: I, s: o}", "item", (json_int_t)item, "name",
                                  imp_json_any_text(project->name[item]));
        char *text = page->source.text && project->place[item] >= 0
                         ? page->source.text((size_t)project->place[item], page->source.context)
                         : NULL;
        if (text)
            json_object_set_new(entry, "text", imp_json_any_text(text));
        free(text);
        json_object_set_new(entry, "group", json_integer(project->state.groups.group[item]));
        json_array_append_new(list, entry);
        at = *end == ',' ? end + 1 : end;
    }
    answer_json(response, list);
}

/* ?item=4&side=160. Does not lock the project, because an item's index in the pile does not
 * change. */
static void send_picture(imp_label_page *page, const imp_request *request, imp_response *response)
{
    size_t item, side;
    imp_error error = {0};
    if (!read_number(request, "item", page->project->count - 1, &item) ||
        !read_number(request, "side", LARGEST_SIDE, &side) || side == 0 || !page->source.picture) {
        imp_status status = imp_fail(&error, IMP_EINVAL, "there is no such picture");
        answer_failure(response, status, &error);
        return;
    }
    int64_t place = page->project->place[item];
    void *png = NULL;
    size_t size = 0;
    imp_status status =
        place < 0 ? imp_fail(&error, IMP_EINVAL, "'%s' is gone", page->project->name[item])
                  : page->source.picture((size_t)place, (uint32_t)side, &png, &size, &error,
                                         page->source.context);
    if (status) {
        answer_failure(response, status, &error);
        response->status = 404;
        return;
    }
    answer_bytes(response, png, size);
    response->type = "image/png";
    response->lasting = true;
}

/* ---- POST requests ---- */

static bool parse_body(const imp_request *request, json_t **body, imp_response *response)
{
    imp_error error;
    imp_status status = imp_json_parse(request->body, request->body_size, body, &error);
    if (!status && !json_is_object(*body)) {
        json_decref(*body);
        status = imp_fail(&error, IMP_EINVAL, "a change must be a JSON object");
    }
    if (status)
        answer_failure(response, status, &error);
    return !status;
}

/* A change; "revision" is the state that the sender saw. An item named in another window meanwhile
 * is not renamed, because the sender did not know. */
static void take_change(imp_label_page *page, const imp_request *request, imp_response *response)
{
    json_t *body;
    if (!parse_body(request, &body, response))
        return;
    imp_project *project = page->project;
    imp_error error;
    json_int_t seen = json_integer_value(json_object_get(body, "revision"));
    json_int_t item = json_integer_value(json_array_get(json_object_get(body, "items"), 0));
    if (json_object_get(body, "asked") && (uint64_t)seen != project->revision && item >= 0 &&
        (size_t)item < project->count && project->state.all.class[item] != IMP_UNKNOWN) {
        imp_fail(&error, IMP_EINVAL, "'%s' has meanwhile been named '%s' in another window",
                 project->name[item], project->classes[project->state.all.class[item]]);
        answer_failure(response, IMP_EINVAL, &error);
        response->status = 409;
        json_decref(body);
        return;
    }
    json_object_del(body, "revision");
    imp_status status = imp_project_change(project, body, &error);
    json_decref(body);
    if (status)
        answer_failure(response, status, &error);
    else
        answer_json(response, imp_label_page_state(page));
}

/* The items of a list in the body; false after an error response. A missing list is empty. */
static bool read_list(const imp_label_page *page, const json_t *body, const char *key,
                      uint32_t **items, size_t *count, imp_response *response)
{
    const json_t *list = json_object_get(body, key);
    *items = malloc((json_array_size(list) + 1) * sizeof **items);
    *count = 0;
    size_t index;
    json_t *item;
    json_array_foreach(list, index, item)
    {
        json_int_t number = json_integer_value(item);
        if (!*items || !json_is_integer(item) || number < 0 ||
            (size_t)number >= page->project->count) {
            imp_error error;
            imp_fail(&error, IMP_EINVAL, "\"%s\" must be a list of items", key);
            answer_failure(response, IMP_EINVAL, &error);
            free(*items);
            *items = NULL;
            return false;
        }
        (*items)[(*count)++] = (uint32_t)number;
    }
    return *items != NULL;
}

static float nearest_of(const imp_project *project, size_t item, const uint32_t *others,
                        size_t count)
{
    size_t d = project->state.all.dimensions;
    float nearest = INFINITY;
    for (size_t k = 0; k < count; k++) {
        float distance =
            imp_squared_distance(project->points + item * d, project->points + others[k] * d, d);
        nearest = distance < nearest ? distance : nearest;
    }
    return nearest;
}

/* {"yes": [...], "no": [...]}: unnamed items, sorted by similarity to "yes" and dissimilarity to
 * "no". */
static void send_similar(imp_label_page *page, const imp_request *request, imp_response *response)
{
    json_t *body;
    if (!parse_body(request, &body, response))
        return;
    uint32_t *yes = NULL, *no = NULL;
    size_t yes_count = 0, no_count = 0, count = 0;
    const imp_project *project = page->project;
    if (read_list(page, body, "yes", &yes, &yes_count, response) &&
        read_list(page, body, "no", &no, &no_count, response)) {
        ranked *list = malloc((project->count + 1) * sizeof *list);
        for (size_t i = 0; i < project->count && list; i++) {
            if (project->place[i] < 0 || project->state.all.class[i] != IMP_UNKNOWN)
                continue;
            float near = nearest_of(project, i, yes, yes_count);
            float far = nearest_of(project, i, no, no_count);
            if (near < far && near > 0)
                list[count++] = (ranked){isinf(far) ? near : near / far, (uint32_t)i};
        }
        send_ranked(response, list, list ? count : 0, MOST_SIMILAR);
    }
    free(yes);
    free(no);
    json_decref(body);
}

/* {"format": "copy", "to": PATH, "items": [...]}; without items: all. */
static void take_export(imp_label_page *page, const imp_request *request, imp_response *response)
{
    json_t *body;
    if (!parse_body(request, &body, response))
        return;
    const char *format = json_string_value(json_object_get(body, "format"));
    const char *to = json_string_value(json_object_get(body, "to"));
    uint32_t *items = NULL;
    size_t count = 0;
    imp_error error;
    if (read_list(page, body, "items", &items, &count, response)) {
        imp_status status =
            !format || !to || !*to
                ? imp_fail(&error, IMP_EINVAL, "an export needs a format and a path")
                : page->source.export(page->project, format, to, count ? items : NULL, count,
                                      &error, page->source.context);
        if (status)
            answer_failure(response, status, &error);
        else
            answer_json(response, json_pack("{s: s}", "written", to));
    }
    free(items);
    json_decref(body);
}

/* ---- routes ---- */

/* The files of the page. */
static const struct {
    const char *path, *type, *text;
} files[] = {
    {"", "text/html; charset=utf-8", imp_label_html},
    {"label.css", "text/css; charset=utf-8", imp_label_css},
    {"label.js", "text/javascript; charset=utf-8", imp_label_js},
    {"icon.svg", "image/svg+xml",
     "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='3' cy='3' r='2' "
     "fill='#0b57d0'/><circle cx='6' cy='6' r='1.4' fill='#e8710a'/></svg>"},
};

typedef struct route {
    const char *path;
    bool post, unlocked;
    void (*serve)(imp_label_page *page, const imp_request *request, imp_response *response);
} route;

static const route routes[] = {
    {"state", false, false, send_state},    {"labels", false, false, send_labels},
    {"map", false, false, send_map},        {"groups", false, false, send_groups},
    {"items", false, false, send_items},    {"names", false, false, send_names},
    {"picture", false, true, send_picture}, {"change", true, false, take_change},
    {"similar", true, false, send_similar}, {"export", true, false, take_export},
};

void imp_label_page_serve(const imp_request *request, imp_response *response, void *context)
{
    imp_label_page *page = context;
    for (size_t k = 0; k < sizeof files / sizeof *files && !request->post; k++)
        if (strcmp(request->path, files[k].path) == 0) {
            answer_text(response, files[k].type, files[k].text);
            return;
        }
    for (size_t k = 0; k < sizeof routes / sizeof *routes; k++) {
        if (strcmp(request->path, routes[k].path) != 0 || request->post != routes[k].post)
            continue;
        if (!routes[k].unlocked)
            pthread_mutex_lock(&page->lock);
        routes[k].serve(page, request, response);
        if (!routes[k].unlocked)
            pthread_mutex_unlock(&page->lock);
        return;
    }
    imp_error error;
    imp_fail(&error, IMP_EINVAL, "there is nothing at this address");
    answer_failure(response, IMP_EINVAL, &error);
    response->status = 404;
}
