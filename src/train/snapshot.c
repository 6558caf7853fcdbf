/* snapshot.c - copies of a learner's weights, taken whenever validation finds them the best. */
#include "train/snapshot.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

imp_status imp_snapshot_make(imp_snapshot *snapshot, const imp_learner *learner, imp_error *error)
{
    size_t count = learner->value_count;
    for (size_t i = 0; i < imp_network_tensor_count(learner->network); i++)
        count += imp_network_tensor_at(learner->network, i).count;
    *snapshot = (imp_snapshot){.values = imp_allocate_zeroed(count, sizeof(float)), .count = count};
    return snapshot->values ? IMP_OK : imp_fail_memory(error, "a copy of the best weights");
}

void imp_snapshot_take(imp_snapshot *snapshot, const imp_learner *learner)
{
    float *to = snapshot->values;
    for (size_t i = 0; i < imp_network_tensor_count(learner->network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(learner->network, i);
        memcpy(to, tensor.values, tensor.count * sizeof *to);
        to += tensor.count;
    }
    memcpy(to, learner->values, learner->value_count * sizeof *to);
    snapshot->taken = true;
}

static void exchange(float *a, float *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

void imp_snapshot_swap(imp_snapshot *snapshot, imp_learner *learner)
{
    float *values = snapshot->values;
    for (size_t i = 0; i < imp_network_tensor_count(learner->network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(learner->network, i);
        exchange(values, tensor.values, tensor.count);
        values += tensor.count;
    }
    exchange(values, learner->values, learner->value_count);
    imp_learner_publish(learner);
}

void imp_snapshot_clear(imp_snapshot *snapshot)
{
    imp_release(snapshot->values);
    *snapshot = (imp_snapshot){0};
}
