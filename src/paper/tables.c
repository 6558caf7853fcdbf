/*
 * tables.c - the paper's tables. Figures are as printed there, accuracies in percent.
 */
#include "paper/tables.h"

#include <math.h>
#include <string.h>

#include "paper/datasets.h"
#include "paper/runs.h"
#include "paper/words.h"

/* clang-format off */
static const imp_paper_table tables[] = {
    {"alphabets",    "Alphabets and characters", "Table 3", false},
    {"modes",        "Held-out modes: 10-way 5-shot alphabets, 40% of the characters train", "Table 4", false},
    {"unsupervised", "Clustering of unseen characters without labels", "Table 5", false},
    {"supervised",   "Fully supervised", "Table 6", false},
    {"semi",         "Semi-supervised, 40% of the labels, 5 unlabelled images per class and 5 distractor classes", "Table 7", false},
    {"sigma",        "Ablation: learned variance and several modes", "Table 1", false},
    {"loss",         "Ablation: a loss over all clusters, and a fixed number of modes", "\"Multi-modal loss\", and related work", false},
    {"tied",         "Ablation: one variance for labelled and unlabelled clusters", "Table 2", true},
    {"inference",    "Ablation: other inference schemes", "Table 9 and the text below it", true},
    {"iterations",   "Ablation: more clustering iterations, which the paper says change nothing", "\"Ablations and Alternatives\"", true},
    {"accumulation", "Gradient accumulation (shot / classes per update / classes per episode)", "Table 8", false},
    {"own",          "Recipes of ours, not the paper's: augmentation, more classes per episode, averaged weights, more episodes per update", "Beside tables 3 and 6", true},
    {"lambda",       "Accuracy over the threshold lambda", "Figure 3", false},
    {"embedding",    "Test characters in the plane, by alphabet", "Figure 1", false},
};

/* Options of tests. */
#define AS_TRAINED   ""
#define CHARACTERS   "--task characters --way 20 --shot 1"
#define STEPS_100    "--cluster-steps 100"
#define SWEEP(method) "--method " #method " --lambda-sweep 5:195:20"
#define TEST(way, shot) "--way " #way " --shot " #shot
#define CLUSTER(method, way) "--unsupervised --method " #method " --way " #way " --shot 5"

/* Labels of rows. */
#define A_TO_A "alphabets → alphabets, 10-way 10-shot"
#define A_TO_C "alphabets → characters, 20-way 1-shot"
#define C_TO_C "characters → characters, 20-way 1-shot"
#define REN "soft k-means + cluster"

#define ACCURACY IMP_PAPER_ACCURACY
#define PURITY IMP_PAPER_PURITY
#define NMI IMP_PAPER_NMI
#define AMI IMP_PAPER_AMI

