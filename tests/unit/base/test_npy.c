/* test_npy.c - .npy files there and back, and a table of files that are not quite right. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/npy_shards.h"
#include "failing_allocator.h"
#include "failing_threads.h"
#include "scratch.h"

static const imp_dtype dtypes[] = {IMP_FLOAT32, IMP_FLOAT64, IMP_INT32, IMP_INT64,  IMP_UINT8,
                                   IMP_FLOAT16, IMP_INT8,    IMP_INT16, IMP_UINT16, IMP_BOOL};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

static void dtypes_have_size_and_name(void **state)
{
    (void)state;
    const size_t sizes[] = {4, 8, 4, 8, 1, 2, 1, 2, 2, 1};
    const char *const names[] = {"float32", "float64", "int32", "int64",  "uint8",
                                 "float16", "int8",    "int16", "uint16", "bool"};
    for (size_t i = 0; i < DTYPES; i++) {
        assert_int_equal(imp_dtype_size(dtypes[i]), sizes[i]);
        assert_string_equal(imp_dtype_name(dtypes[i]), names[i]);
    }
    assert_int_equal(imp_dtype_size((imp_dtype)99), 0);
    assert_string_equal(imp_dtype_name((imp_dtype)99), "unknown dtype");
}

static void shapes_are_measured_and_printed(void **state)
{
    (void)state;
    size_t count, bytes;
    assert_true(imp_shape_size(IMP_FLOAT32, 0, NULL, &count, &bytes));
    assert_int_equal(count, 1);
    assert_int_equal(bytes, 4);
    assert_true(imp_shape_size(IMP_INT64, 3, (size_t[]){2, 3, 5}, &count, &bytes));
    assert_int_equal(count, 30);
    assert_int_equal(bytes, 240);
    assert_true(imp_shape_size(IMP_UINT8, 2, (size_t[]){SIZE_MAX / 2, 0}, &count, &bytes));
    assert_int_equal(count, 0);
    assert_int_equal(bytes, 0);

    /* Zero makes nothing small that is too large, whatever the order. */
    const size_t half = (size_t)1 << 32;
    assert_false(imp_shape_size(IMP_UINT8, 3, (size_t[]){half, half, 0}, &count, &bytes));
    assert_false(imp_shape_size(IMP_UINT8, 3, (size_t[]){0, half, half}, &count, &bytes));
    assert_false(imp_shape_size(IMP_FLOAT64, 1, (size_t[]){SIZE_MAX / 8 + 1}, &count, &bytes));
    assert_false(imp_shape_size(IMP_UINT8, 1, (size_t[]){SIZE_MAX}, &count, &bytes));

    assert_string_equal(imp_shape_format(0, NULL).text, "()");
    assert_string_equal(imp_shape_format(1, (size_t[]){3}).text, "(3,)");
    assert_string_equal(imp_shape_format(2, (size_t[]){3, 4}).text, "(3, 4)");
    size_t largest[IMP_MAX_RANK];
    for (size_t i = 0; i < IMP_MAX_RANK; i++)
        largest[i] = SIZE_MAX;
    imp_shape_text longest = imp_shape_format(IMP_MAX_RANK, largest);
    assert_int_equal(longest.text[strlen(longest.text) - 1], ')');
}

static void arrays_are_created_and_cleared(void **state)
{
    (void)state;
    imp_array array;
    imp_error error;
    assert_int_equal(imp_array_create(&array, IMP_FLOAT64, 2, (size_t[]){3, 4}, &error), IMP_OK);
    assert_int_equal(array.count, 12);
    assert_int_equal((uintptr_t)array.data % 64, 0);
    imp_array_clear(&array);
    assert_null(array.data);
    assert_int_equal(array.rank, 0);
    imp_array_clear(&array);

    assert_int_equal(imp_array_create(&array, (imp_dtype)99, 0, NULL, &error), IMP_EINVAL);
    assert_int_equal(imp_array_create(&array, IMP_UINT8, 9, (size_t[9]){0}, &error), IMP_EINVAL);
    assert_int_equal(imp_array_create(&array, IMP_FLOAT32, 2, (size_t[]){SIZE_MAX, 2}, &error),
                     IMP_ENOMEM);
    assert_non_null(strstr(error.message, "2) of float32"));
    assert_null(array.data);
}

/* An array with a different value in each byte, as far as bytes go. */
static imp_array make_array(imp_dtype dtype, size_t rank, const size_t *shape)
{
    imp_array array;
    assert_int_equal(imp_array_create(&array, dtype, rank, shape, NULL), IMP_OK);
    unsigned char *bytes = array.data;
    for (size_t i = 0; i < array.count * imp_dtype_size(dtype); i++)
        bytes[i] = (unsigned char)(i * 37 + 1);
    return array;
}

static void assert_same(const imp_array *a, const imp_array *b)
{
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->rank, b->rank);
    assert_memory_equal(a->shape, b->shape, a->rank * sizeof a->shape[0]);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->data, b->data, a->count * imp_dtype_size(a->dtype));
}

