/*
 * pack_read.c - opens a packed dataset by mapping it.
 *
 * Nothing in the file is trusted before it is checked: first the sizes against the file's, then the
 * checksums (on all cores), then every offset and count used as an index. Names and pixels are used
 * in place.
 */
#define _DEFAULT_SOURCE /* mmap's flags */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/checksum.h"
#include "data/pack.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packs are mapped as they are, which takes a little-endian machine"
#endif

/* Reads the first bytes of a file; false if it has fewer. */
static bool read_beginning(const char *path, void *bytes, size_t size)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false; /* opening a pipe would block */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool whole = read(descriptor, bytes, size) == (ssize_t)size;
    close(descriptor);
    return whole;
}

bool imp_is_pack(const char *path)
{
    char magic[sizeof IMP_PACK_MAGIC - 1];
    return read_beginning(path, magic, sizeof magic) &&
           memcmp(magic, IMP_PACK_MAGIC, sizeof magic) == 0;
}

static imp_kind kind_of(const imp_pack_header *header)
{
    imp_kind kind = {""};
    memcpy(kind.text, header->kind, sizeof header->kind);
    memcpy(kind.text + sizeof header->kind, header->kind_rest, sizeof header->kind_rest);
    return kind;
}

bool imp_pack_kind(const char *path, imp_kind *kind)
{
    imp_pack_header header;
    if (!imp_is_pack(path) || !read_beginning(path, &header, sizeof header) ||
        header.version != IMP_PACK_VERSION ||
        header.header_checksum != imp_pack_header_checksum(&header))
        return false;
    *kind = kind_of(&header);
    return true;
}

/* ---- checking ---- */

static imp_status damaged(imp_error *error, const char *what)
{
    return imp_fail(error, IMP_EFORMAT, "the pack is damaged: %s; pack the data again", what);
}

static imp_status check_header(const uint8_t *file, size_t size, imp_pack_header *header,
                               imp_pack_layout *layout, imp_error *error)
{
    if (size < sizeof *header)
        return imp_fail(error, IMP_EFORMAT, "the file is too short for a pack");
    memcpy(header, file, sizeof *header);
    if (memcmp(header->magic, IMP_PACK_MAGIC, sizeof header->magic) != 0)
        return imp_fail(error, IMP_EFORMAT, "the file is not a pack");
    if (header->version != IMP_PACK_VERSION)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "the pack has version %u and only version %d is read; pack the data again",
                        header->version, IMP_PACK_VERSION);
    if (header->header_checksum != imp_pack_header_checksum(header))
        return damaged(error, "its header does not match its checksum");
    if (header->size == 0 || (header->channels != 1 && header->channels != 3) ||
        header->pictures == 0 || header->classes == 0 || header->text_size == 0 ||
        header->inverted > 1 || !imp_pack_layout_of(header, layout))
        return damaged(error, "its header makes no sense");
    if (layout->end != size)
        return imp_fail(error, IMP_EFORMAT,
                        "the pack is damaged: it has %zu bytes and should have %llu; pack the data "
                        "again",
                        size, (unsigned long long)layout->end);
    return IMP_OK;
}

typedef struct verification {
    const uint8_t *file;
    const imp_pack_layout *layout;
    bool *wrong; /* (blocks) */
} verification;

static void verify_block(size_t block, int worker, void *context)
{
    (void)worker;
    const verification *work = context;
    const uint64_t *expected = (const uint64_t *)(work->file + work->layout->block_checksums);
    const uint8_t *pixels = work->file + work->layout->pixels + block * (size_t)IMP_PACK_BLOCK;
    work->wrong[block] =
        imp_checksum(pixels, imp_pack_block_size(work->layout, block)) != expected[block];
}

static imp_status verify(const uint8_t *file, const imp_pack_header *header,
                         const imp_pack_layout *layout, int threads, imp_error *error)
{
    if (imp_checksum(file + sizeof *header, (size_t)layout->pixels - sizeof *header) !=
        header->table_checksum)
        return damaged(error, "its table of classes does not match its checksum");
    bool *wrong = imp_allocate_zeroed((size_t)layout->blocks, sizeof *wrong);
    if (wrong == NULL)
        return imp_fail_memory(error, "a pack");
    verification work = {file, layout, wrong};
    imp_parallel((size_t)layout->blocks, threads, verify_block, &work);
    bool any = false;
    for (size_t block = 0; block < layout->blocks; block++)
        any = any || wrong[block];
    imp_release(wrong);
    return any ? damaged(error, "its pixels do not match their checksums") : IMP_OK;
}

/* Checks that everything used as an index later is within bounds, and that pictures are sorted. */
static imp_status check_table(const uint8_t *file, const imp_pack_header *header,
                              const imp_pack_layout *layout, imp_error *error)
{
    const char *text = (const char *)file + layout->text;
    if (text[header->text_size - 1] != '\0')
        return damaged(error, "its texts do not end");
    const uint32_t *names = (const uint32_t *)(file + layout->picture_names);
    for (size_t i = 0; i < header->pictures; i++) {
        if (names[i] >= header->text_size ||
            (i > 0 && strcmp(text + names[i - 1], text + names[i]) >= 0))
            return damaged(error, "the names of its pictures make no sense");
        if (!imp_is_path_below(text + names[i]))
            return damaged(error, "the name of a picture of it is no path below a folder");
    }
    const uint32_t *supers = (const uint32_t *)(file + layout->super_names);
    for (size_t i = 0; i < header->super_classes; i++)
        if (supers[i] >= header->text_size)
            return damaged(error, "the names of its super-classes make no sense");
    const imp_pack_class *classes = (const imp_pack_class *)(file + layout->classes);
    uint64_t next = 0;
    uint32_t supers_seen = 0; /* they are in order, and each has classes */
    for (size_t i = 0; i < header->classes; i++) {
        const imp_pack_class *entry = &classes[i];
        bool super_fits = header->super_classes == 0 ? entry->super_class == IMP_NO_SUPER_CLASS
                                                     : entry->super_class < header->super_classes &&
                                                           (entry->super_class == supers_seen ||
                                                            entry->super_class + 1 == supers_seen);
        if (entry->name >= header->text_size || !super_fits || entry->split > IMP_SPLIT_NONE ||
            entry->first_picture != next || entry->count == 0)
            return damaged(error, "its classes make no sense");
        next += entry->count;
        if (header->super_classes > 0)
            supers_seen = entry->super_class + 1;
    }
    if (next != header->pictures)
        return damaged(error, "its classes do not hold all pictures");
    if (supers_seen != header->super_classes)
        return damaged(error, "a super-class of it has no classes");
    return IMP_OK;
}

