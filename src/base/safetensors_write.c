/* safetensors_write.c - writes the safetensors format, to a file or into memory. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/safetensors_format.h"
#include "base/tensor_checksum.h"
#include "base/utf8.h"

/* The bytes a tensor adds to the data; refuses one that the format or its readers would reject. */
static imp_status check_tensor(const imp_tensor *tensor, size_t *bytes, imp_error *error)
{
    if (tensor->name == NULL || tensor->name[0] == '\0' || !imp_is_utf8(tensor->name))
        return imp_fail(error, IMP_EINVAL, "a tensor has no name, or one that is not UTF-8");
    if (strcmp(tensor->name, IMP_METADATA_KEY) == 0)
        return imp_fail(error, IMP_EINVAL,
                        "a tensor is called " IMP_METADATA_KEY ", which is reserved");

    size_t count;
    bool sound = imp_dtype_code(tensor->dtype) && tensor->rank <= IMP_MAX_RANK &&
                 imp_shape_size(tensor->dtype, tensor->rank, tensor->shape, &count, bytes) &&
                 count == tensor->count && (*bytes == 0 || tensor->data != NULL);
    for (size_t i = 0; sound && i < tensor->rank; i++)
        sound = tensor->shape[i] <= INT64_MAX;
    if (!sound)
        return imp_fail(error, IMP_EINVAL,
                        "the dtype, shape, count and data of tensor '%s' disagree",
                        imp_quote(tensor->name).text);
    return IMP_OK;
}

/* Both return true if jansson ran out of memory, also for a NULL value. */
static bool failed_to_append(json_t *array, size_t number)
{
    return json_array_append_new(array, json_integer((json_int_t)number)) != 0;
}

static bool failed_to_set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) != 0;
}

/* {"dtype": ..., "shape": [...], "data_offsets": [begin, end]}, or NULL without memory. */
static json_t *describe(const imp_tensor *tensor, size_t begin, size_t end)
{
    json_t *entry = json_object(), *shape = json_array(), *offsets = json_array();
    bool failed = false;
    for (size_t i = 0; i < tensor->rank; i++)
        failed |= failed_to_append(shape, tensor->shape[i]);
    failed |= failed_to_append(offsets, begin);
    failed |= failed_to_append(offsets, end);
    failed |= failed_to_set(entry, "dtype", json_string(imp_dtype_code(tensor->dtype)));
    failed |= failed_to_set(entry, "shape", shape);
    failed |= failed_to_set(entry, "data_offsets", offsets);
    if (!failed)
        return entry;
    json_decref(entry);
    return NULL;
}

/* Adds the metadata object, the header's first entry. */
static imp_status add_metadata(json_t *object, const imp_metadata *metadata, size_t count,
                               imp_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *key = metadata[i].key, *value = metadata[i].value;
        if (key == NULL || key[0] == '\0' || !imp_is_utf8(key))
            return imp_fail(error, IMP_EINVAL, "a metadata key is empty or not UTF-8");
        if (value == NULL || !imp_is_utf8(value))
            return imp_fail(error, IMP_EINVAL, "the metadata value of '%s' is missing or not UTF-8",
                            imp_quote(key).text);
        if (json_object_get(object, key) != NULL)
            return imp_fail(error, IMP_EINVAL, "the metadata key '%s' is given twice",
                            imp_quote(key).text);
        if (strcmp(key, IMP_CHECKSUM_KEY) == 0)
            return imp_fail(error, IMP_EINVAL,
                            "the metadata key '" IMP_CHECKSUM_KEY "' is kept for the checksum");
        if (failed_to_set(object, key, json_string(value)))
            return imp_fail_memory(error, "a safetensors header");
    }
    return IMP_OK;
}

static imp_status add_tensors(json_t *header, const imp_tensor *tensors, size_t count,
                              imp_error *error)
{
    size_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = 0, end;
        imp_status status = check_tensor(&tensors[i], &bytes, error);
        if (status)
            return status;
        if (json_object_get(header, tensors[i].name) != NULL)
            return imp_fail(error, IMP_EINVAL, "two tensors are called '%s'",
                            imp_quote(tensors[i].name).text);
        if (!imp_add(begin, bytes, &end) || end > INT64_MAX)
            return imp_fail(error, IMP_EINVAL, "the tensors are too large for any file together");
        if (failed_to_set(header, tensors[i].name, describe(&tensors[i], begin, end)))
            return imp_fail_memory(error, "a safetensors header");
        begin = end;
    }
    return IMP_OK;
}

/* The length and the text of `header`, padded with spaces so that the data begins at a multiple of
 * 64 and can be used where it lies. Release *text. */
