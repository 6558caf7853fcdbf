/*
 * settings_list.h - every setting of a training run, said once: name, range, default, meaning.
 *
 * Each list is an X macro, given one macro per kind of setting. settings.c expands it to the table
 * that reads recipes and JSON, and the commands expand it to their options, so recipes, a run's
 * settings.json and the command line always agree.
 *
 *     INTEGER(member, "name", least, most, "default", "help")
 *     NUMBER(member, "name", least, most, "default", "help")
 *     TEXT(member, "name", "ARGUMENT", "default", "help")
 *     CHOICE(member, "name", choices, "default", "help")
 *     FLAG(member, "name", "help")
 *     REST()
 *
 * The rows above REST() are those that most people need; `--help` shows only them.
 */
#ifndef IMP_SETTINGS_SETTINGS_LIST_H
#define IMP_SETTINGS_SETTINGS_LIST_H

/* clang-format off */

/* The data. */
#define IMP_DATA_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                               \
    TEXT(data, "data", "DATA", "glyphs",                                                           \
         "a folder, archive, pack, csv:PATH, omniglot:PATH, mini-imagenet:PATH, "                  \
         "vectors:POINTS.npy,LABELS.npy, or synthetic glyphs")                                     \
    IMP_READING_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)

/* How they are read, or drawn. */
#define IMP_READING_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                            \
    INTEGER(size, "size", 0, 4096, "0", "picture side in pixels; 0: the source's own")             \
    TEXT(split, "split", "SPLIT", "own",                                                           \
         "own, vinyals, lake, lists:FOLDER or classes:A/B/C (also super-classes:, modes:, "        \
         "turned-modes:, or points: for vectors)")                                                 \
    REST()                                                                                         \
    CHOICE(colour, "colour", imp_colour_names, "own", "make pictures gray or RGB")                 \
    CHOICE(ink, "ink", imp_ink_names, "own", "invert pictures; own inverts Omniglot's")            \
    INTEGER(rotations, "rotations", 1, 4, "1", "4: rotations by 90 degrees are classes, too")      \
    INTEGER(split_seed, "split-seed", 0, INT64_MAX, "0", "seed of the random split")               \
    INTEGER(alphabets, "alphabets", 1, 1000000, "50", "glyphs: number of alphabets")               \
    INTEGER(fewest_characters, "fewest-characters", 1, 1000000, "20", "glyphs: per alphabet")      \
    INTEGER(most_characters, "most-characters", 1, 1000000, "40", "glyphs: per alphabet")          \
    INTEGER(drawings, "drawings", 1, 1000000, "20", "glyphs: drawings per character")              \
    INTEGER(glyph_seed, "glyph-seed", 0, INT64_MAX, "0", "glyphs: seed of the alphabets")

/* The episodes. */
#define IMP_TASK_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                               \
    CHOICE(task, "task", imp_task_names, "classes", "what a label stands for")                     \
    IMP_COUNT_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)

/* The numbers of everything in an episode. */
#define IMP_COUNT_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                              \
    INTEGER(way, "way", 0, 1000000, "0", "classes; 0: 5, or 10 super-classes")                     \
    INTEGER(modes, "modes", 0, 1000000, "0", "classes drawn per super-class; 0: 10")               \
    INTEGER(shot, "shot", 0, 1000000, "0", "supports per class; 0: 1")                             \
    REST()                                                                                         \
    INTEGER(unlabeled, "unlabeled", 0, 1000000, "0", "unlabelled images per class")                \
    INTEGER(fewest_way, "fewest-way", 0, 1000000, "0", "vary the way, down to this; 0: fixed")     \
    INTEGER(fewest_shot, "fewest-shot", 0, 1000000, "0",                                           \
            "vary the shot, down to this; 0: fixed")                                               \
    FLAG(unbalanced, "unbalanced", "vary the shot from class to class")                            \
    INTEGER(queries, "queries", 0, 1000000, "0",                                                   \
            "queries per class; 0: 5 in training and for super-classes, else up to 15")            \
    INTEGER(distractors, "distractors", 0, 1000000, "0",                                           \
            "further classes with unlabelled images only")                                         \
    NUMBER(labeled_fraction, "labeled-fraction", 0.001, 1, "1",                                    \
           "in training, the fraction of each class's images with labels")

