/* test_safetensors.c - named tensors there and back, and a table of files that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/safetensors.h"
#include "base/tensor_checksum.h"
#include "failing_allocator.h"
#include "scratch.h"

/* ---- there and back ---- */

static const float weight[6] = {1, -2, 3.5f, 4, 5, 1e-30f};
static const double running[2] = {0.1, -1e300};
static const int32_t labels[3] = {-1, 0, 7};
static const int64_t batches = 123456789012345;
static const uint8_t odd[3] = {1, 2, 255};

static const imp_tensor tensors[] = {
    {"blocks.0.conv.weight", IMP_FLOAT32, 2, {2, 3}, 6, weight},
    {"odd", IMP_UINT8, 1, {3}, 3, odd}, /* leaves all that follow askew in the file */
    {"running", IMP_FLOAT64, 3, {1, 2, 1}, 2, running},
    {"labels", IMP_INT32, 1, {3}, 3, labels},
    {"none", IMP_FLOAT32, 2, {0, 5}, 0, NULL},
    {"num_batches_tracked", IMP_INT64, 0, {0}, 1, &batches},
    {"\xc3\xa9toile \"quoted\"\\\n", IMP_UINT8, 1, {1}, 1, odd},
};
enum { TENSORS = sizeof tensors / sizeof tensors[0] };

static const imp_metadata metadata[] = {
    {"format", "imp"}, {"sigma", "5.0"}, {"empty", ""}, {"\xe2\x82\xac", "line\nbreak \"x\""}};
enum { METADATA = sizeof metadata / sizeof metadata[0] };

static void assert_file_is_right(const imp_safetensors *file)
{
    assert_int_equal(imp_safetensors_count(file), TENSORS);
    for (size_t i = 0; i < TENSORS; i++) {
        const imp_tensor *found = imp_safetensors_find(file, tensors[i].name);
        assert_non_null(found);
        assert_ptr_equal(found, imp_safetensors_at(file, i)); /* the order is kept */
        assert_string_equal(found->name, tensors[i].name);
        assert_int_equal(found->dtype, tensors[i].dtype);
        assert_int_equal(found->rank, tensors[i].rank);
        assert_memory_equal(found->shape, tensors[i].shape, found->rank * sizeof found->shape[0]);
        assert_int_equal(found->count, tensors[i].count);
        assert_int_equal((uintptr_t)found->data % imp_dtype_size(found->dtype), 0);
        if (found->count > 0)
            assert_memory_equal(found->data, tensors[i].data,
                                found->count * imp_dtype_size(found->dtype));
    }
    assert_null(imp_safetensors_at(file, TENSORS));
    assert_null(imp_safetensors_find(file, "absent"));
    assert_null(imp_safetensors_find(file, "__metadata__"));
    for (size_t i = 0; i < METADATA; i++)
        assert_string_equal(imp_safetensors_metadata(file, metadata[i].key), metadata[i].value);
    assert_null(imp_safetensors_metadata(file, "absent"));
}

static void saved_tensors_load_again(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    imp_error error;
    imp_safetensors *file;
    assert_int_equal(imp_safetensors_save(path.text, tensors, TENSORS, metadata, METADATA, &error),
                     IMP_OK);
    assert_int_equal(imp_safetensors_load(path.text, &file, &error), IMP_OK);
    assert_file_is_right(file);
    imp_safetensors_free(file);
    assert_int_equal(scratch_entries(state), 1);
}