static const struct {
    size_t rank, shape[IMP_MAX_RANK];
} shapes[] = {
    {0, {0}},       {1, {0}},          {1, {1}},
    {1, {77}},      {2, {3, 4}},       {2, {0, 5}},
    {3, {5, 0, 2}}, {4, {2, 3, 4, 5}}, {8, {1, 2, 1, 2, 1, 2, 1, 3}},
};

static void saved_arrays_load_again(void **state)
{
    scratch_path path = scratch_file(state, "array.npy");
    imp_error error;
    for (size_t d = 0; d < DTYPES; d++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            imp_array array = make_array(dtypes[d], shapes[s].rank, shapes[s].shape), again;
            assert_int_equal(imp_npy_save(path.text, &array, &error), IMP_OK);
            assert_int_equal(imp_npy_load(path.text, &again, &error), IMP_OK);
            assert_same(&array, &again);
            assert_int_equal((uintptr_t)again.data % 64, 0);
            imp_array_clear(&array);
            imp_array_clear(&again);
        }
    assert_int_equal(scratch_entries(state), 1);
}

static void files_are_as_numpy_writes_them(void **state)
{
    scratch_path path = scratch_file(state, "array.npy");
    imp_array array = make_array(IMP_UINT8, 1, (size_t[]){3});
    char expected[128 + 3];
    memset(expected, ' ', sizeof expected);
    memcpy(expected, "\x93NUMPY\1\0\x76\0", 10);
    const char *header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }";
    memcpy(expected + 10, header, strlen(header));
    expected[127] = '\n';
    memcpy(expected + 128, array.data, 3);
    assert_int_equal(imp_npy_save(path.text, &array, NULL), IMP_OK);
    assert_true(scratch_holds(path.text, expected, sizeof expected));
    imp_array_clear(&array);
}

static void unsound_arrays_are_not_saved(void **state)
{
    scratch_path path = scratch_file(state, "array.npy");
    imp_error error;
    imp_array good = make_array(IMP_FLOAT32, 1, (size_t[]){3});
    for (int fault = 0; fault < 5; fault++) {
        imp_array array = good;
        if (fault == 0)
            array.dtype = (imp_dtype)99;
        else if (fault == 1)
            array.rank = 9;
        else if (fault == 2)
            array.count = 4;
        else if (fault == 3)
            array.data = NULL;
        else
            array.shape[0] = SIZE_MAX;
        assert_int_equal(imp_npy_save(path.text, &array, &error), IMP_EINVAL);
        assert_non_null(strstr(error.message, "disagree"));
    }
    assert_int_equal(scratch_entries(state), 0);
    imp_array_clear(&good);
}

/* A file in exactly as many bytes as it has, so that reading one too far is seen. */
typedef struct blob {
    unsigned char *bytes;
    size_t size;
} blob;

static blob make_file(unsigned char major, unsigned char minor, const char *header, size_t data)
{
    size_t length = strlen(header), preamble = major == 1 ? 10 : 12;
    blob file = {calloc(1, preamble + length + data), preamble + length + data};
    memcpy(file.bytes, "\x93NUMPY", 6);
    file.bytes[6] = major;
    file.bytes[7] = minor;
    file.bytes[8] = (unsigned char)length;
    file.bytes[9] = (unsigned char)(length >> 8);
    memcpy(file.bytes + preamble, header, length);
    for (size_t i = 0; i < data; i++)
        file.bytes[preamble + length + i] = (unsigned char)(i + 1);
    return file;
}

static void headers_may_be_written_in_many_ways(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }          \n",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'shape': (2, 3), 'descr': '<i4', 'fortran_order': False}\n",
        "{\"fortran_order\":False,\"shape\":(2,3),\"descr\":\"<i4\",}",
        " \t{ 'descr' : '<i4' ,\n'fortran_order' : False , 'shape' : ( 2 , 3 , ) , } \r\n",
    };
    for (unsigned char major = 1; major <= 2; major++)
        for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
            blob file = make_file(major, 0, headers[i], 24);
            imp_array array;
            imp_error error;
            assert_int_equal(imp_npy_parse(file.bytes, file.size, &array, &error), IMP_OK);
            assert_int_equal(array.dtype, IMP_INT32);
            assert_int_equal(array.rank, 2);
            assert_int_equal(array.shape[0], 2);
            assert_int_equal(array.shape[1], 3);
            assert_memory_equal(array.data, file.bytes + file.size - 24, 24);
            imp_array_clear(&array);
            free(file.bytes);
        }
}

/* Version 2 exists for headers of more than 65535 bytes. */
static void long_headers_are_read(void **state)
{
    (void)state;
    const char *dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}";
    const size_t length = 70000;
    blob file = {malloc(12 + length + 2), 12 + length + 2};
    memcpy(file.bytes, "\x93NUMPY\2\0", 8);
    for (int i = 0; i < 4; i++)
        file.bytes[8 + i] = (unsigned char)(length >> 8 * i);
    memset(file.bytes + 12, ' ', length);
    memcpy(file.bytes + 12, dict, strlen(dict));
    memcpy(file.bytes + 12 + length, "\7\11", 2);
    imp_array array;
    assert_int_equal(imp_npy_parse(file.bytes, file.size, &array, NULL), IMP_OK);
    assert_memory_equal(array.data, "\7\11", 2);
    imp_array_clear(&array);
    free(file.bytes);
}

