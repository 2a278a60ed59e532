#!/usr/bin/python3
"""What the program says about itself, and that the documents are what it prints.

covers: cli/commands, cli/help, cli/man
"""
import os
import subprocess
import unittest

from harness import ROOT, ProcessTest


class Help(ProcessTest):
    def read(self, *parts):
        with open(os.path.join(ROOT, *parts), encoding='utf-8') as file:
            return file.read()

    def assert_usage(self, wanted, *arguments):
        result = self.run_clockwise(*arguments)
        self.assertEqual(result.returncode, 2)
        self.assertIn(wanted, result.stderr)

    def test_the_reference_is_what_the_program_prints(self):
        self.assertEqual(self.read('docs', 'reference.md'),
                         self.clockwise_output('help', '--reference'),
                         'mend it: clockwise help --reference > docs/reference.md')

    def test_the_manual_page_is_what_the_program_prints(self):
        self.assertEqual(self.read('docs', 'man', 'clockwise.1'),
                         self.clockwise_output('help', '--man'),
                         'mend it: clockwise help --man > docs/man/clockwise.1')

    def test_troff_has_no_complaint_about_the_manual_page(self):
        try:
            result = subprocess.run(
                ['groff', '-man', '-Tutf8', '-ww', '-z', '-K', 'utf8',
                 os.path.join(ROOT, 'docs', 'man', 'clockwise.1')], capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest('no groff here')
        self.assertEqual((result.returncode, result.stderr), (0, ''))

    def test_the_example_is_a_configuration(self):
        path = self.write('example.yaml', self.clockwise_output('help', '--example'))
        self.assertEqual(self.clockwise_output('serve', '--check', '-c', path), f'{path}: ok\n')

    def test_every_command_explains_itself(self):
        overview = self.clockwise_output('--help')
        for name in ('serve', 'locate', 'plan', 'compare', 'import', 'apply', 'node', 'profiles',
                     'status', 'transition', 'help'):
            self.assertRegex(overview, rf'(?m)^  {name} ')
            text = self.clockwise_output(name, '--help')
            self.assertIn(f'Usage: clockwise {name}', text)
            self.assertIn('--help', text)
            self.assertEqual(text, self.clockwise_output('help', name))
        self.assertIn('pools.*.timeout', self.clockwise_output('serve', '-h'))

    def test_help_is_at_most_100_columns_wide(self):
        for arguments in (('--help',), ('serve', '--help'), ('plan', '--help'),
                          ('locate', '--help'), ('compare', '--help'), ('import', '--help'),
                          ('apply', '--help'), ('node', '--help'), ('transition', '--help'),
                          ('profiles', '--help')):
            for line in self.clockwise_output(*arguments).splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_the_version(self):
        self.assertRegex(self.clockwise_output('--version'), r'^clockwise \d+\.\d+\.\d+\n$')

    def test_slips_of_the_pen(self):
        self.assert_usage("unknown command 'lcoate'; did you mean 'locate'?", 'lcoate')
        self.assert_usage("unknown command 'lcoate'; did you mean 'locate'?", 'help', 'lcoate')
        self.assert_usage("unknown command 'qqqq'", 'qqqq')
        self.assert_usage('unknown option --verison', '--verison')
        self.assert_usage('unknown option --jsno; did you mean --json?', 'status', '--jsno')
        result = self.run_clockwise()
        self.assertEqual(result.returncode, 2)


if __name__ == '__main__':
    unittest.main()
