/*
 * load.c - reads and decodes the pictures of a catalog on all cores.
 *
 * One thread decodes, converts, resamples and hashes a picture and writes its planes straight to
 * their final place. A broken picture either makes loading fail or, if asked for, is left out and
 * listed.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/catalog.h"
#include "data/image.h"

enum { DEFAULT_SIZE = 84, PROBES = 8 };

imp_load_plan imp_load_plan_from(const imp_dataset_options *options)
{
    return (imp_load_plan){
        .size = options->size,
        .channels = options->channels,
        .invert = options->ink == IMP_INK_INVERT,
        .skip_broken = options->skip_broken,
        .pixel_limit = options->pixel_limit > 0 ? options->pixel_limit : IMP_PIXEL_LIMIT,
        .threads = imp_parallel_threads(options->threads),
    };
}

/* Shared by the threads that read one source. An entry belongs to the thread that visits it.
 */
typedef struct job {
    const imp_load_plan *plan;
    const imp_catalog *catalog;
    const uint32_t *entry_of; /* (members of the source): the entry, or IMP_ABSENT */
    uint8_t *pixels;          /* NULL while probing */
    uint8_t *digests;
    uint32_t (*sizes)[2]; /* (entries): width and height before resampling; 0: not decoded yet */
    uint32_t *channels;   /* (entries) */
    imp_fault **faults;   /* (entries): or NULL */
} job;

static void keep_fault(job *work, size_t entry, const imp_error *fault)
{
    work->faults[entry] = imp_fault_keep(work->catalog->entries[entry].name, fault);
}

/* Decodes bytes to planes in their place. */
static imp_status decode_into(job *work, size_t entry, const uint8_t *bytes, size_t size,
                              imp_error *fault)
{
    const imp_load_plan *plan = work->plan;
    imp_image image;
    imp_status status = imp_image_decode(bytes, size, plan->pixel_limit, &image, fault);
    if (status)
        return status;
    work->sizes[entry][0] = image.width;
    work->sizes[entry][1] = image.height;
    work->channels[entry] = image.channels;

    if (work->pixels != NULL) {
        size_t room = (size_t)plan->channels * plan->size * plan->size;
        uint8_t *planes = work->pixels + entry * room;
        status = imp_image_prepare(&image, plan->size, plan->channels, plan->invert, planes, fault);
        if (!status)
            imp_fingerprint_pixels(planes, room, work->digests + entry * IMP_FINGERPRINT_BYTES);
    }
    imp_image_clear(&image);
    return status;
}

static void visit(size_t member, const uint8_t *bytes, size_t size, const imp_error *fault,
                  void *context)
{
    job *work = context;
    size_t entry = work->entry_of[member];
    imp_error own;
    if (fault == NULL && decode_into(work, entry, bytes, size, &own))
        fault = &own;
    if (fault != NULL) {
        work->sizes[entry][0] = 0;
        keep_fault(work, entry, fault);
    }
}

/* Visits entries first..end-1 in their sources. */
static imp_status visit_entries(job *work, size_t first, size_t end, imp_error *error)
{
    const imp_catalog *catalog = work->catalog;
    imp_status status = IMP_OK;
    imp_error own; /* the message may be needed below even if the caller wants none */
    if (error == NULL)
        error = &own;
    for (size_t s = 0; s < catalog->source_count && !status; s++) {
        const imp_source *source = &catalog->sources[s];
        bool *wanted = imp_allocate_zeroed(source->count, sizeof *wanted);
        uint32_t *entry_of = imp_allocate(source->count, sizeof *entry_of);
        if (wanted == NULL || entry_of == NULL) {
            imp_release(wanted);
            imp_release(entry_of);
            return imp_fail_memory(error, "a list of pictures");
        }
        bool any = false;
        for (size_t i = first; i < end; i++) {
            const imp_catalog_entry *entry = &catalog->entries[i];
            if (entry->source != s || entry->member == IMP_ABSENT || work->faults[i] != NULL)
                continue;
            if (wanted[entry->member]) {
                status = imp_fail(error, IMP_EINVAL,
                                  "the picture '%s' is listed twice, as '%s' and as '%s'",
                                  source->names[entry->member],
                                  catalog->entries[entry_of[entry->member]].name, entry->name);
                break;
            }
            wanted[entry->member] = any = true;
            entry_of[entry->member] = (uint32_t)i;
        }
        work->entry_of = entry_of;
        if (any && !status)
            status = imp_source_read(source, wanted, work->plan->threads, visit, work, error);
        imp_release(wanted);
        imp_release(entry_of);
        /* After the damage in an archive nothing can be read, so every file there has this fault.
         */
        if (status == IMP_EFORMAT && work->plan->skip_broken) {
            for (size_t i = first; i < end; i++)
                if (catalog->entries[i].source == s && work->sizes[i][0] == 0 &&
                    work->faults[i] == NULL)
                    keep_fault(work, i, error);
            status = IMP_OK;
        }
    }
    return status;
}