static void bytes_are_the_expected_ones(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    const imp_tensor two[] = {{"b", IMP_UINT8, 1, {3}, 3, odd},
                              {"a", IMP_INT64, 0, {0}, 1, &batches}};
    /* printf 'k\0%s\0z\0%s\0\0a\0I64\0\0\x79\xdf\x0d\x86\x48\x70\0\0b\0U8\0003,\0\1\2\xff' 2 1 |
     * sha256sum */
    const char *header = "{\"__metadata__\":{\"z\":\"1\",\"k\":\"2\",\"sha256\":\""
                         "85ba899428ca81f8b86409e29ab190c241b875c60beb93ebc6956e094b540ec1"
                         "\"},\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
                         "\"a\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[3,11]}}";
    enum { BEGIN = 256 };
    unsigned char expected[BEGIN + 11];
    memset(expected, ' ', sizeof expected);
    memcpy(expected, (unsigned char[8]){BEGIN - 8}, 8);
    memcpy(expected + 8, header, strlen(header));
    memcpy(expected + BEGIN, odd, 3);
    memcpy(expected + BEGIN + 3, &batches, 8);
    assert_int_equal(
        imp_safetensors_save(path.text, two, 2, (imp_metadata[]){{"z", "1"}, {"k", "2"}}, 2, NULL),
        IMP_OK);
    assert_true(scratch_holds(path.text, expected, sizeof expected));

    unsigned char *bytes;
    size_t size;
    assert_int_equal(imp_safetensors_write(two, 2, (imp_metadata[]){{"z", "1"}, {"k", "2"}}, 2,
                                           &bytes, &size, NULL),
                     IMP_OK);
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(bytes, expected, size);
    imp_release(bytes);
}

static void empty_files_work(void **state)
{
    scratch_path path = scratch_file(state, "empty.safetensors");
    imp_safetensors *file;
    assert_int_equal(imp_safetensors_save(path.text, NULL, 0, NULL, 0, NULL), IMP_OK);
    assert_int_equal(imp_safetensors_load(path.text, &file, NULL), IMP_OK);
    assert_int_equal(imp_safetensors_count(file), 0);
    assert_null(imp_safetensors_metadata(file, "format"));
    imp_safetensors_free(file);
    imp_safetensors_free(NULL);
}

static void unsound_input_is_not_saved(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    const imp_tensor sound = {"a", IMP_FLOAT32, 2, {2, 3}, 6, weight};
    enum { FAULTS = 9 };
    for (int fault = 0; fault < FAULTS; fault++) {
        imp_tensor pair[] = {sound, sound};
        pair[1].name = "b";
        const char *expected = "disagree";
        switch (fault) {
        case 0:
            pair[1].name = "a", expected = "two tensors are called 'a'";
            break;
        case 1:
            pair[1].name = "", expected = "has no name";
            break;
        case 2:
            pair[1].name = NULL, expected = "has no name";
            break;
        case 3:
            pair[1].name = "__metadata__", expected = "reserved";
            break;
        case 4:
            pair[1].name = "\xff", expected = "not UTF-8";
            break;
        case 5:
            pair[1].count = 5;
            break;
        case 6:
            pair[1].data = NULL;
            break;
        case 7:
            pair[1].dtype = (imp_dtype)99;
            break;
        case 8:
            pair[1].rank = 9;
            break;
        }
        imp_error error;
        assert_int_equal(imp_safetensors_save(path.text, pair, 2, NULL, 0, &error), IMP_EINVAL);
        assert_non_null(strstr(error.message, expected));
    }

    imp_tensor vast[2];
    for (size_t i = 0; i < 2; i++)
        vast[i] = (imp_tensor){i == 0 ? "a" : "b", IMP_UINT8, 1, {PTRDIFF_MAX}, PTRDIFF_MAX, odd};
    imp_error together;
    assert_int_equal(imp_safetensors_save(path.text, vast, 2, NULL, 0, &together), IMP_EINVAL);
    assert_non_null(strstr(together.message, "too large for any file together"));

    const struct {
        imp_metadata pair[2];
        const char *expected;
    } faults[] = {
        {{{"k", "1"}, {"k", "2"}}, "the metadata key 'k' is given twice"},
        {{{"k", "1"}, {"", "2"}}, "key is empty"},
        {{{"k", "1"}, {NULL, "2"}}, "key is empty"},
        {{{"k", "1"}, {"l", NULL}}, "value of 'l' is missing"},
        {{{"k", "1"}, {"l", "\xc3("}}, "not UTF-8"},
        {{{"k", "1"}, {"l", "\xc0\x80"}}, "not UTF-8"},     /* overlong */
        {{{"k", "1"}, {"l", "\xed\xa0\x80"}}, "not UTF-8"}, /* a surrogate */
        {{{"k", "1"}, {"l", "\xf4\x90\x80\x80"}}, "not UTF-8"},
        {{{"k", "1"}, {"l", "\x80"}}, "not UTF-8"},
        {{{"k", "1"}, {"l", "cut \xe2\x82"}}, "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        imp_error error;
        assert_int_equal(imp_safetensors_save(path.text, &sound, 1, faults[i].pair, 2, &error),
                         IMP_EINVAL);
        assert_non_null(strstr(error.message, faults[i].expected));
    }
    assert_int_equal(scratch_entries(state), 0);
}

/* ---- files made by others ---- */

static unsigned char *make_file(const char *header, size_t length, size_t data, size_t *size)
{
    *size = 8 + length + data;
    unsigned char *bytes = imp_allocate(*size, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)length >> 8 * i);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < data; i++)
        bytes[8 + length + i] = (unsigned char)(i + 1);
    return bytes;
}