static void fortran_order_of_one_dimension_is_c_order(void **state)
{
    (void)state;
    blob file = make_file(1, 0, "{'descr': '|u1', 'fortran_order': True, 'shape': (3,), }", 3);
    imp_array array;
    assert_int_equal(imp_npy_parse(file.bytes, file.size, &array, NULL), IMP_OK);
    assert_int_equal(array.count, 3);
    imp_array_clear(&array);
    free(file.bytes);
}

#define HEADER(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"
#define SHAPE(shape) HEADER("'<f4'", "False", shape)
#define DESCR(descr) HEADER(descr, "False", "(3,)")

static void malformed_headers_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        imp_status status;
        const char *sentence;
    } cases[] = {
        /* the data */
        {SHAPE("(3, 4)"), 100, IMP_EFORMAT,
         "it holds 100 bytes of data where its shape (3, 4) of float32 needs 48"},
        {SHAPE("(3, 4)"), 47, IMP_EFORMAT, "it holds 47 bytes of data"},
        {SHAPE("(3, 4)"), 49, IMP_EFORMAT, "it holds 49 bytes of data"},
        {SHAPE("()"), 0, IMP_EFORMAT, "it holds 0 bytes of data where its shape () of float32"},
        {SHAPE("(0,)"), 1, IMP_EFORMAT, "where its shape (0,) of float32 needs 0"},
        {HEADER("'<i8'", "False", "(2,)"), 15, IMP_EFORMAT, "of int64 needs 16"},
        /* the shape */
        {SHAPE("(-3,)"), 0, IMP_EFORMAT, "negative length"},
        {SHAPE("(3, -4)"), 0, IMP_EFORMAT, "negative length"},
        {SHAPE("(18446744073709551616,)"), 0, IMP_EFORMAT, "more digits than fit"},
        {SHAPE("(99999999999999999999999999999,)"), 0, IMP_EFORMAT, "more digits than fit"},
        {SHAPE("(18446744073709551615,)"), 0, IMP_EFORMAT, "does not fit in any memory"},
        {SHAPE("(4294967296, 4294967296)"), 0, IMP_EFORMAT,
         "its shape (4294967296, 4294967296) of float32 does not fit in any memory"},
        {SHAPE("(4294967296, 4294967296, 0)"), 0, IMP_EFORMAT, "does not fit in any memory"},
        {SHAPE("(4611686018427387904,)"), 0, IMP_EFORMAT, "does not fit in any memory"},
        {SHAPE("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4, IMP_EUNSUPPORTED, "more than 8 dimensions"},
        {SHAPE("(3)"), 12, IMP_EFORMAT, "found ')', not ',' after the first length"},
        {SHAPE("3"), 12, IMP_EFORMAT, "found '3', not '(' of a shape"},
        {SHAPE("[3]"), 12, IMP_EFORMAT, "found '[', not '(' of a shape"},
        {SHAPE("(,)"), 12, IMP_EFORMAT, "found ',', not a length or ')'"},
        {SHAPE("(3,,)"), 12, IMP_EFORMAT, "found ',', not a length or ')'"},
        {SHAPE("(3 4)"), 48, IMP_EFORMAT, "found '4', not ',' after the first length"},
        {SHAPE("(3, 4 5)"), 48, IMP_EFORMAT, "found '5', not ',' or ')' in the shape"},
        {SHAPE("(3L,)"), 12, IMP_EFORMAT, "found 'L'"},
        {SHAPE("(03,)"), 12, IMP_EFORMAT, "without leading zeros"},
        {SHAPE("(3.0,)"), 12, IMP_EFORMAT, "found '.'"},
        {SHAPE("(+3,)"), 12, IMP_EFORMAT, "found '+'"},
        /* the dtype */
        {DESCR("'>f4'"), 12, IMP_EUNSUPPORTED, "its dtype '>f4' is big-endian"},
        {DESCR("'|O'"), 24, IMP_EUNSUPPORTED, "its dtype '|O' holds Python objects"},
        {DESCR("'<c8'"), 24, IMP_EUNSUPPORTED,
         "its dtype '<c8' is not supported; the supported ones are float16 ('<f2'), float32 "
         "('<f4'), float64 ('<f8'), int8 ('|i1'), int16 ('<i2'), int32 ('<i4'), int64 ('<i8'), "
         "uint8 ('|u1'), uint16 ('<u2') and bool ('|b1')"},
        {DESCR("'<U10'"), 120, IMP_EUNSUPPORTED, "its dtype '<U10' is not supported"},
        {DESCR("''"), 12, IMP_EUNSUPPORTED, "its dtype '' is not supported"},
        {DESCR("'f'"), 12, IMP_EUNSUPPORTED, "its dtype 'f' is not supported"},
        {DESCR("'an incredibly long name for a type of numbers'"), 12, IMP_EUNSUPPORTED,
         "its dtype 'an incredibly long name for a type of n' is not supported"},
        {DESCR("[('x', '<f4'), ('y', '<f4')]"), 24, IMP_EUNSUPPORTED, "records of several fields"},
        {DESCR("5"), 12, IMP_EFORMAT, "found '5', not the quoted dtype of 'descr'"},
        {DESCR("'<f4"), 12, IMP_EFORMAT, "the header is malformed"},
        {DESCR("'<\\x664'"), 12, IMP_EFORMAT, "found '\\', not a plain character"},
        {DESCR("'<f\n4'"), 12, IMP_EFORMAT, "found byte 0x0a, not a plain character"},
        {DESCR("'<f4\xc3\xa9'"), 12, IMP_EFORMAT, "found byte 0xc3"},
        /* the order */
        {HEADER("'<f4'", "Maybe", "(3,)"), 12, IMP_EFORMAT, "found 'M', not True or False"},
        {HEADER("'<f4'", "1", "(3,)"), 12, IMP_EFORMAT, "found '1', not True or False"},
        {HEADER("'<f4'", "Falsehood", "(3,)"), 12, IMP_EFORMAT, "found 'h', not ',' or '}'"},
        /* the dict */
        {"", 0, IMP_EFORMAT, "found its end, not '{'"},
        {"   ", 0, IMP_EFORMAT, "found its end, not '{'"},
        {"[]", 0, IMP_EFORMAT, "found '[', not '{'"},
        {"{", 0, IMP_EFORMAT, "found its end, not a quoted key or '}'"},
        {"{}", 0, IMP_EFORMAT, "lacks the key 'descr'"},
        {"{'descr", 0, IMP_EFORMAT, "found its end, not the closing quote of a string"},
        {"{,}", 0, IMP_EFORMAT, "found ',', not a quoted key or '}'"},
        {"{'descr'}", 0, IMP_EFORMAT, "found '}', not ':' after a key"},
        {"{'descr': }", 0, IMP_EFORMAT, "found '}', not the quoted dtype"},
        {"{'descr: '<f4'}", 0, IMP_EFORMAT, "the unknown key 'descr: '"},
        {"{'descr': '<f4', 'fortran_order': False}", 0, IMP_EFORMAT, "lacks the key 'shape'"},
        {"{'descr': '<f4', 'shape': ()}", 4, IMP_EFORMAT, "lacks the key 'fortran_order'"},
        {"{'fortran_order': False, 'shape': ()}", 4, IMP_EFORMAT, "lacks the key 'descr'"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, IMP_EFORMAT,
         "has the key 'descr' twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}", 4, IMP_EFORMAT,
         "has the unknown key 'more'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()", 4, IMP_EFORMAT,
         "found its end, not ',' or '}'"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': ()}", 4, IMP_EFORMAT,
         "found ''', not ',' or '}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", 4, IMP_EFORMAT,
         "found 'x', not its end after '}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}}", 4, IMP_EFORMAT,
         "found '}', not its end after '}'"},
    };
    for (unsigned char major = 1; major <= 2; major++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            blob file = make_file(major, 0, cases[i].header, cases[i].data);
            imp_array array;
            imp_error error = {0};
            imp_status status = imp_npy_parse(file.bytes, file.size, &array, &error);
            if (status != cases[i].status || strstr(error.message, cases[i].sentence) == NULL)
                fail_msg("%s\n  gave %s: %s\n  not  %s: %s", cases[i].header,
                         imp_status_name(status), error.message, imp_status_name(cases[i].status),
                         cases[i].sentence);
            assert_int_equal(error.status, status);
            assert_null(array.data);
            free(file.bytes);
        }
}

#define BYTES(text) text, sizeof text - 1

static void malformed_beginnings_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        imp_status status;
        const char *sentence;
    } cases[] = {
        {BYTES(""), IMP_EFORMAT, "it is not a .npy file"},
        {BYTES("\x93NUMP"), IMP_EFORMAT, "it is not a .npy file"},
        {BYTES("\x94NUMPY\1\0\0\0"), IMP_EFORMAT, "begins with the byte 0x93 and 'NUMPY'"},
        {BYTES("PK\3\4 and so on"), IMP_EUNSUPPORTED, "zip (.npz) archive"},
        {BYTES("\x93NUMPY"), IMP_EFORMAT, "ends before its version, after 6 bytes"},
        {BYTES("\x93NUMPY\1"), IMP_EFORMAT, "ends before its version, after 7 bytes"},
        {BYTES("\x93NUMPY\3\0\0\0\0\0"), IMP_EUNSUPPORTED, "version 3.0 is not supported"},
        {BYTES("\x93NUMPY\0\0\0\0\0\0"), IMP_EUNSUPPORTED, "version 0.0 is not supported"},
        {BYTES("\x93NUMPY\1\1\0\0\0\0"), IMP_EUNSUPPORTED, "version 1.1 is not supported"},
        {BYTES("\x93NUMPY\1\0"), IMP_EFORMAT, "before the length of its header, after 8 bytes"},
        {BYTES("\x93NUMPY\2\0\0\0"), IMP_EFORMAT, "before the length of its header"},
        {BYTES("\x93NUMPY\1\0\5\0{   "), IMP_EFORMAT,
         "ends inside its header: 4 bytes of it where 5 are announced"},
        {BYTES("\x93NUMPY\2\0\377\377\377\377{"), IMP_EFORMAT, "4294967295 are announced"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char *bytes = malloc(cases[i].size + 1);
        memcpy(bytes, cases[i].bytes, cases[i].size);
        imp_array array;
        imp_error error = {0};
        imp_status status = imp_npy_parse(bytes, cases[i].size, &array, &error);
        if (status != cases[i].status || strstr(error.message, cases[i].sentence) == NULL)
            fail_msg("case %zu gave %s: %s, not %s", i, imp_status_name(status), error.message,
                     cases[i].sentence);
        free(bytes);
    }
}

