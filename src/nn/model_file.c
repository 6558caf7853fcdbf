/*
 * model_file.c - a network as a safetensors file with PyTorch's names, and back.
 *
 * The description and the image size are in the metadata, so the file alone is enough to rebuild
 * the network.
 */
#include <imp/network.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/safetensors.h"
#include "nn/model_file.h"
#include "nn/network.h"

static const char format_name[] = "imp-network-1";

imp_status imp_network_save_with(imp_network *network, const imp_additions *additions,
                                 const char *path, imp_error *error)
{
    const imp_network_options *o = &network->options;
    char input[64];
    snprintf(input, sizeof input, "%zux%zux%zu", o->channels, o->height, o->width);
    const imp_metadata own[] = {
        {"format", format_name}, {"network", network->description}, {"input", input}};
    enum { OWN = sizeof own / sizeof *own };
    size_t tensor_count = network->place_count + additions->tensor_count;
    size_t metadata_count = OWN + additions->metadata_count;
    imp_tensor *tensors = imp_allocate_zeroed(tensor_count, sizeof *tensors);
    imp_metadata *metadata = imp_allocate_zeroed(metadata_count, sizeof *metadata);
    if (!tensors || !metadata) {
        imp_release(tensors);
        imp_release(metadata);
        return imp_fail_memory(error, "the model file");
    }
    for (size_t i = 0; i < network->place_count; i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        tensors[i] = (imp_tensor){.name = t.name,
                                  .dtype = IMP_FLOAT32,
                                  .rank = t.rank,
                                  .count = t.count,
                                  .data = t.values};
        memcpy(tensors[i].shape, t.shape, sizeof t.shape);
    }
    memcpy(metadata, own, sizeof own);
    if (additions->tensor_count > 0)
        memcpy(tensors + network->place_count, additions->tensors,
               additions->tensor_count * sizeof *tensors);
    if (additions->metadata_count > 0)
        memcpy(metadata + OWN, additions->metadata, additions->metadata_count * sizeof *metadata);
    imp_status status = imp_safetensors_save_keeping(path, additions->kept, tensors, tensor_count,
                                                     metadata, metadata_count, error);
    imp_release(tensors);
    imp_release(metadata);
    return status;
}

imp_status imp_network_save(imp_network *network, const char *path, imp_error *error)
{
    return imp_network_save_with(network, &(imp_additions){0}, path, error);
}

/* Reads "1x28x28". */
static bool parse_input(const char *text, size_t size[3])
{
    for (size_t i = 0; i < 3; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        errno = 0;
        unsigned long value = strtoul(text, &end, 10);
        if (errno || *end != (i < 2 ? 'x' : '\0'))
            return false;
        size[i] = value;
        text = end + 1;
    }
    return true;
}

/* Completes `wanted` from the file's metadata and checks what both state. */
static imp_status settle_input(const imp_safetensors *file, imp_network_options *wanted,
                               imp_error *error)
{
    const char *input = imp_safetensors_metadata(file, "input");
    size_t said[3] = {wanted->channels, wanted->height, wanted->width};
    size_t *ask[3] = {&wanted->channels, &wanted->height, &wanted->width};
    if (input && !parse_input(input, said))
        return imp_fail(error, IMP_EFORMAT,
                        "its metadata 'input' is '%.40s'; it should be like '1x28x28'", input);
    for (size_t i = 0; i < 3; i++) {
        if (*ask[i] && *ask[i] != said[i])
            return imp_fail(error, IMP_EFORMAT, "it takes images of %s, not %zux%zux%zu", input,
                            wanted->channels, wanted->height, wanted->width);
        *ask[i] = said[i];
    }
    if (!said[0] || !said[1] || !said[2])
        return imp_fail(error, IMP_EFORMAT,
                        "it does not say what images it takes; give channels, height and width");
    return IMP_OK;
}

static imp_status settle_description(const imp_safetensors *file, const char *wanted,
                                     const char **description, imp_error *error)
{
    const char *said = imp_safetensors_metadata(file, "network");
    if (!said && !wanted)
        return imp_fail(error, IMP_EFORMAT,
                        "it does not say what network it holds; give the description");
    if (said && wanted && strcmp(said, wanted) != 0)
        return imp_fail(error, IMP_EFORMAT, "it holds the network '%.200s', not '%.200s'", said,
                        wanted);
    *description = said ? said : wanted;
    return IMP_OK;
}

