#!/usr/bin/python3
"""What an embedded node has acknowledged is there after the router was killed or asked to stop."""
import signal
import threading
import unittest

from harness import ProcessTest, embedded_config, wait_for

ACKNOWLEDGED_MIN = 2000


class Writer(threading.Thread):
    """Writes numbered keys in small pipelines until the connection breaks."""

    def __init__(self, router, number):
        super().__init__(daemon=True)
        self.router, self.number = router, number
        self.acknowledged, self.refused = [], []

    def run(self):
        try:
            with self.router.client() as client:
                for start in range(0, 10 ** 9, 16):
                    keys = [f'w{self.number}:{start + i}' for i in range(16)]
                    for key in keys:
                        client.send('SET', key, f'value of {key}')
                    for key in keys:
                        reply = client.read()
                        (self.acknowledged if reply == 'OK' else self.refused).append(key)
        except (ConnectionError, OSError):
            return


class Durability(ProcessTest):
    def start_embedded(self, durability, name='clockwise'):
        return self.start_clockwise(
            embedded_config(self.path('data'), durability=durability), name=name)

    def kill_while_writing(self, durability):
        router = self.start_embedded(durability)
        writers = [Writer(router, number) for number in range(4)]
        for writer in writers:
            writer.start()
        wait_for(lambda: sum(len(writer.acknowledged) for writer in writers) > ACKNOWLEDGED_MIN
                 or not all(writer.is_alive() for writer in writers), 'writes', 60)
        router.kill()
        for writer in writers:
            writer.join(20)
            self.assertEqual(writer.refused, [])
        return [key for writer in writers for key in writer.acknowledged]

    def assert_all_there(self, router, keys):
        with router.client() as client:
            values = client.pipeline(('GET', key) for key in keys)
        lost = [key for key, value in zip(keys, values) if value != f'value of {key}'.encode()]
        self.assertEqual(lost[:10], [], f'{len(lost)} of {len(keys)} are lost')

    def check_kill(self, durability):
        keys = self.kill_while_writing(durability)
        self.assertGreater(len(keys), ACKNOWLEDGED_MIN)
        self.assert_all_there(self.start_embedded(durability, 'clockwise-2'), keys)
        print(f'{durability}: {len(keys)} acknowledged writes, killed, 0 lost')

    def test_killed_with_always_no_acknowledged_write_is_lost(self):
        self.check_kill('always')

    def test_killed_with_everysec_no_acknowledged_write_is_lost(self):
        self.check_kill('everysec')

    def test_killed_with_no_no_acknowledged_write_is_lost(self):
        self.check_kill('no')

    def test_killed_again_and_again_the_data_can_be_opened(self):
        keys = []
        for round_number in range(3):
            router = self.start_embedded('always', f'clockwise-{round_number}')
            with router.client() as client:
                fresh = [f'r{round_number}:{i}' for i in range(200)]
                self.assertEqual(set(client.pipeline(('SET', key, f'value of {key}')
                                                     for key in fresh)), {'OK'})
                keys += fresh
                for i in range(200):
                    client.send('SET', f'unread{round_number}:{i}', 'x' * 1000)
            router.kill()
        self.assert_all_there(self.start_embedded('always', 'clockwise-last'), keys)

    def check_stop(self, number):
        router = self.start_embedded('everysec')
        keys = [f'key:{i}' for i in range(500)]
        with router.client() as client:
            client.pipeline(('SET', key, f'value of {key}') for key in keys)
            client.call('SET', 'short', 'lived', 'PX', '600000')
            self.assertEqual(router.stop(number), 0)
            self.assertTrue(client.is_closed())
        router = self.start_embedded('everysec', 'clockwise-2')
        self.assert_all_there(router, keys)
        with router.client() as client:
            self.assertEqual(client.call('DBSIZE'), len(keys) + 1)
            self.assertGreater(client.call('PTTL', 'short'), 0)

    def test_ctrl_c_stops_cleanly_and_the_data_is_there_afterwards(self):
        self.check_stop(signal.SIGINT)

    def test_sigterm_stops_cleanly_and_the_data_is_there_afterwards(self):
        self.check_stop(signal.SIGTERM)

    def test_it_stops_while_clients_write(self):
        router = self.start_embedded('always')
        writers = [Writer(router, number) for number in range(4)]
        for writer in writers:
            writer.start()
        wait_for(lambda: all(writer.acknowledged for writer in writers), 'writes', 60)
        self.assertEqual(router.stop(signal.SIGINT), 0)
        for writer in writers:
            writer.join(20)
        keys = [key for writer in writers for key in writer.acknowledged]
        self.assert_all_there(self.start_embedded('always', 'clockwise-2'), keys)


if __name__ == '__main__':
    unittest.main()
