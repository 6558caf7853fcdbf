#!/bin/sed -Ef
# The headers' comments as Doxygen wants them: plain ones tell it nothing.
1s|^/\*|/** @file\n *|
s|^([[:space:]]*)/\*( [^-]\|$)|\1/**\2|
s|([^[:space:]].*)/\* |\1/**< |