/* A file cut anywhere is refused, never read beyond its end. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    blob file = make_file(1, 0, SHAPE("(3, 4)"), 48);
    for (size_t size = 0; size < file.size; size++) {
        unsigned char *bytes = malloc(size + 1);
        memcpy(bytes, file.bytes, size);
        imp_array array;
        assert_int_equal(imp_npy_parse(bytes, size, &array, NULL), IMP_EFORMAT);
        free(bytes);
    }
    free(file.bytes);
}

static void sentences_name_the_file(void **state)
{
    scratch_path path = scratch_file(state, "broken.npy");
    char expected[700];
    imp_array array;
    imp_error error;
    scratch_write(path.text, "nothing", 7);
    assert_int_equal(imp_npy_load(path.text, &array, &error), IMP_EFORMAT);
    snprintf(expected, sizeof expected, "%s: it is not a .npy file", path.text);
    assert_memory_equal(error.message, expected, strlen(expected));
    assert_int_equal(imp_npy_load("no/such.npy", &array, &error), IMP_EIO);
    assert_string_equal(error.message, "cannot read 'no/such.npy': No such file or directory");
}

/* Every type as floats, a few rows at a time. */
static void rows_are_read_from_the_file(void **state)
{
    scratch_path path = scratch_file(state, "array.npy");
    for (size_t t = 0; t < DTYPES; t++) {
        imp_array array = make_array(dtypes[t], 2, (size_t[]){2000, 7});
        for (size_t i = 0; i < array.count; i++) /* whose bytes may be any */
            if (dtypes[t] == IMP_FLOAT32)
                ((float *)array.data)[i] = (float)i / 3;
            else if (dtypes[t] == IMP_FLOAT64)
                ((double *)array.data)[i] = (double)i / 3;
            else if (dtypes[t] == IMP_FLOAT16)
                ((uint16_t *)array.data)[i] = (uint16_t)(i % 0x7c00);
        imp_npy_file file;
        assert_int_equal(imp_npy_save(path.text, &array, NULL), IMP_OK);
        assert_int_equal(imp_npy_open(path.text, &file, NULL), IMP_OK);
        assert_int_equal(file.layout.shape[0], 2000);
        float rows[1000 * 7];
        for (size_t begin = 0; begin < 2000; begin += 999) {
            size_t count = 2000 - begin < 1000 ? 2000 - begin : 1000;
            assert_int_equal(imp_npy_read_rows(&file, begin, count, rows, NULL), IMP_OK);
            for (size_t i = 0; i < count * 7; i++)
                assert_true(rows[i] == (float)imp_element(dtypes[t], array.data, begin * 7 + i));
        }
        imp_npy_close(&file);
        imp_array_clear(&array);
    }
}