/* ---- before and after ---- */

/* Sets size and channels that are open from the first readable picture. */
static imp_status settle_plan(job *work, imp_load_plan *plan, imp_error *error)
{
    if (plan->size != 0 && plan->channels != 0)
        return IMP_OK;
    uint32_t side = DEFAULT_SIZE, channels = 3;
    for (size_t i = 0; i < work->catalog->count && i < PROBES; i++) {
        imp_status status = visit_entries(work, i, i + 1, error);
        if (status)
            return status;
        uint32_t width = work->sizes[i][0], height = work->sizes[i][1];
        if (width == 0)
            continue;
        uint32_t longer = width > height ? width : height;
        side = longer < DEFAULT_SIZE ? longer : DEFAULT_SIZE;
        channels = work->channels[i];
        break;
    }
    if (plan->size == 0)
        plan->size = side;
    if (plan->channels == 0)
        plan->channels = channels;
    return IMP_OK;
}

/* Records the missing pictures, then reads the rest. */
static imp_status read_all(job *work, imp_error *error)
{
    const imp_catalog *catalog = work->catalog;
    for (size_t i = 0; i < catalog->count; i++) {
        if (catalog->entries[i].member != IMP_ABSENT || work->faults[i] != NULL)
            continue;
        imp_error fault;
        const char *why = catalog->entries[i].absent;
        imp_fail(&fault, IMP_EFORMAT, "%s", why != NULL ? why : "there is no such file");
        keep_fault(work, i, &fault);
    }
    return visit_entries(work, 0, catalog->count, error);
}

/* Removes broken entries from the catalog and closes the gaps in the pixels. Their messages move to
 * the dataset. */
static imp_status drop_broken(job *work, imp_catalog *catalog, imp_dataset *dataset, size_t bytes,
                              imp_error *error)
{
    size_t broken = 0, kept = 0;
    for (size_t i = 0; i < catalog->count; i++)
        broken += work->faults[i] != NULL;
    if (broken == 0)
        return IMP_OK;
    dataset->faults = imp_allocate(broken, sizeof *dataset->faults);
    if (dataset->faults == NULL)
        return imp_fail_memory(error, "the list of broken pictures");

    for (size_t i = 0; i < catalog->count; i++) {
        imp_catalog_entry *entry = &catalog->entries[i];
        if (imp_fault_is_memory(work->faults[i]))
            return imp_fail_memory(error, "decoding pictures");
        if (work->faults[i] != NULL) {
            dataset->faults[dataset->fault_count++] = work->faults[i];
            work->faults[i] = NULL;
            imp_release(entry->name);
            imp_release(entry->absent);
            entry->name = entry->absent = NULL;
            continue;
        }
        if (kept != i) {
            catalog->entries[kept] = *entry;
            entry->name = entry->absent = NULL;
            memcpy(work->pixels + kept * bytes, work->pixels + i * bytes, bytes);
            memcpy(work->digests + kept * IMP_FINGERPRINT_BYTES,
                   work->digests + i * IMP_FINGERPRINT_BYTES, IMP_FINGERPRINT_BYTES);
            memcpy(work->sizes[kept], work->sizes[i], sizeof work->sizes[i]);
        }
        kept++;
    }
    catalog->count = kept;
    return IMP_OK;
}

