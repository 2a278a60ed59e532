#!/usr/bin/python3
"""A short life of a router with several workers and embedded nodes, each on its thread: under
ThreadSanitizer this is where they meet."""
import threading
import unittest

from harness import ProcessTest, embedded_config, relay_config


def converse(router, number, problems):
    try:
        with router.client(timeout=60) as client:
            for turn in range(6):
                keys = [f'{number}:{turn}:{i}' for i in range(50)]
                client.call('MSET', *[text for key in keys for text in (key, key)])
                if client.call('MGET', *keys) != [key.encode() for key in keys]:
                    problems.append(f'{number}: MGET')
                replies = client.pipeline(('INCR', 'counter') for _ in range(20))
                if replies != sorted(replies):
                    problems.append(f'{number}: INCR {replies}')
                client.call('DBSIZE')
                client.call('INFO')
    except Exception as error:  # a thread's own exception would be lost
        problems.append(f'{number}: {error!r}')


class WorkersThreads(ProcessTest):
    def check(self, router):
        problems = []
        threads = [threading.Thread(target=converse, args=(router, number, problems))
                   for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertEqual(problems, [])
        with router.client() as client:
            self.assertEqual(client.call('GET', 'counter'), b'960')
            self.assertEqual(client.call('DBSIZE'), 8 * 6 * 50 + 1)

    def test_embedded_nodes_and_workers_share_nothing_by_mistake(self):
        config = embedded_config(self.path('data'))
        config['workers'] = 4
        self.check(self.start_clockwise(config))

    def test_workers_share_nothing_by_mistake(self):
        config = relay_config({node: self.start_redis(node) for node in ('a', 'b')})
        config['workers'] = 4
        self.check(self.start_clockwise(config))


if __name__ == '__main__':
    unittest.main()
