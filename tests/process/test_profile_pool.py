#!/usr/bin/python3
"""A pool that is placed as another system does it: router, `locate` and map agree, and a key
without a place is refused.

covers: router/dispatch
"""
import json
import unittest
import urllib.request

from harness import ProcessTest, free_port, relay_config
from resp import ReplyError


class ProfilePool(ProcessTest):
    def test_each_key_is_where_the_profile_says_and_one_without_a_place_is_refused(self):
        servers = {name: self.start_redis(name) for name in ('c', 'b', 'a')}
        config = relay_config(servers, {'b': 3}, placement='nginx-hash-consistent')
        config['admin'] = f'127.0.0.1:{free_port()}'
        client = self.start_clockwise(config).client()
        keys = [f'key:{number}' for number in range(300)]
        for key in keys:
            client.call('SET', key, key)
        lines = self.clockwise_output('locate', '--admin', config['admin'], *keys).splitlines()
        for line in lines:
            key, owner = line.split('\t')
            self.assertEqual(servers[owner].client().call('EXISTS', key), 1)
        self.assertEqual({line.split('\t')[1] for line in lines}, set(servers))
        for command in (('GET', ''), ('MGET', 'key:1', ''), ('SET', '', 'x')):
            with self.assertRaisesRegex(ReplyError, "ERR placement nginx-hash-consistent has no "
                                                    "place for the key ''"):
                client.call(*command)
        self.assertEqual(client.call('GET', 'key:1'), b'key:1')
        with urllib.request.urlopen(f'http://{config["admin"]}/v1/pools/main/map', None, 20) as map:
            text = json.load(map)
        self.assertEqual(text['profile'], 'nginx-hash-consistent')
        self.assertEqual({node['id']: node['place'] for node in text['nodes']},
                         {'c': 0, 'b': 1, 'a': 2})
        self.assertIn('nginx-hash-consistent', self.clockwise_output(
            'status', '--admin', config['admin'], '--json'))


if __name__ == '__main__':
    unittest.main()
