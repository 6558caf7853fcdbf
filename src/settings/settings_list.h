/*
 * settings_list.h - every setting of a training run, said once: name, range, default, meaning.
 *
 * A list is a macro that is given one macro per kind of setting. settings.c makes from it the table
 * that recipes and JSON are read by, and the commands make their options from it; so a recipe, a
 * run's settings.json and the command line always speak of the same things.
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

/* Which images there are. */
#define IMP_DATA_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                               \
    TEXT(data, "data", "DATA", "glyphs",                                                           \
         "a folder, archive, pack, csv:PATH, omniglot:PATH, mini-imagenet:PATH, "                  \
         "vectors:POINTS.npy,LABELS.npy, or invented glyphs")                                                                        \
    INTEGER(size, "size", 0, 4096, "0", "side of the pictures; 0 is the source's own")             \
    TEXT(split, "split", "SPLIT", "own",                                                           \
         "own, vinyals, lake, lists:FOLDER or classes:A/B/C (also super-classes:, modes:, "        \
         "turned-modes:; of vectors points:)")                                                                         \
    REST()                                                                                         \
    CHOICE(colour, "colour", imp_colour_names, "own", "make pictures gray or RGB")                 \
    CHOICE(ink, "ink", imp_ink_names, "own", "invert pictures; own inverts Omniglot's")            \
    INTEGER(rotations, "rotations", 1, 4, "1", "4 makes classes also of quarter turns")            \
    INTEGER(split_seed, "split-seed", 0, INT64_MAX, "0", "which random split")                     \
    INTEGER(alphabets, "alphabets", 1, 1000000, "50", "glyphs: how many alphabets")                \
    INTEGER(fewest_characters, "fewest-characters", 1, 1000000, "20", "glyphs: of an alphabet")    \
    INTEGER(most_characters, "most-characters", 1, 1000000, "40", "glyphs: of an alphabet")        \
    INTEGER(drawings, "drawings", 1, 1000000, "20", "glyphs: of a character")                      \
    INTEGER(glyph_seed, "glyph-seed", 0, INT64_MAX, "0", "glyphs: which invented alphabets")

/* What an episode is. */
#define IMP_TASK_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                               \
    CHOICE(task, "task", imp_task_names, "classes", "what a label stands for")                     \
    IMP_COUNT_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)

/* How much there is of everything in it. */
#define IMP_COUNT_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                              \
    INTEGER(way, "way", 0, 1000000, "0", "labels; 0 is 5, or 10 alphabets")                        \
    INTEGER(modes, "modes", 0, 1000000, "0", "characters of an alphabet; 0 is 10")                 \
    INTEGER(shot, "shot", 0, 1000000, "0", "supports of a character; 0 is 1")                      \
    REST()                                                                                         \
    INTEGER(unlabeled, "unlabeled", 0, 1000000, "0", "images of a class without a label")          \
    INTEGER(fewest_way, "fewest-way", 0, 1000000, "0", "vary the way down to this; 0 does not")    \
    INTEGER(fewest_shot, "fewest-shot", 0, 1000000, "0",                                           \
            "vary the shot down to this; 0 does not")                                              \
    FLAG(unbalanced, "unbalanced", "vary the shot from class to class")                            \
    INTEGER(queries, "queries", 0, 1000000, "0",                                                   \
            "of a character; 0 is 5 in training and of alphabets, else 15, or what there are")     \
    INTEGER(distractors, "distractors", 0, 1000000, "0",                                           \
            "classes of which there are only unlabelled images")                                   \
    NUMBER(labeled_fraction, "labeled-fraction", 0.001, 1, "1",                                      \
           "in training, the part of a class's images that is labelled")

/* How an episode is solved, beside the method, the numbers of its rule and options of its own: what
 * those are the methods say themselves. */
#define IMP_METHOD_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                             \
    CHOICE(learn_sigma_u, "learn-sigma-u", imp_no_yes_names, "yes",                                \
           "whether the variance of unlabelled clusters is learned")

