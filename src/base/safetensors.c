/*
 * safetensors.c - reads the safetensors format, every claim of a file checked before it is
 * believed.
 *
 * A file may come from anywhere, so its header is checked against the data: the tensors must lie
 * inside the file, be as long as their shapes say, and cover the data without holes or overlaps.
 * That leaves only one way to read a file, and no place to hide anything in it.
 */
#include "base/safetensors.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/safetensors_format.h"
#include "base/tensor_checksum.h"
#include "base/utf8.h"

#define SUPPORTED "F32, F64, I32, I64 and U8"

struct imp_safetensors {
    json_t *header;       /* owns the names and the metadata */
    unsigned char *bytes; /* owns the tensors' data */
    imp_tensor *tensors;  /* in the header's order */
    size_t count;
};

/* ---- names ---- */

static const char *const dtype_codes[] = {
    [IMP_FLOAT32] = "F32", [IMP_FLOAT64] = "F64", [IMP_INT32] = "I32",
    [IMP_INT64] = "I64",   [IMP_UINT8] = "U8",
};

enum { DTYPES = sizeof dtype_codes / sizeof dtype_codes[0] };

const char *imp_dtype_code(imp_dtype dtype)
{
    return (size_t)dtype < DTYPES ? dtype_codes[dtype] : NULL;
}

imp_quoted imp_quote(const char *name)
{
    imp_quoted out;
    size_t length = strlen(name), room = sizeof out.text - sizeof "...";
    size_t kept = length <= room ? length : room;
    while (kept < length && kept > 0 && ((unsigned char)name[kept] & 0xC0u) == 0x80u)
        kept--;
    char *to = out.text;
    for (size_t i = 0; i < kept;) {
        size_t control = imp_utf8_control(name + i);
        *to++ = control > 0 ? '?' : name[i];
        i += control > 0 ? control : 1;
    }
    strcpy(to, kept < length ? "..." : "");
    return out;
}

static imp_status find_dtype(const char *name, const char *code, imp_dtype *dtype, imp_error *error)
{
    static const char *const others[] = {"BOOL",    "I8",      "I16",     "U16",     "U32",
                                         "U64",     "F16",     "BF16",    "C64",     "F4",
                                         "F6_E2M3", "F6_E3M2", "F8_E4M3", "F8_E5M2", "F8_E8M0"};

    for (size_t i = 0; i < DTYPES; i++)
        if (strcmp(code, dtype_codes[i]) == 0) {
            *dtype = (imp_dtype)i;
            return IMP_OK;
        }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(code, others[i]) == 0)
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "tensor '%s' is of dtype %s, which is not supported; save it as one of "
                            "%s",
                            imp_quote(name).text, code, SUPPORTED);
    return imp_fail(error, IMP_EFORMAT,
                    "tensor '%s' is of the unknown dtype '%s'; supported are %s",
                    imp_quote(name).text, imp_quote(code).text, SUPPORTED);
}

/* ---- reading ---- */

/* Where a tensor lies within the data, kept until all are known to fit together. */
typedef struct span {
    size_t begin, end;
    const char *name;
} span;

static imp_status find_header(const unsigned char *bytes, size_t size, size_t *length,
                              imp_error *error)
{
    if (size < IMP_PREAMBLE)
        return imp_fail(error, IMP_EFORMAT,
                        "it is not a safetensors file: it holds %zu bytes, fewer than the %d of "
                        "the header's length",
                        size, IMP_PREAMBLE);
    uint64_t announced = 0;
    for (int i = IMP_PREAMBLE; i > 0; i--)
        announced = announced << 8 | bytes[i - 1];
    if (announced > IMP_HEADER_LIMIT)
        return imp_fail(error, IMP_EFORMAT,
                        "it is not a safetensors file: it announces a header of %llu bytes, and at "
                        "most %d are allowed",
                        (unsigned long long)announced, IMP_HEADER_LIMIT);
    if (announced == 0 || (size > IMP_PREAMBLE && bytes[IMP_PREAMBLE] != '{'))
        return imp_fail(error, IMP_EFORMAT,
                        "it is not a safetensors file: its header does not begin with '{'");
    if (announced > size - IMP_PREAMBLE)
        return imp_fail(error, IMP_EFORMAT,
                        "the file ends inside its header: %zu bytes of it where %llu are announced",
                        size - IMP_PREAMBLE, (unsigned long long)announced);
    *length = (size_t)announced;
    return IMP_OK;
}

