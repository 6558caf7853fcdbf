/* datasets.c - the table of datasets. */
#include "paper/datasets.h"

#include <stdio.h>
#include <string.h>

#include "data/dataset.h"

static const imp_paper_dataset datasets[IMP_PAPER_DATASETS] = {
    {.name = "omniglot",
     .title = "Omniglot",
     .schedule = "The paper's 160,000 iterations are 20,000 updates of eight episodes.",
     .side = 28,
     .channels = 1},
    {.name = "mini-imagenet",
     .title = "mini-ImageNet",
     .schedule = "The paper's runs have 100,000 updates of one episode.",
     .side = 84,
     .channels = 3},
};

const imp_paper_dataset *imp_paper_dataset_at(size_t index)
{
    return &datasets[index];
}

size_t imp_paper_dataset_of(const char *recipe)
{
    size_t d = 0;
    while (d + 1 < IMP_PAPER_DATASETS &&
           strncmp(recipe, datasets[d].name, strlen(datasets[d].name)) != 0)
        d++;
    return d;
}

size_t imp_paper_dataset_in(const char *data)
{
    imp_kind kind = imp_dataset_kind_of(data);
    bool lists = strcmp(kind.text, "mini-imagenet") == 0 || strcmp(kind.text, "csv") == 0;
    return lists ? imp_paper_dataset_of("mini-imagenet") : imp_paper_dataset_of("omniglot");
}

imp_paper_folder imp_paper_results(const char *out, size_t dataset)
{
    imp_paper_folder folder;
    int length = snprintf(folder.text, sizeof folder.text, "%s/%s", out, datasets[dataset].name);
    if (length < 0 || (size_t)length >= sizeof folder.text)
        folder.text[0] = '\0';
    return folder;
}
