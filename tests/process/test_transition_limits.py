#!/usr/bin/python3
"""How many pools' keys move at once in one router: one more is refused with the names of those that
move, what copies nothing is not, and after a restart all that had begun go on.

covers: move/mover
"""
import json
import unittest

from harness import ProcessTest, free_port, relay_config, wait_for

END_SECONDS = 120
KEYS = 600
POOLS = ('carts', 'users', 'views')


class SeveralPools(ProcessTest):
    def start_pools(self, **move):
        """Pools of two nodes each; {pool: a server that is in none yet}."""
        self.admin = f'127.0.0.1:{free_port()}'
        self.config = {'admin': self.admin, 'data_dir': self.path('data'), 'workers': 1,
                       'move': move, 'pools': {}}
        self.more, self.ports = {}, {}
        for pool in POOLS:
            servers = {f'{pool}-{i}': self.start_redis(f'{pool}-{i}') for i in (1, 2, 3)}
            self.more[pool] = servers.pop(f'{pool}-3')
            self.config['pools'][pool] = relay_config(servers)['pools']['main']
            self.ports[pool] = free_port()
            self.config['pools'][pool]['listen'] = f'127.0.0.1:{self.ports[pool]}'
            for server in servers.values():
                with server.client() as client:
                    client.pipeline([('SET', f'{pool}:{i}', i) for i in range(KEYS)])
        self.start_router()

    def start_router(self):
        self.router = self.start_clockwise(self.config)

    def ask(self, *arguments):
        return self.run_clockwise(*arguments, '--admin', self.admin)

    def add(self, pool, throttle='keys=20'):
        """Begins to move keys to the pool's third server, slowly."""
        return self.ask('node', 'add', f'{pool}-3', f'127.0.0.1:{self.more[pool].port}', '--pool',
                        pool, '--yes', '--no-wait', '--throttle', throttle)

    def state(self, pool):
        result = self.ask('transition', 'status', '--json', '--pool', pool)
        return json.loads(result.stdout)['outcome'] if result.returncode == 0 else 'none'

    def report(self, pool):
        return json.loads(self.ask('transition', 'status', '--json', '--pool', pool).stdout)

    def go_on(self, pool):
        self.ask('transition', 'throttle', 'off', '--pool', pool)
        wait_for(lambda: self.state(pool) == 'done', f'the end in pool {pool}', END_SECONDS)

    def assert_refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_one_pool_moves_unless_more_may(self):
        self.start_pools()
        self.assertEqual(self.add('carts').returncode, 0)
        self.assert_refused(self.add('users'), "keys of pool 'carts' are being moved",
                            'those of 1 pool at a time', 'clockwise transition wait',
                            'move.transitions')
        self.assertEqual(self.state('users'), 'none')
        self.go_on('carts')
        self.assertEqual(self.add('users').returncode, 0)

    def test_what_copies_nothing_is_not_made_to_wait(self):
        self.start_pools()
        self.assertEqual(self.add('carts').returncode, 0)
        dead = self.ask('node', 'dead', 'views-2', '--pool', 'views', '--yes')
        self.assertEqual(dead.returncode, 0, dead.stderr)
        self.assertEqual(self.state('carts'), 'running')

    def test_as_many_as_were_begun_go_on_after_a_restart(self):
        self.start_pools(transitions=2)
        self.assertEqual(self.add('carts').returncode, 0)
        self.assertEqual(self.add('users').returncode, 0)
        self.assert_refused(self.add('views'), "keys of pools 'carts', 'users' are being moved",
                            'those of 2 pools at a time')
        self.router.kill()
        self.config['move'] = {'transitions': 1}
        self.start_router()
        self.assertEqual([self.state(pool) for pool in POOLS[:2]], ['running', 'running'])
        self.assert_refused(self.add('views'), "'carts', 'users'", 'of 1 pool at a time')
        self.go_on('users')
        self.go_on('carts')
        self.assertEqual(self.add('views').returncode, 0)

    def test_the_limit_of_all_holds_whatever_one_of_them_is_allowed(self):
        self.start_pools(keys_per_second=1)
        self.assertEqual(self.add('carts', 'off').returncode, 0)
        wait_for(lambda: self.report('carts')['progress']['copies'], 'the first copies',
                 END_SECONDS)
        # About 200 keys move: without the limit they are there in no time, with it in minutes.
        self.assertEqual(self.report('carts')['state'], 'tracking')
        self.assertLess(self.report('carts')['progress']['copies'], 190)


if __name__ == '__main__':
    unittest.main()
