#!/usr/bin/env python3
"""Shows where the time of a build went, from the log of ninja.

Usage: build_times.py [--slowest N] [BUILD_DIRECTORY]

Reads BUILD_DIRECTORY/.ninja_log (build/release by default). Prints, for each
kind of output, the number of outputs and the sum of the seconds of their
commands (with two jobs at once, twice the wall time), and then the slowest
outputs. A file that was compiled several times counts with its newest time. For
the figures of a cold build begin with an empty build directory and an empty
ccache.
"""

import argparse
import collections
import os
import sys

# The first pattern that fits decides. An output's path is relative to the build
# directory.
KINDS = [
    ('headers alone', lambda o: '_headers.dir/' in o),
    ('precompiled headers', lambda o: 'cmake_pch' in o),
    ('objects of tests', lambda o: o.endswith('.o') and o.startswith('tests/')),
    ('objects of benchmarks',
     lambda o: o.endswith('.o') and o.startswith('bench/')),
    ('objects of the library', lambda o: o.endswith('.o')),
    ('archives', lambda o: o.endswith('.a')),
    ('programs', lambda o: o.startswith(('tests/', 'bin/', 'fuzzers/'))),
    ('the rest', lambda o: True),
]


def read_log(path):
    """Seconds by output."""
    seconds = {}
    with open(path) as log:
        for line in log:
            if not line.startswith('#'):
                begin, end, _, output, _ = line.rstrip('\n').split('\t')
                seconds[output] = (int(end) - int(begin)) / 1000
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--slowest', type=int, default=10, metavar='N')
    parser.add_argument('directory', nargs='?', default='build/release')
    args = parser.parse_args()
    path = os.path.join(args.directory, '.ninja_log')
    if not os.path.exists(path):
        sys.exit(f'build_times: {path} is missing: build that preset first')
    seconds = read_log(path)
    count = collections.Counter()
    total = collections.Counter()
    for output, spent in seconds.items():
        kind = next(name for name, fits in KINDS if fits(output))
        count[kind] += 1
        total[kind] += spent
    for kind, _ in KINDS:
        if count[kind]:
            print(f'{kind:24} {count[kind]:5} {total[kind]:9.1f} s')
    print(f'{"all":24} {len(seconds):5} {sum(seconds.values()):9.1f} s')
    for output in sorted(seconds, key=seconds.get, reverse=True)[:args.slowest]:
        print(f'{seconds[output]:8.1f} s  {output}')


if __name__ == '__main__':
    main()
