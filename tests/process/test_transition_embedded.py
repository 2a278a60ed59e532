#!/usr/bin/python3
"""A pool of embedded nodes changes under load: a node joins, leaves, changes its weight; the router
is stopped and killed meanwhile. Every acknowledged write is there.

covers: main, store/embedded_node
"""
import json
import os
import unittest

from crash_fleet import CrashFleet
from harness import embedded_config, free_port
from load import STRINGS, Load

COLD_KEYS = int(os.environ.get('CW_EMBEDDED_KEYS', '6000'))


class Embedded(CrashFleet):
    servers, fourth = {}, None

    def start_pool(self, **options):
        self.admin = f'127.0.0.1:{free_port()}'
        self.config = embedded_config(self.path('data'), ('n-1', 'n-2', 'n-3'), timeout='20s',
                                      **options)
        self.config['admin'] = self.admin
        self.start_router()
        self.cold_count = COLD_KEYS
        with self.router.client() as client:
            client.pipeline(('SET', f'cold:{number}', number) for number in range(COLD_KEYS))
        self.start_load()

    def start_load(self):
        self.load = Load(self.router.port, self.cold_count, writers=2, kinds=STRINGS)

    def check_cold(self, client):
        values = client.pipeline(('GET', f'cold:{number}') for number in range(COLD_KEYS))
        self.assertEqual([value for number, value in enumerate(values)
                          if value != str(number).encode()], [])

    def check_places(self):
        """Each key is counted on one node only, and none is ours."""
        with self.router.client() as client:
            keys = client.call('KEYS', '*')
            self.assertEqual(client.call('DBSIZE'), len(keys))
        self.assertEqual(len(set(keys)), len(keys))
        self.assertEqual([key for key in keys if key.startswith(b'\0cw:')], [])
        return keys

    def shares(self):
        owners = self.located([f'cold:{number}' for number in range(COLD_KEYS)]).values()
        return {node: sum(owner == node for owner in owners) / COLD_KEYS for node in set(owners)}

    def check_all_again(self, what):
        """Before and after a restart."""
        self.assertFalse(self.is_running())
        print(f'\n{what}: {self.check_all()}', flush=True)
        self.assertEqual(self.router.stop(), 0)
        self.start_router()
        self.check_all()

    def test_a_pool_grows_to_as_many_as_there_may_be_at_once(self):
        self.start_pool()
        nodes = [{'id': f'n-{number}'} for number in range(1, 65)]
        path = self.write('grown.yaml', json.dumps(
            {'pools': {'main': {**self.config['pools']['main'], 'nodes': nodes}}}))
        self.command('apply', path, '--yes')
        self.check_all_again('64 nodes')
        result = self.run_clockwise('node', 'add', 'n-65', '--yes', '--admin', self.admin)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn('at most 64 are possible', result.stderr)

    def test_nodes_join_leave_and_change_their_weights(self):
        self.start_pool()
        self.command('node', 'add', 'n-4', '--yes')
        self.assertAlmostEqual(self.shares()['n-4'], 0.25, delta=0.03)
        self.command('node', 'weight', 'n-1', '3', '--yes')
        self.assertAlmostEqual(self.shares()['n-1'], 0.5, delta=0.03)
        self.command('node', 'drain', 'n-2', '--yes')
        self.assertNotIn('n-2', self.shares())
        self.check_all_again('add, weight, drain')
        self.assertEqual(dict(self.load.errors), {})

    def begin(self):
        self.command('node', 'add', 'n-4', '--yes', '--no-wait', '--throttle', 'keys=600')
        self.watch_stored('tracking')

    def test_the_router_is_killed(self):
        self.start_pool(durability='always')
        self.begin()
        for _ in range(2):
            self.wait_copying()
            self.assertEqual(self.kill_router(), 'tracking')
            self.start_router()
        self.assertEqual(self.go_on(), 'done')
        self.assertAlmostEqual(self.shares()['n-4'], 0.25, delta=0.03)
        self.check_all_again('killed when tracking')

    def test_it_is_cancelled(self):
        self.start_pool()
        self.begin()
        self.command('transition', 'cancel')
        self.assertEqual(self.wait_for_end(), 'cancelled')
        self.assertNotIn('n-4', self.shares())
        self.check_all_again('cancelled')


if __name__ == '__main__':
    unittest.main()