static void note_sizes(imp_dataset *dataset, uint32_t (*sizes)[2], size_t count)
{
    size_t smallest = 0, largest = 0;
    for (size_t i = 1; i < count; i++) {
        uint64_t area = (uint64_t)sizes[i][0] * sizes[i][1];
        if (area < (uint64_t)sizes[smallest][0] * sizes[smallest][1])
            smallest = i;
        if (area > (uint64_t)sizes[largest][0] * sizes[largest][1])
            largest = i;
    }
    memcpy(dataset->sizes.smallest, sizes[smallest], sizeof dataset->sizes.smallest);
    memcpy(dataset->sizes.largest, sizes[largest], sizeof dataset->sizes.largest);
}

static imp_status load(job *work, imp_catalog *catalog, imp_load_plan *plan, imp_dataset *dataset,
                       imp_error *error)
{
    imp_status status = settle_plan(work, plan, error);
    if (status)
        return status;
    dataset->size = plan->size;
    dataset->channels = plan->channels;
    dataset->inverted = plan->invert;
    size_t bytes = imp_picture_bytes(dataset), total;
    if (imp_multiply(bytes, catalog->count, &total))
        dataset->owned_pixels = imp_allocate(total, 1);
    if (dataset->owned_pixels == NULL)
        return imp_fail(error, IMP_ENOMEM, "out of memory for %zu pictures of %zu bytes",
                        catalog->count, bytes);
    work->pixels = dataset->owned_pixels;
    dataset->pixels = dataset->owned_pixels;

    status = read_all(work, error);
    for (size_t i = 0; i < catalog->count && !status && !plan->skip_broken; i++)
        if (work->faults[i] != NULL)
            status =
                imp_fault_is_memory(work->faults[i])
                    ? imp_fail_memory(error, "decoding pictures")
                    : imp_fail(error, work->faults[i]->status, "%s", work->faults[i]->sentence);
    if (!status)
        status = drop_broken(work, catalog, dataset, bytes, error);
    if (!status && catalog->count == 0)
        status = imp_fail(error, dataset->faults[0]->status,
                          "none of the %zu pictures could be read; the first: %s",
                          dataset->fault_count, dataset->faults[0]->sentence);
    if (!status)
        status = imp_catalog_group(catalog, dataset, error);
    if (!status) {
        note_sizes(dataset, work->sizes, catalog->count);
        imp_dataset_set_fingerprint(dataset, work->digests);
    }
    return status;
}

imp_status imp_catalog_load(imp_catalog *catalog, const imp_load_plan *plan, imp_dataset *dataset,
                            imp_error *error)
{
    imp_status status = imp_catalog_check(catalog, error);
    if (status)
        return status;
    size_t count = catalog->count;
    if (count == 0)
        return imp_fail(error, IMP_EINVAL, "there are no pictures (%s)",
                        imp_source_picture_endings().text);
    imp_load_plan settled = *plan;
    job work = {.plan = &settled, .catalog = catalog};
    size_t digest_bytes = count * IMP_FINGERPRINT_BYTES; /* count is below 2^30 */
    work.digests = imp_allocate(digest_bytes, 1);
    work.sizes = imp_allocate_zeroed(count, sizeof *work.sizes);
    work.channels = imp_allocate_zeroed(count, sizeof *work.channels);
    work.faults = imp_allocate_zeroed(count, sizeof *work.faults);

    if (!work.digests || !work.sizes || !work.channels || !work.faults)
        status = imp_fail_memory(error, "a list of pictures");
    else
        status = load(&work, catalog, &settled, dataset, error);

    for (size_t i = 0; work.faults != NULL && i < count; i++)
        imp_fault_release(work.faults[i]);
    imp_release(work.digests);
    imp_release(work.sizes);
    imp_release(work.channels);
    imp_release(work.faults);
    return status;
}
