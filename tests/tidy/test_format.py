#!/usr/bin/python3
"""clang-format has nothing to change in any C file; says what it would change where it has.

The formatting is that of clang-format 14 (Debian 12); other versions differ in details, so without
that one the test is skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules  # noqa: E402
from test_tidy import ROOT, TREE  # noqa: E402

VERSION = '14'


def find_clang_format():
    for name in (f'clang-format-{VERSION}', 'clang-format'):
        path = shutil.which(name)
        if path and re.search(rf'version {VERSION}\.', subprocess.run(
                [path, '--version'], capture_output=True, text=True).stdout):
            return path
    return None


class Formatting(unittest.TestCase):
    @unittest.skipUnless(find_clang_format(), f'no clang-format {VERSION} here')
    def test_clang_format_changes_nothing(self):
        files = sorted(rules.select(TREE, '.c', '.h'))
        result = subprocess.run([find_clang_format(), '--dry-run', '-Werror', *files],
                                cwd=ROOT, capture_output=True, text=True)
        places = re.findall(r'(?m)^(\S+?:\d+):\d+: error', result.stderr)
        self.assertEqual(result.returncode, 0,
                         f'\n{len(places)} places; clang-format -i mends them:\n' +
                         '\n'.join(dict.fromkeys(places)))

    @unittest.skipUnless(find_clang_format(), f'no clang-format {VERSION} here')
    def test_bad_formatting_is_found(self):
        result = subprocess.run(
            [find_clang_format(), '--dry-run', '-Werror', '--assume-filename=src/a.c'],
            input='int  f( void ) { return 1 ; }\n', cwd=ROOT, capture_output=True, text=True)
        self.assertNotEqual(result.returncode, 0)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], 'Formatting'])
