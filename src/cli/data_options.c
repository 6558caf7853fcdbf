/* data_options.c - opens the dataset that a command's options describe, and says what it left out.
 */
#include "cli/data_options.h"

void imp_print_foreign(const char *before, const imp_foreign *foreign, FILE *to)
{
    if (foreign->count == 0)
        return;
    fprintf(to, "%s%zu picture%s in formats that are not read:", before, foreign->count,
            foreign->count == 1 ? "" : "s");
    for (size_t i = 0; i < foreign->count && i < IMP_FOREIGN_NAMES; i++) {
        fputs(i > 0 ? ", '" : " '", to);
        imp_print_text(foreign->names[i], to);
        fputc('\'', to);
    }
    fprintf(to, "%s\n", foreign->count > IMP_FOREIGN_NAMES ? ", ..." : "");
}

int imp_data_open(const char *command, const char *name, const imp_settings *settings,
                  int64_t threads, bool skip_broken, imp_dataset **out)
{
    imp_dataset_options options = imp_settings_data(settings, (int)threads);
    options.skip_broken = skip_broken;
    imp_error error;
    imp_status status = imp_dataset_open(name, &options, out, &error);
    if (!status)
        return IMP_GO_ON;
    return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
}
