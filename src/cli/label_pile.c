/* label_pile.c - the items to label: pictures or files, embedded by a model, or vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/label.h"
#include "data/checksum.h"

static const char command[] = "label";

enum { TEXT_LIMIT = 1 << 28, SHOWN = 400 };

static int out_of_memory(void)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "out of memory for the pile");
}

/* ---- rows of numbers ---- */

/* The lines of a file, one per row. */
static int read_texts(imp_label_pile *pile, const char *path)
{
    unsigned char *bytes;
    size_t size, line = 0;
    imp_error error;
    if (imp_file_read(path, TEXT_LIMIT, &bytes, &size, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    pile->text = calloc(pile->count, sizeof *pile->text);
    int status = pile->text ? IMP_GO_ON : out_of_memory();
    for (char *at = (char *)bytes; *at && status == IMP_GO_ON; line++) {
        size_t length = strcspn(at, "\n");
        if (line < pile->count && !(pile->text[line] = strndup(at, length)))
            status = out_of_memory();
        at += length + (at[length] == '\n');
    }
    imp_release(bytes);
    if (status == IMP_GO_ON && line != pile->count)
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s: it has %zu lines for %zu rows", path,
                              line, pile->count);
    return status;
}

static int name_rows(imp_label_pile *pile)
{
    const imp_rows *rows = &pile->rows;
    for (size_t i = 0; i < pile->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "row %zu", i);
        pile->name[i] = strdup(name);
        if (!pile->name[i])
            return out_of_memory();
        pile->digest[i] = imp_checksum(rows->values + i * rows->dimensions,
                                       rows->dimensions * sizeof *rows->values);
    }
    return IMP_GO_ON;
}

/* ---- pictures and other files ---- */

/* Names relative to the pile, which stay the same on another machine; and digests. */
static int name_files(imp_label_pile *pile)
{
    const imp_gallery *gallery = &pile->embedded.gallery;
    size_t prefix = strlen(pile->place);
    while (prefix > 1 && pile->place[prefix - 1] == '/')
        prefix--;
    for (size_t i = 0; i < pile->count; i++) {
        const char *path = gallery->pictures[i].path, *name = path;
        if (strncmp(path, pile->place, prefix) == 0)
            for (name = path + prefix; *name == '/';)
                name++;
        pile->name[i] = strdup(*name ? name : path);
        if (!pile->name[i])
            return out_of_memory();
        if (!imp_is_utf8(name))
            return imp_complain(IMP_EXIT_FAILURE, command,
                                "the name of '%s' is not valid UTF-8, so a project cannot record "
                                "it; rename the file",
                                path);
        uint8_t *bytes;
        size_t size;
        imp_error error;
        if (imp_gallery_bytes(gallery, i, &bytes, &size, &error) != IMP_OK)
            return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
        pile->digest[i] = imp_checksum(bytes, size);
        imp_release(bytes);
    }
    return IMP_GO_ON;
}

/* Whether the page can show pictures. An embedder reads files of any kind; the first one
 * decides. */
static bool has_pictures(const imp_gallery *gallery)
{
    uint8_t *bytes;
    size_t size;
    if (imp_gallery_bytes(gallery, 0, &bytes, &size, NULL) != IMP_OK)
        return false;
    bool known = size > 0 && imp_image_begins(bytes, size);
    imp_release(bytes);
    return known;
}

static int embed(imp_label_pile *pile, const imp_picture_settings *settings)
{
    imp_model *model = NULL;
    int status = imp_gather_classes(command, settings, pile->place, &pile->embedded);
    if (status == IMP_GO_ON) {
        imp_tell_passed_over(command, &pile->embedded.gallery, NULL);
        status = imp_open_model(command, settings, &model);
    }
    if (status == IMP_GO_ON)
        status = imp_embed_pictures(command, settings, model, &pile->embedded);
    if (status == IMP_GO_ON) {
        const imp_gallery *gallery = &pile->embedded.gallery;
        imp_tell_coloured(command, settings, imp_gallery_coloured(gallery), gallery->count);
        pile->embedder = strdup(imp_model_word(settings, model));
        pile->kind = has_pictures(gallery) ? "pictures" : "files";
    }
    imp_model_free(model);
    return status;
}

