#!/usr/bin/python3
"""What moving a key costs, beside MIGRATE of the same keys in the same run.

Two redis-servers behind clockwise hold small keys; a third joins, and a share of the keys moves to
it with nobody else at work. What the router and the servers spend of CPU is taken from the kernel's
accounts and divided by the keys that moved. Then as many of the same keys are moved by MIGRATE, as
`redis-cli --cluster reshard` does: in pipelines of ten keys a command.
"""
import argparse
import json
import os
import subprocess
import sys
import time

from proxies import Launcher, progress, relay_config

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'tests',
                                'process'))
from harness import CLOCKWISE, free_port  # noqa: E402


MIGRATE_KEYS = 10


def cpu_seconds(pid):
    """User and system time of a process, all threads, to the nanosecond where the kernel tells."""
    total = 0
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/schedstat', encoding='ascii') as file:
            total += int(file.read().split()[0])
    return total / 1e9


class Meter:
    def __init__(self, processes):
        self.processes = processes
        self.before = {name: cpu_seconds(process.pid) for name, process in processes.items()}
        self.started = time.monotonic()

    def stop(self, keys):
        """{name: microseconds of CPU a key}, and the seconds it took."""
        took = time.monotonic() - self.started
        return {name: round((cpu_seconds(process.pid) - self.before[name]) * 1e6 / keys, 2)
                for name, process in self.processes.items()}, took


def fill(port, options):
    from resp import Client
    with Client(port) as client:
        for start in range(0, options.keys, 1000):
            replies = client.pipeline(('SET', f'key:{number}', 'v' * options.value)
                                      for number in range(start, start + 1000))
            assert not any(isinstance(reply, Exception) for reply in replies), replies[0]


def size(server):
    with server.client() as client:
        return client.call('DBSIZE')


def move_by_clockwise(launcher, options):
    servers = {node: launcher.start_redis(node) for node in ('red', 'green', 'blue')}
    admin = f'127.0.0.1:{free_port()}'
    config = relay_config({node: servers[node] for node in ('red', 'green')})
    config.update(admin=admin, workers=1, data_dir=launcher.path('data'))
    router = launcher.start_clockwise(config)
    fill(router.port, options)
    time.sleep(1)
    meter = Meter({'router': router, 'source': servers['red'], 'other source': servers['green'],
                   'target': servers['blue']})
    subprocess.run([CLOCKWISE, 'node', 'add', 'blue', f'127.0.0.1:{servers["blue"].port}', '--yes',
                    '--throttle', 'off', '--admin', admin],
                   check=True, capture_output=True, timeout=600)
    moved = size(servers['blue'])
    figures, took = meter.stop(moved)
    figures['source'] += figures.pop('other source')
    return {'keys': moved, 'seconds': round(took, 2), 'cpu_us_per_key': figures}


def move_by_migrate(launcher, options, count):
    source, target = launcher.start_redis('from'), launcher.start_redis('to')
    fill(source.port, options)
    time.sleep(1)
    meter = Meter({'source': source, 'target': target})
    with source.client(timeout=600) as client:
        numbers = range(count)
        replies = client.pipeline(
            ('MIGRATE', '127.0.0.1', target.port, '', 0, 60000, 'KEYS',
             *(f'key:{number}' for number in numbers[start:start + MIGRATE_KEYS]))
            for start in range(0, count, MIGRATE_KEYS))
    assert {str(reply) for reply in replies} == {'OK'}, replies[0]
    figures, took = meter.stop(count)
    return {'keys': count, 'seconds': round(took, 2), 'cpu_us_per_key': figures}


def print_table(found, options):
    print(f'{options.value} byte values; microseconds of CPU a key')
    print(f'{"":<12}' + ''.join(f'{title:>10}' for title in
                                ('keys', 'seconds', 'router', 'source', 'target', 'all')))
    for name, one in found.items():
        cpu = one['cpu_us_per_key']
        router = f'{cpu["router"]:.2f}' if 'router' in cpu else '-'
        print(f'{name:<12}{one["keys"]:>10,}{one["seconds"]:>10.2f}{router:>10}'
              f'{cpu["source"]:>10.2f}{cpu["target"]:>10.2f}{sum(cpu.values()):>10.2f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--json', action='store_true', help='the figures for programs')
    parser.add_argument('--keys', type=int, default=300000, help='that are filled in')
    parser.add_argument('--value', type=int, default=32, help='bytes of each value')
    options = parser.parse_args()
    launcher = Launcher()
    launcher.open()
    try:
        progress('clockwise')
        found = {'clockwise': move_by_clockwise(launcher, options)}
        progress('MIGRATE')
        found['MIGRATE'] = move_by_migrate(launcher, options, found['clockwise']['keys'])
        progress('')
        if options.json:
            print(json.dumps({'bench': 'move', **found}, indent=2))
        else:
            print_table(found, options)
    finally:
        launcher.close()


if __name__ == '__main__':
    main()
