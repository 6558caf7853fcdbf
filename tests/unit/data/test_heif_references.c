/* test_heif_references.c - what pictures of a HEIF file may be made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "data/heif_references.h"
#include "failing_allocator.h"

/* A file of an "ftyp" and a "meta" that holds other things and references. */
typedef struct file {
    uint8_t bytes[1 << 16];
    size_t size;
    size_t meta, iref; /* where they begin */
    int wide;          /* bytes of a number */
} file;

static void put(file *f, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        f->bytes[f->size++] = (uint8_t)(value >> 8 * i);
}

static size_t begin_box(file *f, const char *type)
{
    size_t at = f->size;
    put(f, 0, 4);
    memcpy(f->bytes + f->size, type, 4);
    f->size += 4;
    return at;
}

static void end_box(file *f, size_t at)
{
    size_t end = f->size;
    f->size = at;
    put(f, (uint32_t)(end - at), 4);
    f->size = end;
}

static void begin(file *f, int wide)
{
    *f = (file){.wide = wide};
    end_box(f, begin_box(f, "ftyp"));
    f->meta = begin_box(f, "meta");
    put(f, 0, 4);
    size_t other = begin_box(f, "hdlr");
    put(f, 0x64696d67, 4);
    end_box(f, other);
    f->iref = begin_box(f, "iref");
    put(f, wide == 4 ? 1u << 24 : 0, 4);
}

static void end(file *f)
{
    end_box(f, f->iref);
    end_box(f, f->meta);
}

/* `from` refers `count` times to `to`, or to the numbers after it. */
static void refer(file *f, const char *type, uint32_t from, uint32_t to, uint32_t count, int step)
{
    size_t at = begin_box(f, type);
    put(f, from, f->wide);
    put(f, count, 2);
    for (uint32_t i = 0; i < count; i++)
        put(f, to + i * (uint32_t)step, f->wide);
    end_box(f, at);
}

static void expect(const file *f, const char *sentence)
{
    imp_error error = {0};
    imp_status status = imp_heif_check_references(f->bytes, f->size, &error);
    assert_int_equal(status, sentence ? IMP_EFORMAT : IMP_OK);
    assert_string_equal(error.message, sentence ? sentence : "");
}

static const char circle[] =
    "broken HEIF: a picture in it is made of others in a circle, or in more than 4 stages";
static const char many[] = "broken HEIF: a picture in it is made of more than 4096 parts";

static void honest_files(void **state)
{
    (void)state;
    for (int wide = 2; wide <= 4; wide += 2) {
        file f;
        begin(&f, wide);
        refer(&f, "dimg", 500, 1, 192, 1);   /* a grid */
        refer(&f, "auxl", 501, 500, 1, 1);   /* with alpha, */
        refer(&f, "dimg", 501, 200, 192, 1); /* a grid, too, */
        refer(&f, "thmb", 502, 500, 1, 1);   /* and a thumbnail, */
        refer(&f, "thmb", 500, 502, 1, 1);   /* even if that is nonsense */
        end(&f);
        expect(&f, NULL);
    }
    expect(&(file){0}, NULL);
}

static void circles(void **state)
{
    (void)state;
    file f;
    for (int wide = 2; wide <= 4; wide += 2) {
        begin(&f, wide);
        refer(&f, "dimg", 2, 2, 1, 1);
        end(&f);
        expect(&f, circle);
        begin(&f, wide);
        refer(&f, "dimg", 7, 1, 4, 1);
        refer(&f, "dimg", 3, 9, 1, 1);
        refer(&f, "dimg", 9, 7, 1, 1);
        end(&f);
        expect(&f, circle);
        begin(&f, wide); /* each is the other's alpha */
        refer(&f, "auxl", 1, 2, 1, 1);
        refer(&f, "auxl", 2, 1, 1, 1);
        end(&f);
        expect(&f, circle);
    }
}

static void stages(void **state)
{
    (void)state;
    for (uint32_t length = 1; length < 8; length++) {
        file f;
        begin(&f, 2);
        for (uint32_t i = 0; i < length; i++)
            refer(&f, "dimg", i + 1, i + 2, 1, 1);
        end(&f);
        expect(&f, length > 4 ? circle : NULL);
    }
}

static void parts(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        file f;
        begin(&f, 2); /* a grid of grids, that of one tile again and again */
        refer(&f, "dimg", 1, 2, 64, 0);
        refer(&f, "dimg", 2, 3, 64 + more, 0);
        end(&f);
        expect(&f, more ? many : NULL);
    }
}

/* Sizes that lie hide nothing and lead nowhere. */
static void sizes_that_lie(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < 300; size++) {
        file f;
        imp_error error;
        begin(&f, 2);
        refer(&f, "dimg", 2, 2, 1, 1);
        end(&f);
        size_t whole = f.size;
        if (size < whole) { /* cut short */
            f.size = size;
            imp_heif_check_references(f.bytes, f.size, &error);
        }
        f.size = f.meta;
        put(&f, size >= 12 && size < whole ? 0xffffffff - size : 0, 4);
        f.size = f.iref;
        put(&f, 0, 4);
        f.size = whole;
        expect(&f, circle);
    }
}

static void out_of_memory(void **state)
{
    (void)state;
    file f;
    begin(&f, 2);
    refer(&f, "dimg", 1, 2, 64, 1);
    end(&f);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_error error;
        imp_status status = imp_heif_check_references(f.bytes, f.size, &error);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_files),   cmocka_unit_test(circles),
        cmocka_unit_test(stages),         cmocka_unit_test(parts),
        cmocka_unit_test(sizes_that_lie), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