int imp_label_pile_open(imp_label_pile *pile, const char *place, const char *texts,
                        const imp_picture_settings *settings)
{
    bool files = imp_is_folder_or_archive(place);
    *pile = (imp_label_pile){.place = place, .kind = "vectors"};
    if (!files && imp_only_for_pictures(settings))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "%s needs a folder or an archive, which '%s' is not",
                            imp_only_for_pictures(settings), place);
    if (files && texts)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--texts is for vectors; '%s' is a pile of files", place);
    int status = files ? embed(pile, settings) : imp_read_rows(command, place, &pile->vectors);
    pile->rows = files ? pile->embedded.rows : pile->vectors;
    pile->count = pile->rows.count;
    if (!files && status == IMP_GO_ON)
        pile->embedder = strdup("vectors");
    if (status == IMP_GO_ON && pile->count == 0)
        status = imp_complain(IMP_EXIT_FAILURE, command, "'%s' holds nothing to label", place);
    if (status != IMP_GO_ON)
        return status;
    pile->name = calloc(pile->count, sizeof *pile->name);
    pile->digest = calloc(pile->count, sizeof *pile->digest);
    if (!pile->name || !pile->digest || !pile->embedder)
        return out_of_memory();
    status = files ? name_files(pile) : name_rows(pile);
    return status == IMP_GO_ON && texts ? read_texts(pile, texts) : status;
}

void imp_label_pile_clear(imp_label_pile *pile)
{
    for (size_t i = 0; i < pile->count; i++) {
        if (pile->name)
            free(pile->name[i]);
        if (pile->text)
            free(pile->text[i]);
    }
    free(pile->name);
    free(pile->text);
    free(pile->digest);
    free((char *)pile->embedder);
    free(pile->vectors.values);
    imp_embedded_clear(&pile->embedded);
    *pile = (imp_label_pile){0};
}

imp_project_pile imp_label_pile_view(const imp_label_pile *pile)
{
    return (imp_project_pile){.kind = pile->kind,
                              .place = pile->place,
                              .embedder = pile->embedder,
                              .name = (const char *const *)pile->name,
                              .digest = pile->digest,
                              .points = pile->rows.values,
                              .count = pile->count,
                              .dimensions = pile->rows.dimensions};
}

/* ---- what the page shows ---- */

static imp_status picture(size_t place, uint32_t side, void **png, size_t *size, imp_error *error,
                          void *context)
{
    const imp_label_pile *pile = context;
    imp_image image;
    uint8_t *bytes = NULL;
    imp_status status = imp_gallery_open(&pile->embedded.gallery, place, &image, error);
    if (!status)
        status = imp_image_shrink(&image, side, error);
    if (!status)
        status = imp_png_encode(&image, &bytes, size, error);
    imp_image_clear(&image);
    *png = status ? NULL : malloc(*size);
    if (*png)
        memcpy(*png, bytes, *size);
    else if (!status)
        status = imp_fail_memory(error, "a picture");
    imp_release(bytes);
    return status;
}

/* The beginning of the text of a file or a row; NULL if it is not text. */
static char *text(size_t place, void *context)
{
    const imp_label_pile *pile = context;
    if (pile->embedded.gallery.count == 0)
        return strdup(pile->text ? pile->text[place] : pile->name[place]);
    uint8_t *bytes;
    size_t size;
    if (imp_gallery_bytes(&pile->embedded.gallery, place, &bytes, &size, NULL) != IMP_OK)
        return NULL;
    size_t length = size < SHOWN ? size : SHOWN;
    while (length > 0 && length < size && (bytes[length] & 0xC0) == 0x80)
        length--; /* not within a UTF-8 character */
    char *shown = memchr(bytes, 0, length) ? NULL : strndup((char *)bytes, length);
    if (shown && !imp_is_utf8(shown)) {
        free(shown);
        shown = NULL;
    }
    imp_release(bytes);
    return shown;
}

imp_label_source imp_label_pile_source(const imp_label_pile *pile)
{
    bool vectors = strcmp(pile->kind, "vectors") == 0,
         pictures = strcmp(pile->kind, "pictures") == 0;
    return (imp_label_source){.picture = vectors ? NULL : picture,
                              .text = pictures ? NULL : text,
                              .export = imp_label_export,
                              .context = (void *)pile};
}