static imp_status parse_text(const char *header, size_t data, imp_safetensors **file,
                             imp_error *error)
{
    size_t size;
    unsigned char *bytes = make_file(header, strlen(header), data, &size);
    return imp_safetensors_parse(bytes, size, file, error);
}

#define TENSOR(name, dtype, shape, offsets) \
    "\"" name "\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define ONE(dtype, shape, offsets) "{" TENSOR("t", dtype, shape, offsets) "}"

/* Any length of header, any order of keys, any order of tensors in the data. */
static void files_of_others_are_aligned(void **state)
{
    (void)state;
    for (size_t padding = 0; padding < 9; padding++) {
        char header[400];
        snprintf(header, sizeof header, "%s%*s",
                 "{ \"b\": {\"data_offsets\": [8, 16], \"shape\": [2], \"dtype\": \"F32\"},\n"
                 "  \"c\": {\"dtype\": \"I64\", \"data_offsets\": [17, 25], \"shape\": []},"
                 "  \"a\": {\"shape\": [1, 1], \"dtype\": \"F64\", \"data_offsets\": [0, 8]},"
                 "  \"u\": {\"shape\": [1], \"dtype\": \"U8\", \"data_offsets\": [16, 17]} }",
                 (int)padding, "");
        imp_safetensors *file;
        imp_error error;
        assert_int_equal(parse_text(header, 25, &file, &error), IMP_OK);
        static const struct {
            const char *name;
            size_t begin, size;
        } expected[] = {{"b", 8, 4}, {"c", 17, 8}, {"a", 0, 8}, {"u", 16, 1}};
        for (size_t i = 0; i < 4; i++) {
            const imp_tensor *tensor = imp_safetensors_at(file, i);
            assert_string_equal(tensor->name, expected[i].name);
            assert_int_equal((uintptr_t)tensor->data % expected[i].size, 0);
            for (size_t j = 0; j < tensor->count * expected[i].size; j++)
                assert_int_equal(((const unsigned char *)tensor->data)[j],
                                 expected[i].begin + j + 1);
        }
        imp_safetensors_free(file);
    }
}

