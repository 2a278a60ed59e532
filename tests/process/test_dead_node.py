#!/usr/bin/python3
"""A server that stops, dies and comes back: its keys get an error that names it within the
deadline, those of the others are not disturbed, and it is used again as soon as it answers."""
import threading
import time
import unittest

from harness import ProcessTest, relay_config, wait_for
from resp import ReplyError

TIMEOUT_MS = 500
# The deadline itself, and what a busy machine may add to it.
SLACK_SECONDS = 5
KEYS = [f'key:{number}' for number in range(300)]


class Traffic(threading.Thread):
    """Asks for keys round and round on a connection of its own and counts what is not right."""

    def __init__(self, router, keys):
        super().__init__(daemon=True)
        self.router, self.keys = router, keys
        self.asked, self.wrong, self.slowest = 0, [], 0.0
        self.stopping = threading.Event()

    def run(self):
        with self.router.client() as client:
            while not self.stopping.is_set():
                for start in range(0, len(self.keys), 20):
                    keys = self.keys[start:start + 20]
                    before = time.monotonic()
                    replies = client.pipeline(('GET', key) for key in keys)
                    self.slowest = max(self.slowest, time.monotonic() - before)
                    self.asked += len(keys)
                    self.wrong += [(key, reply) for key, reply in zip(keys, replies)
                                   if reply != f'value of {key}'.encode()]

    def finish(self):
        self.stopping.set()
        self.join(30)


class DeadNode(ProcessTest):
    def setUp(self):
        super().setUp()
        self.servers = {node: self.start_redis(node) for node in ('red', 'green', 'blue')}
        self.router = self.start_clockwise(self.make_config())
        self.fill()
        self.victim = 'green'
        self.server = self.servers[self.victim]
        self.dead_keys = [key for key in KEYS if self.owners[key] == self.victim]
        self.live_keys = [key for key in KEYS if self.owners[key] != self.victim]
        self.assertGreater(len(self.dead_keys), 50)

    def make_config(self):
        return relay_config(self.servers, timeout=f'{TIMEOUT_MS}ms', probe_interval='50ms',
                            probe_interval_max='200ms')

    def fill(self):
        with self.router.client() as client:
            self.assertEqual(set(client.pipeline(('SET', key, f'value of {key}') for key in KEYS)),
                             {'OK'})
        self.owners = {}
        for node, server in self.servers.items():
            with server.client() as client:
                self.owners.update((key.decode(), node) for key in client.call('KEYS', '*'))
        self.assertEqual(len(self.owners), len(KEYS))

    def assert_names_the_node(self, error):
        self.assertIsInstance(error, ReplyError)
        self.assertIn(self.victim, str(error))

    def assert_fails_in_time(self, client):
        """Every key of the dead node gets its error, each within the deadline."""
        for key in self.dead_keys[:20]:
            before = time.monotonic()
            with self.assertRaises(ReplyError) as caught:
                client.call('GET', key)
            self.assertLess(time.monotonic() - before, TIMEOUT_MS / 1000 + SLACK_SECONDS)
            self.assert_names_the_node(caught.exception)

    def wait_until_served(self, client):
        def served():
            try:
                return client.call('GET', self.dead_keys[0]) is not None
            except ReplyError:
                return False
        wait_for(served, f'{self.victim} to be used again')

    def assert_all_right(self, client):
        """No key has the reply of another one, whatever came late."""
        replies = client.pipeline(('GET', key) for key in KEYS)
        self.assertEqual(replies, [f'value of {key}'.encode() for key in KEYS])

    def test_a_stopped_server_fails_its_own_keys_and_no_others(self):
        traffic = Traffic(self.router, self.live_keys)
        traffic.start()
        with self.router.client(timeout=30) as client:
            self.server.pause()
            self.assert_fails_in_time(client)
            replies = client.pipeline(('GET', key) for key in KEYS)
            for key, reply in zip(KEYS, replies):
                if self.owners[key] == self.victim:
                    self.assert_names_the_node(reply)
                else:
                    self.assertEqual(reply, f'value of {key}'.encode())
            with self.assertRaises(ReplyError) as caught:
                client.call('MGET', self.live_keys[0], self.dead_keys[0])
            self.assert_names_the_node(caught.exception)
            self.server.resume()
            self.wait_until_served(client)
            self.assert_all_right(client)
        traffic.finish()
        self.assertEqual(traffic.wrong, [])
        print(f'{traffic.asked} requests to the other nodes, 0 wrong, '
              f'slowest batch {traffic.slowest * 1000:.0f} ms')

    def test_once_known_as_dead_it_costs_no_deadline(self):
        with self.router.client(timeout=30) as client:
            self.server.pause()
            self.assert_fails_in_time(client)
            before = time.monotonic()
            count = 400
            for number in range(count):
                with self.assertRaises(ReplyError):
                    client.call('GET', self.dead_keys[number % len(self.dead_keys)])
            # Waiting for each deadline would take 200 s.
            self.assertLess(time.monotonic() - before, count * TIMEOUT_MS / 1000 / 4)

    def test_many_waiting_requests_all_get_their_error(self):
        with self.router.client(timeout=30) as client:
            self.server.pause()
            keys = (self.dead_keys * 5)[:250]
            for reply in client.pipeline(('GET', key) for key in keys):
                self.assert_names_the_node(reply)

    def test_a_reply_that_comes_late_is_given_to_nobody(self):
        with self.router.client(timeout=30) as client:
            for _ in range(3):
                self.server.pause()
                client.pipeline(('GET', key) for key in self.dead_keys)
                self.server.resume()
                self.wait_until_served(client)
                self.assert_all_right(client)

    def test_a_killed_server_is_used_again_when_it_is_back(self):
        with self.router.client(timeout=30) as client:
            self.server.kill()
            self.assert_fails_in_time(client)
            replies = client.pipeline(('GET', key) for key in self.live_keys)
            self.assertNotIn(ReplyError, set(map(type, replies)))
            back = self.start_redis(self.victim, port=self.server.port)
            with back.client() as direct:
                direct.pipeline(('SET', key, f'value of {key}') for key in self.dead_keys)
            self.wait_until_served(client)
            self.assert_all_right(client)

    def test_a_server_that_is_not_there_at_the_start_is_used_when_it_comes(self):
        self.router.stop()
        self.server.kill()
        router = self.start_clockwise(self.make_config(), name='clockwise-2')
        with router.client(timeout=30) as client:
            self.assert_fails_in_time(client)
            self.assertEqual(client.call('GET', self.live_keys[0]),
                             f'value of {self.live_keys[0]}'.encode())
            back = self.start_redis(self.victim, port=self.server.port)
            with back.client() as direct:
                direct.pipeline(('SET', key, f'value of {key}') for key in self.dead_keys)
            self.wait_until_served(client)


class HeldUpRouter(ProcessTest):
    """The time in which the router itself does not run says nothing about nodes."""

    TIMEOUT_SECONDS, TIMES = 2, 3

    def test_a_reply_that_waited_for_the_router_is_no_late_one(self):
        server = self.start_redis('only')
        router = self.start_clockwise(relay_config({'only': server},
                                                   timeout=f'{self.TIMEOUT_SECONDS}s'))
        with router.client(timeout=60) as client:
            for number in range(self.TIMES):
                server.pause()
                client.send('INCR', 'key')
                time.sleep(0.2)  # the request has gone out; if not, this round shows nothing
                router.pause()
                server.resume()
                time.sleep(self.TIMEOUT_SECONDS + 0.5)
                router.resume()
                self.assertEqual(client.read(), number + 1)


if __name__ == '__main__':
    unittest.main()
