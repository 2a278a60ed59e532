#!/usr/bin/python3
"""Each limit of the configuration holds where it says, and not one step earlier."""
import threading
import time
import unittest

from fake_node import FakeNode
from harness import ProcessTest, embedded_config, relay_config, wait_for
from resp import Client, ReplyError, encode


class Limits(ProcessTest):
    def start_with(self, **limits):
        config = embedded_config(self.path('data'))
        config['limits'] = limits
        return self.start_clockwise(config)

    def assert_refused(self, router, *arguments):
        """An error; the connection may go on or be closed, others are not disturbed."""
        with router.client() as client:
            with self.assertRaises(ReplyError) as caught:
                client.call(*arguments)
        with router.client() as client:
            self.assertEqual(client.call('PING'), 'PONG')
        return str(caught.exception)

    def assert_taken(self, router, *arguments):
        with router.client() as client:
            client.call(*arguments)

    def test_clients(self):
        router = self.start_with(clients=10)
        # The harness's own connection of a moment ago may still be counted.
        wait_for(lambda: self.fits_exactly(router, 10), 'ten clients to fit and no more')

    def fits_exactly(self, router, count):
        clients = [router.client() for _ in range(count)]
        try:
            for client in clients:
                if client.call('PING') != 'PONG':
                    return False
            with Client(router.port) as one_more:
                one_more.send('PING')
                try:
                    reply = one_more.read()
                except ConnectionError:
                    return False
                self.assertIsInstance(reply, ReplyError)
                self.assertRegex(str(reply), '(?i)client')
                self.assertTrue(one_more.is_closed())
            return True
        except (ReplyError, ConnectionError):
            return False
        finally:
            for client in clients:
                client.close()

    def test_key(self):
        router = self.start_with(key=100)
        self.assert_taken(router, 'SET', 'k' * 100, 'value')
        self.assertRegex(self.assert_refused(router, 'SET', 'k' * 101, 'value'), '(?i)key')
        self.assert_refused(router, 'MGET', 'a', 'k' * 101)

    def test_value(self):
        router = self.start_with(value='2kb', key='1kb')
        self.assert_taken(router, 'SET', 'key', 'v' * 2048)
        self.assert_refused(router, 'SET', 'key', 'v' * 2049)

    def test_arguments(self):
        router = self.start_with(arguments=10)
        self.assert_taken(router, 'MGET', *'abcdefghi')
        self.assert_refused(router, 'MGET', *'abcdefghij')

    def test_request(self):
        router = self.start_with(request='4kb', value='4kb', key='1kb', inline='1kb')
        self.assert_taken(router, 'MSET', 'a', 'v' * 1500, 'b', 'v' * 1500)
        self.assert_refused(router, 'MSET', 'a', 'v' * 2500, 'b', 'v' * 2500)

    def test_inline(self):
        router = self.start_with(inline=64)
        with router.client() as client:
            client.send_raw(b'PING ' + b'x' * 40 + b'\r\n')
            self.assertEqual(client.read(), b'x' * 40)
            client.send_raw(b'PING ' + b'x' * 80 + b'\r\n')
            self.assertIsInstance(client.read(), ReplyError)
            self.assertTrue(client.is_closed())

    def test_pipeline_is_answered_whole_however_long(self):
        router = self.start_with(pipeline=16)
        with router.client() as client:
            client.send_raw(b''.join(encode(['SET', f'k{i}', i]) for i in range(500)))
            self.assertEqual([client.read() for _ in range(500)], ['OK'] * 500)

    def test_pipeline_bounds_what_waits_at_a_node(self):
        node, router = self.start_over_silent_node({'pipeline': 16})
        with router.client() as client:
            client.send_raw(b''.join(encode(['GET', f'k{i}']) for i in range(500)))
            wait_for(lambda: len(node.requests) >= 16, '16 requests at the node')
            time.sleep(0.3)
            self.assertEqual(len(node.requests), 16)

    def test_node_queue_bounds_what_waits_at_a_node(self):
        node, router = self.start_over_silent_node({'node_queue': 8}, workers=1)
        clients = [router.client() for _ in range(30)]
        for number, client in enumerate(clients):
            client.send('GET', f'k{number}')
        wait_for(lambda: len(node.requests) >= 8, '8 requests at the node')
        time.sleep(0.3)
        self.assertEqual(len(node.requests), 8)
        for client in clients:
            reply = client.read()
            self.assertIsInstance(reply, ReplyError)
            self.assertIn('silent', str(reply))
            client.close()

    def start_over_silent_node(self, limits, workers=2):
        node = FakeNode(lambda _: None)
        self.addCleanup(node.close)
        config = relay_config({'silent': node}, timeout='3s')
        config['limits'], config['workers'] = limits, workers
        return node, self.start_clockwise(config)

    def test_reply(self):
        server = self.start_redis()
        config = relay_config({'large': server}, probe_interval='50ms')
        config['limits'] = {'reply': '4kb'}
        router = self.start_clockwise(config)
        with router.client() as client:
            client.call('SET', 'small', 'v' * 4000)
            self.assertEqual(client.call('GET', 'small'), b'v' * 4000)
            client.call('SET', 'large', 'v' * 5000)
            with self.assertRaises(ReplyError) as caught:
                client.call('GET', 'large')
            self.assertIn('large', str(caught.exception))

            def served():
                try:
                    return client.call('GET', 'small') == b'v' * 4000
                except ReplyError:
                    return False
            wait_for(served, 'the node to be used again')

    def test_idle(self):
        router = self.start_with(idle='1s')
        with router.client() as client:
            self.assertEqual(client.call('PING'), 'PONG')
            started = time.monotonic()
            self.assertTrue(client.is_closed())
            self.assertGreater(time.monotonic() - started, 0.5)

    def test_client_memory_bounds_a_client_that_does_not_read(self):
        router = self.start_with(client_memory='1mb')
        with router.client() as client:
            client.call('SET', 'large', 'x' * 50000)
            before = router.memory_mb()
            clients = [router.client(timeout=1) for _ in range(8)]
            threads = [threading.Thread(target=self.ask_and_never_read, args=(greedy,))
                       for greedy in clients]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
            self.assertEqual(client.call('GET', 'large'), b'x' * 50000)
            # 8 clients x 1 MB, what the kernel took, and what a sanitizer keeps; not 8 x 50 MB.
            self.assertLess(router.memory_mb() - before, 150)
            for greedy in clients:
                greedy.close()

    @staticmethod
    def ask_and_never_read(client):
        try:
            for _ in range(1000):
                client.send('GET', 'large')
        except OSError:
            pass


if __name__ == '__main__':
    unittest.main()
