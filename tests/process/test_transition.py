#!/usr/bin/python3
"""Changing a fleet under load: nodes are added, drained, weighed anew and replaced while clients
write, and every acknowledged write is there afterwards, on the node that owns it and on no other.

CW_MOVE_KEYS sets how many keys lie there when the change begins (the recorded run used 200000).

covers: main
"""
import json
import os
import time
import unittest

from harness import ProcessTest, embedded_config, free_port, relay_config, wait_for
from load import FAR, Load, read_key

COLD_KEYS = int(os.environ.get('CW_MOVE_KEYS', '6000'))
END_SECONDS = 200


def cold_commands(count):
    """A key of each type in turn; all but one in ten are strings that the writers read."""
    for number in range(count):
        yield 'SET', f'cold:{number}', number
    for number in range(count // 10):
        yield 'RPUSH', f'cold-list:{number}', *range(number % 20 + 1)
        yield 'HSET', f'cold-hash:{number}', *(word for i in range(number % 20 + 1)
                                               for word in (f'f{i}', i))
        yield 'SADD', f'cold-set:{number}', *range(number % 20 + 1)
        yield 'ZADD', f'cold-zset:{number}', *(word for i in range(number % 20 + 1)
                                               for word in (i / 3, f'm{i}'))
        yield 'XADD', f'cold-stream:{number}', '1-1', 'field', number
        yield 'XADD', f'cold-stream:{number}', '1-2', 'field', number
        yield 'XGROUP', 'CREATE', f'cold-stream:{number}', 'group', '1-1'
        yield 'PFADD', f'cold-log:{number}', *range(number % 20 + 1)
        yield 'SET', f'cold-expiring:{number}', number, 'PXAT', FAR + number


class Fleet(ProcessTest):
    def setUp(self):
        super().setUp()
        self.load = None

    def tearDown(self):
        if self.load:
            self.load.kill()
        super().tearDown()

    def start_fleet(self, weights=None, **pool_options):
        weights = weights or {'cache-1': 1, 'cache-2': 1, 'cache-3': 1}
        self.servers = {node: self.start_redis(node) for node in weights}
        self.admin = f'127.0.0.1:{free_port()}'
        config = relay_config(self.servers, weights, **pool_options)
        config['admin'] = self.admin
        config['data_dir'] = self.path('data')
        config['log'] = {'level': 'debug'}
        self.router_config = config
        self.router = self.start_clockwise(config)

    def fill(self, count=COLD_KEYS):
        with self.router.client() as client:
            replies = client.pipeline(cold_commands(count))
        self.assertEqual([str(reply) for reply in replies if isinstance(reply, Exception)], [])
        self.cold_count = count

    def command(self, *arguments, **options):
        return self.clockwise_output(*arguments, '--admin', self.admin, seconds=END_SECONDS,
                                     **options)

    def status(self):
        return json.loads(self.command('transition', 'status', '--json'))

    def located(self, keys):
        """{key: node} by the running router's map."""
        lines = self.command('locate', stdin='\n'.join(keys) + '\n').splitlines()
        return dict(line.split('\t') for line in lines)

    def check_places(self):
        """Every key of every server is on its owner, alone; nothing of ours is left."""
        places = {}
        for node, server in self.servers.items():
            with server.client() as client:
                for key in client.call('KEYS', '*'):
                    self.assertFalse(key.startswith(b'\0cw:'), f'{key} is left on {node}')
                    self.assertNotIn(key, places, f'on {node} too')
                    places[key] = node
        owners = self.located([key.decode() for key in places])
        wrong = {key: (node, owners[key.decode()]) for key, node in places.items()
                 if owners[key.decode()] != node}
        self.assertEqual(wrong, {})
        return places

    def check_counts(self):
        """Every write that was acknowledged is there, exactly once."""
        load = self.load.stop()
        self.assertEqual(load.problems, [])
        known = {key: count for key, count in load.model.items() if count is not None}
        with self.router.client() as client:
            found = {key: read_key(client, key) for key in known}
            lost = {key: (found[key], count) for key, count in known.items()
                    if found[key] != count}
            self.assertEqual(lost, {})
            self.check_cold(client)
        return load

    def check_cold(self, client):
        count = self.cold_count
        values = client.pipeline(('GET', f'cold:{number}') for number in range(count))
        self.assertEqual(sum(value != str(number).encode()
                             for number, value in enumerate(values)), 0)
        for number in range(0, count // 10, 7):
            size = number % 20 + 1
            self.assertEqual(client.call('LRANGE', f'cold-list:{number}', 0, -1),
                             [str(i).encode() for i in range(size)])
            self.assertEqual(client.call('HLEN', f'cold-hash:{number}'), size)
            self.assertEqual(client.call('HGET', f'cold-hash:{number}', 'f0'), b'0')
            self.assertEqual(client.call('SCARD', f'cold-set:{number}'), size)
            self.assertEqual(float(client.call('ZSCORE', f'cold-zset:{number}', f'm{size - 1}')),
                             (size - 1) / 3)
            self.assertEqual(len(client.call('XRANGE', f'cold-stream:{number}', '-', '+')), 2)
            group = client.call('XINFO', 'GROUPS', f'cold-stream:{number}')[0]
            self.assertIn(b'1-1', group)
            self.assertLess(abs(client.call('PFCOUNT', f'cold-log:{number}') - size), 2)
            self.assertEqual(client.call('PEXPIRETIME', f'cold-expiring:{number}'), FAR + number)

    def change(self, *arguments):
        """A change under load, from quiet to quiet: prints what the clients felt."""
        self.load = Load(self.router.port, self.cold_count)
        time.sleep(1)  # what is usual before
        began = time.monotonic()
        output = self.command(*arguments, '--yes')
        ended = time.monotonic()
        time.sleep(0.5)
        return output, began, ended

    def finish(self, what, began, ended):
        load = self.check_counts()
        self.assertEqual(dict(load.errors), {})
        places = self.check_places()
        report = self.status()
        print(f'\n{what}: {len(places)} keys, {ended - began:.1f} s, hold '
              f'{report["freeze_us"] / 1000:.1f} ms, '
              f'{sum(load.model[key] or 0 for key in load.model)} counted writes, none lost')
        for name, start, end in (('before', 0, began), ('during', began, ended),
                                 ('after', ended, began + 1e9)):
            count, p50, p99, longest = load.percentiles(start, end)
            print(f'  {name}: {count} requests, p50 {p50:.2f} ms, p99 {p99:.2f} ms, max '
                  f'{longest:.2f} ms')
        return places


class Changes(Fleet):
    def check_share(self, share, plan):
        """Of keys, beside the plan's share of all that there could be."""
        print(f'  share {share:.4f}, by the plan {plan:.4f}')
        self.assertAlmostEqual(share, plan, delta=0.01)

    def test_a_fourth_server_joins(self):
        self.start_fleet()
        self.fill()
        before = self.check_places()
        self.servers['cache-4'] = self.start_redis('cache-4')
        output, began, ended = self.change('node', 'add', 'cache-4',
                                           f'127.0.0.1:{self.servers["cache-4"].port}')
        places = self.finish('add', began, ended)
        moved = [key for key in before if places.get(key) != before[key]]
        self.assertEqual({places[key] for key in moved}, {'cache-4'})
        self.check_share(len(moved) / len(before), 0.25)

    def test_a_server_is_drained(self):
        self.start_fleet()
        self.fill()
        _, began, ended = self.change('node', 'drain', 'cache-2')
        places = self.finish('drain', began, ended)
        self.assertNotIn('cache-2', set(places.values()))

    def test_a_weight_changes(self):
        self.start_fleet()
        self.fill()
        _, began, ended = self.change('node', 'weight', 'cache-1', '3')
        places = self.finish('weight', began, ended)
        share = sum(node == 'cache-1' for node in places.values()) / len(places)
        self.check_share(share, 0.6)

    def test_a_server_is_replaced(self):
        self.start_fleet()
        self.fill()
        new = self.start_redis('new')
        _, began, ended = self.change('node', 'replace', 'cache-3', f'127.0.0.1:{new.port}')
        with self.servers['cache-3'].client() as client:
            self.assertEqual(client.call('DBSIZE'), 0)
        self.servers['cache-3'] = new
        self.finish('replace', began, ended)

    def test_a_promoted_replica_takes_a_dead_servers_place(self):
        self.start_fleet()
        self.fill(300)
        replica, empty = self.start_redis('replica'), self.start_redis('empty')
        old = self.servers['cache-1']
        with old.client() as client, replica.client() as copy:
            count = client.call('DBSIZE')
            copy.call('REPLICAOF', '127.0.0.1', old.port)
            wait_for(lambda: copy.call('DBSIZE') == count, 'the replica to have everything', 60)
            old.kill()
            copy.call('REPLICAOF', 'NO', 'ONE')
        arguments = 'node', 'replace', 'cache-1', '--no-copy', '--yes', '--admin', self.admin
        refused = self.run_clockwise(*arguments, f'127.0.0.1:{empty.port}', seconds=END_SECONDS)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn('is empty, so it cannot have the data already', refused.stderr)
        self.command(*arguments[:-2], f'127.0.0.1:{replica.port}')
        self.assertEqual(self.status()['freeze_us'], 0)  # there was no freeze
        self.servers['cache-1'] = replica
        self.assertEqual(list(self.check_places().values()).count('cache-1'), count)
        with self.router.client() as client:
            self.check_cold(client)


class Stopping(Fleet):
    """A slow transition is looked at, paused, resumed, cancelled."""

    def start_slowly(self):
        self.start_fleet()
        self.fill(3000)
        self.servers['cache-4'] = self.start_redis('cache-4')
        self.load = Load(self.router.port, self.cold_count)
        self.command('node', 'add', 'cache-4', f'127.0.0.1:{self.servers["cache-4"].port}',
                     '--yes', '--no-wait', '--throttle', 'keys=300')
        self.wait_for_state('tracking')

    def wait_for_state(self, *states):
        return wait_for(lambda: self.status()['state'] in states, f'state {states}', 60)

    def last_entry(self):
        return json.loads(self.command('status', '--history', '--json'))['entries'][-1]

    def test_pause_resume_and_cancel(self):
        self.start_slowly()
        self.command('transition', 'pause')
        self.assertEqual(self.status()['outcome'], 'paused')
        wait_for(lambda: self.last_entry()['note'] == 'paused', 'the journal to say why')
        self.command('transition', 'resume')
        self.assertEqual(self.status()['outcome'], 'running')
        self.command('transition', 'cancel')
        self.wait_for_state('stable')
        self.check_counts()
        self.assertNotIn('cache-4', set(self.check_places().values()))
        with self.servers['cache-4'].client() as client:
            self.assertEqual(client.call('DBSIZE'), 0)

    def test_more_speed_ends_it(self):
        self.start_slowly()
        self.command('transition', 'throttle', 'keys=1000000')
        self.wait_for_state('stable')
        self.check_counts()
        self.assertIn('cache-4', set(self.check_places().values()))


if __name__ == '__main__':
    unittest.main()