/* How an episode is solved, besides the method, its rule's parameters and its own options, which
 * methods describe themselves. */
#define IMP_METHOD_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                             \
    CHOICE(learn_sigma_u, "learn-sigma-u", imp_no_yes_names, "yes",                                \
           "learn the variance of unlabelled clusters")

/* Training. */
#define IMP_TRAINING_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                           \
    INTEGER(updates, "updates", 0, INT64_MAX, "20000", "optimizer steps")                          \
    INTEGER(seed, "seed", 0, INT64_MAX, "1", "seed of the weights and episodes")                   \
    REST()                                                                                         \
    NUMBER(rate, "rate", 0, INFINITY, "0.001", "initial learning rate")                            \
    TEXT(network, "network", "LAYERS", "conv4",                                                    \
         "conv4, or layers like conv3x3:32,bn,relu,pool,flatten,linear:64")                        \
    TEXT(embedded_by, "embedded-by", "NAME", "",                                                   \
         "vectors: the embedder they come from, as 'imp embed' prints it; kept in the model")      \
    INTEGER(accumulate, "accumulate", 1, 1000000, "1", "episodes per update")                      \
    CHOICE(optimizer, "optimizer", imp_optimizer_names, "rmsprop", "which optimizer")              \
    INTEGER(halve_from, "halve-from", 0, INT64_MAX, "4000", "first update with half the rate")     \
    INTEGER(halve_every, "halve-every", 0, INT64_MAX, "2000",                                      \
            "updates between halvings; 0: constant rate")                                          \
    INTEGER(fade_until, "fade-until", 0, INT64_MAX, "0",                                           \
            "update at which a rate that falls evenly is 0; 0 does not let it fall")               \
    NUMBER(clip, "clip", 0, INFINITY, "1000", "longest gradient; 0 does not clip")                 \
    NUMBER(weight_decay, "weight-decay", 0, 1000, "0",                                             \
           "decoupled decay of the network's weights, times the rate, per update (AdamW)")         \
    NUMBER(average_weights, "average-weights", 0, 0.999999, "0",                                   \
           "decay of the moving average of the weights that is tested and saved; 0: none")         \
    NUMBER(loss_limit, "loss-limit", 0, INFINITY, "1e6", "end the run at a larger loss")           \
    INTEGER(validate_every, "validate-every", 0, INT64_MAX, "500",                                 \
            "updates between validations; 0: save the last model, not the best")                   \
    INTEGER(validation_episodes, "validation-episodes", 1, 1000000, "100",                         \
            "episodes per validation")                                                             \
    INTEGER(validation_way, "validation-way", 0, 1000000, "0",                                     \
            "way of validation episodes, if the split has too few classes; 0: as in training")     \
    INTEGER(checkpoint_every, "checkpoint-every", 1, INT64_MAX, "500",                             \
            "updates between checkpoints")                                                         \
    INTEGER(log_every, "log-every", 1, INT64_MAX, "50", "updates per line of the log")

/* Random augmentation of pictures in training; part of the training settings that --help omits. */
#define IMP_AUGMENT_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                            \
    NUMBER(augment.flip, "augment-flip", 0, 1, "0", "probability of a horizontal flip")            \
    NUMBER(augment.shift, "augment-shift", 0, 0.5, "0", "shift by up to this part of the side")    \
    NUMBER(augment.turn, "augment-turn", 0, 180, "0", "rotate by up to this many degrees")         \
    NUMBER(augment.zoom, "augment-zoom", 0, 3, "0", "zoom in or out by up to 1 + this")            \
    NUMBER(augment.shear, "augment-shear", 0, 1, "0", "shear by up to this part of the height")    \
    NUMBER(augment.colour, "augment-colour", 0, 1, "0",                                            \
           "change brightness, contrast and saturation by up to this part")                        \
    NUMBER(augment.stroke, "augment-stroke", 0, 1, "0",                                            \
           "drawings: thicken or thin strokes by up to this part of a pixel")

/* clang-format on */

#endif
