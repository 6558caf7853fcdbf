/* labels_write.c - writes classes to a file by name, some at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/labels.h"
#include "base/memory.h"
#include "base/npy.h"
#include "base/utf8.h"

/* Decodes UTF-8 into `wide`, which is large enough; returns the number of characters. */
static size_t decode(const char *text, uint32_t *wide)
{
    size_t count = 0;
    for (size_t size; *text && (size = imp_utf8_size(text)) > 0; text += size) {
        const unsigned char *bytes = (const unsigned char *)text;
        uint32_t c = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);
        for (size_t i = 1; i < size; i++)
            c = c << 6 | (bytes[i] & 0x3fu);
        if (wide)
            wide[count] = c;
        count++;
    }
    return count;
}

/* Writes the header of an array of strings, and allocates room for one. */
static imp_status begin_texts(imp_labels_writer *writer, size_t count, imp_error *error)
{
    const imp_labels *names = writer->names;
    writer->width = 1;
    for (size_t c = 0; c < names->classes; c++) {
        size_t length = decode(names->names[c], NULL);
        writer->width = length > writer->width ? length : writer->width;
    }
    writer->wide = imp_allocate(writer->width, sizeof *writer->wide);
    if (!writer->wide)
        return imp_fail_memory(error, "labels");
    char descr[32];
    snprintf(descr, sizeof descr, "<U%zu", writer->width);
    return imp_npy_write_header(&writer->file, descr, 1, &count, error);
}

static imp_status check_lines(const imp_labels *names, imp_error *error)
{
    for (size_t c = 0; c < names->classes; c++)
        if (strpbrk(names->names[c], "\r\n"))
            return imp_fail(
                error, IMP_EINVAL,
                "class %zu has a line break in its name, so it cannot be written as a line", c);
    return IMP_OK;
}

imp_status imp_labels_begin(imp_labels_writer *writer, const char *path, size_t count,
                            const imp_labels *names, imp_error *error)
{
    static const char ending[] = ".npy";
    size_t length = strlen(path), tail = sizeof ending - 1;
    *writer = (imp_labels_writer){
        .names = names,
        .npy = length > tail && strcmp(path + length - tail, ending) == 0,
    };
    imp_status status = imp_writer_open(&writer->file, path, error);
    if (!status)
        status = !writer->npy      ? check_lines(names, error)
                 : names->integers ? imp_npy_begin(&writer->file, IMP_INT64, 1, &count, error)
                                   : begin_texts(writer, count, error);
    if (status)
        imp_labels_abandon(writer);
    return status;
}

static imp_status write_one(imp_labels_writer *writer, int32_t label, imp_error *error)
{
    const imp_labels *names = writer->names;
    const char *name = label >= 0 ? names->names[label] : names->integers ? "-1" : "";
    if (!writer->npy) {
        imp_status status = imp_writer_write(&writer->file, name, strlen(name), error);
        return status ? status : imp_writer_write(&writer->file, "\n", 1, error);
    }
    if (names->integers) {
        int64_t number = strtoll(name, NULL, 10);
        return imp_writer_write(&writer->file, &number, sizeof number, error);
    }
    memset(writer->wide, 0, writer->width * sizeof *writer->wide);
    decode(name, writer->wide);
    return imp_writer_write(&writer->file, writer->wide, writer->width * sizeof *writer->wide,
                            error);
}

imp_status imp_labels_append(imp_labels_writer *writer, const int32_t *label, size_t count,
                             imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = write_one(writer, label[i], error);
    return status;
}

imp_status imp_labels_commit(imp_labels_writer *writer, imp_error *error)
{
    imp_status status = imp_writer_commit(&writer->file, error);
    imp_labels_abandon(writer);
    return status;
}

void imp_labels_abandon(imp_labels_writer *writer)
{
    if (writer->names) /* writing has begun */
        imp_writer_abandon(&writer->file);
    imp_release(writer->wide);
    *writer = (imp_labels_writer){0};
}

imp_status imp_labels_save(const char *path, const int32_t *label, size_t count,
                           const imp_labels *names, imp_error *error)
{
    imp_labels_writer writer;
    imp_status status = imp_labels_begin(&writer, path, count, names, error);
    if (!status)
        status = imp_labels_append(&writer, label, count, error);
    if (!status)
        status = imp_labels_commit(&writer, error);
    imp_labels_abandon(&writer);
    return status;
}