static void malformed_headers_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        imp_status status;
        const char *sentence;
    } cases[] = {
        /* JSON */
        {"", 0, IMP_EFORMAT, "does not begin with '{'"},
        {"[]", 0, IMP_EFORMAT, "does not begin with '{'"},
        {" {}", 0, IMP_EFORMAT, "does not begin with '{'"},
        {"{", 0, IMP_EFORMAT, "its header is not valid JSON: line 1, column 1"},
        {"{} x", 0, IMP_EFORMAT, "its header is not valid JSON"},
        {"{}{}", 0, IMP_EFORMAT, "its header is not valid JSON"},
        {"{\"t\":\xff}", 0, IMP_EFORMAT, "its header is not valid JSON"},
        {"{\"\xc3(\":1}", 0, IMP_EFORMAT, "its header is not valid JSON"},
        {"{\"a\\u0000b\":1}", 0, IMP_EFORMAT, "its header is not valid JSON"},
        {"{" TENSOR("t", "\"U8\"", "[1]", "[0,1]") "," TENSOR("t", "\"U8\"", "[1]", "[1,2]") "}", 2,
         IMP_EFORMAT, "duplicate object key"},
        {"{\"t\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
         IMP_EFORMAT, "duplicate object key"},
        /* metadata */
        {"{\"__metadata__\":[]}", 0, IMP_EFORMAT, "__metadata__ is not an object of strings"},
        {"{\"__metadata__\":{\"k\":1}}", 0, IMP_EFORMAT,
         "the value of 'k' in __metadata__ is not a string"},
        {"{\"__metadata__\":{\"k\":{\"l\":\"m\"}}}", 0, IMP_EFORMAT, "is not a string"},
        /* entries */
        {"{\"t\":1}", 0, IMP_EFORMAT, "tensor 't' is not described by exactly"},
        {"{\"t\":{}}", 0, IMP_EFORMAT, "tensor 't' is not described by exactly"},
        {"{\"t\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, IMP_EFORMAT, "not described by exactly"},
        {"{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":0}}", 1, IMP_EFORMAT,
         "not described by exactly dtype, shape and data_offsets"},
        {"{\"t\\n\\u001b[31m\":1}", 0, IMP_EFORMAT, "tensor 't??[31m' is"},
        {"{\"t\\u009b31m\\u00a9\":1}", 0, IMP_EFORMAT, "tensor 't?31m\xc2\xa9' is"},
        {"{\"0123456789012345678901234567890123456789012345678901234567890123456789012345678"
         "\xc3\xa9 and more\":1}",
         0, IMP_EFORMAT, "012345678...' is not described"},
        /* dtypes */
        {ONE("\"BF16\"", "[1]", "[0,2]"), 2, IMP_EUNSUPPORTED,
         "tensor 't' is of dtype BF16, which is not supported; save it as one of F32, F64, I32, "
         "I64 and U8"},
        {ONE("\"F16\"", "[1]", "[0,2]"), 2, IMP_EUNSUPPORTED, "of dtype F16"},
        {ONE("\"BOOL\"", "[1]", "[0,1]"), 1, IMP_EUNSUPPORTED, "of dtype BOOL"},
        {ONE("\"I8\"", "[1]", "[0,1]"), 1, IMP_EUNSUPPORTED, "of dtype I8"},
        {ONE("\"I16\"", "[1]", "[0,2]"), 2, IMP_EUNSUPPORTED, "of dtype I16"},
        {ONE("\"U16\"", "[1]", "[0,2]"), 2, IMP_EUNSUPPORTED, "of dtype U16"},
        {ONE("\"U32\"", "[1]", "[0,4]"), 4, IMP_EUNSUPPORTED, "of dtype U32"},
        {ONE("\"U64\"", "[1]", "[0,8]"), 8, IMP_EUNSUPPORTED, "of dtype U64"},
        {ONE("\"F8_E4M3\"", "[1]", "[0,1]"), 1, IMP_EUNSUPPORTED, "of dtype F8_E4M3"},
        {ONE("\"f32\"", "[1]", "[0,4]"), 4, IMP_EFORMAT, "of the unknown dtype 'f32'"},
        {ONE("\"\"", "[1]", "[0,4]"), 4, IMP_EFORMAT, "of the unknown dtype ''"},
        {ONE("4", "[1]", "[0,4]"), 4, IMP_EFORMAT, "the dtype of tensor 't' is not a string"},
        /* shapes */
        {ONE("\"U8\"", "1", "[0,1]"), 1, IMP_EFORMAT, "the shape of tensor 't' is not an array"},
        {ONE("\"U8\"", "[-1]", "[0,1]"), 1, IMP_EFORMAT, "a length that is not an integer >= 0"},
        {ONE("\"U8\"", "[1.0]", "[0,1]"), 1, IMP_EFORMAT, "a length that is not an integer >= 0"},
        {ONE("\"U8\"", "[\"1\"]", "[0,1]"), 1, IMP_EFORMAT, "not an integer >= 0"},
        {ONE("\"U8\"", "[true]", "[0,1]"), 1, IMP_EFORMAT, "not an integer >= 0"},
        {ONE("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, IMP_EUNSUPPORTED,
         "tensor 't' has 9 dimensions, and at most 8 are supported"},
        {ONE("\"U8\"", "[99999999999999999999]", "[0,1]"), 1, IMP_EFORMAT, "too big integer"},
        {ONE("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0, IMP_EFORMAT,
         "the shape (4294967296, 4294967296) of tensor 't' does not fit in any memory"},
        {ONE("\"F64\"", "[4611686018427387904]", "[0,0]"), 0, IMP_EFORMAT,
         "does not fit in any memory"},
        /* offsets */
        {ONE("\"U8\"", "[1]", "0"), 1, IMP_EFORMAT, "are not two integers >= 0"},
        {ONE("\"U8\"", "[1]", "[0]"), 1, IMP_EFORMAT, "are not two integers >= 0"},
        {ONE("\"U8\"", "[1]", "[0,1,2]"), 1, IMP_EFORMAT, "are not two integers >= 0"},
        {ONE("\"U8\"", "[1]", "[-1,0]"), 1, IMP_EFORMAT, "are not two integers >= 0"},
        {ONE("\"U8\"", "[1]", "[0,1.0]"), 1, IMP_EFORMAT, "are not two integers >= 0"},
        {ONE("\"U8\"", "[1]", "[1,0]"), 1, IMP_EFORMAT, "end (0) before they begin (1)"},
        {ONE("\"U8\"", "[2]", "[0,2]"), 1, IMP_EFORMAT,
         "tensor 't' ends at byte 2 of the data, of which the file holds 1"},
        {ONE("\"U8\"", "[2]", "[9223372036854775806,9223372036854775807]"), 1, IMP_EFORMAT,
         "tensor 't' ends at byte 9223372036854775807"},
        {ONE("\"F32\"", "[3,4]", "[0,40]"), 40, IMP_EFORMAT,
         "tensor 't' holds 40 bytes where its shape (3, 4) of F32 needs 48"},
        {ONE("\"I64\"", "[]", "[0,4]"), 4, IMP_EFORMAT, "its shape () of I64 needs 8"},
        {ONE("\"F32\"", "[0]", "[0,4]"), 4, IMP_EFORMAT, "its shape (0,) of F32 needs 0"},
        /* tiling */
        {"{}", 1, IMP_EFORMAT,
         "the file holds 1 bytes of data, of which the last 1 belong to no tensor"},
        {ONE("\"U8\"", "[1]", "[0,1]"), 3, IMP_EFORMAT, "of which the last 2 belong to no tensor"},
        {ONE("\"U8\"", "[1]", "[1,2]"), 2, IMP_EFORMAT,
         "the data has a hole of 1 bytes before tensor 't'"},
        {"{" TENSOR("a", "\"U8\"", "[2]", "[4,6]") "," TENSOR("b", "\"U8\"", "[2]", "[0,2]") "}", 6,
         IMP_EFORMAT, "a hole of 2 bytes before tensor 'a'"},
        {"{" TENSOR("a", "\"U8\"", "[3]", "[1,4]") "," TENSOR("b", "\"U8\"", "[2]", "[0,2]") "}", 4,
         IMP_EFORMAT, "tensors 'b' and 'a' overlap"},
        {"{" TENSOR("a", "\"U8\"", "[2]", "[0,2]") "," TENSOR("b", "\"U8\"", "[2]", "[0,2]") "}", 2,
         IMP_EFORMAT, "overlap"},
        {"{" TENSOR("a", "\"U8\"", "[3]", "[0,3]") "," TENSOR("b", "\"U8\"", "[0]", "[1,1]") "}", 3,
         IMP_EFORMAT, "tensors 'a' and 'b' overlap"},
        {ONE("\"U8\"", "[0]", "[5,5]"), 5, IMP_EFORMAT, "a hole of 5 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        imp_safetensors *file;
        imp_error error = {0};
        imp_status status = parse_text(cases[i].header, cases[i].data, &file, &error);
        if (status != cases[i].status || strstr(error.message, cases[i].sentence) == NULL)
            fail_msg("%s\n  gave %s: %s\n  not  %s: %s", cases[i].header, imp_status_name(status),
                     error.message, imp_status_name(cases[i].status), cases[i].sentence);
        assert_null(file);
    }
}

static void malformed_lengths_get_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *sentence;
    } cases[] = {
        {"", 0, "it holds 0 bytes, fewer than the 8"},
        {"\2\0\0\0\0\0\0", 7, "it holds 7 bytes, fewer than the 8"},
        {"\0\0\0\0\0\0\0\0", 8, "does not begin with '{'"},
        {"\2\0\0\0\0\0\0\0", 8, "ends inside its header: 0 bytes of it where 2 are announced"},
        {"\3\0\0\0\0\0\0\0{}", 10, "ends inside its header: 2 bytes of it where 3 are announced"},
        {"\1\341\365\5\0\0\0\0{}", 10, "a header of 100000001 bytes, and at most 100000000"},
        {"\0\341\365\5\0\0\0\0{}", 10, "where 100000000 are announced"},
        {"\377\377\377\377\377\377\377\377{}", 10, "a header of 18446744073709551615 bytes"},
        {"\2\0\0\0\0\0\0\0[]", 10, "does not begin with '{'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char *bytes = imp_allocate(cases[i].size, 1);
        memcpy(bytes, cases[i].bytes, cases[i].size);
        imp_safetensors *file;
        imp_error error = {0};
        assert_int_equal(imp_safetensors_parse(bytes, cases[i].size, &file, &error), IMP_EFORMAT);
        if (strstr(error.message, cases[i].sentence) == NULL)
            fail_msg("case %zu gave: %s, not %s", i, error.message, cases[i].sentence);
        assert_null(file);
    }
}