/* The same rows whichever index runs fastest, and a fault is named by its place in the array. */
static void rows_of_columns_are_read(void **state)
{
    enum { ROWS = 5000, COLUMNS = 3 };
    scratch_path path = scratch_file(state, "columns.npy");
    blob file = make_file(1, 0, HEADER("'<f2'", "True", "(5000, 3)"), ROWS * COLUMNS * 2);
    uint16_t *elements = malloc(ROWS * COLUMNS * sizeof *elements);
    float *rows = malloc(ROWS * COLUMNS * sizeof *rows);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        elements[i] = (uint16_t)(i % 0x7c00 | (i % 2) << 15);
    size_t begin = file.size - ROWS * COLUMNS * sizeof *elements;
    memcpy(file.bytes + begin, elements, file.size - begin);
    scratch_write(path.text, file.bytes, file.size);
    imp_npy_file open;
    imp_array array;
    assert_int_equal(imp_npy_load(path.text, &array, NULL), IMP_OK);
    assert_int_equal(imp_npy_open(path.text, &open, NULL), IMP_OK);
    assert_int_equal(imp_npy_read_rows(&open, 1, ROWS - 1, rows + COLUMNS, NULL), IMP_OK);
    for (size_t i = COLUMNS; i < ROWS * COLUMNS; i++) {
        size_t at = i % COLUMNS * ROWS + i / COLUMNS;
        assert_true(imp_element(IMP_FLOAT16, array.data, i) ==
                    imp_element(IMP_FLOAT16, elements, at));
        assert_true(rows[i] == (float)imp_element(IMP_FLOAT16, elements, at));
    }
    imp_npy_close(&open);
    imp_array_clear(&array);

    elements[2 * ROWS + 4321] = 0x7c00; /* infinity */
    memcpy(file.bytes + begin, elements, file.size - begin);
    scratch_write(path.text, file.bytes, file.size);
    imp_error error;
    assert_int_equal(imp_npy_open(path.text, &open, NULL), IMP_OK);
    assert_int_equal(imp_npy_read_rows(&open, 0, ROWS, rows, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "columns.npy: row 4321, column 2 is infinite"));
    imp_npy_close(&open);
    free(file.bytes);
    free(elements);
    free(rows);
}

