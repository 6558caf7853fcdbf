/* snapshot.c - copies of a learner's weights, taken whenever validation finds them the best. */
#include "train/snapshot.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

imp_status imp_snapshot_make(imp_snapshot *snapshot, const imp_updater *updater, imp_error *error)
{
    size_t count = updater->value_count;
    for (size_t i = 0; i < imp_network_tensor_count(updater->network); i++)
        count += imp_network_tensor_at(updater->network, i).count;
    *snapshot = (imp_snapshot){.values = imp_allocate_zeroed(count, sizeof(float)), .count = count};
    return snapshot->values ? IMP_OK : imp_fail_memory(error, "a copy of the best weights");
}

void imp_snapshot_take(imp_snapshot *snapshot, const imp_updater *updater)
{
    float *to = snapshot->values;
    for (size_t i = 0; i < imp_network_tensor_count(updater->network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(updater->network, i);
        memcpy(to, tensor.values, tensor.count * sizeof *to);
        to += tensor.count;
    }
    memcpy(to, updater->values, updater->value_count * sizeof *to);
    snapshot->taken = true;
}

void imp_snapshot_restore(const imp_snapshot *snapshot, imp_updater *updater)
{
    if (!snapshot->taken)
        return;
    const float *from = snapshot->values;
    for (size_t i = 0; i < imp_network_tensor_count(updater->network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(updater->network, i);
        memcpy(tensor.values, from, tensor.count * sizeof *from);
        from += tensor.count;
    }
    memcpy(updater->values, from, updater->value_count * sizeof *from);
    imp_updater_publish(updater);
}

void imp_snapshot_clear(imp_snapshot *snapshot)
{
    imp_release(snapshot->values);
    *snapshot = (imp_snapshot){0};
}