/* A file cut anywhere is refused, never read beyond its end. */
static void cut_files_are_refused(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    unsigned char *whole;
    size_t size;
    assert_int_equal(imp_safetensors_save(path.text, tensors, TENSORS, metadata, METADATA, NULL),
                     IMP_OK);
    assert_int_equal(imp_file_read(path.text, SIZE_MAX, &whole, &size, NULL), IMP_OK);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *bytes = imp_allocate(cut, 1);
        memcpy(bytes, whole, cut);
        imp_safetensors *file;
        assert_int_equal(imp_safetensors_parse(bytes, cut, &file, NULL), IMP_EFORMAT);
    }
    imp_release(whole);
}

/* Each bit of a file in turn: it is refused. Only where the checksum no longer bears its name is
 * the file one without a checksum, which has what it had. */
static void flipped_bits_are_noticed(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    unsigned char *whole;
    size_t size, unnamed = 0;
    assert_int_equal(imp_safetensors_save(path.text, tensors, TENSORS, metadata, METADATA, NULL),
                     IMP_OK);
    assert_int_equal(imp_file_read(path.text, SIZE_MAX, &whole, &size, NULL), IMP_OK);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        unsigned char *bytes = imp_allocate(size, 1);
        memcpy(bytes, whole, size);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        imp_safetensors *file;
        imp_status status = imp_safetensors_parse(bytes, size, &file, NULL);
        if (status == IMP_OK) {
            assert_null(imp_safetensors_metadata(file, IMP_CHECKSUM_KEY));
            assert_file_is_right(file);
            imp_safetensors_free(file);
            unnamed++;
        } else {
            assert_int_equal(status, IMP_EFORMAT);
        }
    }
    assert_true(unnamed <= 8 * strlen(IMP_CHECKSUM_KEY));
    imp_release(whole);
}

