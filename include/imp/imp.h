/*
 * imp.h - all of imp: few-shot learning with infinite mixture prototypes.
 *
 * Each header below is the manual of its part.
 */
#ifndef IMP_IMP_H
#define IMP_IMP_H

#include <imp/cluster.h>
#include <imp/dataset.h>
#include <imp/encoder.h>
#include <imp/episode.h>
#include <imp/evaluate.h>
#include <imp/memory.h>
#include <imp/method.h>
#include <imp/metrics.h>
#include <imp/mixture.h>
#include <imp/model.h>
#include <imp/network.h>
#include <imp/optimizer.h>
#include <imp/option.h>
#include <imp/rule.h>
#include <imp/settings.h>
#include <imp/status.h>
#include <imp/suggest.h>
#include <imp/threads.h>
#include <imp/train.h>
#include <imp/version.h>
#include <imp/work.h>

#endif
