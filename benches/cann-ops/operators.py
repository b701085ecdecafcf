"""The published list of operators, and the order in which they are tuned."""

import os
import random

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators.txt")
LEVELS = ["L1", "L2", "L3"]


def listed(path=LIST):
    """Level of every operator, in the order of the list."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {name: words[0] for words in lines for name in words[1:]}


def spread(levels, seed):
    """The operators in an order that has each level's share of any beginning of it: what is there early says something of all."""
    dice = random.Random(seed)
    places = []
    for level in LEVELS:
        names = [name for name in levels if levels[name] == level]
        dice.shuffle(names)
        places += [((place + dice.random()) / len(names), name) for place, name in enumerate(names)]
    return [name for _, name in sorted(places)]