static void damage_is_a_sentence(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    unsigned char *bytes;
    size_t size;
    imp_safetensors *file;
    imp_error error;
    assert_int_equal(imp_safetensors_save(path.text, tensors, TENSORS, metadata, METADATA, NULL),
                     IMP_OK);
    assert_int_equal(imp_file_read(path.text, SIZE_MAX, &bytes, &size, NULL), IMP_OK);
    bytes[size - 1] ^= 1;
    scratch_write(path.text, bytes, size);
    imp_release(bytes);
    assert_int_equal(imp_safetensors_load(path.text, &file, &error), IMP_EFORMAT);
    assert_non_null(
        strstr(error.message, "model.safetensors: it is damaged: the SHA-256 of what "));
}

static void sentences_name_the_file(void **state)
{
    scratch_path path = scratch_file(state, "broken.safetensors");
    char expected[700];
    imp_safetensors *file;
    imp_error error;
    scratch_write(path.text, "nothing", 7);
    assert_int_equal(imp_safetensors_load(path.text, &file, &error), IMP_EFORMAT);
    snprintf(expected, sizeof expected, "%s: it is not a safetensors file", path.text);
    assert_memory_equal(error.message, expected, strlen(expected));
    assert_int_equal(imp_safetensors_load("no/such", &file, &error), IMP_EIO);
    assert_string_equal(error.message, "cannot read 'no/such': No such file or directory");
    assert_null(file);
}

