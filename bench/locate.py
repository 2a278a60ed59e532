#!/usr/bin/python3
"""`clockwise locate`, from standard input to standard output, in the placements of other systems:
keys a second of processor time (user and system, so of one core), the best of some rounds.

The mark is 2 million for the relatives of ketama. `locate.py [--keys N] [--json] [PROFILE…]`
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

BUILD = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLOCKWISE = os.environ.get('CLOCKWISE') or os.path.join(BUILD, 'clockwise')
MARK = 2000000
KETAMA = ('twemproxy-ketama', 'twemproxy-ketama hash=md5', 'libmemcached-ketama-weighted',
          'libmemcached-ketama', 'libketama', 'npm-hashring', 'spymemcached-ketama-weighted',
          'xmemcached-ketama', 'nginx-hash-consistent', 'memcached-proxy-ring-ketama')
SECONDS_MAX = 120


def cpu_seconds(command, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(path, 'rb') as keys:
        subprocess.run(command, stdin=keys, stdout=subprocess.DEVNULL, check=True,
                       timeout=SECONDS_MAX)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(what, path, count, rounds):
    profile, *settings = what.split()
    command = [CLOCKWISE, 'locate', '--profile', profile]
    for number in range(1, 11):
        command += ['--node', f'10.0.0.{number}:11211']
    for setting in settings:
        command += ['--set', setting]
    return count / min(cpu_seconds(command, path) for _ in range(rounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--keys', type=int, default=2000000)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--json', action='store_true')
    parser.add_argument('profiles', nargs='*', default=KETAMA)
    arguments = parser.parse_args()
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as keys:
        keys.writelines(f'user:{number * 7919 % 100000000}\n' for number in range(arguments.keys))
        keys.flush()
        rates = {what: measure(what, keys.name, arguments.keys, arguments.rounds)
                 for what in arguments.profiles or KETAMA}
    if arguments.json:
        print(json.dumps(rates, indent=2))
    else:
        for what, rate in rates.items():
            print(f'{what:36} {rate / 1e6:8.1f} million keys a second a core'
                  f'{"" if rate >= MARK else "  below the mark"}')
    return 0 if all(rate >= MARK for rate in rates.values()) else 1


if __name__ == '__main__':
    sys.exit(main())
