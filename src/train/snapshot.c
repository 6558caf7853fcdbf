/* snapshot.c - copies of a learner's weights: those that validation found best, or their average
 * over the updates. */
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
    return snapshot->values ? IMP_OK : imp_fail_memory(error, "a copy of the weights");
}

/* An operation on corresponding numbers of a snapshot and an updater. */
typedef void pairing(float *kept, float *used, size_t count, double decay);

static void each_piece(const imp_snapshot *snapshot, const imp_updater *updater, pairing *pair,
                       double decay)
{
    float *kept = snapshot->values;
    for (size_t i = 0; i < imp_network_tensor_count(updater->network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(updater->network, i);
        pair(kept, tensor.values, tensor.count, decay);
        kept += tensor.count;
    }
    pair(kept, updater->values, updater->value_count, decay);
}

static void keep(float *kept, float *used, size_t count, double decay)
{
    (void)decay;
    memcpy(kept, used, count * sizeof *kept);
}

static void use(float *kept, float *used, size_t count, double decay)
{
    (void)decay;
    memcpy(used, kept, count * sizeof *used);
}

static void exchange(float *kept, float *used, size_t count, double decay)
{
    (void)decay;
    for (size_t i = 0; i < count; i++) {
        float value = kept[i];
        kept[i] = used[i];
        used[i] = value;
    }
}

static void blend(float *kept, float *used, size_t count, double decay)
{
    for (size_t i = 0; i < count; i++)
        kept[i] = (float)(used[i] + decay * ((double)kept[i] - used[i]));
}

void imp_snapshot_take(imp_snapshot *snapshot, const imp_updater *updater)
{
    each_piece(snapshot, updater, keep, 0);
    snapshot->taken = true;
}

void imp_snapshot_average(imp_snapshot *snapshot, const imp_updater *updater, double decay)
{
    each_piece(snapshot, updater, snapshot->taken ? blend : keep, decay);
    snapshot->taken = true;
}

void imp_snapshot_restore(const imp_snapshot *snapshot, imp_updater *updater)
{
    if (!snapshot->taken)
        return;
    each_piece(snapshot, updater, use, 0);
    imp_updater_publish(updater);
}

void imp_snapshot_swap(imp_snapshot *snapshot, imp_updater *updater)
{
    if (!snapshot->taken)
        return;
    each_piece(snapshot, updater, exchange, 0);
    imp_updater_publish(updater);
}

void imp_snapshot_clear(imp_snapshot *snapshot)
{
    imp_release(snapshot->values);
    *snapshot = (imp_snapshot){0};
}
