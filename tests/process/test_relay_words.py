#!/usr/bin/python3
"""A whole word list through the router into three real servers: nothing is lost, `clockwise locate`
names the server that really has each key, and `clockwise plan` says which keys will move.

covers: main
"""
import collections
import unittest

from harness import ProcessTest, relay_config
from words import read_words

WEIGHTS = {'north': 1, 'south': 1, 'west': 2}
# Exact quotas of slots leave only the noise of which words there are: sqrt(n*p*(1-p)) is 0.5 %.
BALANCE = 0.02
PLAN_SHARE = 0.01


class RelayWords(ProcessTest):
    def locate(self, config, words):
        """{word: owner} as `clockwise locate` tells from a configuration file."""
        lines = self.clockwise_output('locate', '-c', config, stdin='\n'.join(words) + '\n')
        owners = dict(line.split('\t') for line in lines.splitlines())
        self.assertEqual(len(owners), len(words))
        return owners

    def start_fleet(self):
        servers = {node: self.start_redis(node) for node in WEIGHTS}
        return servers, self.start_clockwise(relay_config(servers, WEIGHTS))

    def test_no_word_is_lost_and_locate_names_the_server_that_has_it(self):
        words = read_words()
        servers, router = self.start_fleet()
        with router.client() as client:
            replies = client.pipeline(('SET', word, f'value of {word}') for word in words)
            self.assertEqual(collections.Counter(map(str, replies)), {'OK': len(words)})
            values = client.pipeline(('GET', word) for word in words)
            lost = [word for word, value in zip(words, values)
                    if value != f'value of {word}'.encode()]
            self.assertEqual(lost, [])
            self.assertEqual(client.call('DBSIZE'), len(words))
        self.check_owners(servers, self.locate(router.config_path, words))

    def check_owners(self, servers, located):
        stored = {}
        for node, server in servers.items():
            with server.client() as client:
                for key in client.call('KEYS', '*'):
                    self.assertNotIn(key, stored, 'a key on two servers')
                    stored[key] = node
        differences = [word for word, node in located.items() if stored.get(word.encode()) != node]
        self.assertEqual(len(stored), len(located))
        self.assertEqual(differences, [])
        counts = collections.Counter(stored.values())
        print(f'{len(stored)} keys, 0 lost, 0 differences:', dict(sorted(counts.items())))
        for node, weight in WEIGHTS.items():
            ideal = len(stored) * weight / sum(WEIGHTS.values())
            self.assertLess(abs(counts[node] - ideal) / ideal, BALANCE, f'{node}: {counts[node]}')

    def test_many_keys_at_once_come_back_in_their_order(self):
        words = read_words()[::7][:5000]
        _, router = self.start_fleet()
        with router.client() as client:
            pairs = [text for word in words for text in (word, word.upper())]
            self.assertEqual(client.call('MSET', *pairs), 'OK')
            self.assertEqual(client.call('MGET', *words, 'no such word'),
                             [word.upper().encode() for word in words] + [None])
            self.assertEqual(client.call('EXISTS', *words, words[0]), len(words) + 1)
            self.assertEqual(client.call('DEL', *words[:1000], 'no such word'), 1000)
            self.assertEqual(client.call('DBSIZE'), len(words) - 1000)

    def test_keys_with_one_hash_tag_have_one_owner(self):
        words = [f'{{tag}}.{word}' for word in read_words()[:500]]
        servers, router = self.start_fleet()
        with router.client() as client:
            client.pipeline(('SET', word, 'x') for word in words)
            self.assertEqual(client.call('RENAME', words[0], '{tag}.renamed'), 'OK')
        sizes = []
        for server in servers.values():
            with server.client() as client:
                sizes.append(client.call('DBSIZE'))
        self.assertEqual(sorted(sizes), [0, 0, len(words)])
        self.assertEqual(len(set(self.locate(router.config_path, words).values())), 1)


if __name__ == '__main__':
    unittest.main()