/* ---- taking over ---- */

static imp_status take_classes(imp_dataset *dataset, const uint8_t *file,
                               const imp_pack_header *header, const imp_pack_layout *layout,
                               imp_error *error)
{
    const char *text = (const char *)file + layout->text;
    const uint32_t *supers = (const uint32_t *)(file + layout->super_names);
    const imp_pack_class *classes = (const imp_pack_class *)(file + layout->classes);
    dataset->classes = imp_allocate_zeroed(header->classes, sizeof *dataset->classes);
    dataset->super_classes =
        imp_allocate_zeroed(header->super_classes, sizeof *dataset->super_classes);
    if (dataset->classes == NULL || dataset->super_classes == NULL)
        return imp_fail_memory(error, "the classes");
    for (size_t i = 0; i < header->super_classes; i++) {
        char *name = imp_duplicate(text + supers[i]);
        if (name == NULL)
            return imp_fail_memory(error, "the classes");
        dataset->super_classes[dataset->super_count++] = name;
    }
    for (size_t i = 0; i < header->classes; i++) {
        char *name = imp_duplicate(text + classes[i].name);
        if (name == NULL)
            return imp_fail_memory(error, "the classes");
        dataset->classes[dataset->class_count++] = (imp_class){
            .name = name,
            .super_class = classes[i].super_class,
            .split = (imp_split)classes[i].split,
            .first_picture = classes[i].first_picture,
            .count = classes[i].count,
        };
    }
    return imp_dataset_number(dataset, error);
}

static imp_status take(imp_dataset *dataset, const imp_dataset_options *options, imp_error *error)
{
    const uint8_t *file = dataset->map;
    imp_pack_header header;
    imp_pack_layout layout;
    imp_status status = check_header(file, dataset->map_size, &header, &layout, error);
    if (!status)
        status = verify(file, &header, &layout, imp_parallel_threads(options->threads), error);
    if (!status)
        status = check_table(file, &header, &layout, error);
    if (status)
        return status;

    bool other_size = options->size != 0 && options->size != header.size;
    bool other_channels = options->channels != 0 && options->channels != header.channels;
    if (other_size || other_channels)
        return imp_fail(error, IMP_EINVAL,
                        "the pack holds %u x %u pixels in %u channel(s), not the %u and %u asked "
                        "for; pack the data again",
                        header.size, header.size, header.channels,
                        other_size ? options->size : header.size,
                        other_channels ? options->channels : header.channels);
    if (options->ink != IMP_INK_OWN)
        return imp_fail(error, IMP_EINVAL,
                        "a pack's pixels cannot be inverted; invert them when packing");

    memcpy(dataset->kind, kind_of(&header).text, sizeof dataset->kind);
    dataset->inverted = header.inverted == 1;
    memcpy(&dataset->sizes, header.sizes, sizeof header.sizes);
    memcpy(dataset->fingerprint, header.fingerprint, sizeof header.fingerprint);
    imp_fingerprint_format(dataset);
    dataset->size = header.size;
    dataset->channels = header.channels;
    dataset->picture_count = header.pictures;
    dataset->picture_names = (const uint32_t *)(file + layout.picture_names);
    dataset->picture_text = (const char *)file + layout.text;
    /* Packing again needs only the pictures' names, which come first. */
    for (size_t i = 0; i < header.pictures; i++) {
        size_t end = dataset->picture_names[i] + strlen(imp_picture_name(dataset, i)) + 1;
        if (end > dataset->picture_text_size)
            dataset->picture_text_size = end;
    }
    dataset->pixels = file + layout.pixels;
    return take_classes(dataset, file, &header, &layout, error);
}

imp_status imp_open_pack(imp_dataset *dataset, const char *path, const imp_dataset_options *options,
                         imp_error *error)
{
    /* Do not block on a FIFO, which is not a pack. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    if (descriptor < 0 || fstat(descriptor, &about) != 0) {
        imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return IMP_EIO;
    }
    imp_status status = IMP_OK;
    void *map = MAP_FAILED;
    if (!S_ISREG(about.st_mode) || about.st_size == 0)
        status = imp_fail(error, IMP_EFORMAT, "'%s' is not a pack", path);
    else
        map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (!status && map == MAP_FAILED)
        status = imp_fail(error, IMP_EIO, "cannot map '%s': %s", path, strerror(errno));
    close(descriptor); /* the map stays */
    if (status)
        return status;

    dataset->map = map;
    dataset->map_size = (size_t)about.st_size;
    status = take(dataset, options, error);
    if (status)
        imp_error_prefix(error, path);
    return status;
}
