#!/usr/bin/python3
"""What the keys of the other nodes feel when one node stops answering.

Three redis-servers behind clockwise; one of them is stopped (SIGSTOP) while a client keeps asking
for its keys, and goes on later. All the time redis-benchmark asks for a key of another node and
tells the latencies that it saw. The phases are repeated, so that the machine's own noise can be
told from the node's absence: compare the spread of `before` with the others.
"""
import argparse
import csv
import io
import json
import statistics
import subprocess
import threading
import time

from proxies import Launcher, progress, relay_config

PHASES = ('before', 'stopped', 'after')
FIGURES = ('rps', 'p50_latency_ms', 'p99_latency_ms', 'max_latency_ms')


class Asker(threading.Thread):
    """Asks for one key again and again, as clients of a node do that does not know it is dead."""

    def __init__(self, router, key):
        super().__init__(daemon=True)
        self.router, self.key = router, key
        self.errors = 0
        self.stopping = threading.Event()

    def run(self):
        with self.router.client(timeout=10) as client:
            while not self.stopping.is_set():
                reply = client.pipeline([('GET', self.key)])[0]
                self.errors += isinstance(reply, Exception)
                time.sleep(0.001)


def keys_of_nodes(router, servers):
    """{node: one key that lives there}"""
    keys = {}
    with router.client() as client:
        for number in range(100):
            client.call('SET', f'key:{number}', 'x' * 64)
    for node, server in servers.items():
        with server.client() as client:
            keys[node] = client.call('KEYS', '*')[0].decode()
    return keys


def ask(port, key, options):
    """What redis-benchmark saw: {figure: number}"""
    output = subprocess.run(
        ['redis-benchmark', '-p', str(port), '-n', str(options.requests), '-c',
         str(options.clients), '--csv', 'GET', key],
        capture_output=True, text=True, timeout=120, check=True).stdout
    start = output.index('"test"')
    row = next(csv.DictReader(io.StringIO(output[start:])))
    return {figure: float(row[figure]) for figure in FIGURES}


def run_round(router, servers, keys, options):
    found = {}
    victim, live = list(servers)[:2]
    found['before'] = ask(router.port, keys[live], options)
    servers[victim].pause()
    asker = Asker(router, keys[victim])
    asker.start()
    found['stopped'] = ask(router.port, keys[live], options)
    asker.stopping.set()
    asker.join(20)
    servers[victim].resume()
    time.sleep(1)
    found['after'] = ask(router.port, keys[live], options)
    found['stopped']['errors_of_the_stopped_node'] = asker.errors
    return found


def print_table(rounds):
    print(f'{"other nodes":<14}{"requests/s":>12}{"p50 ms":>10}{"p99 ms":>10}'
          f'{"p99 of each round":>30}{"max ms":>10}')
    for phase in PHASES:
        figures = {figure: [one[phase][figure] for one in rounds] for figure in FIGURES}
        each = ' '.join(f'{value:.2f}' for value in sorted(figures['p99_latency_ms']))
        print(f'{phase:<14}{statistics.median(figures["rps"]):>12,.0f}'
              f'{statistics.median(figures["p50_latency_ms"]):>10.2f}'
              f'{statistics.median(figures["p99_latency_ms"]):>10.2f}{each:>30}'
              f'{max(figures["max_latency_ms"]):>10.2f}')
    errors = sum(one['stopped']['errors_of_the_stopped_node'] for one in rounds)
    print(f'the stopped node was asked all the while: {errors} errors')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--json', action='store_true', help='the figures for programs')
    parser.add_argument('--rounds', type=int, default=5, choices=range(1, 21), metavar='1..20')
    parser.add_argument('--requests', type=int, default=30000, help='of each phase')
    parser.add_argument('--clients', type=int, default=20)
    options = parser.parse_args()
    launcher = Launcher()
    launcher.open()
    try:
        servers = {node: launcher.start_redis(node) for node in ('red', 'green', 'blue')}
        router = launcher.start_clockwise(relay_config(servers, timeout='250ms'))
        keys = keys_of_nodes(router, servers)
        rounds = []
        for number in range(options.rounds):
            progress(f'round {number + 1}/{options.rounds}')
            rounds.append(run_round(router, servers, keys, options))
        progress('')
        if options.json:
            print(json.dumps({'bench': 'dead_node', 'rounds': rounds}, indent=2))
        else:
            print_table(rounds)
    finally:
        launcher.close()


if __name__ == '__main__':
    main()
