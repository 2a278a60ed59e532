#!/usr/bin/python3
"""The stale-read scene: a server stops, writes to its keys are tried, it goes on for a moment and
stops again. Whatever a client reads meanwhile, no value is older than a write that was
acknowledged: with on_node_down fail and miss, because nobody else takes the writes."""
import unittest

from harness import ProcessTest, relay_config, wait_for
from resp import ReplyError

WRITES = 30


class StaleRead(ProcessTest):
    def setUp(self):
        super().setUp()
        self.servers = {node: self.start_redis(node) for node in ('red', 'green', 'blue')}

    def start_router(self, policy):
        config = relay_config(self.servers, timeout='200ms', probe_interval='50ms',
                              probe_interval_max='100ms', on_node_down=policy)
        return self.start_clockwise(config, name=f'clockwise-{policy}')

    def keys_of(self, client, node):
        """WRITES keys that the router puts on a server, and one more."""
        keys = [f'key:{number}' for number in range(10 * WRITES)]
        client.pipeline(('SET', key, 'old') for key in keys)
        with self.servers[node].client() as server:
            there = {key.decode() for key in server.call('KEYS', '*')}
        mine = [key for key in keys if key in there][:WRITES + 1]
        self.assertEqual(len(mine), WRITES + 1)
        return mine[:WRITES], mine[WRITES]

    def ask(self, client, *words):
        try:
            return client.call(*words)
        except ReplyError as error:
            return error

    def wait_until_used(self, client, server, key, value):
        """Until the router asks the server itself again: it has a value that nobody else has."""
        with server.client() as direct:
            direct.call('SET', key, value)
        wait_for(lambda: self.ask(client, 'GET', key) == value.encode(), 'the server to be used')

    def play(self, policy):
        """Returns the values read by key in the order of reading, and the last that was
        acknowledged before each."""
        router, server, readings = self.start_router(policy), self.servers['green'], []
        with router.client(timeout=30) as client:
            keys, mark = self.keys_of(client, 'green')
            acknowledged = {key: 'old' for key in keys}
            written = {key: ['old'] for key in keys}

            def write_all(value):
                for key in keys:
                    written[key].append(value)
                    if self.ask(client, 'SET', key, value) == 'OK':
                        acknowledged[key] = value

            def read_all():
                for key in keys:
                    readings.append((key, self.ask(client, 'GET', key), acknowledged[key],
                                     list(written[key])))

            server.pause()
            write_all('new')
            read_all()
            server.resume()
            self.wait_until_used(client, server, mark, 'back')
            read_all()
            write_all('newer')
            server.pause()
            read_all()
            server.resume()
            self.wait_until_used(client, server, mark, 'back again')
            read_all()
        return readings

    def stale(self, readings):
        """Readings of a value that was written before the last acknowledged one."""
        def position(values, value):
            return len(values) - 1 - values[::-1].index(value)
        return [(key, reply) for key, reply, acknowledged, written in readings
                if isinstance(reply, bytes) and
                position(written, reply.decode()) < position(written, acknowledged)]

    def assert_no_stale_read(self, policy):
        readings = self.play(policy)
        values = sum(isinstance(reply, bytes) for _, reply, _, _ in readings)
        self.assertEqual(self.stale(readings), [])
        self.assertGreater(values, 2 * WRITES - 1)
        print(f'{policy}: {len(readings)} reads, {values} values, 0 stale')
        return readings

    def test_fail_reads_nothing_old(self):
        readings = self.assert_no_stale_read('fail')
        self.assertTrue(all(isinstance(reply, ReplyError) for _, reply, _, _ in readings[:WRITES]))

    def test_miss_reads_nothing_old(self):
        readings = self.assert_no_stale_read('miss')
        self.assertTrue(all(reply is None for _, reply, _, _ in readings[:WRITES]))

    def test_next_reads_old_values_as_the_reference_says(self):
        """The negative control: what this test looks for is there to be found."""
        self.assertGreater(len(self.stale(self.play('next'))), 0)


if __name__ == '__main__':
    unittest.main()
