/* derived_source.c - points mapped, one source after another, and several side by side. */
#include "methods/derived_source.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- mapped ---- */

static imp_status map_all(const imp_mapped_source *mapped, size_t begin, size_t count, float *out,
                          imp_error *error)
{
    imp_reader reader = mapped->reader; /* it has nothing that reading changes but its room */
    size_t d = mapped->source.dimensions;
    imp_status status = IMP_OK;
    for (size_t done = 0, some; done < count && !status; done += some) {
        const float *rows;
        some = count - done < reader.most ? count - done : reader.most;
        status = imp_reader_read(&reader, begin + done, some, &rows, error);
        if (!status)
            status = mapped->map(mapped->context, rows, begin + done, some, out + done * d, error);
    }
    return status;
}

static imp_status read_mapped(const imp_point_source *source, size_t begin, size_t count,
                              float *room, const float **rows, imp_error *error)
{
    *rows = room;
    return map_all(source->where, begin, count, room, error);
}

static imp_status read_kept(const imp_point_source *source, size_t begin, size_t count, float *room,
                            const float **rows, imp_error *error)
{
    (void)count, (void)room, (void)error;
    const imp_mapped_source *mapped = source->where;
    *rows = mapped->kept + begin * source->dimensions;
    return IMP_OK;
}

imp_status imp_mapped_source_create(imp_mapped_source *mapped, const imp_point_source *from,
                                    size_t dimensions, imp_map_rows *map, const void *context,
                                    size_t keep, imp_error *error)
{
    *mapped = (imp_mapped_source){.from = from, .map = map, .context = context};
    mapped->source = *from;
    mapped->source.dimensions = dimensions;
    mapped->source.read = read_mapped;
    mapped->source.in_place = false;
    mapped->source.where = mapped;
    size_t values;
    imp_status status =
        imp_reader_create(&mapped->reader, from, NULL, imp_source_block(from), error);
    if (status || !imp_multiply(from->count, dimensions, &values) ||
        values > keep / sizeof *mapped->kept)
        return status;
    mapped->kept = imp_allocate(values, sizeof *mapped->kept);
    if (!mapped->kept)
        return imp_fail_memory(error, "points");
    mapped->source.read = read_kept;
    mapped->source.in_place = true;
    return map_all(mapped, 0, from->count, mapped->kept, error);
}

void imp_mapped_source_release(imp_mapped_source *mapped)
{
    imp_reader_release(&mapped->reader);
    imp_release(mapped->kept);
    *mapped = (imp_mapped_source){0};
}

/* ---- one after another ---- */

/* Reads into `room`, wherever the source has its rows. */
static imp_status copy_rows(const imp_point_source *source, size_t begin, size_t count, float *room,
                            imp_error *error)
{
    const float *rows;
    imp_status status = source->read(source, begin, count, room, &rows, error);
    if (!status && rows != room)
        memcpy(room, rows, count * source->dimensions * sizeof *room);
    return status;
}

static imp_status read_pair(const imp_point_source *source, size_t begin, size_t count, float *room,
                            const float **rows, imp_error *error)
{
    const imp_source_pair *pair = source->where;
    size_t before = pair->first->count, of_first = before > begin ? before - begin : 0;
    if (of_first == 0)
        return pair->second->read(pair->second, begin - before, count, room, rows, error);
    if (of_first >= count)
        return pair->first->read(pair->first, begin, count, room, rows, error);
    *rows = room;
    imp_status status = copy_rows(pair->first, begin, of_first, room, error);
    return status ? status
                  : copy_rows(pair->second, 0, count - of_first,
                              room + of_first * source->dimensions, error);
}

imp_point_source imp_source_of_pair(const imp_source_pair *pair)
{
    imp_point_source source = *pair->first;
    source.count += pair->second->count;
    source.read = read_pair;
    source.in_place = false;
    source.where = pair;
    return source;
}

/* ---- side by side ---- */

static imp_status read_beside(const imp_point_source *source, size_t begin, size_t count,
                              float *room, const float **rows, imp_error *error)
{
    const imp_beside_source *beside = source->where;
    size_t d = source->dimensions, first = 0;
    imp_status status = IMP_OK;
    *rows = room;
    for (size_t v = 0; v < beside->count && !status; v++) {
        imp_reader reader = beside->reader[v];
        size_t width = reader.source->dimensions;
        for (size_t done = 0, some; done < count && !status; done += some) {
            const float *part;
            some = count - done < reader.most ? count - done : reader.most;
            status = imp_reader_read(&reader, begin + done, some, &part, error);
            for (size_t i = 0; i < some && !status; i++)
                memcpy(room + (done + i) * d + first, part + i * width, width * sizeof *room);
        }
        first += width;
    }
    return status;
}

imp_status imp_beside_source_create(imp_beside_source *beside, const imp_point_source *const *from,
                                    size_t count, imp_error *error)
{
    *beside = (imp_beside_source){.source = {.read = read_beside, .where = beside}};
    imp_status status = IMP_OK;
    for (size_t v = 0; v < count && !status; v++) {
        status =
            imp_reader_create(&beside->reader[v], from[v], NULL, imp_source_block(from[v]), error);
        beside->source.dimensions += from[v]->dimensions;
        beside->source.count = from[v]->count;
        beside->count++;
    }
    return status;
}

void imp_beside_source_release(imp_beside_source *beside)
{
    for (size_t v = 0; v < beside->count; v++)
        imp_reader_release(&beside->reader[v]);
    *beside = (imp_beside_source){0};
}
