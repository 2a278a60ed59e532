#!/usr/bin/python3
"""`clockwise plan` says exactly what `clockwise locate` then finds.

covers: cli/plan, cli/plan_change, cli/plan_keys, cli/plan_print
"""
import collections
import json
import unittest

from harness import ProcessTest

CONFIG = """
pools:
  main:
    listen: 127.0.0.1:7400
    nodes:
      - {id: north, address: 10.0.0.1:6379, zone: a}
      - {id: south, address: 10.0.0.2:6379, zone: b}
      - {id: west, address: 10.0.0.3:6379, weight: 2, zone: a}
"""
BIGGER = CONFIG + "      - {id: east, address: 10.0.0.4:6379, weight: 1, zone: c}\n"
KEYS = [f'key:{number}' for number in range(20000)]
LINES = '\n'.join(KEYS) + '\n'


class Plan(ProcessTest):
    def setUp(self):
        super().setUp()
        self.config = self.write('c.yaml', CONFIG)
        self.bigger = self.write('bigger.yaml', BIGGER)

    def plan(self, *arguments, **options):
        return json.loads(self.clockwise_output('plan', '-c', self.config, '--json', *arguments,
                                                **options))

    def owners(self, config):
        lines = self.clockwise_output('locate', '-c', config, stdin=LINES).splitlines()
        return dict(line.split('\t') for line in lines)

    def assert_refused(self, status, wanted, *arguments):
        result = self.run_clockwise('plan', '-c', self.config, *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertRegex(result.stderr, wanted)

    def test_adding_a_node_moves_its_share_and_only_to_it(self):
        plan = self.plan('--add', 'east=10.0.0.4:6379,weight=1,zone=c')
        self.assertAlmostEqual(plan['share'], 0.2, delta=0.0005)
        self.assertAlmostEqual(plan['ideal_share'], plan['share'], delta=0.0005)
        self.assertEqual(plan['needless_share'], 0)
        self.assertEqual({move['to'] for move in plan['moves']}, {'east'})
        self.assertAlmostEqual(sum(move['share'] for move in plan['moves']), plan['share'])
        self.assertNotIn('keys', plan)

    def test_the_keys_that_are_listed_are_those_that_are_counted(self):
        change = ('--add', 'east=10.0.0.4:6379,zone=c')
        listed = [line.split('\t') for line in self.clockwise_output(
            'plan', '-c', self.config, *change, '--list-keys', stdin=LINES).splitlines()]
        plan = self.plan(*change, stdin=LINES)
        self.assertEqual(plan['keys'], {'total': len(KEYS), 'moving': len(listed)})
        self.assertAlmostEqual(len(listed) / len(KEYS), plan['share'], delta=0.01)
        by_move = collections.Counter((source, to) for _, source, to in listed)
        self.assertEqual(by_move, {(move['from'], move['to']): move['keys']
                                   for move in plan['moves']})
        before = self.owners(self.config)
        for key, source, _ in listed:
            self.assertEqual(before[key], source)

    def test_keys_come_from_a_file_too(self):
        keys = self.write('keys.txt', LINES)
        plan = self.plan('--remove', 'west', '--keys', keys)
        west = sum(owner == 'west' for owner in self.owners(self.config).values())
        self.assertEqual(plan['keys'], {'total': len(KEYS), 'moving': west})
        self.assertEqual({move['from'] for move in plan['moves']}, {'west'})
        self.assertEqual(plan['needless_share'], 0)
        self.assertEqual(self.plan('--remove', 'west', '--keys', self.write('none', ''))['keys'],
                         {'total': 0, 'moving': 0})

    def test_changes_combine(self):
        plan = self.plan('--remove', 'north', '--weight', 'south=3', '--add', 'east=h:1',
                         '--add=up=h:2,weight=2')
        self.assertEqual({node['id']: (node['weight_before'], node['weight_after'])
                          for node in plan['nodes']},
                         {'east': (0, 1), 'north': (1, 0), 'south': (1, 3), 'up': (0, 2),
                          'west': (2, 2)})
        for side in ('share_before', 'share_after'):
            self.assertAlmostEqual(sum(node[side] for node in plan['nodes']), 1)

    def test_another_file_is_planned_from_the_map_that_there_is(self):
        """The map goes on with the file's nodes: the same as naming the changes one by one."""
        text = self.clockwise_output('plan', '--from', self.config, '--to', self.bigger)
        self.assertIn('pool main, placement slots, generation 1 to 2', text)
        self.assertIn('; 0.00 % move without need', text)

    def test_a_person_gets_tables(self):
        text = self.clockwise_output('plan', '-c', self.config, '--weight', 'north=2', stdin=LINES)
        self.assertIn('pool main, placement slots, generation 1 to 2', text)
        self.assertRegex(text, r'(?m)^north +1 +2 +25\.00 % +40\.00 % +\+15\.00 %$')
        self.assertRegex(text, r'(?m)^FROM +TO +SHARE +KEYS$')
        self.assertRegex(text, r'15\.00 % of the keys move; ideal would be 15\.00 %; 0\.00 % move '
                               'without need')
        self.assertRegex(text, r'(?m)^\d+ of the 20000 keys given move \(1\d\.\d\d %\)$')

    def test_nothing_changes_when_nothing_is_changed(self):
        plan = self.plan('--weight', 'north=1')
        self.assertEqual((plan['share'], plan['moves']), (0, []))

    def test_bad_questions(self):
        self.assert_refused(2, 'nothing to plan; use --add')
        self.assert_refused(1, "no such node 'nort'; did you mean 'north'", '--remove', 'nort')
        self.assert_refused(1, "node 'north' is there already; --weight north=W", '--add', 'north')
        self.assert_refused(2, 'write --weight ID=W', '--weight', 'north')
        self.assert_refused(2, "weight '0': use a whole number from 1", '--weight', 'north=0')
        self.assert_refused(2, "weight '-1': use", '--add', 'x,weight=-1')
        self.assert_refused(2, "unknown property 'size=2'", '--add', 'x,size=2')
        self.assert_refused(2, "node 'x': 'host' is no address: the port is missing", '--add',
                            'x=host')
        self.assert_refused(2, "node 'x': 'h:99999' is no address: the port is above 65535",
                            '--add', 'x=h:99999')
        self.assert_refused(1, "node id ''", '--add', '=h:1')
        self.assert_refused(1, "node id 'a b'", '--add', 'a b')
        self.assert_refused(1, 'at least one node', '--remove', 'north', '--remove', 'south',
                            '--remove', 'west')
        self.assert_refused(2, 'leave --add', '--to', self.bigger, '--add', 'x')
        self.assert_refused(1, 'no such file', '--to', 'nothing.yaml')
        self.assert_refused(1, 'nothing.txt: No such file', '--remove', 'west', '--keys',
                            'nothing.txt')
        self.assert_refused(2, 'exclude each other', '--remove', 'west', '--json', '-l')
        self.assert_refused(2, "'x' is too much", 'x')


if __name__ == '__main__':
    unittest.main()