static void loading_survives_lack_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    assert_int_equal(imp_safetensors_save(path.text, tensors, TENSORS, metadata, METADATA, NULL),
                     IMP_OK);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_safetensors *file;
        imp_error error;
        imp_status status = imp_safetensors_load(path.text, &file, &error);
        if (status == IMP_OK)
            assert_file_is_right(file);
        else
            assert_null(file);
        imp_safetensors_free(file);
        /* jansson takes some of its own failures for faults of the text. */
        if (failing_allocator_end(&memory))
            assert_true(status == IMP_ENOMEM || status == IMP_EFORMAT);
        else
            assert_int_equal(status, IMP_OK);
    }
    assert_true(memory.rounds > 20);
}

static void saving_survives_lack_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "model.safetensors");
    scratch_write(path.text, "old", 3);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status =
            imp_safetensors_save(path.text, tensors, TENSORS, metadata, METADATA, NULL);
        bool failed = failing_allocator_expect(&memory, status);
        assert_int_equal(scratch_entries(state), 1);
        assert_int_equal(scratch_holds(path.text, "old", 3), failed);
    }
    assert_true(memory.rounds > 20);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

/* It would go on for ever; its first bytes tell that it is of another kind. */
static void an_endless_file_is_not_read(void **state)
{
    (void)state;
    imp_safetensors *file;
    imp_error error;
    assert_int_equal(imp_safetensors_load("/dev/zero", &file, &error), IMP_EFORMAT);
    assert_non_null(strstr(error.message, "/dev/zero: it is not a "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(saved_tensors_load_again),
        WITH_FOLDER(bytes_are_the_expected_ones),
        WITH_FOLDER(empty_files_work),
        WITH_FOLDER(unsound_input_is_not_saved),
        cmocka_unit_test(files_of_others_are_aligned),
        cmocka_unit_test(malformed_headers_get_a_sentence),
        cmocka_unit_test(malformed_lengths_get_a_sentence),
        WITH_FOLDER(flipped_bits_are_noticed),
        WITH_FOLDER(damage_is_a_sentence),
        WITH_FOLDER(cut_files_are_refused),
        WITH_FOLDER(sentences_name_the_file),
        WITH_FOLDER(loading_survives_lack_of_memory),
        WITH_FOLDER(saving_survives_lack_of_memory),
        cmocka_unit_test(an_endless_file_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
