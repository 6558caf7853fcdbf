/* run_folder.c - making, recognising and reading the folder of a run. */
#include "train/run_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "train/checkpoint.h"

const char imp_settings_name[] = "settings.json";
const char imp_checkpoint_name[] = "checkpoint.safetensors";
const char imp_model_name[] = "model.safetensors";

imp_run_path imp_run_file(const char *folder, const char *name)
{
    imp_run_path path;
    int length = snprintf(path.text, sizeof path.text, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path.text)
        path.text[0] = '\0'; /* opening it then fails, and nothing else is touched */
    return path;
}

bool imp_run_has(const char *folder, const char *name)
{
    return access(imp_run_file(folder, name).text, F_OK) == 0;
}

/* JSON is UTF-8: another text would not come back as it was. */
static imp_status check_texts(const imp_settings *settings, imp_error *error)
{
    const imp_setting *setting;
    for (size_t i = 0; (setting = imp_setting_at(i)); i++) {
        if (setting->kind != IMP_SETTING_TEXT)
            continue;
        const char *text = *(const char *const *)((const char *)settings + setting->offset);
        if (!imp_is_utf8(text))
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "'%s' is '%s', which is not UTF-8, and so cannot be kept with a "
                            "run; rename it, or make a symbolic link to it",
                            setting->name, text);
    }
    return IMP_OK;
}

imp_status imp_run_begin(const char *folder, const imp_settings *settings, imp_error *error)
{
    if (imp_run_has(folder, imp_settings_name) || imp_run_has(folder, imp_checkpoint_name))
        return imp_fail(error, IMP_EINVAL,
                        "'%s' already holds a run; resume it, or choose another folder", folder);
    imp_status status = check_texts(settings, error);
    if (!status)
        status = imp_make_folders(folder, error);
    return status ? status : imp_run_write_settings(folder, settings, error);
}

void imp_run_sweep(const char *folder)
{
    static const char prefix[] = ".imp-", suffix[] = ".tmp"; /* as base/file.c names them */
    DIR *list = opendir(folder);
    if (!list)
        return;
    for (struct dirent *entry; (entry = readdir(list));) {
        size_t length = strlen(entry->d_name);
        if (length > sizeof prefix + sizeof suffix &&
            strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0 &&
            strcmp(entry->d_name + length - (sizeof suffix - 1), suffix) == 0)
            unlink(imp_run_file(folder, entry->d_name).text);
    }
    closedir(list);
}

imp_status imp_run_write_settings(const char *folder, const imp_settings *settings,
                                  imp_error *error)
{
    imp_status status = check_texts(settings, error);
    if (status)
        return status;
    json_t *object = imp_settings_to_json(settings);
    if (!object)
        return imp_fail_memory(error, "the settings");
    status = imp_json_save(imp_run_file(folder, imp_settings_name).text, object, error);
    json_decref(object);
    return status;
}

imp_status imp_run_glance(const char *folder, imp_settings *settings, uint64_t *update,
                          imp_error *error)
{
    *update = 0;
    if (imp_run_has(folder, imp_checkpoint_name))
        return imp_checkpoint_glance(imp_run_file(folder, imp_checkpoint_name).text, settings,
                                     update, error);
    imp_settings_init(settings);
    imp_run_path path = imp_run_file(folder, imp_settings_name);
    if (!imp_run_has(folder, imp_settings_name))
        return imp_fail(error, IMP_EINVAL,
                        "there is no run in '%s' to resume: it has no settings.json", folder);
    enum { LIMIT = 1 << 20 };
    unsigned char *text;
    size_t size;
    imp_status status = imp_file_read(path.text, LIMIT, &text, &size, error);
    if (status)
        return status;
    status = imp_settings_parse(settings, (const char *)text, error);
    imp_release(text);
    if (status)
        imp_error_prefix(error, path.text);
    return status;
}