static imp_status check_metadata(json_t *metadata, imp_error *error)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return imp_fail(error, IMP_EFORMAT, IMP_METADATA_KEY " is not an object of strings");
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return imp_fail(error, IMP_EFORMAT,
                            "the value of '%s' in " IMP_METADATA_KEY " is not a string",
                            imp_quote(key).text);
    }
    return IMP_OK;
}

/* A JSON integer that is a size; jansson has refused those beyond 64 bits. */
static bool get_size(const json_t *value, size_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (size_t)json_integer_value(value);
    return true;
}

static imp_status parse_shape(const json_t *shape, imp_tensor *tensor, imp_error *error)
{
    if (!json_is_array(shape))
        return imp_fail(error, IMP_EFORMAT, "the shape of tensor '%s' is not an array",
                        imp_quote(tensor->name).text);
    tensor->rank = json_array_size(shape);
    if (tensor->rank > IMP_MAX_RANK)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "tensor '%s' has %zu dimensions, and at most %d are supported",
                        imp_quote(tensor->name).text, tensor->rank, IMP_MAX_RANK);
    for (size_t i = 0; i < tensor->rank; i++)
        if (!get_size(json_array_get(shape, i), &tensor->shape[i]))
            return imp_fail(error, IMP_EFORMAT,
                            "the shape of tensor '%s' has a length that is not an integer >= 0",
                            imp_quote(tensor->name).text);
    return IMP_OK;
}

static imp_status parse_offsets(const json_t *offsets, size_t data_size, span *where,
                                imp_error *error)
{
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !get_size(json_array_get(offsets, 0), &where->begin) ||
        !get_size(json_array_get(offsets, 1), &where->end))
        return imp_fail(error, IMP_EFORMAT,
                        "the data_offsets of tensor '%s' are not two integers >= 0",
                        imp_quote(where->name).text);
    if (where->begin > where->end)
        return imp_fail(error, IMP_EFORMAT,
                        "the data_offsets of tensor '%s' end (%zu) before they begin (%zu)",
                        imp_quote(where->name).text, where->end, where->begin);
    if (where->end > data_size)
        return imp_fail(error, IMP_EFORMAT,
                        "tensor '%s' ends at byte %zu of the data, of which the file holds %zu",
                        imp_quote(where->name).text, where->end, data_size);
    return IMP_OK;
}

static imp_status parse_tensor(const char *name, const json_t *entry, const unsigned char *data,
                               size_t data_size, imp_tensor *tensor, span *where, imp_error *error)
{
    const json_t *code = json_object_get(entry, "dtype");
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *offsets = json_object_get(entry, "data_offsets");
    if (code == NULL || shape == NULL || offsets == NULL || json_object_size(entry) != 3)
        return imp_fail(error, IMP_EFORMAT,
                        "tensor '%s' is not described by exactly dtype, shape and data_offsets",
                        imp_quote(name).text);
    if (!json_is_string(code))
        return imp_fail(error, IMP_EFORMAT, "the dtype of tensor '%s' is not a string",
                        imp_quote(name).text);

    *tensor = (imp_tensor){.name = name};
    *where = (span){.name = name};
    imp_status status;
    if ((status = find_dtype(name, json_string_value(code), &tensor->dtype, error)) ||
        (status = parse_shape(shape, tensor, error)) ||
        (status = parse_offsets(offsets, data_size, where, error)))
        return status;

    size_t needed;
    if (!imp_shape_size(tensor->dtype, tensor->rank, tensor->shape, &tensor->count, &needed))
        return imp_fail(error, IMP_EFORMAT,
                        "the shape %s of tensor '%s' does not fit in any memory",
                        imp_shape_format(tensor->rank, tensor->shape).text, imp_quote(name).text);
    if (where->end - where->begin != needed)
        return imp_fail(
            error, IMP_EFORMAT, "tensor '%s' holds %zu bytes where its shape %s of %s needs %zu",
            imp_quote(name).text, where->end - where->begin,
            imp_shape_format(tensor->rank, tensor->shape).text, dtype_codes[tensor->dtype], needed);
    tensor->data = data + where->begin;
    return IMP_OK;
}

