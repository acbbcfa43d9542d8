"""Helpers of a library, of which a reference uses one."""

import math

_SHIFT = [
    1.0,  # of all numbers
][0]


@staticmethod
def _other(x):
    return x


def _shifted(x):
    return x + math.sqrt(_SHIFT)


def _last(x):
    return x