/* PyTorch counts batches, and a trained model or a checkpoint holds more than a network. */
static bool is_ignored(const char *name)
{
    static const char suffix[] = ".num_batches_tracked";
    size_t length = strlen(name), tail = sizeof suffix - 1;
    return (length > tail && strcmp(name + length - tail, suffix) == 0) ||
           strncmp(name, IMP_METHOD_PREFIX, strlen(IMP_METHOD_PREFIX)) == 0 ||
           strncmp(name, IMP_LEARNER_PREFIX, strlen(IMP_LEARNER_PREFIX)) == 0 ||
           strncmp(name, IMP_TRAINING_PREFIX, strlen(IMP_TRAINING_PREFIX)) == 0;
}

static bool fits(const imp_tensor *tensor, const imp_tensor_place *place)
{
    if (tensor->dtype != IMP_FLOAT32 || tensor->rank != place->rank)
        return false;
    for (size_t i = 0; i < place->rank; i++)
        if (tensor->shape[i] != place->shape[i])
            return false;
    return true;
}

/* Runs before any weights are allocated, so that a small file that claims to be a large network
 * costs nothing.
 */
static imp_status check_tensors(const imp_network *network, const imp_safetensors *file,
                                imp_error *error)
{
    size_t expected = 0;
    for (size_t i = 0; i < network->place_count; i++) {
        const imp_tensor_place *place = &network->places[i];
        const imp_tensor *tensor = imp_safetensors_find(file, place->name);
        if (!tensor)
            return imp_fail(error, IMP_EFORMAT,
                            "it has no tensor '%s', which the network '%.200s' needs", place->name,
                            network->description);
        if (!fits(tensor, place))
            return imp_fail(
                error, IMP_EFORMAT,
                "its tensor '%s' should be float32 of %zu numbers in %zu dimensions; it is %s "
                "of %zu in %zu",
                place->name, place->count, place->rank, imp_dtype_name(tensor->dtype),
                tensor->count, tensor->rank);
        expected++;
    }
    for (size_t i = 0; i < imp_safetensors_count(file); i++)
        expected += is_ignored(imp_safetensors_at(file, i)->name);
    if (expected != imp_safetensors_count(file))
        return imp_fail(error, IMP_EFORMAT,
                        "it holds %zu tensors where the network '%.200s' has %zu",
                        imp_safetensors_count(file), network->description, network->place_count);
    return IMP_OK;
}

static imp_status fill(imp_network *network, const imp_safetensors *file, imp_error *error)
{
    imp_status status = check_tensors(network, file, error);
    if (!status)
        status = imp_network_allocate(network, error);
    for (size_t i = 0; !status && i < network->place_count; i++) {
        imp_network_tensor tensor = imp_network_tensor_at(network, i);
        memcpy(tensor.values, imp_safetensors_find(file, tensor.name)->data,
               tensor.count * sizeof *tensor.values);
    }
    return status;
}

imp_status imp_network_from_file(const imp_safetensors *file, const char *wanted,
                                 const imp_network_options *options, imp_network **out,
                                 imp_error *error)
{
    *out = NULL;
    imp_network_options settled = imp_network_defaults();
    const char *description = NULL;
    imp_status status =
        imp_take_options(&settled, sizeof settled, options, "imp_network_options", error);
    if (!status)
        status = settle_description(file, wanted, &description, error);
    if (!status)
        status = settle_input(file, &settled, error);
    if (!status)
        status = imp_network_draft(description, &settled, out, error);
    if (!status)
        status = fill(*out, file, error);
    if (status) {
        imp_network_free(*out);
        *out = NULL;
    }
    return status;
}

imp_status imp_network_load(const char *path, const char *description,
                            const imp_network_options *options, imp_network **out, imp_error *error)
{
    imp_safetensors *file;
    *out = NULL;
    imp_status status = imp_safetensors_load(path, &file, error);
    if (status)
        return status;
    status = imp_network_from_file(file, description, options, out, error);
    if (status)
        imp_error_prefix(error, path);
    imp_safetensors_free(file);
    return status;
}
