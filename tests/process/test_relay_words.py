#!/usr/bin/python3
"""A whole word list through the router into three real servers: nothing is lost, `clockwise locate`
names the server that really has each key, and `clockwise plan` says which keys will move.

covers: main
"""
import collections
import json
import unittest

from harness import ProcessTest, relay_config
from words import read_words

WEIGHTS = {'north': 1, 'south': 1, 'west': 2}
# Exact quotas of slots leave only the noise of which words there are: sqrt(n*p*(1-p)) is 0.5 %.
BALANCE = 0.02
PLAN_SHARE = 0.01


class WordsTest(ProcessTest):
    def locate(self, config, words):
        """{word: owner} as `clockwise locate` tells from a configuration file."""
        lines = self.clockwise_output('locate', '-c', config, stdin='\n'.join(words) + '\n')
        owners = dict(line.split('\t') for line in lines.splitlines())
        self.assertEqual(len(owners), len(words))
        return owners


class RelayWords(WordsTest):
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


class PlanWords(WordsTest):
    """`clockwise plan` needs no servers: only what a configuration says of them."""

    def write_config(self, weights, placement):
        nodes = [{'id': node, 'address': f'127.0.0.1:{number}', 'weight': weight}
                 for number, (node, weight) in enumerate(sorted(weights.items()), 1)]
        return self.write('-'.join(weights) + '.yaml', json.dumps(
            {'pools': {'main': {'listen': '127.0.0.1:7400', 'placement': placement,
                                'nodes': nodes}}}))

    def plan(self, words, *arguments):
        """The plan, and {word: (from, to)} of the keys that it moves."""
        lines = '\n'.join(words) + '\n'
        plan = json.loads(self.clockwise_output('plan', '--json', *arguments, stdin=lines))
        listed = self.clockwise_output('plan', '--list-keys', *arguments, stdin=lines)
        moving = {word: (before, after) for word, before, after in
                  (line.split('\t') for line in listed.splitlines())}
        self.assertEqual(plan['keys'], {'total': len(words), 'moving': len(moving)})
        counts = collections.Counter(moving.values())
        self.assertEqual({(move['from'], move['to']): move['keys'] for move in plan['moves']
                          if move['keys']}, counts)
        return plan, moving

    def check_move_to_the_new_node_only(self, plan, moving, owners, node):
        self.assertEqual({after for _, after in moving.values()}, {node})
        self.assertEqual([word for word, (before, _) in moving.items() if owners[word] != before],
                         [])
        self.assertEqual(plan['needless_share'], 0)

    def test_adding_a_node_moves_its_share_and_only_to_it(self):
        words = read_words()
        config = self.write_config(WEIGHTS, 'slots')
        plan, moving = self.plan(words, '-c', config, '--add', 'east=127.0.0.1:9,weight=1')
        self.check_move_to_the_new_node_only(plan, moving, self.locate(config, words), 'east')
        ideal = 1 / (sum(WEIGHTS.values()) + 1)
        print(f'{len(moving)} of {len(words)} keys move, a share of {plan["share"]:.4f}; '
              f'ideal {ideal:.4f}')
        self.assertLess(abs(plan['share'] - ideal) / ideal, PLAN_SHARE)
        self.assertLess(abs(len(moving) / len(words) - ideal) / ideal, BALANCE)

    def test_removing_a_node_moves_its_keys_and_no_others(self):
        words = read_words()
        config = self.write_config(WEIGHTS, 'slots')
        owners = self.locate(config, words)
        plan, moving = self.plan(words, '-c', config, '--remove', 'south')
        self.assertEqual(set(moving), {word for word, node in owners.items() if node == 'south'})
        self.assertNotIn('south', {after for _, after in moving.values()})
        self.assertEqual(plan['needless_share'], 0)

    def test_with_a_ring_the_plan_is_the_difference_of_the_two_configurations(self):
        words = read_words()
        before = self.write_config(WEIGHTS, 'ring')
        after = self.write_config({**WEIGHTS, 'east': 1}, 'ring')
        owners_before, owners_after = self.locate(before, words), self.locate(after, words)
        plan, moving = self.plan(words, '-c', before, '--to', after)
        self.assertEqual(moving, {word: (owners_before[word], owners_after[word])
                                  for word in words if owners_before[word] != owners_after[word]})
        self.check_move_to_the_new_node_only(plan, moving, owners_before, 'east')


if __name__ == '__main__':
    unittest.main()