static void rows_that_cannot_be_read_are_named(void **state)
{
    scratch_path path = scratch_file(state, "array.npy");
    double values[6] = {1, 2, 3, 4, 1e300, 6};
    imp_array array = {
        .dtype = IMP_FLOAT64, .rank = 2, .shape = {2, 3}, .count = 6, .data = values};
    imp_npy_file file;
    imp_error error;
    float rows[6];
    assert_int_equal(imp_npy_save(path.text, &array, NULL), IMP_OK);
    assert_int_equal(imp_npy_open(path.text, &file, NULL), IMP_OK);
    assert_int_equal(imp_npy_read_rows(&file, 0, 2, rows, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "array.npy: row 1, column 1 is 1e+300; points are kept"));
    imp_npy_close(&file);

    float nan[2] = {1, NAN};
    array = (imp_array){.dtype = IMP_FLOAT32, .rank = 2, .shape = {1, 2}, .count = 2, .data = nan};
    assert_int_equal(imp_npy_save(path.text, &array, NULL), IMP_OK);
    assert_int_equal(imp_npy_open(path.text, &file, NULL), IMP_OK);
    assert_int_equal(imp_npy_read_rows(&file, 0, 1, rows, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "row 0, column 1 is not a number (NaN)"));
    imp_npy_close(&file);

    scratch_write(path.text, "\x93NUMPY", 6);
    assert_int_equal(imp_npy_open(path.text, &file, &error), IMP_EFORMAT);
    assert_null(file.path);
    assert_int_equal(imp_npy_open("/dev/null", &file, &error), IMP_EUNSUPPORTED);
    assert_int_equal(imp_npy_open("no/such.npy", &file, &error), IMP_EIO);
    imp_npy_close(&file);
}

static void loading_survives_lack_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "array.npy");
    imp_array array = make_array(IMP_FLOAT32, 2, (size_t[]){50, 20}), again;
    assert_int_equal(imp_npy_save(path.text, &array, NULL), IMP_OK);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_error error;
        imp_npy_file file = {0};
        imp_status status = imp_npy_load(path.text, &again, &error);
        if (status == IMP_OK)
            status = imp_npy_open(path.text, &file, &error);
        imp_npy_close(&file);
        if (status == IMP_OK)
            assert_same(&array, &again);
        imp_array_clear(&again);
        failing_allocator_expect(&memory, status);
    }
    imp_array_clear(&array);
}

static void saving_survives_lack_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "array.npy");
    static float values[6] = {1, 2, 3, 4, 5, 6};
    imp_array array = {
        .dtype = IMP_FLOAT32, .rank = 2, .shape = {2, 3}, .count = 6, .data = values};
    scratch_write(path.text, "old", 3);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_npy_save(path.text, &array, NULL);
        bool failed = failing_allocator_expect(&memory, status);
        assert_int_equal(scratch_entries(state), 1);
        assert_int_equal(scratch_holds(path.text, "old", 3), failed);
    }
}

/* Rows first .. first + rows - 1 of an array whose every value tells its place. */
static void save_rows(const char *path, imp_dtype dtype, size_t first, size_t rows, size_t columns)
{
    imp_array array;
    size_t shape[2] = {rows, columns};
    assert_int_equal(imp_array_create(&array, dtype, 2, shape, NULL), IMP_OK);
    for (size_t i = 0; i < array.count; i++)
        if (dtype == IMP_FLOAT32)
            ((float *)array.data)[i] = (float)(first * columns + i);
        else
            ((int64_t *)array.data)[i] = (int64_t)(first * columns + i);
    assert_int_equal(imp_npy_save(path, &array, NULL), IMP_OK);
    imp_array_clear(&array);
}

