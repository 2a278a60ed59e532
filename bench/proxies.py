#!/usr/bin/python3
"""Requests per second, and CPU seconds per million requests, of clockwise beside Debian's
nutcracker (twemproxy) and a redis-server that is asked directly.

All targets stand over the same three redis-servers and are measured in turn, round after round, so
that what else the machine does hits them alike; the figures are medians over the rounds. Requests
per second depend on the machine and on who else uses it; the CPU figure (user + system time of the
proxy alone, from /proc) much less so. nutcracker has one thread, so clockwise runs with one worker.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'process'))
BUILD = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if os.path.exists(os.path.join(BUILD, 'clockwise')):  # called by its link in a build
    os.environ.setdefault('CLOCKWISE', os.path.join(BUILD, 'clockwise'))
from harness import Launcher, relay_config  # noqa: E402

TICKS = os.sysconf('SC_CLK_TCK')
ROUND_SECONDS_MAX = 120


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def run_benchmark(port, test, depth, requests, options):
    """Requests per second that redis-benchmark saw."""
    result = subprocess.run(
        ['redis-benchmark', '-p', str(port), '-t', test, '-P', str(depth), '-n', str(requests),
         '-c', str(options.clients), '-d', str(options.size), '-r', '100000', '--csv'],
        capture_output=True, text=True, timeout=ROUND_SECONDS_MAX)
    found = re.search(r'(?m)^"[^"]*","([\d.]+)"', result.stdout)
    if result.returncode != 0 or not found or 'rror' in result.stdout:
        sys.exit(f'redis-benchmark -t {test} failed: {result.stdout}{result.stderr}')
    return float(found.group(1))


def measure(process, test, depth, options):
    requests = options.requests * (1 if depth == 1 else 8)
    if test == 'mset':  # ten keys each
        requests = max(requests // 5, 1000)
    before = cpu_seconds(process.pid)
    rate = run_benchmark(process.port, test, depth, requests, options)
    return {'rate': rate, 'cpu': (cpu_seconds(process.pid) - before) / requests * 1e6}


def start_targets(launcher):
    servers = {f'node-{number}': launcher.start_redis(f'redis-{number}') for number in (1, 2, 3)}
    config = relay_config(servers)
    config['workers'] = 1
    return {
        'redis-server, no proxy': launcher.start_redis('direct'),
        'nutcracker': launcher.start_nutcracker(servers, 'nutcracker'),
        'nutcracker -v 4': launcher.start_nutcracker(servers, 'nutcracker-v4', ['-v', '4']),
        'clockwise': launcher.start_clockwise(config),
    }


def progress(text):
    if sys.stderr.isatty():
        print(f'\r{text:<72}\r', end='', file=sys.stderr, flush=True)


def run_rounds(targets, options):
    """{(target, test, depth): [measurement of each round]}"""
    found = {}
    for round_number in range(options.rounds):
        for depth in options.depths:
            for test in options.tests:
                for name, process in targets.items():
                    progress(f'round {round_number + 1}/{options.rounds}: {test} P{depth} {name}')
                    found.setdefault((name, test, depth), []).append(
                        measure(process, test, depth, options))
    progress('')
    return found


def summarize(found):
    rows = []
    for (name, test, depth), rounds in found.items():
        cpu = [one['cpu'] for one in rounds]
        rows.append({'target': name, 'test': test, 'pipeline': depth,
                     'requests_per_second': round(statistics.median(one['rate'] for one in rounds)),
                     'cpu_s_per_million': round(statistics.median(cpu), 2),
                     'cpu_min': round(min(cpu), 2), 'cpu_max': round(max(cpu), 2)})
    return rows


def print_table(rows, targets, options):
    table = {(row['target'], row['test'], row['pipeline']): row for row in rows}
    print(f'{"":<24}{"requests/s":>12}{"CPU s per million":>22}{"requests/s":>14}{"CPU":>8}')
    print(f'{"":<24}{"median":>12}{"median [min-max]":>22}{"than nutcracker -v 4":>22}')
    for test, depth in columns(options):
        print(f'{test.upper()}, pipelines of {depth}')
        base = table['nutcracker -v 4', test, depth]
        for name in targets:
            row = table[name, test, depth]
            cpu = f'{row["cpu_s_per_million"]:.2f} [{row["cpu_min"]:.2f}-{row["cpu_max"]:.2f}]'
            rate_ratio = row['requests_per_second'] / base['requests_per_second']
            cpu_ratio = row['cpu_s_per_million'] / max(base['cpu_s_per_million'], 0.01)
            print(f'  {name:<22}{row["requests_per_second"]:>12,}{cpu:>22}'
                  f'{rate_ratio:>13.2f}x{cpu_ratio:>7.2f}x')
    print('memory at the end: ' + ', '.join(
        f'{name} {process.memory_mb():.0f} MB' for name, process in targets.items()))


def columns(options):
    return [(test, depth) for depth in options.depths for test in options.tests]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--json', action='store_true', help='the figures for programs')
    parser.add_argument('--rounds', type=int, default=3, choices=range(1, 21), metavar='1..20')
    parser.add_argument('--requests', type=int, default=20000,
                        help='of each run at P1, and 8 times as many with pipelines')
    parser.add_argument('--tests', default='get,set,mset,incr', type=lambda text: text.split(','))
    parser.add_argument('--depths', default='1,16', help='pipeline depths',
                        type=lambda text: [int(word) for word in text.split(',')])
    parser.add_argument('--clients', type=int, default=50)
    parser.add_argument('--size', type=int, default=64, help='bytes of a value')
    return parser.parse_args()


def main():
    options = read_options()
    launcher = Launcher()
    launcher.open()
    try:
        targets = start_targets(launcher)
        rows = summarize(run_rounds(targets, options))
        if options.json:
            print(json.dumps({'bench': 'proxies', 'rounds': options.rounds, 'rows': rows},
                             indent=2))
        else:
            print_table(rows, targets, options)
    finally:
        launcher.close()


if __name__ == '__main__':
    main()
