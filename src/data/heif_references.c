/*
 * heif_references.c - reads the references of a HEIF file, and follows them.
 *
 * Boxes are read as libheif reads them, also where a file breaks the rules, so that nothing is
 * hidden from here that is found there.
 */
#include "data/heif_references.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    MOST_STAGES = 4,     /* a picture of grids with transparency has three */
    MOST_PARTS = 1 << 12 /* tiles of 256x256 in the largest picture that is decoded */
};

/* ---- boxes ---- */

typedef struct span {
    const uint8_t *at, *end;
} span;

static bool take(span *from, size_t bytes, uint64_t *value)
{
    *value = 0;
    if ((size_t)(from->end - from->at) < bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        *value = *value << 8 | *from->at++;
    return true;
}

/* The next box: its type, and what is in it, which ends with its parent at the latest. */
static bool take_box(span *parent, uint64_t *type, span *content)
{
    const uint8_t *begin = parent->at;
    uint64_t size, word;
    if (!take(parent, 4, &size) || !take(parent, 4, type))
        return false;
    if (size == 1 && !take(parent, 8, &size))
        return false;
    for (int i = 0; i < 2 && *type == 0x75756964; i++) /* "uuid" */
        if (!take(parent, 8, &word))
            return false;
    uint64_t header = (uint64_t)(parent->at - begin), rest = (uint64_t)(parent->end - begin);
    if (size == 0 || size > rest)
        size = rest;
    if (size < header)
        return false;
    *content = (span){parent->at, begin + size};
    parent->at = content->end;
    return true;
}

/* ---- references ---- */

typedef struct reference {
    uint32_t whole, part;
} reference;

typedef struct references {
    reference *all; /* NULL while they are only counted */
    size_t count;
} references;

static void add(references *to, uint64_t whole, uint64_t part)
{
    if (to->all)
        to->all[to->count] = (reference){(uint32_t)whole, (uint32_t)part};
    to->count++;
}

/* Entries follow each other without regard to their sizes, as in libheif. */
static void read_references(span box, references *to)
{
    uint64_t version, type, size, from, count, id;
    if (!take(&box, 4, &version))
        return;
    size_t wide = version >> 24 ? 4 : 2;
    while (take(&box, 4, &size) && take(&box, 4, &type)) {
        if (size == 1 && !take(&box, 8, &size))
            return;
        if (!take(&box, wide, &from) || !take(&box, 2, &count))
            return;
        for (; count > 0 && take(&box, wide, &id); count--) {
            if (type == 0x64696d67) /* "dimg": this one is made of that */
                add(to, from, id);
            else if (type == 0x6175786c) /* "auxl": this one is that one's alpha */
                add(to, id, from);
        }
    }
}

static void find_references(span file, references *to)
{
    uint64_t type, version;
    span box, child;
    to->count = 0;
    while (take_box(&file, &type, &box)) {
        if (type != 0x6d657461 || !take(&box, 4, &version)) /* "meta" */
            continue;
        while (take_box(&box, &type, &child))
            if (type == 0x69726566) /* "iref" */
                read_references(child, to);
    }
}

/* ---- what they amount to ---- */

static int by_whole(const void *a, const void *b)
{
    const reference *x = a, *y = b;
    return (x->whole > y->whole) - (x->whole < y->whole);
}

static bool is_of_earlier(const void *all, size_t index, const void *whole)
{
    return ((const reference *)all)[index].whole < *(const uint32_t *)whole;
}

/* Where the references of a picture begin; the number of all if it is made of no others. */
static size_t find(const references *of, uint32_t whole)
{
    size_t first = imp_bisect(of->all, of->count, is_of_earlier, &whole);
    return first < of->count && of->all[first].whole == whole ? first : of->count;
}

/* What is known of a picture that is made of others; kept where its references begin. */
typedef struct picture {
    uint32_t parts; /* at most MOST_PARTS + 1 */
    bool open;      /* made of more than the stages so far */
} picture;

/* One stage further: what pictures are made of, by what their parts were in the stage before. */
static void follow(const references *of, const picture *before, picture *now)
{
    for (size_t i = 0, first = 0; i < of->count; i++) {
        if (i == 0 || of->all[i].whole != of->all[i - 1].whole) {
            first = i;
            now[i] = (picture){0};
        }
        size_t place = find(of, of->all[i].part);
        bool whole = place < of->count;
        now[first].parts += whole ? before[place].parts : 1;
        now[first].open = now[first].open || (whole && before[place].open);
        if (now[first].parts > MOST_PARTS)
            now[first].parts = MOST_PARTS + 1;
    }
}

static imp_status judge(const references *of, picture *now, picture *before, imp_error *error)
{
    for (size_t i = 0; i < of->count; i++)
        now[i] = (picture){.parts = 1, .open = true};
    for (int stage = 0; stage < MOST_STAGES; stage++) {
        memcpy(before, now, of->count * sizeof *now);
        follow(of, before, now);
    }
    for (size_t i = 0; i < of->count; i++) {
        if (i > 0 && of->all[i].whole == of->all[i - 1].whole)
            continue;
        if (now[i].open)
            return imp_fail(error, IMP_EFORMAT,
                            "broken HEIF: a picture in it is made of others in a circle, or in "
                            "more than %d stages",
                            MOST_STAGES);
        if (now[i].parts > MOST_PARTS)
            return imp_fail(error, IMP_EFORMAT,
                            "broken HEIF: a picture in it is made of more than %d parts",
                            MOST_PARTS);
    }
    return IMP_OK;
}

imp_status imp_heif_check_references(const uint8_t *bytes, size_t size, imp_error *error)
{
    const span file = {bytes, bytes + size};
    references of = {0};
    find_references(file, &of);
    if (of.count == 0)
        return IMP_OK;
    of.all = imp_allocate(of.count, sizeof *of.all);
    picture *pictures = imp_allocate(of.count, 2 * sizeof *pictures);
    imp_status status =
        of.all && pictures ? IMP_OK : imp_fail_memory(error, "the references of a HEIF picture");
    if (!status) {
        find_references(file, &of);
        qsort(of.all, of.count, sizeof *of.all, by_whole);
        status = judge(&of, pictures, pictures + of.count, error);
    }
    imp_release(of.all);
    imp_release(pictures);
    return status;
}
