#!/usr/bin/python3
"""`clockwise transition status` tells of the last transition that was carried out, whatever was
refused since, and also when the router was started anew.

covers: control/last_transition, move/mover_watch
"""
import unittest

from harness import wait_for
from test_transition import Fleet

KEYS = 300


class Status(Fleet):
    def setUp(self):
        super().setUp()
        self.start_fleet()
        self.fill(KEYS)
        self.fourth = self.start_redis('cache-4')
        self.command('node', 'add', 'cache-4', f'127.0.0.1:{self.fourth.port}', '--yes')
        self.done = self.status()
        self.assertEqual(self.done['outcome'], 'done')

    def test_what_was_refused_is_not_the_last(self):
        full = self.start_redis('cache-5')
        with full.client() as client:
            client.pipeline([('SET', f'somebodys:{i}', i) for i in range(KEYS)])
        result = self.run_clockwise('node', 'add', 'cache-5', f'127.0.0.1:{full.port}', '--yes',
                                    '--admin', self.admin)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(self.command('transition', 'wait').split(';')[0], 'done: add cache-4')
        now = self.status()
        for key in ('id', 'what', 'outcome', 'copies', 'progress', 'reached'):
            self.assertEqual(now[key], self.done[key], key)

    def test_a_node_that_answers_is_not_dead(self):
        def doubts():
            text = self.command('node', 'dead', 'cache-1', '--dry-run')
            return text if 'speaks against it' in text else None
        text = wait_for(doubts, 'the router to have asked the node')
        self.assertIn("node 'cache-1' answers and has", text)
        self.assertIn('clockwise node drain cache-1', text)
        self.servers['cache-1'].kill()
        wait_for(lambda: not doubts(), 'the router to see that it is dead')

    def test_a_router_that_was_started_anew_knows_it(self):
        self.router.stop()
        self.router = self.start_clockwise(self.router_config)
        now = self.status()
        for key in ('id', 'what', 'who', 'outcome', 'copies', 'copied_bytes', 'generation'):
            self.assertEqual(now[key], self.done[key], key)
        text = self.command('transition', 'status')
        self.assertIn('transition 1 done: add cache-4\n', text)
        self.assertNotIn('scanned', text)
        self.assertEqual(self.command('transition', 'wait').split(';')[0], 'done: add cache-4')


if __name__ == '__main__':
    unittest.main()
