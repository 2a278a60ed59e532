#!/usr/bin/python3
"""`clockwise compare`: its tables, JSON, page and progress bar, and that they say what is so.

covers: cli/compare, cli/compare_explain, cli/compare_fleet, cli/compare_html, cli/compare_json
covers: cli/compare_page, cli/compare_print, cli/compare_svg
"""
import collections
import html.parser
import json
import os
import pty
import re
import select
import subprocess
import time
import unittest

from harness import CLOCKWISE, ProcessTest, sanitizer_environment

CONFIG = """
pools:
  main:
    listen: 127.0.0.1:7400
    nodes:
      - {id: north, address: 10.0.0.1:6379, zone: a}
      - {id: south, address: 10.0.0.2:6379, zone: b}
      - {id: west, address: 10.0.0.3:6379, weight: 2, zone: a}
"""
PLACEMENTS = ['slots', 'ring', 'rendezvous', 'jump', 'jumpback', 'maglev', 'round', 'modulo']
KEYS = [f'user:{number}' for number in range(5000)]
EVIL = '<script>&"\x1b[31m'
FEW = ('-P', 'slots', '-P', 'modulo')


class PageReader(html.parser.HTMLParser):
    """Complains about tags that do not match, and collects what a browser would load."""

    VOID = {'meta'}

    def __init__(self):
        super().__init__()
        self.open, self.counts, self.loads, self.text = [], collections.Counter(), [], []

    def handle_starttag(self, tag, attrs):
        self.counts[tag] += 1
        self.loads += [(tag, name) for name, _ in attrs if name in ('src', 'href', 'srcset')]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.counts[tag] += 1

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f'</{tag}> closes something else')

    def handle_data(self, data):
        self.text.append(data)