static imp_status write_header(const json_t *header, char **text, size_t *size, imp_error *error)
{
    size_t length = json_dumpb(header, NULL, 0, JSON_COMPACT);
    if (length == 0)
        return imp_fail_memory(error, "a safetensors header");
    if (length > IMP_HEADER_LIMIT - IMP_ALIGNMENT)
        return imp_fail(error, IMP_EINVAL,
                        "the names and the metadata take %zu bytes, and at most %d are allowed",
                        length, IMP_HEADER_LIMIT - IMP_ALIGNMENT);

    size_t end = (IMP_PREAMBLE + length + IMP_ALIGNMENT - 1) / IMP_ALIGNMENT * IMP_ALIGNMENT;
    char *out = imp_allocate(end, 1);
    if (out == NULL || json_dumpb(header, out + IMP_PREAMBLE, length, JSON_COMPACT) != length) {
        imp_release(out);
        return imp_fail_memory(error, "a safetensors header");
    }
    memset(out + IMP_PREAMBLE + length, ' ', end - IMP_PREAMBLE - length);
    uint64_t announced = end - IMP_PREAMBLE;
    for (int i = 0; i < IMP_PREAMBLE; i++)
        out[i] = (char)(announced >> 8 * i & 0xff);
    *text = out;
    *size = end;
    return IMP_OK;
}

static imp_status build_header(const imp_tensor *tensors, size_t count,
                               const imp_metadata *metadata, size_t metadata_count, char **text,
                               size_t *size, imp_error *error)
{
    json_t *header = json_object(), *object = json_object();
    if (failed_to_set(header, IMP_METADATA_KEY, object)) {
        json_decref(header);
        return imp_fail_memory(error, "a safetensors header");
    }
    imp_status status = add_metadata(object, metadata, metadata_count, error);
    if (!status)
        status = add_tensors(header, tensors, count, error);
    imp_checksum_text checksum;
    if (!status)
        status = imp_tensor_checksum(tensors, count, metadata, metadata_count, &checksum, error);
    if (!status && failed_to_set(object, IMP_CHECKSUM_KEY, json_string(checksum.text)))
        status = imp_fail_memory(error, "a safetensors header");
    if (!status)
        status = write_header(header, text, size, error);
    json_decref(header);
    return status;
}

static size_t tensor_bytes(const imp_tensor *tensor)
{
    return tensor->count * imp_dtype_size(tensor->dtype);
}

imp_status imp_safetensors_save(const char *path, const imp_tensor *tensors, size_t count,
                                const imp_metadata *metadata, size_t metadata_count,
                                imp_error *error)
{
    return imp_safetensors_save_keeping(path, NULL, tensors, count, metadata, metadata_count,
                                        error);
}

imp_status imp_safetensors_save_keeping(const char *path, const char *kept,
                                        const imp_tensor *tensors, size_t count,
                                        const imp_metadata *metadata, size_t metadata_count,
                                        imp_error *error)
{
    char *text = NULL;
    size_t size = 0;
    imp_status status = build_header(tensors, count, metadata, metadata_count, &text, &size, error);
    if (status) {
        imp_error_prefix(error, path);
        return status;
    }

    imp_writer writer;
    status = imp_writer_open(&writer, path, error);
    if (!status)
        status = imp_writer_write(&writer, text, size, error);
    for (size_t i = 0; !status && i < count; i++)
        status = imp_writer_write(&writer, tensors[i].data, tensor_bytes(&tensors[i]), error);
    if (!status)
        status = imp_writer_commit_keeping(&writer, kept, error);
    imp_release(text);
    return status;
}

imp_status imp_safetensors_write(const imp_tensor *tensors, size_t count,
                                 const imp_metadata *metadata, size_t metadata_count,
                                 unsigned char **bytes, size_t *size, imp_error *error)
{
    *bytes = NULL;
    char *text = NULL;
    size_t end = 0;
    imp_status status = build_header(tensors, count, metadata, metadata_count, &text, &end, error);
    if (status)
        return status;

    *size = end;
    for (size_t i = 0; i < count; i++)
        *size += tensor_bytes(&tensors[i]);
    *bytes = imp_allocate(*size, 1);
    if (*bytes == NULL) {
        imp_release(text);
        return imp_fail_memory(error, "the bytes of a safetensors file");
    }
    memcpy(*bytes, text, end);
    imp_release(text);
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].count > 0)
            memcpy(*bytes + end, tensors[i].data, tensor_bytes(&tensors[i]));
        end += tensor_bytes(&tensors[i]);
    }
    return IMP_OK;
}