static void a_folder_of_shards_is_one_array(void **state)
{
    const char *folder = *state;
    /* "b-10" stands before "b-2", as Python sorts them; an empty shard holds nothing */
    save_rows(scratch_file(state, "a.npy").text, IMP_FLOAT32, 0, 5, 3);
    save_rows(scratch_file(state, "b-10.npy").text, IMP_INT64, 5, 1, 3);
    save_rows(scratch_file(state, "b-11.npy").text, IMP_FLOAT32, 6, 0, 3);
    save_rows(scratch_file(state, "b-2.npy").text, IMP_FLOAT32, 6, 7, 3);
    scratch_write(scratch_file(state, "notes.txt").text, "no", 2);
    scratch_write(scratch_file(state, ".b-3.npy").text, "no", 2);
    assert_true(imp_npy_is_shard("a.npy"));
    assert_false(imp_npy_is_shard(".npy"));
    imp_npy_shards shards;
    assert_int_equal(imp_npy_shards_open(folder, &shards, NULL), IMP_OK);
    assert_int_equal(shards.count, 4);
    assert_int_equal(shards.rows, 13);
    for (size_t begin = 0; begin < 13; begin++)
        for (size_t count = 0; begin + count <= 13; count++) {
            float rows[13 * 3];
            assert_int_equal(imp_npy_shards_read(&shards, begin, count, rows, NULL), IMP_OK);
            for (size_t i = 0; i < count * 3; i++)
                assert_true(rows[i] == (float)(begin * 3 + i));
        }
    /* a shard that is another one now */
    imp_error error;
    float row[3];
    assert_int_equal(unlink(scratch_file(state, "a.npy").text), 0);
    assert_int_equal(imp_npy_shards_read(&shards, 12, 1, row, NULL), IMP_OK);
    assert_int_equal(imp_npy_shards_read(&shards, 0, 1, row, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "/a.npy': No such file"));
    imp_npy_shards_close(&shards);
}

/* Reads rows begin .. begin + count - 1 of an array of two columns whose values tell their places;
 * returns where they are. */
static const float *expect_rows(const imp_npy_shards *shards, size_t begin, size_t count,
                                float *room)
{
    const float *rows;
    memset(room, 0, 2 * count * sizeof *room);
    assert_int_equal(imp_npy_shards_read_ahead(shards, begin, count, room, &rows, NULL), IMP_OK);
    for (size_t i = 0; i < 2 * count; i++)
        if (rows[i] != (float)(2 * begin + i))
            fail_msg("row %zu of %zu from %zu on is another one", i / 2, count, begin);
    return rows;
}

/* Blocks in order, from a place, until the end. */
static void expect_blocks(const imp_npy_shards *shards, size_t begin, size_t block, float *rows)
{
    for (size_t count; begin < shards->rows; begin += count) {
        count = shards->rows - begin < block ? shards->rows - begin : block;
        expect_rows(shards, begin, count, rows);
    }
}

static void blocks_that_follow_are_read_ahead(void **state)
{
    enum { ROWS = 1 << 20, LARGE = 1 << 18 };
    float *room = malloc(2 * ROWS * sizeof *room);
    save_rows(scratch_file(state, "a.npy").text, IMP_FLOAT32, 0, 300000, 2);
    save_rows(scratch_file(state, "b.npy").text, IMP_INT64, 300000, ROWS - 300000, 2);
    imp_npy_shards shards;
    assert_int_equal(imp_npy_shards_open(*state, &shards, NULL), IMP_OK);
    const float *first = expect_rows(&shards, 0, LARGE, room);
    imp_npy_ahead_wait(shards.ahead);
    assert_int_equal(shards.ahead->begin, LARGE);
    assert_int_equal(shards.ahead->count, LARGE);
    float *next = shards.ahead->next.values;
    assert_true(expect_rows(&shards, 5, 3, room) == room); /* a few others meanwhile */
    assert_true(first[0] == 0 && first[2 * LARGE - 1] == 2 * LARGE - 1);
    assert_true(expect_rows(&shards, LARGE, LARGE - 9, room) == next); /* less than was read */
    expect_rows(&shards, 2 * LARGE - 9, LARGE, room);
    expect_rows(&shards, 3 * LARGE - 9, LARGE / 2, room);
    expect_rows(&shards, 7, LARGE, room); /* somewhere else */
    expect_blocks(&shards, 0, LARGE, room);
    expect_blocks(&shards, 0, 200001, room);
    expect_blocks(&shards, 0, ROWS, room);
    imp_npy_shards_close(&shards);

    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_npy_shards_open(*state, &shards, NULL);
        if (!status)
            expect_blocks(&shards, 0, LARGE, room);
        imp_npy_shards_close(&shards);
        bool failed = failing_allocator_end(&memory); /* perhaps what would have been read ahead */
        assert_true(status == IMP_OK || (failed && status == IMP_ENOMEM));
    }
    failing_threads_allow(0);
    assert_int_equal(imp_npy_shards_open(*state, &shards, NULL), IMP_OK);
    expect_blocks(&shards, 0, LARGE, room);
    imp_npy_shards_close(&shards);
    assert_true(failing_threads_allow(SIZE_MAX) > 0);
    free(room);
}

/* Neither before it is wanted nor at all if it is not. */
static void a_bad_block_is_told_when_it_is_wanted(void **state)
{
    enum { ROWS = 1 << 19, LARGE = 1 << 18 };
    scratch_path path = scratch_file(state, "array.npy");
    save_rows(path.text, IMP_FLOAT32, 0, ROWS, 2);
    FILE *file = fopen(path.text, "r+b");
    assert_int_equal(fseek(file, -4, SEEK_END), 0);
    assert_int_equal(fwrite(&(float){NAN}, sizeof(float), 1, file), 1);
    fclose(file);
    float *room = malloc(2 * LARGE * sizeof *room);
    const float *rows;
    imp_npy_shards shards;
    imp_error error;
    assert_int_equal(imp_npy_shards_open(path.text, &shards, NULL), IMP_OK);
    expect_rows(&shards, 0, LARGE, room);
    expect_rows(&shards, LARGE, LARGE - 1, room);
    expect_rows(&shards, 0, LARGE, room);
    assert_int_equal(imp_npy_shards_read_ahead(&shards, LARGE, LARGE, room, &rows, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "row 524287, column 1 is not a number"));
    imp_npy_shards_close(&shards);
    free(room);
}