class Compare(ProcessTest):
    def setUp(self):
        super().setUp()
        self.config = self.write('c.yaml', CONFIG)
        self.keys = self.write('keys.txt', '\n'.join(KEYS) + '\n')

    def compare(self, *arguments, **options):
        return json.loads(self.clockwise_output('compare', '--json', *arguments, **options))

    def assert_refused(self, status, wanted, *arguments, **options):
        result = self.run_clockwise('compare', *arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertRegex(result.stderr, wanted)

    def test_nodes_carry_what_locate_says(self):
        report = self.compare('-c', self.config, '--keys', self.keys)
        self.assertEqual([one['placement'] for one in report['placements']], PLACEMENTS)
        lines = self.clockwise_output('locate', '-c', self.config, stdin='\n'.join(KEYS))
        owners = collections.Counter(line.split('\t')[1] for line in lines.splitlines())
        slots = report['placements'][0]
        self.assertEqual({node['id']: node['keys'] for node in slots['nodes']}, owners)
        self.assertEqual(report['pool'], 'main')
        self.assertEqual({node['id']: node['ideal_share'] for node in report['nodes']},
                         {'north': 0.25, 'south': 0.25, 'west': 0.5})
        peak = max(owners[node['id']] / len(KEYS) / node['ideal_share']
                   for node in report['nodes'])
        self.assertAlmostEqual(slots['keys']['peak'], peak)

    def test_moves_are_those_of_plan(self):
        change = ('--add', 'east', '--remove', 'west', '--weight', 'north=3')
        slots = self.compare('-c', self.config, '--keys', self.keys, *change,
                             *FEW)['placements'][0]
        for name, arguments in (('add', change[:2]), ('remove', change[2:4]),
                                ('weight', change[4:])):
            plan = json.loads(self.clockwise_output('plan', '-c', self.config, '--json',
                                                    '--keys', self.keys, *arguments))
            self.assertAlmostEqual(slots[name]['moved'], plan['keys']['moving'] / len(KEYS))
            self.assertAlmostEqual(slots[name]['ideal'], plan['ideal_share'], delta=1e-3)
            self.assertEqual(slots[name]['needless'], 0)
        self.assertEqual(set(slots['heirs']['keys']), {'north', 'south'})

    def test_what_a_placement_cannot_do_is_said(self):
        report = self.compare('-c', self.config, '--keys', self.keys)
        jump = report['placements'][PLACEMENTS.index('jump')]
        self.assertTrue(jump['ignores_weights'])
        self.assertTrue(jump['remove']['only_last_can_go'])
        self.assertEqual(jump['weight'], {'not_measured': 'it knows no weights'})
        self.assertEqual(jump['can'], {'weights': False, 'remove_any': False, 'replicas': False,
                                       'ranges': False})
        text = self.clockwise_output('compare', '-c', self.config, '--keys', self.keys)
        self.assertRegex(text, r'(?m)^  jump † ')
        self.assertRegex(text, r'(?m)^  jump † .* ‡ .* -  +-$')
        self.assertIn('† knows no weights', text)

    def test_a_skew_is_laid_where_it_belongs(self):
        lines = KEYS + ['hot'] * 5000
        report = self.compare('--nodes', '10', *FEW, stdin='\n'.join(lines))
        self.assertEqual(report['keys']['top'],
                         [{'key': 'hot', 'lines': 5000, 'part': 0.5, 'is_cut': False}])
        self.assertEqual((report['keys']['lines'], report['keys']['distinct'],
                          report['keys']['repeated']), (10000, 5001, 1))
        findings = {finding['about']: finding for finding in report['findings']}
        self.assertTrue(findings['repeated_keys']['is_bad'])
        self.assertIn('at least 5.00 times its share', findings['repeated_keys']['text'])
        self.assertFalse(findings['hash']['is_bad'])
        self.assertFalse(findings['placement']['is_bad'])
        self.assertGreater(report['placements'][0]['load']['peak'], 5)
        self.assertLess(report['placements'][0]['keys']['peak'], 1.2)

    def test_a_coarse_ring_is_found_out(self):
        report = self.compare('--nodes', '10', '--tokens', '4', '-P', 'ring', '-P', 'slots',
                              '--generate', '50000')
        finding = report['findings'][-1]
        self.assertRegex(finding['text'], r'No worse: slots\. Of their own add: ring \d\d\.\d\d %')
        self.assertTrue(finding['is_bad'])

    def test_hashes_are_compared(self):
        hashes = self.compare('--generate', '100000', *FEW)['hashes']
        verdicts = {one['hash']: one['high_bits']['verdict'] for one in hashes}
        self.assertEqual(list(verdicts), ['XXH3', 'murmur3', 'FNV-1a', 'CRC32', 'MD5'])
        self.assertEqual((verdicts['XXH3'], verdicts['FNV-1a']), ('as chance', 'skewed'))

    def test_a_seed_gives_the_same_run(self):
        def run(*arguments):
            report = self.compare('--nodes', '5', '--generate', '3000', *FEW, *arguments)
            return [one['nodes'] for one in report['placements']]
        self.assertEqual(run(), run('--seed', '1'))
        self.assertEqual(run('--zipf', '1.1', '--seed', '9'), run('--zipf=1.1', '--seed=9'))
        self.assertNotEqual(run('--seed', '1'), run('--seed', '2'))

    def test_keys_with_any_bytes(self):
        for name, bytes_ in (('text', EVIL.encode()), ('bytes', b'\xff\xfe\n')):
            path = self.path(name)
            with open(path, 'wb') as file:
                file.write(b'\0'.join([bytes_] * 3 + [b'other']))
            top = self.compare('--keys', path, '--null', *FEW)['keys']['top'][0]
            self.assertEqual(top['lines'], 3)
            self.assertEqual(top.get('key_hex', top.get('key', '').encode().hex()), bytes_.hex())

    def test_the_page_is_complete_and_nothing_in_it_is_markup_by_accident(self):
        page = self.path('page.html')
        lines = '\n'.join(KEYS + [EVIL] * 40) + '\n'
        text = self.clockwise_output('compare', '-c', self.config, '--html', page, stdin=lines)
        self.assertIn('\\x1b', text)
        self.assertNotIn('\x1b', text)
        with open(page, encoding='utf-8') as file:
            source = file.read()
        reader = PageReader()
        reader.feed(source)
        self.assertEqual((reader.open, reader.loads), ([], []))
        self.assertEqual((reader.counts['script'], reader.counts['svg']), (0, 8))
        self.assertNotRegex(source, r'url\(|@import|https?:')
        self.assertNotRegex(source, r'[^a-z](nan|inf)[^a-z]')
        shown = ''.join(reader.text)
        for word in (*PLACEMENTS, '<script>&"\\x1b[31m', 'Balance', 'Movement', 'Repeated keys'):
            self.assertIn(word, shown)
        self.assertIn('prefers-color-scheme:dark', source)

    def test_a_page_of_one_node_and_one_key(self):
        page = self.path('page.html')
        self.clockwise_output('compare', '--nodes', '1', '--html', page, stdin='x\n')
        with open(page, encoding='utf-8') as file:
            self.assertNotRegex(file.read(), r'[^a-z](nan|inf)[^a-z]')

    def test_a_terminal_sees_how_far_it_is(self):
        main, other = pty.openpty()
        with subprocess.Popen([CLOCKWISE, 'compare', '--nodes', '3', *FEW], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=other,
                              env={**sanitizer_environment(), 'TERM': 'xterm'}) as process:
            os.close(other)
            seen = self.write_keys_until(process.stdin, main, b'reading keys: ')
            process.stdin.close()
            seen += self.read_terminal(main)
            self.assertEqual(process.wait(60), 0)
        self.assertRegex(seen, rb'reading keys: \d')
        self.assertTrue(seen.endswith(b'\r\x1b[K'), 'the bar goes when the work is done')

    @staticmethod
    def write_keys_until(to, file, text):
        """Whatever a busy machine takes to start, there are keys to come until it says so."""
        seen, end = b'', time.monotonic() + 60
        while text not in seen and time.monotonic() < end:
            to.write(b'key\n')
            to.flush()
            if select.select([file], [], [], 0.1)[0]:
                seen += os.read(file, 65536)
        return seen

    @staticmethod
    def read_terminal(file):
        """All that was written, until nobody has it open any more."""
        seen = b''
        while True:
            try:
                seen += os.read(file, 65536)
            except OSError:
                os.close(file)
                return seen

    def test_nobody_else_sees_a_bar(self):
        result = self.run_clockwise('compare', '--generate', '100000', *FEW)
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        self.assertTrue(result.stdout.startswith('10 nodes, equal weights\ngenerated, seed 1: '))

    def test_many_nodes_are_listed_when_asked(self):
        short = self.clockwise_output('compare', '--nodes', '30', '-g', '9000', *FEW)
        long = self.clockwise_output('compare', '--nodes', '30', '-g', '9000', '--all-nodes', *FEW)
        self.assertNotRegex(short, r'(?m)^  node-30 ')
        self.assertRegex(long, r'(?m)^  node-30 +- +1 +\d\.\d{3} +\d\.\d{3}$')

    def test_tables_fit_a_terminal(self):
        text = self.clockwise_output('compare', '-c', self.config, stdin='\n'.join(KEYS * 2))
        for line in text.split('\nHash: ')[0].splitlines():
            self.assertLessEqual(len(line), 100, line)

    def test_a_table_that_is_no_prime(self):
        report = self.compare('--table', '1000', '-P', 'maglev', '-P', 'slots', '-g', '1000')
        self.assertRegex(report['placements'][0]['not_measured'], 'prime')
        text = self.clockwise_output('compare', '--table', '1000', '-P', 'maglev', '-g', '1000')
        self.assertRegex(text, r'maglev was not measured: .*prime')

    def test_bad_questions(self):
        self.assert_refused(2, "no placement 'rign'; there are: slots, ring", '-P', 'rign')
        self.assert_refused(2, '--nodes 0: use 1 to 100000', '--nodes', '0')
        self.assert_refused(2, 'exclude each other', '--nodes', '3', '-c', self.config)
        self.assert_refused(2, 'exclude each other', '--nodes', '3', '--node', 'a')
        self.assert_refused(2, 'exclude each other', '--keys', self.keys, '--generate', '3')
        self.assert_refused(2, '--zipf -1: use a number above 0', '--zipf=-1')
        self.assert_refused(2, '--zipf nan: use', '--zipf=nan')
        self.assert_refused(2, '--generate 0: use a whole number from 1', '--generate', '0')
        self.assert_refused(2, "node 'a': unknown property 'size=1'", '--node', 'a,size=1')
        self.assert_refused(1, "no such node 'node-11'; did you mean 'node-1", '--remove',
                            'node-11')
        self.assert_refused(1, 'node id', '--node', 'a b')
        self.assert_refused(1, 'nothing: No such file', '--keys', 'nothing')
        self.assert_refused(1, 'no keys in it', '--keys', '-', stdin='')
        self.assert_refused(1, 'nowhere/x.html: No such file', '-g', '100', '--html',
                            'nowhere/x.html', *FEW)
        self.assertTrue(re.search('--html', self.clockwise_output('compare', '--help')))


if __name__ == '__main__':
    unittest.main()