static int by_place(const void *left, const void *right)
{
    const span *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

/* Sorts the spans; they must cover the data from its first byte to its last, each byte once. */
static imp_status check_tiling(span *spans, size_t count, size_t data_size, imp_error *error)
{
    size_t covered = 0;
    qsort(spans, count, sizeof *spans, by_place);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].begin < covered)
            return imp_fail(error, IMP_EFORMAT, "tensors '%s' and '%s' overlap in the data",
                            imp_quote(spans[i - 1].name).text, imp_quote(spans[i].name).text);
        if (spans[i].begin > covered)
            return imp_fail(error, IMP_EFORMAT,
                            "the data has a hole of %zu bytes before tensor '%s'",
                            spans[i].begin - covered, imp_quote(spans[i].name).text);
        covered = spans[i].end;
    }
    if (covered != data_size)
        return imp_fail(error, IMP_EFORMAT,
                        "the file holds %zu bytes of data, of which the last %zu belong to no "
                        "tensor",
                        data_size, data_size - covered);
    return IMP_OK;
}

/* Verifies the checksum in the metadata. Files of other programs have none. */
static imp_status check_whole(const imp_safetensors *file, imp_error *error)
{
    const char *stated = imp_safetensors_metadata(file, IMP_CHECKSUM_KEY);
    if (stated == NULL)
        return IMP_OK;
    json_t *object = json_object_get(file->header, IMP_METADATA_KEY), *value;
    imp_metadata *metadata = imp_allocate(json_object_size(object), sizeof *metadata);
    if (metadata == NULL)
        return imp_fail_memory(error, "the checksum of a file");
    const char *key;
    size_t count = 0;
    json_object_foreach(object, key, value)
    {
        metadata[count++] = (imp_metadata){key, json_string_value(value)};
    }
    imp_checksum_text found;
    imp_status status =
        imp_tensor_checksum(file->tensors, file->count, metadata, count, &found, error);
    imp_release(metadata);
    if (!status && strcmp(found.text, stated) != 0)
        status = imp_fail(error, IMP_EFORMAT,
                          "it is damaged: the SHA-256 of what it holds is %.12s..., not %s as its "
                          "metadata says",
                          found.text, imp_quote(stated).text);
    return status;
}

static bool is_aligned(const imp_tensor *tensor)
{
    return (uintptr_t)tensor->data % imp_dtype_size(tensor->dtype) == 0;
}

/* The format packs tensors without regard to alignment. If that leaves any misaligned, all are
 * copied to a new block, each at a multiple of 64. */
static imp_status align(imp_safetensors *file, imp_error *error)
{
    size_t askew = 0, total = 0;
    for (size_t i = 0; i < file->count; i++) {
        askew += !is_aligned(&file->tensors[i]);
        size_t bytes = file->tensors[i].count * imp_dtype_size(file->tensors[i].dtype);
        if (!imp_add(total, bytes + (IMP_ALIGNMENT - bytes % IMP_ALIGNMENT) % IMP_ALIGNMENT,
                     &total))
            return imp_fail_memory(error, "aligned tensors");
    }
    if (askew == 0)
        return IMP_OK;

    unsigned char *block = imp_allocate(total, 1);
    if (block == NULL)
        return imp_fail_memory(error, "aligned tensors");
    size_t at = 0;
    for (size_t i = 0; i < file->count; i++) {
        imp_tensor *tensor = &file->tensors[i];
        size_t bytes = tensor->count * imp_dtype_size(tensor->dtype);
        memcpy(block + at, tensor->data, bytes);
        tensor->data = block + at;
        at += bytes + (IMP_ALIGNMENT - bytes % IMP_ALIGNMENT) % IMP_ALIGNMENT;
    }
    imp_release(file->bytes);
    file->bytes = block;
    return IMP_OK;
}