static void unfit_shards_are_named(void **state)
{
    const char *folder = *state;
    imp_npy_shards shards;
    imp_error error;
    assert_int_equal(imp_npy_shards_open(folder, &shards, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "holds no .npy files"));
    save_rows(scratch_file(state, "a.npy").text, IMP_FLOAT32, 0, 5, 3);
    save_rows(scratch_file(state, "b.npy").text, IMP_FLOAT32, 0, 5, 4);
    assert_int_equal(imp_npy_shards_open(folder, &shards, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "b.npy: its points have 4 dimensions, those of '"));
    scratch_write(scratch_file(state, "b.npy").text, "no", 2);
    assert_int_equal(imp_npy_shards_open(folder, &shards, &error), IMP_EFORMAT);
    assert_int_equal(imp_npy_shards_open("no/such", &shards, &error), IMP_EIO);
    failing_allocator memory = {0};
    save_rows(scratch_file(state, "b.npy").text, IMP_FLOAT32, 0, 5, 3);
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_npy_shards_open(folder, &shards, NULL);
        imp_npy_shards_close(&shards);
        failing_allocator_expect(&memory, status);
    }
}

/* Feeds a pipe with the content of a file. */
static void *feed(void *context)
{
    const char *const *paths = context;
    FILE *from = fopen(paths[0], "rb"), *to = fopen(paths[1], "wb");
    for (int c; from && to && (c = fgetc(from)) != EOF;)
        fputc(c, to);
    if (from)
        fclose(from);
    if (to)
        fclose(to);
    return NULL;
}

static void a_pipe_is_read_once(void **state)
{
    scratch_path file = scratch_file(state, "array.npy"), pipe = scratch_file(state, "pipe");
    save_rows(file.text, IMP_INT64, 0, 500, 3);
    assert_int_equal(mkfifo(pipe.text, 0600), 0);
    for (int more = 0; more < 2; more++) {
        pthread_t writer;
        const char *paths[] = {file.text, pipe.text};
        assert_int_equal(pthread_create(&writer, NULL, feed, paths), 0);
        imp_npy_shards shards;
        imp_error error;
        float rows[300 * 3];
        assert_int_equal(imp_npy_shards_open(pipe.text, &shards, NULL), IMP_OK);
        assert_true(shards.once);
        assert_int_equal(imp_npy_shards_read(&shards, 0, 300, rows, NULL), IMP_OK);
        assert_true(rows[899] == 899);
        assert_int_equal(imp_npy_shards_read(&shards, 0, 1, rows, &error), IMP_EIO);
        assert_int_equal(imp_npy_shards_read(&shards, 300, 200, rows, &error),
                         more ? IMP_EFORMAT : IMP_OK);
        imp_npy_shards_close(&shards);
        pthread_join(writer, NULL);
        FILE *end = fopen(file.text, "ab");
        fputc(0, end);
        fclose(end);
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

/* It would go on for ever; its first bytes tell that it is of another kind. */
static void an_endless_file_is_not_read(void **state)
{
    (void)state;
    imp_array array;
    imp_error error;
    assert_int_equal(imp_npy_load("/dev/zero", &array, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "/dev/zero: it is not a "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes_have_size_and_name),
        cmocka_unit_test(shapes_are_measured_and_printed),
        cmocka_unit_test(arrays_are_created_and_cleared),
        WITH_FOLDER(saved_arrays_load_again),
        WITH_FOLDER(files_are_as_numpy_writes_them),
        WITH_FOLDER(unsound_arrays_are_not_saved),
        cmocka_unit_test(headers_may_be_written_in_many_ways),
        cmocka_unit_test(long_headers_are_read),
        cmocka_unit_test(fortran_order_of_one_dimension_is_c_order),
        cmocka_unit_test(malformed_headers_get_a_sentence),
        cmocka_unit_test(malformed_beginnings_get_a_sentence),
        cmocka_unit_test(cut_files_are_refused),
        WITH_FOLDER(sentences_name_the_file),
        WITH_FOLDER(rows_are_read_from_the_file),
        WITH_FOLDER(rows_of_columns_are_read),
        WITH_FOLDER(rows_that_cannot_be_read_are_named),
        WITH_FOLDER(a_folder_of_shards_is_one_array),
        WITH_FOLDER(blocks_that_follow_are_read_ahead),
        WITH_FOLDER(a_bad_block_is_told_when_it_is_wanted),
        WITH_FOLDER(unfit_shards_are_named),
        WITH_FOLDER(a_pipe_is_read_once),
        WITH_FOLDER(loading_survives_lack_of_memory),
        WITH_FOLDER(saving_survives_lack_of_memory),
        cmocka_unit_test(an_endless_file_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
