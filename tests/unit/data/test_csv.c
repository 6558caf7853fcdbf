/* test_csv.c - rows of comma-separated files, well and badly formed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/csv.h"

/* All rows as one text: fields between bars, a line per row. Or the sentence of the fault. */
static char *read_all(const char *text, char out[500])
{
    size_t size = strlen(text);
    char *copy = malloc(size + 1); /* of its own size, so that reading behind it is seen */
    memcpy(copy, text, size + 1);
    imp_csv csv = imp_csv_start(copy, size);
    imp_error error;
    out[0] = '\0';
    for (;;) {
        if (imp_csv_next(&csv, &error) != IMP_OK) {
            strcpy(out, error.message);
            break;
        }
        if (csv.count == 0)
            break;
        for (size_t i = 0; i < csv.count; i++)
            sprintf(out + strlen(out), "|%s", csv.fields[i]);
        sprintf(out + strlen(out), "@%zu\n", csv.line);
    }
    free(copy);
    return out;
}

static void rows_and_lines(void **state)
{
    (void)state;
    const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"\n\r\n", ""},
        {"a,b", "|a|b@1\n"},
        {"a,b\r\nc,d\r\n", "|a|b@1\n|c|d@2\n"},
        {"\xEF\xBB\xBF"
         "a,b\n\n\nc,\n",
         "|a|b@1\n|c|@4\n"},
        {",\n", "||@1\n"},
        {"\"a,b\",\"say \"\"x\"\"\"\nz", "|a,b|say \"x\"@1\n|z@2\n"},
        {"\"two\nlines\",x\ny", "|two\nlines|x@1\n|y@3\n"},
        {"a\rb", "|a@1\n|b@2\n"},
        {"\"open", "line 1 opens a quote that is never closed"},
        {"x\n\"a\"b", "line 2 has text after a closing quote"},
        {",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", "line 1 has more than 32 columns"},
    };
    char out[500];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(read_all(cases[i].text, out), cases[i].expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_and_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
