#!/usr/bin/python3
"""Other systems' fleets on the command line: the list of profiles, `locate` and `plan` with them.

covers: cli/profiles, cli/profile_source, cli/locate_write, cli/plan_slots, cli/plan_change
"""
import json
import re
import unittest

from harness import ProcessTest

NODES = ('--node', '10.0.0.1:11211=2,alpha', '--node', '10.0.0.2:11211', '--node',
         '10.0.0.3:11211=1,name=gamma')
KETAMA = ('--profile', 'twemproxy-ketama', *NODES)
FILE = """
pools:
  cache:
    listen: 127.0.0.1:22121
    placement: twemproxy-ketama
    nodes:
      - {id: alpha, address: 10.0.0.1:11211, name: alpha, weight: 2}
      - {id: 10.0.0.2:11211, address: 10.0.0.2:11211}
      - {id: gamma, address: 10.0.0.3:11211, name: gamma}
"""
TOPOLOGY = ('i1 10.0.0.1:6379@1 master - 0 0 1 connected 0-99 200-16383\n'
            'i2 10.0.0.2:6379@1 master - 0 0 1 connected 100-150\n')
KEYS = [f'key:{number}' for number in range(2000)] + ['ä', 'with\ttab']


class Profiles(ProcessTest):
    def refused(self, status, wanted, *arguments, **options):
        result = self.run_clockwise(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(wanted, result.stderr)
        self.assertEqual(result.stdout, '')

    def owners(self, *arguments):
        lines = self.clockwise_output('locate', *arguments, stdin='\n'.join(KEYS)).splitlines()
        self.assertEqual([line.rsplit('\t', 1)[0] for line in lines], KEYS)
        return [line.rsplit('\t', 1)[1] for line in lines]

    def plan(self, *arguments):
        return json.loads(self.clockwise_output('plan', '--json', *arguments))

    # ---- the list ----

    def test_the_list_is_a_table_and_json(self):
        profiles = json.loads(self.clockwise_output('profiles', '--json'))
        table = self.clockwise_output('profiles')
        self.assertGreater(len(profiles), 70)
        for profile in profiles:
            self.assertRegex(table, rf'(?m)^{re.escape(profile["name"])} ')
            for key in ('family', 'rule', 'versions', 'evidence'):
                self.assertTrue(profile[key], profile)
            if profile['hash'] and profile['hashes']:
                self.assertIn(profile['hash'], profile['hashes'])

    def test_one_profile_is_told_with_its_settings_and_hashes(self):
        text = self.clockwise_output('profiles', 'twemproxy-ketama')
        for wanted in ('twemproxy 0.5.0', 'real program', 'auto_eject_hosts', '  tag ',
                       'fnv1a_64 (unless set)', ' md5'):
            self.assertIn(wanted, text)
        one = json.loads(self.clockwise_output('profiles', '--json', 'mcrouter-ch3'))
        self.assertEqual(one['settings'], ['salt'])
        self.refused(2, "did you mean 'mcrouter-ch3'?", 'profiles', 'mcrouter-ch')
        self.refused(2, 'name one profile', 'profiles', 'kafka', 'cassandra')

    # ---- locate ----

    def test_a_fleet_on_the_command_line_is_the_fleet_of_a_file(self):
        config = self.write('c.yaml', FILE)
        owners = self.owners(*KETAMA)
        self.assertEqual(set(owners), {'alpha', '10.0.0.2:11211', 'gamma'})
        self.assertEqual(owners, self.owners('-c', config))
        self.assertNotEqual(owners, self.owners(*KETAMA, '--set', 'hash=md5'))
        single = [self.clockwise_output('locate', *KETAMA, key).rstrip('\n') for key in KEYS[:20]]
        self.assertEqual(single, [f'{key}\t{owner}' for key, owner in zip(KEYS, owners[:20])])

    def test_an_answer_of_the_real_program(self):
        """Lines of nc_ketama_named_fnv1a64, which nutcracker itself gave."""
        nodes = [part for node in ('127.0.7.1:11211,alpha', '127.0.7.2:11211,beta',
                                   '127.0.7.3:11211=2,gamma', '127.0.7.4:11211=3,delta',
                                   '127.0.7.5:11211,eps') for part in ('--node', node)]
        with open(self.golden('keys'), encoding='utf-8', newline='\n') as file:
            keys = [line for line in file.read().split('\n') if line and not line.startswith('#!')]
        with open(self.golden('nc_ketama_named_fnv1a64'), encoding='utf-8') as file:
            want = [line for line in file.read().split('\n') if line and not line.startswith('#!')]
        out = self.clockwise_output('locate', '--json', '--profile', 'twemproxy-ketama', *nodes,
                                    stdin='\n'.join(keys))
        got = [answer['owners'][0]['address'] for answer in json.loads(out)]
        self.assertEqual(got, want)

    def golden(self, name):
        from harness import ROOT
        return f'{ROOT}/tests/profiles/golden/{name}.txt'

    def test_a_key_without_a_place_has_no_owner(self):
        nginx = ('locate', '--profile', 'nginx-hash-consistent', '--node', 'a:1', '--node', 'b:1')
        self.assertEqual(self.clockwise_output(*nginx, ''), '\t\n')
        self.assertEqual(self.clockwise_output(*nginx, '-k2', ''), '\t\n')
        self.assertEqual(json.loads(self.clockwise_output(*nginx, '--json', '')),
                         [{'key': '', 'owners': []}])

    def test_numbers_are_said_where_there_are_no_nodes(self):
        kafka = ('locate', '--profile', 'kafka', '--set', 'size=12')
        self.assertEqual(self.clockwise_output(*kafka, 'user:1000'), 'user:1000\t5\n')
        self.assertEqual(json.loads(self.clockwise_output(*kafka, '--json', 'user:1000')),
                         [{'key': 'user:1000', 'owners': [{'number': 5}]}])

    def test_a_topology_names_its_servers(self):
        path = self.write('nodes.txt', TOPOLOGY)
        cluster = ('locate', '--profile', 'redis-cluster', '--set', f'topology=@{path}')
        self.assertEqual(self.clockwise_output(*cluster, 'foo'), 'foo\t10.0.0.1:6379\n')
        self.refused(1, 'No such file', 'locate', '--profile', 'redis-cluster', '--set',
                     'topology=@/nowhere', 'foo')
        self.refused(1, 'topology, line 1', 'locate', '--profile', 'redis-cluster', '--set',
                     'topology=x', 'foo')

    def test_wrong_questions_are_told_what_is_right(self):
        for status, wanted, *arguments in (
                (2, "no profile 'kafk'; did you mean 'kafka'?", '--profile', 'kafk'),
                (2, "no profile 'qwertz'; `clockwise profiles` lists them", '--profile', 'qwertz'),
                (2, "no setting 'hsh'; did you mean 'hash'?", *KETAMA, '--set', 'hsh=md5'),
                (2, 'it has hash, tag, unsigned_char', *KETAMA, '--set', 'points=5'),
                (2, 'write --set KEY=VALUE', *KETAMA, '--set', 'hash'),
                (1, "has no hash 'sha1'", *KETAMA, '--set', 'hash=sha1'),
                (2, 'name it with --profile', *NODES),
                (2, 'leave -c and --admin out', *KETAMA, '-c', 'x'),
                (2, 'needs servers', '--profile', 'twemproxy-ketama'),
                (2, "weight '-1'", *KETAMA, '--node', 'h:1=-1'),
                (2, "number 'x'", *KETAMA, '--node', 'h:1,number=x'),
                (1, 'it has no port', *KETAMA, '--node', 'h'),
                (1, 'has weight 0', *KETAMA, '--node', 'h:1=0'),
                (1, "two servers have the name 'alpha'", *KETAMA, '--node', 'h:1,alpha'),
                (1, 'does not know: leave it out', *KETAMA, '--node', 'h:1,down')):
            if 'two servers' in wanted:  # the ids collide first
                wanted = "two nodes have the id 'alpha'"
            self.refused(status, wanted, 'locate', *arguments, 'key')

    # ---- plan ----

    def test_a_plan_agrees_with_locate_before_and_after(self):
        # Keys that differ in their last digits are spread badly by fnv1a_64, the default.
        fleet = (*KETAMA, '--set', 'hash=md5')
        plan = self.plan(*fleet, '--add', '10.0.0.4:11211')
        before, after = self.owners(*fleet), self.owners(*fleet, '--node', '10.0.0.4:11211')
        moved = sum(a != b for a, b in zip(before, after)) / len(KEYS)
        self.assertEqual(plan['share_error'], 0)
        self.assertAlmostEqual(plan['share'], moved, delta=0.05)
        self.assertAlmostEqual(plan['ideal_share'], 0.2)
        self.assertGreater(plan['needless_share'], 0)
        self.assertEqual(plan['with_slots']['needless_share'], 0)
        self.assertAlmostEqual(plan['with_slots']['share'], 0.2, delta=0.001)
        out = self.clockwise_output('plan', *fleet, '--add', '10.0.0.4:11211', '--list-keys',
                                    stdin='\n'.join(KEYS))
        self.assertEqual(out.splitlines(), [f'{key}\t{a}\t{b}' for key, a, b in
                                            zip(KEYS, before, after) if a != b])

    def test_a_server_put_into_the_middle_of_haproxy_is_dear(self):
        servers = [f'10.0.0.{number}:80' for number in range(1, 6)]
        fleet = ['--profile', 'haproxy-consistent']
        for server in servers:
            fleet += ['--node', server]
        plan = self.plan(*fleet, '--remove', servers[0])
        self.assertGreater(plan['needless_share'], 0.3)
        text = self.clockwise_output('plan', *fleet, '--remove', servers[4])
        self.assertRegex(text, r'\n[\d.]+ % of the keys move; ideal would be 20.00 %; '
                               r'0.00 % move without need\n'
                               r'with slots the same change would move 20.00 %, 0.00 % without')

    def test_a_new_name_moves_keys_without_need(self):
        plan = self.plan(*KETAMA, '--rename', 'alpha=omega')
        self.assertEqual(plan['ideal_share'], 0)
        self.assertGreater(plan['needless_share'], 0.2)
        self.assertEqual(self.plan(*KETAMA, '--rename', 'alpha=alpha')['share'], 0)
        config = self.write('slots.yaml', FILE.replace('twemproxy-ketama', 'slots')
                            .replace(', name: alpha', '').replace(', name: gamma', ''))
        self.refused(2, 'only the servers of a profile have names', 'plan', '-c', config,
                     '--rename', 'alpha=x')
        self.refused(2, 'write --rename ID=NAME', 'plan', *KETAMA, '--rename', 'alpha')
        self.refused(1, "did you mean 'gamma'?", 'plan', *KETAMA, '--rename', 'gama=x')

    def test_weights_are_the_systems(self):
        mcrouter = ('--profile', 'mcrouter-weighted-ch3', '--node', 'a:1=0.5', '--node', 'b:1=1')
        plan = self.plan(*mcrouter, '--weight', 'a:1=0.25', '--add', 'c:1,weight=0.75')
        self.assertEqual({node['id']: (node['weight_before'], node['weight_after'])
                          for node in plan['nodes']},
                         {'a:1': (0.5, 0.25), 'b:1': (1, 1), 'c:1': (0, 0.75)})
        self.assertGreater(plan['share_error'], 0)
        self.refused(1, 'a number from 0 to 1', 'plan', *mcrouter, '--weight', 'a:1=2')
        self.refused(2, 'name=NAME, number=N', 'plan', *mcrouter, '--add', 'c:1,nmae=x')
        text = self.clockwise_output('plan', *mcrouter, '--remove', 'b:1')
        self.assertIn('estimated from 1048576 generated keys, within', text)

    def test_two_systems_are_compared_by_their_files(self):
        ketama = self.write('a.yaml', FILE)
        slots = self.write('b.yaml', FILE.replace('twemproxy-ketama', 'slots')
                           .replace(', name: alpha', '').replace(', name: gamma', ''))
        plan = self.plan('--from', ketama, '--to', slots)
        before, after = self.owners('-c', ketama), self.owners('-c', slots)
        moved = sum(a != b for a, b in zip(before, after)) / len(KEYS)
        self.assertAlmostEqual(plan['share'], moved, delta=0.05)
        self.assertGreater(plan['share_error'], 0)
        self.assertEqual(self.plan('--from', ketama, '--to', ketama)['share'], 0)
        self.assertEqual(self.plan(*KETAMA, '--to', ketama)['share'], 0)
        self.assertIn('placement twemproxy-ketama to slots',
                      self.clockwise_output('plan', '--from', ketama, '--to', slots))
        self.refused(2, 'places on numbers', 'plan', '--profile', 'kafka', '--set', 'size=3',
                     '--add', 'x')


if __name__ == '__main__':
    unittest.main()
