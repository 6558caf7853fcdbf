#!/bin/sh
# Builds the peers into build/bench and compares their speed with imp's.
#
# usage: bench/run.sh [conv4|resnet12|cluster|engine|loop|accuracy] [IMP] [options]
# IMP is the imp binary, by default build/release/bin/imp; the library is expected beside it in
# ../lib. Options are those of bench/run.py for conv4 and resnet12, of bench/cluster.py for cluster,
# of bench/engine.py for engine, of bench/training_loop.py for loop and of bench/time_to_accuracy.py
# for accuracy. Without a name, all except accuracy are run, unless there are options that only conv4
# has. bench/run.sh --check compares the results of conv4's peers instead of their speed.
set -eu
cd "$(dirname "$0")/.."

parts='conv4 resnet12 cluster engine loop'
case "${1:-}" in
conv4 | resnet12 | cluster | engine | loop | accuracy)
    parts=$1
    shift
    ;;
esac
imp=build/release/bin/imp
case "${1:-}" in
'' | -*) ;;
*)
    imp=$1
    shift
    ;;
esac
case "$parts $*" in
'conv4 resnet12 cluster engine loop ' | 'conv4 resnet12 cluster engine loop --quick') ;;
conv4\ -* | resnet12* | cluster* | engine* | loop* | accuracy*) ;;
*) parts=conv4 ;;
esac

case $parts in
loop) exec /usr/bin/python3 bench/training_loop.py --imp "$imp" "$@" ;;
accuracy) exec /usr/bin/python3 bench/time_to_accuracy.py --imp "$imp" "$@" ;;
esac

mkdir -p build/bench
cc=${CC:-gcc}
flags='-std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -fopenmp'
lib=$(dirname "$imp")/../lib
# shellcheck disable=SC2086 # the flags are words
{
    $cc $flags -o build/bench/peak bench/peers/peak.c
    if [ -e /usr/include/oneapi/dnnl/dnnl.h ]; then
        $cc $flags -o build/bench/onednn_conv4 \
            bench/peers/onednn_conv4.c bench/peers/onednn_network.c -ldnnl -lm
    else
        echo 'bench/run.sh: oneDNN (Debian: libdnnl-dev) is not installed, so it is left out' >&2
    fi
    if [ -e "$lib/libimp.so" ]; then
        lib=$(cd "$lib" && pwd)
        for peer in cluster episode; do
            $cc $flags -Iinclude -o build/bench/$peer bench/peers/$peer.c \
                -L"$lib" -Wl,-rpath,"$lib" -limp -lm
        done
    elif [ "$parts" = cluster ] || [ "$parts" = engine ]; then
        echo "bench/run.sh: there is no $lib/libimp.so; build it with 'make'" >&2
        exit 1
    fi
}

if [ "${1:-}" = --check ]; then
    shift
    exec /usr/bin/python3 bench/check_peers.py --imp "$imp" "$@"
fi
case $parts in
*conv4*) /usr/bin/python3 bench/run.py --imp "$imp" "$@" ;;
esac
case $parts in
*resnet12*) /usr/bin/python3 bench/run.py --network resnet12 --imp "$imp" "$@" ;;
esac
case $parts in
*cluster*) /usr/bin/python3 bench/cluster.py "$@" ;;
esac
case $parts in
*engine*) /usr/bin/python3 bench/engine.py "$@" ;;
esac
case $parts in
*loop*) /usr/bin/python3 bench/training_loop.py --imp "$imp" "$@" ;;
esac