/* Fills file->tensors from the header; `spans` has room for as many. */
static imp_status parse_entries(imp_safetensors *file, size_t begin, size_t size, span *spans,
                                imp_error *error)
{
    const char *name;
    json_t *entry;
    json_object_foreach(file->header, name, entry)
    {
        imp_status status;
        if (strcmp(name, IMP_METADATA_KEY) == 0) {
            status = check_metadata(entry, error);
        } else {
            size_t i = file->count++;
            status = parse_tensor(name, entry, file->bytes + begin, size - begin, &file->tensors[i],
                                  &spans[i], error);
        }
        if (status)
            return status;
    }
    return check_tiling(spans, file->count, size - begin, error);
}

/* Parses file->bytes into the rest of `file`, which the caller frees either way. */
static imp_status parse(imp_safetensors *file, size_t size, imp_error *error)
{
    size_t length = 0;
    imp_status status = find_header(file->bytes, size, &length, error);
    if (status)
        return status;
    status = imp_json_parse((const char *)file->bytes + IMP_PREAMBLE, length, &file->header, error);
    if (status) {
        if (status == IMP_EFORMAT)
            imp_error_prefix(error, "its header is not valid JSON");
        return status;
    }

    size_t entries = json_object_size(file->header);
    span *spans = imp_allocate(entries, sizeof *spans);
    file->tensors = imp_allocate(entries, sizeof *file->tensors);
    if (spans == NULL || file->tensors == NULL)
        status = imp_fail_memory(error, "the list of tensors");
    else
        status = parse_entries(file, IMP_PREAMBLE + length, size, spans, error);
    imp_release(spans);
    if (!status)
        status = check_whole(file, error);
    if (!status)
        status = align(file, error);
    return status;
}

imp_status imp_safetensors_parse(unsigned char *bytes, size_t size, imp_safetensors **out,
                                 imp_error *error)
{
    *out = NULL;

    imp_safetensors *file = imp_allocate_zeroed(1, sizeof *file);
    if (file == NULL) {
        imp_release(bytes);
        return imp_fail_memory(error, "a safetensors file");
    }
    file->bytes = bytes;
    imp_status status = parse(file, size, error);
    if (status)
        imp_safetensors_free(file);
    else
        *out = file;
    return status;
}

/* Checks the length of the header and its first character. */
static bool begins_right(const unsigned char *bytes, size_t size)
{
    size_t length;
    return size <= IMP_PREAMBLE || find_header(bytes, SIZE_MAX, &length, NULL) == IMP_OK;
}

imp_status imp_safetensors_load(const char *path, imp_safetensors **out, imp_error *error)
{
    *out = NULL;

    unsigned char *bytes;
    size_t size;
    imp_status status = imp_file_read_if(path, PTRDIFF_MAX, begins_right, &bytes, &size, error);
    if (status)
        return status;
    status = imp_safetensors_parse(bytes, size, out, error);
    if (status)
        imp_error_prefix(error, path);
    return status;
}

void imp_safetensors_free(imp_safetensors *file)
{
    if (file == NULL)
        return;
    json_decref(file->header);
    imp_release(file->tensors);
    imp_release(file->bytes);
    imp_release(file);
}

size_t imp_safetensors_count(const imp_safetensors *file)
{
    return file->count;
}

const imp_tensor *imp_safetensors_at(const imp_safetensors *file, size_t index)
{
    return index < file->count ? &file->tensors[index] : NULL;
}

/* A linear search: a model has a few dozen tensors, and each is looked up once. */
const imp_tensor *imp_safetensors_find(const imp_safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const char *imp_safetensors_metadata(const imp_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, IMP_METADATA_KEY), key));
}
