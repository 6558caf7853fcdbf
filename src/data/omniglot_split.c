/*
 * omniglot_split.c - the alphabets of Omniglot and its published splits.
 *
 * Lake et al. (2015) train on the 30 "background" alphabets and test on the 20 others. Vinyals et
 * al. (2016) split by characters, as published with the code of Snell et al. (2017): 1028 to train,
 * 172 to validate, 423 to test. That divides between alphabets, except for Gurmukhi, whose last
 * four characters are for testing.
 */
#include <string.h>

#include "data/dataset.h"

typedef struct alphabet {
    const char *name;
    unsigned char characters;
    bool background;   /* in Lake's background set */
    imp_split vinyals; /* of its characters up to `last` */
    unsigned char last;
} alphabet;

/* Sorted bytewise. Characters after `last` are for testing. */
static const alphabet alphabets[] = {
    {"Alphabet_of_the_Magi", 20, true, IMP_SPLIT_TRAIN, 20},
    {"Angelic", 20, false, IMP_SPLIT_TRAIN, 20},
    {"Anglo-Saxon_Futhorc", 29, true, IMP_SPLIT_TRAIN, 29},
    {"Arcadian", 26, true, IMP_SPLIT_TRAIN, 26},
    {"Armenian", 41, true, IMP_SPLIT_VALIDATION, 41},
    {"Asomtavruli_(Georgian)", 40, true, IMP_SPLIT_TRAIN, 40},
    {"Atemayar_Qelisayer", 26, false, IMP_SPLIT_TRAIN, 26},
    {"Atlantean", 26, false, IMP_SPLIT_TRAIN, 26},
    {"Aurek-Besh", 26, false, IMP_SPLIT_TRAIN, 26},
    {"Avesta", 26, false, IMP_SPLIT_TRAIN, 26},
    {"Balinese", 24, true, IMP_SPLIT_TRAIN, 24},
    {"Bengali", 46, true, IMP_SPLIT_VALIDATION, 46},
    {"Blackfoot_(Canadian_Aboriginal_Syllabics)", 14, true, IMP_SPLIT_TRAIN, 14},
    {"Braille", 26, true, IMP_SPLIT_TRAIN, 26},
    {"Burmese_(Myanmar)", 34, true, IMP_SPLIT_TRAIN, 34},
    {"Cyrillic", 33, true, IMP_SPLIT_TRAIN, 33},
    {"Early_Aramaic", 22, true, IMP_SPLIT_VALIDATION, 22},
    {"Futurama", 26, true, IMP_SPLIT_TRAIN, 26},
    {"Ge_ez", 26, false, IMP_SPLIT_TRAIN, 26},
    {"Glagolitic", 45, false, IMP_SPLIT_TRAIN, 45},
    {"Grantha", 43, true, IMP_SPLIT_TRAIN, 43},
    {"Greek", 24, true, IMP_SPLIT_TRAIN, 24},
    {"Gujarati", 48, true, IMP_SPLIT_TRAIN, 48},
    {"Gurmukhi", 45, false, IMP_SPLIT_TRAIN, 41},
    {"Hebrew", 22, true, IMP_SPLIT_VALIDATION, 22},
    {"Inuktitut_(Canadian_Aboriginal_Syllabics)", 16, true, IMP_SPLIT_TRAIN, 16},
    {"Japanese_(hiragana)", 52, true, IMP_SPLIT_TRAIN, 52},
    {"Japanese_(katakana)", 47, true, IMP_SPLIT_TRAIN, 47},
    {"Kannada", 41, false, IMP_SPLIT_TEST, 41},
    {"Keble", 26, false, IMP_SPLIT_TEST, 26},
    {"Korean", 40, true, IMP_SPLIT_TRAIN, 40},
    {"Latin", 26, true, IMP_SPLIT_TRAIN, 26},
    {"Malay_(Jawi_-_Arabic)", 40, true, IMP_SPLIT_TRAIN, 40},
    {"Malayalam", 47, false, IMP_SPLIT_TEST, 47},
    {"Manipuri", 40, false, IMP_SPLIT_TEST, 40},
    {"Mkhedruli_(Georgian)", 41, true, IMP_SPLIT_VALIDATION, 41},
    {"Mongolian", 30, false, IMP_SPLIT_TEST, 30},
    {"N_Ko", 33, true, IMP_SPLIT_TRAIN, 33},
    {"Ojibwe_(Canadian_Aboriginal_Syllabics)", 14, true, IMP_SPLIT_TRAIN, 14},
    {"Old_Church_Slavonic_(Cyrillic)", 45, false, IMP_SPLIT_TEST, 45},
    {"Oriya", 46, false, IMP_SPLIT_TEST, 46},
    {"Sanskrit", 42, true, IMP_SPLIT_TRAIN, 42},
    {"Sylheti", 28, false, IMP_SPLIT_TEST, 28},
    {"Syriac_(Estrangelo)", 23, true, IMP_SPLIT_TRAIN, 23},
    {"Syriac_(Serto)", 23, false, IMP_SPLIT_TEST, 23},
    {"Tagalog", 17, true, IMP_SPLIT_TRAIN, 17},
    {"Tengwar", 25, false, IMP_SPLIT_TEST, 25},
    {"Tibetan", 42, false, IMP_SPLIT_TEST, 42},
    {"Tifinagh", 55, true, IMP_SPLIT_TRAIN, 55},
    {"ULOG", 26, false, IMP_SPLIT_TEST, 26},
};

/* The alphabet of "Greek/character07" and the 7, or NULL for a name Omniglot does not have. */
static const alphabet *find(const char *class_name, unsigned *character)
{
    size_t length = strcspn(class_name, "/");
    const alphabet *entry = NULL;
    for (size_t i = 0; i < sizeof alphabets / sizeof *alphabets && entry == NULL; i++)
        if (strlen(alphabets[i].name) == length &&
            memcmp(alphabets[i].name, class_name, length) == 0)
            entry = &alphabets[i];
    if (entry == NULL || strncmp(class_name + length, "/character", 10) != 0)
        return NULL;
    const char *digits = class_name + length + 10;
    if (strlen(digits) != 2 || strspn(digits, "0123456789") != 2)
        return NULL;
    *character = (unsigned)(digits[0] - '0') * 10 + (unsigned)(digits[1] - '0');
    return *character >= 1 && *character <= entry->characters ? entry : NULL;
}

imp_split imp_omniglot_vinyals(const char *class_name)
{
    unsigned character;
    const alphabet *entry = find(class_name, &character);
    if (entry == NULL)
        return IMP_SPLIT_NONE;
    return character <= entry->last ? entry->vinyals : IMP_SPLIT_TEST;
}

imp_split imp_omniglot_lake(const char *class_name)
{
    unsigned character;
    const alphabet *entry = find(class_name, &character);
    if (entry == NULL)
        return IMP_SPLIT_NONE;
    return entry->background ? IMP_SPLIT_TRAIN : IMP_SPLIT_TEST;
}