/* How a network learns. */
#define IMP_TRAINING_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                           \
    INTEGER(updates, "updates", 0, INT64_MAX, "20000", "steps of the optimizer")                   \
    INTEGER(seed, "seed", 0, INT64_MAX, "1", "of weights and episodes")                            \
    REST()                                                                                         \
    NUMBER(rate, "rate", 0, INFINITY, "0.001", "learning rate at the start")                       \
    TEXT(network, "network", "LAYERS", "conv4",                                                    \
         "conv4, or layers like conv3x3:32,bn,relu,pool,flatten,linear:64")                        \
    TEXT(embedded_by, "embedded-by", "NAME", "",                                                   \
         "of vectors: the embedder they are from, as 'imp embed' names it; the model remembers")   \
    INTEGER(accumulate, "accumulate", 1, 1000000, "1", "episodes whose gradients make an update")  \
    CHOICE(optimizer, "optimizer", imp_optimizer_names, "rmsprop", "how gradients become steps")   \
    INTEGER(halve_from, "halve-from", 0, INT64_MAX, "4000", "update of the rate's first halving")  \
    INTEGER(halve_every, "halve-every", 0, INT64_MAX, "2000",                                      \
            "updates from halving to halving; 0 keeps the rate")                                   \
    INTEGER(fade_until, "fade-until", 0, INT64_MAX, "0",                                           \
            "update at which a rate that falls evenly is 0; 0 does not let it fall")               \
    NUMBER(clip, "clip", 0, INFINITY, "1000", "longest gradient; 0 does not clip")                 \
    NUMBER(weight_decay, "weight-decay", 0, 1000, "0",                                             \
           "decoupled decay of the network's weights, times the rate, per update (AdamW)")         \
    NUMBER(average_weights, "average-weights", 0, 0.999999, "0",                                   \
           "decay of an average over the updates, which is tested and kept; 0 makes none")         \
    NUMBER(loss_limit, "loss-limit", 0, INFINITY, "1e6", "a larger loss ends the run")             \
    INTEGER(validate_every, "validate-every", 0, INT64_MAX, "500",                                 \
            "updates from validation to validation; 0 keeps the last model, not the best")         \
    INTEGER(validation_episodes, "validation-episodes", 1, 1000000, "100",                         \
            "episodes of a validation")                                                            \
    INTEGER(validation_way, "validation-way", 0, 1000000, "0",                                     \
            "way of validation episodes, if the split has too few labels; 0 is as in training")    \
    INTEGER(checkpoint_every, "checkpoint-every", 1, INT64_MAX, "500",                             \
            "updates from checkpoint to checkpoint")                                               \
    INTEGER(log_every, "log-every", 1, INT64_MAX, "50", "updates that a line of the log sums up")

/* How pictures are changed at random in training; all of it below the rest of that. */
#define IMP_AUGMENT_SETTINGS(INTEGER, NUMBER, TEXT, CHOICE, FLAG, REST)                            \
    NUMBER(augment.flip, "augment-flip", 0, 1, "0", "chance of exchanging left and right")         \
    NUMBER(augment.shift, "augment-shift", 0, 0.5, "0", "move by up to this part of the side")     \
    NUMBER(augment.turn, "augment-turn", 0, 180, "0", "turn by up to so many degrees")             \
    NUMBER(augment.zoom, "augment-zoom", 0, 3, "0", "scale by up to 1 + this, either way")         \
    NUMBER(augment.shear, "augment-shear", 0, 1, "0", "slant by up to this part of the height")    \
    NUMBER(augment.colour, "augment-colour", 0, 1, "0",                                            \
           "change brightness, contrast and saturation by up to this part")                        \
    NUMBER(augment.stroke, "augment-stroke", 0, 1, "0",                                            \
           "drawings: thicken or thin strokes by up to this part of a pixel")

/* clang-format on */

#endif