static const imp_paper_row rows[] = {
    {"alphabets", A_TO_A, "IMP",        "alphabets-imp",          AS_TRAINED, ACCURACY, 92.0, 0.1},
    {"alphabets", A_TO_A, "prototypes", "alphabets-prototypes",   AS_TRAINED, ACCURACY, 65.6, 0.4},
    {"alphabets", A_TO_A, "neighbors",  "alphabets-neighbors",    AS_TRAINED, ACCURACY, 92.4, 0.2},
    {"alphabets", A_TO_A, "MAML",       "alphabets-maml",         AS_TRAINED, ACCURACY, 61.9, 0},
    {"alphabets", A_TO_C, "IMP",        "alphabets-imp",          CHARACTERS, ACCURACY, 95.4, 0.2},
    {"alphabets", A_TO_C, "prototypes", "alphabets-prototypes",   CHARACTERS, ACCURACY, 82.1, 0.4},
    {"alphabets", A_TO_C, "neighbors",  "alphabets-neighbors",    CHARACTERS, ACCURACY, 95.4, 0.2},
    {"alphabets", C_TO_C, "IMP",        "20way-1shot-imp",        AS_TRAINED, ACCURACY, 95.1, 0.1},
    {"alphabets", C_TO_C, "prototypes", "20way-1shot-prototypes", AS_TRAINED, ACCURACY, 94.9, 0.2},
    {"alphabets", C_TO_C, "neighbors",  "20way-1shot-neighbors",  AS_TRAINED, ACCURACY, 95.1, 0.1},

    {"modes", "training modes", "IMP",        "modes-imp",        "--pool train", ACCURACY, 99.0, 0.1},
    {"modes", "testing modes",  "IMP",        "modes-imp",        "--pool test",  ACCURACY, 94.9, 0.2},
    {"modes", "both modes",     "IMP",        "modes-imp",        "--pool all",   ACCURACY, 96.6, 0.2},
    /* Held out as in the authors' code, which assigns the rotations of a character one by one. */
    {"modes", "training modes, rotations apart", "IMP", "modes-imp-turned", "--pool train", ACCURACY, 99.0, 0.1},
    {"modes", "testing modes, rotations apart",  "IMP", "modes-imp-turned", "--pool test",  ACCURACY, 94.9, 0.2},
    {"modes", "both modes, rotations apart",     "IMP", "modes-imp-turned", "--pool all",   ACCURACY, 96.6, 0.2},
    {"modes", "training modes", "prototypes", "modes-prototypes", "--pool train", ACCURACY, 92.4, 0.3},
    {"modes", "testing modes",  "prototypes", "modes-prototypes", "--pool test",  ACCURACY, 77.7, 0.4},
    {"modes", "both modes",     "prototypes", "modes-prototypes", "--pool all",   ACCURACY, 82.9, 0.4},

    {"unsupervised", "purity, 10-way",  "IMP",      "alphabets-imp",        CLUSTER(imp, 10),       PURITY, 0.97, 0},
    {"unsupervised", "purity, 100-way", "IMP",      "alphabets-imp",        CLUSTER(imp, 100),      PURITY, 0.90, 0},
    {"unsupervised", "purity, 200-way", "IMP",      "alphabets-imp",        CLUSTER(imp, 200),      PURITY, 0.91, 0},
    {"unsupervised", "purity, 10-way",  "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 10),  PURITY, 0.91, 0},
    {"unsupervised", "purity, 100-way", "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 100), PURITY, 0.73, 0},
    {"unsupervised", "purity, 200-way", "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 200), PURITY, 0.71, 0},
    {"unsupervised", "NMI, 10-way",     "IMP",      "alphabets-imp",        CLUSTER(imp, 10),       NMI,    0.97, 0},
    {"unsupervised", "NMI, 100-way",    "IMP",      "alphabets-imp",        CLUSTER(imp, 100),      NMI,    0.95, 0},
    {"unsupervised", "NMI, 200-way",    "IMP",      "alphabets-imp",        CLUSTER(imp, 200),      NMI,    0.94, 0},
    {"unsupervised", "NMI, 10-way",     "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 10),  NMI,    0.89, 0},
    {"unsupervised", "NMI, 100-way",    "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 100), NMI,    0.88, 0},
    {"unsupervised", "NMI, 200-way",    "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 200), NMI,    0.87, 0},
    {"unsupervised", "AMI, 10-way",     "IMP",      "alphabets-imp",        CLUSTER(imp, 10),       AMI,    0.92, 0},
    {"unsupervised", "AMI, 100-way",    "IMP",      "alphabets-imp",        CLUSTER(imp, 100),      AMI,    0.81, 0},
    {"unsupervised", "AMI, 200-way",    "IMP",      "alphabets-imp",        CLUSTER(imp, 200),      AMI,    0.70, 0},
    {"unsupervised", "AMI, 10-way",     "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 10),  AMI,    0.76, 0},
    {"unsupervised", "AMI, 100-way",    "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 100), AMI,    0.58, 0},
    {"unsupervised", "AMI, 200-way",    "DP-means", "alphabets-prototypes", CLUSTER(dp-means, 200), AMI,    0.51, 0},

    {"supervised", "5-way 1-shot",  "IMP",        "5way-1shot-imp",         AS_TRAINED, ACCURACY, 98.4, 0.3},
    {"supervised", "5-way 5-shot",  "IMP",        "5way-5shot-imp",         AS_TRAINED, ACCURACY, 99.5, 0.1},
    {"supervised", "20-way 1-shot", "IMP",        "20way-1shot-imp",        AS_TRAINED, ACCURACY, 95.0, 0.1},
    {"supervised", "20-way 5-shot", "IMP",        "20way-5shot-imp",        AS_TRAINED, ACCURACY, 98.6, 0.1},
    {"supervised", "5-way 1-shot",  "neighbors",  "5way-1shot-neighbors",   AS_TRAINED, ACCURACY, 98.4, 0.3},
    {"supervised", "5-way 5-shot",  "neighbors",  "5way-5shot-neighbors",   AS_TRAINED, ACCURACY, 99.4, 0.1},
    {"supervised", "20-way 1-shot", "neighbors",  "20way-1shot-neighbors",  AS_TRAINED, ACCURACY, 95.0, 0.1},
    {"supervised", "20-way 5-shot", "neighbors",  "20way-5shot-neighbors",  AS_TRAINED, ACCURACY, 98.3, 0.1},
    {"supervised", "5-way 1-shot",  "prototypes", "5way-1shot-prototypes",  AS_TRAINED, ACCURACY, 98.2, 0.3},
    {"supervised", "5-way 5-shot",  "prototypes", "5way-5shot-prototypes",  AS_TRAINED, ACCURACY, 99.6, 0.1},
    {"supervised", "20-way 1-shot", "prototypes", "20way-1shot-prototypes", AS_TRAINED, ACCURACY, 94.9, 0.2},
    {"supervised", "20-way 5-shot", "prototypes", "20way-5shot-prototypes", AS_TRAINED, ACCURACY, 98.6, 0.1},
    /* A footnote says without a figure that Snell et al.'s results with more training classes were
     * reproduced. */
    {"supervised", "5-way 1-shot",  "prototypes, trained 60-way", "60way-1shot-prototypes", TEST(5, 1),  ACCURACY, NAN, 0},
    {"supervised", "5-way 5-shot",  "prototypes, trained 60-way", "60way-5shot-prototypes", TEST(5, 5),  ACCURACY, NAN, 0},
    {"supervised", "20-way 1-shot", "prototypes, trained 60-way", "60way-1shot-prototypes", TEST(20, 1), ACCURACY, NAN, 0},
    {"supervised", "20-way 5-shot", "prototypes, trained 60-way", "60way-5shot-prototypes", TEST(20, 5), ACCURACY, NAN, 0},
    {"supervised", "5-way 1-shot",  "MAML",       "5way-1shot-maml",        AS_TRAINED, ACCURACY, 98.7, 0.4},
    {"supervised", "5-way 5-shot",  "MAML",       "5way-5shot-maml",        AS_TRAINED, ACCURACY, 99.9, 0.3},
    {"supervised", "20-way 1-shot", "MAML",       "20way-1shot-maml",       AS_TRAINED, ACCURACY, 95.8, 0.3},
    {"supervised", "20-way 5-shot", "MAML",       "20way-5shot-maml",       AS_TRAINED, ACCURACY, 98.9, 0.2},
    {"supervised", "5-way 1-shot",  "graph network", "5way-1shot-graph",    AS_TRAINED, ACCURACY, 99.2, 0},
    {"supervised", "5-way 5-shot",  "graph network", "5way-5shot-graph",    AS_TRAINED, ACCURACY, 99.7, 0},
    {"supervised", "20-way 1-shot", "graph network", "20way-1shot-graph",   AS_TRAINED, ACCURACY, 97.4, 0},
    {"supervised", "20-way 5-shot", "graph network", "20way-5shot-graph",   AS_TRAINED, ACCURACY, 99.0, 0},
    {"supervised", "5-way 1-shot",  "memory",     "5way-memory",            TEST(5, 1),  ACCURACY, 98.4, 0},
    {"supervised", "5-way 5-shot",  "memory",     "5way-memory",            TEST(5, 5),  ACCURACY, 99.6, 0},
    {"supervised", "20-way 1-shot", "memory",     "20way-memory",           TEST(20, 1), ACCURACY, 95.0, 0},
    {"supervised", "20-way 5-shot", "memory",     "20way-memory",           TEST(20, 5), ACCURACY, 98.6, 0},
    /* The paper names Reptile among its comparisons, without a figure. */
    {"supervised", "5-way 1-shot",  "Reptile",    "5way-reptile",           TEST(5, 1) " --test-batch 5",    ACCURACY, NAN, 0},
    {"supervised", "5-way 5-shot",  "Reptile",    "5way-reptile",           TEST(5, 5) " --test-batch 5",    ACCURACY, NAN, 0},
    {"supervised", "20-way 1-shot", "Reptile",    "20way-reptile",          TEST(20, 1) " --test-batch 10",  ACCURACY, NAN, 0},
    {"supervised", "20-way 5-shot", "Reptile",    "20way-reptile",          TEST(20, 5) " --test-batch 10",  ACCURACY, NAN, 0},
    {"supervised", "5-way 1-shot", "IMP",        "mini-5way-1shot-imp",        AS_TRAINED, ACCURACY, 49.6, 0.8},
    {"supervised", "5-way 5-shot", "IMP",        "mini-5way-5shot-imp",        AS_TRAINED, ACCURACY, 68.1, 0.8},
    {"supervised", "5-way 1-shot", "neighbors",  "mini-5way-1shot-neighbors",  AS_TRAINED, ACCURACY, 49.6, 0.8},
    {"supervised", "5-way 5-shot", "neighbors",  "mini-5way-5shot-neighbors",  AS_TRAINED, ACCURACY, 59.4, 1.0},
    {"supervised", "5-way 1-shot", "prototypes", "mini-5way-1shot-prototypes", AS_TRAINED, ACCURACY, 47.0, 0.8},
    {"supervised", "5-way 5-shot", "prototypes", "mini-5way-5shot-prototypes", AS_TRAINED, ACCURACY, 66.1, 0.7},
    {"supervised", "5-way 1-shot", "prototypes, trained 30-way", "mini-30way-1shot-prototypes", TEST(5, 1), ACCURACY, NAN, 0},
    {"supervised", "5-way 5-shot", "prototypes, trained 20-way", "mini-20way-5shot-prototypes", TEST(5, 5), ACCURACY, NAN, 0},
    {"supervised", "5-way 1-shot", "MAML",       "mini-5way-1shot-maml",       AS_TRAINED, ACCURACY, 48.7, 1.84},
    {"supervised", "5-way 5-shot", "MAML",       "mini-5way-5shot-maml",       AS_TRAINED, ACCURACY, 63.1, 0.92},
    {"supervised", "5-way 1-shot", "graph network", "mini-5way-1shot-graph",   AS_TRAINED, ACCURACY, 50.3, 0},
    {"supervised", "5-way 5-shot", "graph network", "mini-5way-5shot-graph",   AS_TRAINED, ACCURACY, 66.4, 0},
    {"supervised", "5-way 1-shot", "Reptile",    "mini-5way-reptile",          TEST(5, 1) " --test-batch 5",  ACCURACY, NAN, 0},
    {"supervised", "5-way 5-shot", "Reptile",    "mini-5way-reptile",          TEST(5, 5) " --test-batch 15", ACCURACY, NAN, 0},

    {"semi", "5-way 1-shot",  "IMP",        "semi-5way-1shot-imp",                  AS_TRAINED, ACCURACY, 98.9, 0.1},
    {"semi", "5-way 5-shot",  "IMP",        "semi-5way-5shot-imp",                  AS_TRAINED, ACCURACY, 99.4, 0.1},
    {"semi", "20-way 1-shot", "IMP",        "semi-20way-1shot-imp",                 AS_TRAINED, ACCURACY, 96.9, 0.2},
    {"semi", "20-way 5-shot", "IMP",        "semi-20way-5shot-imp",                 AS_TRAINED, ACCURACY, 98.3, 0.1},
    {"semi", "5-way 1-shot",  REN,          "semi-5way-1shot-soft-kmeans-cluster",  AS_TRAINED, ACCURACY, 98.0, 0.1},
    {"semi", "5-way 5-shot",  REN,          "semi-5way-5shot-soft-kmeans-cluster",  AS_TRAINED, ACCURACY, 99.3, 0.1},
    {"semi", "20-way 1-shot", REN,          "semi-20way-1shot-soft-kmeans-cluster", AS_TRAINED, ACCURACY, 96.2, 0.1},
    {"semi", "20-way 5-shot", REN,          "semi-20way-5shot-soft-kmeans-cluster", AS_TRAINED, ACCURACY, 98.2, 0.1},
    {"semi", "5-way 1-shot",  "neighbors",  "semi-5way-1shot-neighbors",            AS_TRAINED, ACCURACY, 97.9, 0.2},
    {"semi", "5-way 5-shot",  "neighbors",  "semi-5way-5shot-neighbors",            AS_TRAINED, ACCURACY, 99.1, 0.1},
    {"semi", "20-way 1-shot", "neighbors",  "semi-20way-1shot-neighbors",           AS_TRAINED, ACCURACY, 93.8, 0.2},
    {"semi", "20-way 5-shot", "neighbors",  "semi-20way-5shot-neighbors",           AS_TRAINED, ACCURACY, 97.5, 0.1},
    {"semi", "5-way 1-shot",  "prototypes", "semi-5way-1shot-prototypes",           AS_TRAINED, ACCURACY, 97.8, 0.1},
    {"semi", "5-way 5-shot",  "prototypes", "semi-5way-5shot-prototypes",           AS_TRAINED, ACCURACY, 99.2, 0.1},
    {"semi", "20-way 1-shot", "prototypes", "semi-20way-1shot-prototypes",          AS_TRAINED, ACCURACY, 93.4, 0.1},
    {"semi", "20-way 5-shot", "prototypes", "semi-20way-5shot-prototypes",          AS_TRAINED, ACCURACY, 98.1, 0.1},
    {"semi", "5-way 1-shot", "IMP",        "mini-semi-5way-1shot-imp",                 AS_TRAINED, ACCURACY, 49.2, 0.7},
    {"semi", "5-way 5-shot", "IMP",        "mini-semi-5way-5shot-imp",                 AS_TRAINED, ACCURACY, 64.7, 0.7},
    {"semi", "5-way 1-shot", REN,          "mini-semi-5way-1shot-soft-kmeans-cluster", AS_TRAINED, ACCURACY, 48.6, 0.6},
    {"semi", "5-way 5-shot", REN,          "mini-semi-5way-5shot-soft-kmeans-cluster", AS_TRAINED, ACCURACY, 63.0, 0.8},
    {"semi", "5-way 1-shot", "neighbors",  "mini-semi-5way-1shot-neighbors",           AS_TRAINED, ACCURACY, 47.9, 0.7},
    {"semi", "5-way 5-shot", "neighbors",  "mini-semi-5way-5shot-neighbors",           AS_TRAINED, ACCURACY, 57.3, 0.8},
    {"semi", "5-way 1-shot", "prototypes", "mini-semi-5way-1shot-prototypes",          AS_TRAINED, ACCURACY, 45.1, 1.0},
    {"semi", "5-way 5-shot", "prototypes", "mini-semi-5way-5shot-prototypes",          AS_TRAINED, ACCURACY, 62.5, 0.5},

    {"sigma", "variance 1, one mode",            "prototypes", "alphabets-prototypes",       AS_TRAINED, ACCURACY, 65.2, 0.6},
    {"sigma", "learned variance, one mode",      "prototypes", "alphabets-prototypes-sigma", AS_TRAINED, ACCURACY, 65.2, 0.6},
    {"sigma", "learned variance, several modes", "IMP",        "alphabets-imp",              AS_TRAINED, ACCURACY, 92.0, 0.1},
    {"sigma", "variance 1, one mode",            "prototypes", "mini-5way-5shot-prototypes",       AS_TRAINED, ACCURACY, 66.1, 0.6},
    {"sigma", "learned variance, one mode",      "prototypes", "mini-5way-5shot-prototypes-sigma", AS_TRAINED, ACCURACY, 67.2, 0.5},
    {"sigma", "learned variance, several modes", "IMP",        "mini-5way-5shot-imp",              AS_TRAINED, ACCURACY, 68.1, 0.8},

    /* The paper says without a figure that masking does better. */
    {"loss", A_TO_A, "IMP",                        "alphabets-imp",                AS_TRAINED, ACCURACY, 92.0, 0.1},
    {"loss", A_TO_A, "IMP, all clusters",          "alphabets-imp-unmasked",       AS_TRAINED, ACCURACY, NAN,  0},
    {"loss", A_TO_A, "neighbors",                  "alphabets-neighbors",          AS_TRAINED, ACCURACY, 92.4, 0.2},
    {"loss", A_TO_A, "neighbors, all clusters",    "alphabets-neighbors-unmasked", AS_TRAINED, ACCURACY, NAN,  0},
    {"loss", A_TO_A, "NCA",                        "alphabets-nca",                AS_TRAINED, ACCURACY, NAN,  0},
    {"loss", A_TO_A, "k-means, 3 modes per class", "alphabets-fixed-modes",        AS_TRAINED, ACCURACY, NAN,  0},

    {"tied", "one variance",  "IMP, tied", "ablation-imp-tied", AS_TRAINED, ACCURACY, 93.5, 0.3},
    {"tied", "two variances", "IMP",       "ablation-imp",      AS_TRAINED, ACCURACY, 98.9, 0.1},
    {"tied", "one variance",  "IMP, tied", "mini-ablation-imp-tied",   AS_TRAINED, ACCURACY, 48.6, 0.4},
    {"tied", "two variances", "IMP",       "mini-semi-5way-1shot-imp", AS_TRAINED, ACCURACY, 49.6, 0.8},

    {"inference", "semi-supervised 5-way 1-shot", "MAP-DP",        "ablation-map-dp",      AS_TRAINED, ACCURACY, 70.0, 0.1},
    {"inference", "semi-supervised 5-way 1-shot", "EM",            "ablation-em",          AS_TRAINED, ACCURACY, 95.9, 0.2},
    {"inference", "semi-supervised 5-way 1-shot", "EM, no prior",  "ablation-em-no-prior", AS_TRAINED, ACCURACY, 98.0, 0},
    {"inference", "semi-supervised 5-way 1-shot", "hard DP-means", "ablation-dp-means",    AS_TRAINED, ACCURACY, 98.0, 0.2},
    {"inference", "semi-supervised 5-way 1-shot", "IMP",           "ablation-imp",         AS_TRAINED, ACCURACY, 99.0, 0.1},
    /* On mini-ImageNet the paper calls MAP-DP unstable. */
    {"inference", "semi-supervised 5-way 1-shot", "MAP-DP",        "mini-ablation-map-dp",      AS_TRAINED, ACCURACY, NAN,  0},
    {"inference", "semi-supervised 5-way 1-shot", "EM",            "mini-ablation-em",          AS_TRAINED, ACCURACY, 41.0, 0.6},
    {"inference", "semi-supervised 5-way 1-shot", "EM, no prior",  "mini-ablation-em-no-prior", AS_TRAINED, ACCURACY, 48.6, 0},
    {"inference", "semi-supervised 5-way 1-shot", "hard DP-means", "mini-ablation-dp-means",    AS_TRAINED, ACCURACY, 45.2, 1.0},
    {"inference", "semi-supervised 5-way 1-shot", "IMP",           "mini-semi-5way-1shot-imp",  AS_TRAINED, ACCURACY, 49.6, 0.6},

    /* The paper says without figures that the others change nothing. */
    {"iterations", "semi-supervised 5-way 1-shot, 1 in training and inference",     "IMP", "ablation-imp",         AS_TRAINED, ACCURACY, 98.9, 0.1},
    {"iterations", "semi-supervised 5-way 1-shot, 2 in training and inference",     "IMP", "ablation-imp-2-steps", AS_TRAINED, ACCURACY, NAN, 0},
    {"iterations", "semi-supervised 5-way 1-shot, 1 in training, 100 in inference", "IMP", "ablation-imp",         STEPS_100,  ACCURACY, NAN, 0},
    {"iterations", "alphabets 10-way 10-shot, 1 in training and inference",         "IMP", "alphabets-imp",        AS_TRAINED, ACCURACY, 92.0, 0.1},
    {"iterations", "alphabets 10-way 10-shot, 1 in training, 100 in inference",     "IMP", "alphabets-imp",        STEPS_100,  ACCURACY, NAN, 0},

    /* Trained on shot / batch-way / episode-way, tested on four settings. */
    {"accumulation", "1 / 20 / 20, tested 5-way 1-shot",  "prototypes", "20way-1shot-prototypes",         TEST(5, 1),  ACCURACY, 98.5, 0},
    {"accumulation", "1 / 20 / 20, tested 5-way 5-shot",  "prototypes", "20way-1shot-prototypes",         TEST(5, 5),  ACCURACY, 99.6, 0},
    {"accumulation", "1 / 20 / 20, tested 20-way 1-shot", "prototypes", "20way-1shot-prototypes",         TEST(20, 1), ACCURACY, 95.0, 0},
    {"accumulation", "1 / 20 / 20, tested 20-way 5-shot", "prototypes", "20way-1shot-prototypes",         TEST(20, 5), ACCURACY, 98.8, 0},
    {"accumulation", "1 / 20 / 5, tested 5-way 1-shot",   "prototypes", "accumulation-1shot-16-episodes", TEST(5, 1),  ACCURACY, 98.3, 0},
    {"accumulation", "1 / 20 / 5, tested 5-way 5-shot",   "prototypes", "accumulation-1shot-16-episodes", TEST(5, 5),  ACCURACY, 99.5, 0},
    {"accumulation", "1 / 20 / 5, tested 20-way 1-shot",  "prototypes", "accumulation-1shot-16-episodes", TEST(20, 1), ACCURACY, 94.8, 0},
    {"accumulation", "1 / 20 / 5, tested 20-way 5-shot",  "prototypes", "accumulation-1shot-16-episodes", TEST(20, 5), ACCURACY, 98.6, 0},
    {"accumulation", "1 / 5 / 5, tested 5-way 1-shot",    "prototypes", "accumulation-1shot-1-episode",   TEST(5, 1),  ACCURACY, 97.7, 0},
    {"accumulation", "1 / 5 / 5, tested 5-way 5-shot",    "prototypes", "accumulation-1shot-1-episode",   TEST(5, 5),  ACCURACY, 99.4, 0},
    {"accumulation", "1 / 5 / 5, tested 20-way 1-shot",   "prototypes", "accumulation-1shot-1-episode",   TEST(20, 1), ACCURACY, 92.1, 0},
    {"accumulation", "1 / 5 / 5, tested 20-way 5-shot",   "prototypes", "accumulation-1shot-1-episode",   TEST(20, 5), ACCURACY, 98.0, 0},
    {"accumulation", "5 / 20 / 20, tested 5-way 1-shot",  "prototypes", "20way-5shot-prototypes",         TEST(5, 1),  ACCURACY, 97.8, 0},
    {"accumulation", "5 / 20 / 20, tested 5-way 5-shot",  "prototypes", "20way-5shot-prototypes",         TEST(5, 5),  ACCURACY, 99.6, 0},
    {"accumulation", "5 / 20 / 20, tested 20-way 1-shot", "prototypes", "20way-5shot-prototypes",         TEST(20, 1), ACCURACY, 93.2, 0},
    {"accumulation", "5 / 20 / 20, tested 20-way 5-shot", "prototypes", "20way-5shot-prototypes",         TEST(20, 5), ACCURACY, 98.6, 0},
    {"accumulation", "5 / 20 / 5, tested 5-way 1-shot",   "prototypes", "accumulation-5shot-16-episodes", TEST(5, 1),  ACCURACY, 97.9, 0},
    {"accumulation", "5 / 20 / 5, tested 5-way 5-shot",   "prototypes", "accumulation-5shot-16-episodes", TEST(5, 5),  ACCURACY, 99.6, 0},
    {"accumulation", "5 / 20 / 5, tested 20-way 1-shot",  "prototypes", "accumulation-5shot-16-episodes", TEST(20, 1), ACCURACY, 92.9, 0},
    {"accumulation", "5 / 20 / 5, tested 20-way 5-shot",  "prototypes", "accumulation-5shot-16-episodes", TEST(20, 5), ACCURACY, 98.5, 0},
    {"accumulation", "5 / 5 / 5, tested 5-way 1-shot",    "prototypes", "accumulation-5shot-1-episode",   TEST(5, 1),  ACCURACY, 96.8, 0},
    {"accumulation", "5 / 5 / 5, tested 5-way 5-shot",    "prototypes", "accumulation-5shot-1-episode",   TEST(5, 5),  ACCURACY, 99.4, 0},
    {"accumulation", "5 / 5 / 5, tested 20-way 1-shot",   "prototypes", "accumulation-5shot-1-episode",   TEST(20, 1), ACCURACY, 89.8, 0},
    {"accumulation", "5 / 5 / 5, tested 20-way 5-shot",   "prototypes", "accumulation-5shot-1-episode",   TEST(20, 5), ACCURACY, 97.7, 0},

    /* The paper's figures are those of its own recipes for IMP. */
    {"own", "20-way 1-shot", "IMP, our recipe", "own-imp",      TEST(20, 1), ACCURACY, 95.0, 0.1},
    {"own", "5-way 1-shot",  "IMP, our recipe", "own-imp",      TEST(5, 1),  ACCURACY, 98.4, 0.3},
    {"own", A_TO_A, "IMP, 8 episodes per update", "alphabets-imp-8-episodes", AS_TRAINED, ACCURACY, 92.0, 0.1},
    {"own", A_TO_C, "IMP, 8 episodes per update", "alphabets-imp-8-episodes", CHARACTERS, ACCURACY, 95.4, 0.2},
    {"own", "5-way 1-shot",  "IMP, our recipe", "mini-own-imp", TEST(5, 1),  ACCURACY, 49.6, 0.8},
    {"own", "5-way 5-shot",  "IMP, our recipe", "mini-own-imp", TEST(5, 5),  ACCURACY, 68.1, 0.8},

    /* Pictures: the paper prints no numbers. */
    {"lambda", "semi-supervised 5-way 1-shot", "IMP",                              "semi-5way-1shot-imp",        SWEEP(imp),      ACCURACY, NAN, 0},
    {"lambda", "semi-supervised 5-way 1-shot", "DP-means on prototypes' embedding", "semi-5way-1shot-prototypes", SWEEP(dp-means), ACCURACY, NAN, 0},
    {"embedding", "", "IMP",        "alphabets-imp",        NULL, ACCURACY, NAN, 0},
    {"embedding", "", "prototypes", "alphabets-prototypes", NULL, ACCURACY, NAN, 0},
};
/* clang-format on */

enum { TABLES = sizeof tables / sizeof *tables, ROWS = sizeof rows / sizeof *rows };

imp_paper_table imp_paper_table_at(size_t index)
{
    return index < TABLES ? tables[index] : (imp_paper_table){0};
}

imp_paper_row imp_paper_row_at(size_t index)
{
    return index < ROWS ? rows[index] : (imp_paper_row){0};
}

const char *imp_paper_measure_name(imp_paper_measure measure)
{
    static const char *const names[] = {"accuracy", "purity", "nmi", "ami"};
    return names[measure];
}

bool imp_paper_rows_share(const imp_paper_row *a, const imp_paper_row *b)
{
    return a->options && b->options && strcmp(a->run, b->run) == 0 &&
           strcmp(a->options, b->options) == 0;
}

/* The method that a row is measured with: its options', else its run's. */
static const imp_method_info *method_of(const imp_paper_row *row, const imp_settings *settings)
{
    imp_words words = imp_words_of(row->options);
    imp_option_words option;
    while (imp_words_next(&words, &option))
        if (strcmp(option.name, "method") == 0)
            return imp_method_find(option.value);
    return imp_method_find(settings->method);
}

bool imp_paper_row_is_open(const imp_paper_row *row)
{
    imp_paper_run run = imp_paper_run_at(imp_paper_run_find(row->run));
    imp_settings settings;
    if (!row->options || row->measure != IMP_PAPER_ACCURACY)
        return false;
    bool open = imp_paper_settings(&run, 1, "", 0, &settings, NULL) == IMP_OK &&
                settings.unlabeled > 0 && method_of(row, &settings)->uses_unlabeled;
    imp_settings_clear(&settings);
    return open;
}

bool imp_paper_row_is_in(const imp_paper_row *row, const char *table)
{
    return !table || strcmp(row->table, table) == 0;
}

size_t imp_paper_row_dataset(const imp_paper_row *row)
{
    return imp_paper_dataset_of(imp_paper_run_at(imp_paper_run_find(row->run)).recipe);
}

bool imp_paper_table_is_about(const char *table, size_t dataset)
{
    for (size_t i = 0; i < ROWS; i++)
        if (imp_paper_row_is_in(&rows[i], table) && imp_paper_row_dataset(&rows[i]) == dataset)
            return true;
    return false;
}

bool imp_paper_table_needs(const char *table, const char *run)
{
    for (size_t i = 0; i < ROWS; i++)
        if (imp_paper_row_is_in(&rows[i], table) && strcmp(rows[i].run, run) == 0)
            return true;
    return false;
}
