#!/usr/bin/python3
"""`clockwise locate` from a file and from the router: tables, lines, JSON, streams, bad questions.

covers: cli/locate, cli/map_source, cli/http, cli/say, control/admin
"""
import json
import os
import pty
import subprocess
import unittest

from harness import CLOCKWISE, ProcessTest, embedded_config, free_port, sanitizer_environment

CONFIG = """
pools:
  main:
    listen: 127.0.0.1:7400
    nodes:
      - {id: north, address: 10.0.0.1:6379, zone: a}
      - {id: south, address: 10.0.0.2:6379, zone: b}
      - {id: west, address: 10.0.0.3:6379, weight: 2, zone: a}
"""
SECOND = """
  other:
    listen: 127.0.0.1:7401
    placement: ring
    nodes: [{id: only, address: 10.0.0.9:6379}]
"""


class Locate(ProcessTest):
    def setUp(self):
        super().setUp()
        self.config = self.write('c.yaml', CONFIG)

    def locate(self, *arguments, **options):
        return self.clockwise_output('locate', '-c', self.config, *arguments, **options)

    def assert_refused(self, status, wanted, *arguments, **options):
        result = self.run_clockwise('locate', *arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertRegex(result.stderr, wanted)

    def on_terminal(self, *arguments, **environment):
        """What the command prints on a terminal."""
        main, other = pty.openpty()
        process = subprocess.Popen([CLOCKWISE, 'locate', '-c', self.config, *arguments],
                                   stdout=other, stdin=subprocess.DEVNULL,
                                   env={**sanitizer_environment(), 'TERM': 'xterm', **environment})
        self.assertEqual(process.wait(60), 0)
        os.close(other)
        text = os.read(main, 65536).decode()
        os.close(main)
        return text

    def test_arguments_and_lines_get_the_same_answers(self):
        keys = [f'key:{number}' for number in range(300)] + ['{tag}x', '', 'with\ttab', 'ä']
        from_arguments = self.locate(*keys)
        self.assertEqual(from_arguments, self.locate(stdin='\n'.join(keys) + '\n'))
        self.assertEqual(from_arguments, self.locate(stdin='\n'.join(keys)))
        self.assertEqual(from_arguments, self.locate('--null', stdin='\0'.join(keys) + '\0'))
        lines = from_arguments.splitlines()
        self.assertEqual([line.rsplit('\t', 1)[0] for line in lines], keys)
        self.assertEqual({line.rsplit('\t', 1)[1] for line in lines}, {'north', 'south', 'west'})

    def test_a_hash_tag_alone_decides(self):
        lines = self.locate('{a}1', '{a}2', 'x{a}y', 'a').splitlines()
        self.assertEqual(len({line.split('\t')[1] for line in lines}), 1)

    def test_replicas_are_distinct_and_the_first_is_the_owner(self):
        keys = [f'key:{number}' for number in range(100)]
        owners = [line.split('\t')[1] for line in self.locate(*keys).splitlines()]
        ranked = [line.split('\t')[1].split(',') for line in self.locate('-k3', *keys).splitlines()]
        self.assertEqual([ids[0] for ids in ranked], owners)
        for ids in ranked:
            self.assertEqual(sorted(ids), ['north', 'south', 'west'])
        for ids in [line.split('\t')[1].split(',')
                    for line in self.locate('-k', '2', *keys).splitlines()]:
            self.assertIn('south', ids, 'two zones are there, so both are used')

    def test_json_says_all_and_keeps_bytes(self):
        result = subprocess.run([CLOCKWISE, 'locate', '-c', self.config, '--json', '-k2'],
                                input=b'a\n\xff\x01\nq"\\\n', capture_output=True,
                                env=sanitizer_environment(), timeout=60)
        answers = json.loads(result.stdout)
        self.assertEqual([answer.get('key', answer.get('key_hex')) for answer in answers],
                         ['a', 'ff01', 'q"\\'])
        for answer in answers:
            self.assertEqual(len(answer['owners']), 2)
            self.assertTrue(0 <= answer['slot'] < 16384)
            self.assertEqual(set(answer['owners'][0]), {'id', 'address', 'zone'})
        self.assertEqual(json.loads(self.locate('--json')), [])

    def test_a_terminal_gets_a_table_that_no_key_can_break(self):
        text = self.on_terminal('hello', 'a\x1b[31mb', NO_COLOR='1')
        self.assertRegex(text, r'KEY +NODE +ADDRESS +ZONE +SLOT\r\n')
        self.assertRegex(text, r'hello +(north|south|west) +10\.0\.0\.\d:6379 +[ab] +\d+\r\n')
        self.assertIn('a\\x1b[31mb', text)
        self.assertNotIn('\x1b', text)
        self.assertIn('\x1b[1mKEY', self.on_terminal('hello'))

    def test_a_stream_is_answered_before_it_ends(self):
        with subprocess.Popen([CLOCKWISE, 'locate', '-c', self.config], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=sanitizer_environment()) as process:
            for key in (b'one', b'two'):
                process.stdin.write(key + b'\n')
                process.stdin.flush()
                self.assertTrue(process.stdout.readline().startswith(key + b'\t'))
            process.stdin.close()
            self.assertEqual(process.wait(60), 0)

    def test_several_pools_have_to_be_told_apart(self):
        self.config = self.write('two.yaml', CONFIG + SECOND)
        self.assert_refused(1, r'several pools; name one with --pool: main, other', '-c',
                            self.config, 'x')
        self.assert_refused(1, r"no pool 'othr'; did you mean 'other'\?", '-c', self.config,
                            '--pool', 'othr', 'x')
        self.assertEqual(self.locate('--pool', 'other', 'x'), 'x\tonly\n')
        answer = json.loads(self.locate('--pool', 'other', '--json', 'x'))
        self.assertNotIn('slot', answer[0])

    def test_bad_questions(self):
        self.assert_refused(2, r'-k 0: use 1 to 16', '-c', self.config, '-k', '0', 'x')
        self.assert_refused(2, r'-k 17: use 1 to 16', '-c', self.config, '-k17', 'x')
        self.assert_refused(2, r'exclude each other', '-c', self.config, '--admin', 'h:1', 'x')
        self.assert_refused(1, r'nothing\.yaml: no such file', '-c', 'nothing.yaml', 'x')
        self.assert_refused(2, r'--confg; did you mean --config\?', '--confg', 'x')
        self.assert_refused(2, r'--pool needs a value', '--pool')

    def test_a_full_disk_is_an_error(self):
        with open('/dev/full', 'w', encoding='ascii') as full:
            result = subprocess.run([CLOCKWISE, 'locate', '-c', self.config, 'x'], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=60,
                                    env=sanitizer_environment(), stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 1)
        self.assertIn('cannot write to standard output: No space left', result.stderr)

    def test_the_router_that_runs_is_asked(self):
        admin = f'127.0.0.1:{free_port()}'
        config = embedded_config(self.path('data'), ['n-1', 'n-2', 'n-3'])
        config['admin'] = admin
        router = self.start_clockwise(config)
        keys = [f'key:{number}' for number in range(100)]
        from_router = self.clockwise_output('locate', '--admin', admin, *keys)
        self.config = router.config_path
        self.assertEqual(from_router, self.locate(*keys))
        self.assertEqual(router.stop(), 0)
        self.assert_refused(1, r'no router answers at ' + admin, '--admin', admin, 'x')

    def test_what_is_no_router_is_told_so(self):
        server = self.start_redis()
        result = self.run_clockwise('locate', '--admin', f'127.0.0.1:{server.port}', 'x')
        self.assertEqual(result.returncode, 1)
        self.assertIn(f'127.0.0.1:{server.port} speaks no HTTP', result.stderr)


if __name__ == '__main__':
    unittest.main()
