#!/usr/bin/env python3
"""Joins taps to one network whose frames arrive after a delay, for kernels without netem.

usage: bench/relay.py SECONDS TAP...

Makes the taps, prints a line when they are there, and passes on every frame to the tap that its
receiver was last seen at, or to all others, until it is killed. bench/ranks.py moves the taps into
network namespaces.
"""
import collections
import fcntl
import os
import select
import struct
import sys
import time

SET_INTERFACE, TAP, NO_HEADER = 0x400454CA, 0x0002, 0x1000


def make(name):
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, SET_INTERFACE, struct.pack("16sH", name.encode(), TAP | NO_HEADER))
    return tap


def write(tap, frame):
    """A frame for a tap that is not up, or whose queue is full, is lost, as on any network."""
    try:
        os.write(tap, frame)
    except OSError:
        pass


def relay(delay, taps):
    place = {}  # of an address: the tap
    waiting = collections.deque()  # (time, taps, frame); in order, since all wait equally long
    while True:
        timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for tap in select.select(taps, [], [], timeout)[0]:
            try:
                frame = os.read(tap, 70000)
            except OSError:  # it is not up yet
                time.sleep(0.001)
                continue
            place[frame[6:12]] = tap
            to = place.get(frame[:6])
            others = [to] if to is not None else [other for other in taps if other != tap]
            waiting.append((time.monotonic() + delay, others, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, others, frame = waiting.popleft()
            for tap in others:
                write(tap, frame)


def main():
    if os.sched_getscheduler(0) in (os.SCHED_RR, os.SCHED_FIFO):  # ahead of ranks, which poll
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(2))
    taps = [make(name) for name in sys.argv[2:]]
    print("ready", flush=True)
    relay(float(sys.argv[1]), taps)


if __name__ == "__main__":
    main()
