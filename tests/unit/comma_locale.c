/* comma_locale.c - finding or making a locale with a decimal comma. */
#define _DEFAULT_SOURCE /* setenv */

#include "comma_locale.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"

static bool has_comma(void)
{
    return strcmp(localeconv()->decimal_point, ",") == 0;
}

static bool set_installed(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL && has_comma())
            return true;
    return false;
}

/* localedef complains about all that this locale does not define, and makes it nevertheless. */
static bool set_made(void **state)
{
    static const char definition[] = "LC_NUMERIC\n"
                                     "decimal_point \",\"\n"
                                     "thousands_sep \"\"\n"
                                     "grouping -1\n"
                                     "END LC_NUMERIC\n";
    scratch_path source = scratch_file(state, "comma.src"), made = scratch_file(state, "comma");
    scratch_write(source.text, definition, strlen(definition));
    char command[1200];
    snprintf(command, sizeof command, "localedef -c -i '%s' -f ANSI_X3.4-1968 '%s' 2>/dev/null",
             source.text, made.text);
    (void)!system(command); // NOLINT(bugprone-command-processor)
    setenv("LOCPATH", *state, 1);
    return setlocale(LC_NUMERIC, "comma") != NULL && has_comma();
}

void comma_locale_enter(void **state)
{
    if (set_installed() || set_made(state))
        return;
    setlocale(LC_ALL, "C");
    print_message("no locale with a decimal comma is installed, and localedef cannot make one\n");
    skip();
}

void comma_locale_leave(void)
{
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    setlocale(LC_ALL, "C");
}
