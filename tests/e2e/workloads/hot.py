# SPDX-License-Identifier: MIT
# Two functions that take the same CPU time.
import time


def hot_one(rounds):
    total = 0
    for i in range(rounds):
        total = (total * 31 + i) & 0xFFFFFF
    return total


def hot_two(rounds):
    total = 1
    for i in range(rounds):
        total = (total ^ (i << 3)) & 0xFFFFFF
    return total


for hot in (hot_one, hot_two):
    end = time.process_time() + 0.6
    while time.process_time() < end:
        hot(1000)
