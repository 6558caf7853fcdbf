#!/bin/sh
# Builds the peers into build/bench and compares their speed with imp's.
#
# usage: bench/run.sh [IMP] [options of bench/run.py]
# IMP is the imp binary, build/release/imp where none is given. bench/run.sh --check compares what
# the peers compute instead of how fast.
set -eu
cd "$(dirname "$0")/.."

imp=build/release/imp
case "${1:-}" in
'' | -*) ;;
*)
    imp=$1
    shift
    ;;
esac

mkdir -p build/bench
cc=${CC:-gcc}
flags='-std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -fopenmp'
# shellcheck disable=SC2086 # the flags are words
{
    $cc $flags -o build/bench/peak bench/peers/peak.c
    if [ -e /usr/include/oneapi/dnnl/dnnl.h ]; then
        $cc $flags -o build/bench/onednn_conv4 \
            bench/peers/onednn_conv4.c bench/peers/onednn_network.c -ldnnl -lm
    else
        echo 'bench/run.sh: no oneDNN here (Debian: libdnnl-dev), so it is left out' >&2
    fi
}

if [ "${1:-}" = --check ]; then
    shift
    exec /usr/bin/python3 bench/check_peers.py --imp "$imp" "$@"
fi
exec /usr/bin/python3 bench/run.py --imp "$imp" "$@"
