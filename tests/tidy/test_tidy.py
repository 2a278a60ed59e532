#!/usr/bin/python3
"""The rules of rules.py hold for this tree, and each of them can fail.

Run by itself or by ctest. A finding names the file and the line; a rule that is wrong for a good
reason has a waiver where rules.py says so, and no other way round it.
"""
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules  # noqa: E402

ROOT = os.environ.get('CLOCKWISE_SOURCE') or os.path.realpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
TREE = rules.read_tree(ROOT)


class TheTree(unittest.TestCase):
    """One test a rule, made below."""

    def test_something_was_read(self):
        self.assertIn('include/clockwise/clockwise.h', TREE)
        self.assertGreater(len(rules.select(TREE, '.c', under='src/')), 2)

    def test_headers_compile_alone(self):
        headers = [path for path in rules.select(TREE, '.h')
                   if path.startswith(('src/', 'include/'))]
        findings = [rules.compiles_alone(ROOT, path, ['gcc', '-std=gnu11', '-x', 'c'])
                    for path in headers]
        self.fail_on(filter(None, findings))

    @unittest.skipUnless(shutil.which('g++'), 'no g++ here')
    def test_public_headers_are_cpp_too(self):
        compiler = ['g++', '-std=c++17', '-pedantic', '-x', 'c++']
        findings = [rules.compiles_alone(ROOT, path, compiler)
                    for path in rules.select(TREE, '.h', under='include/')]
        self.fail_on(filter(None, findings))

    def fail_on(self, findings):
        findings = list(findings)
        if findings:
            self.fail(f'{len(findings)} found\n' + '\n'.join(findings))


def add_rule_tests():
    for rule in rules.RULES:
        def check(self, rule=rule):
            self.fail_on(rule(TREE))
        check.__doc__ = rule.__doc__
        setattr(TheTree, f'test_{rule.__name__}', check)


def body(lines):
    return '{\n' + '    x();\n' * lines + '}\n'


LONG = rules.FUNCTION_LINES_MAX + 1

# rule, a tree that it must find fault with, a tree that it must not.
SAMPLES = [
    ('layers', {'src/wire/a.c': '#include "io/io.h"\n'}, {'src/store/a.c': '#include "io/io.h"\n'}),
    ('layers', {'src/placement/a.c': '#include "wire/resp.h"\n'},
     {'src/placement/a.c': '#include <clockwise/clockwise.h>\n#include "base/list.h"\n'}),
    ('layers', {'src/router/a.c': '#include "control/log.h"\n'},
     {'src/control/a.c': '#include "router/router.h"\n'}),
    ('layers', {'src/router/a.c': '#include <sys/socket.h>\n'},
     {'src/io/io_uv.c': '#include <sys/socket.h>\n#include <uv.h>\n'}),
    ('layers', {'src/router/a.h': '# include <time.h>\n'},
     {'src/router/a.h': '#include <errno.h>\n'}),
    ('layers', {'src/router/a.h': '#include <pthread.h>\n'},
     {'src/cli/a.c': '#include <pthread.h>\n'}),
    ('layers', {'src/store/a.c': '#include <uv.h>\n'}, {}),
    ('layers', {'src/base/a.c': '#include "list.h"\n'},
     {'src/base/a.c': '#include "base/list.h"\n'}),
    ('placement_has_no_globals', {'src/placement/a.c': 'static int count;\n'},
     {'src/placement/a.c': 'static const int primes[] = {2, 3};\nstatic int f(int x);\n'
                           'int f(int x)\n'}),
    ('placement_has_no_globals', {'src/placement/a.c': 'static struct x *cache[4] = {0};\n'}, {}),
    ('banned_calls', {'src/io/a.c': 'void f(void)\n{\n    strcpy(a, b);\n}\n'},
     {'src/io/a.c': '/* not strcpy( */\nconst char *s = "atoi(";\nmy_rand(); x->system(1);\n'}),
    ('banned_calls', {'tests/io/test_a.c': 'n = atoi (text);\n'}, {}),
    ('banned_calls', {'src/io/a.c': 'p = alloca(n);\n'}, {}),
    ('unchecked_allocations', {'src/io/a.c': 'x->p = malloc(4);\nx->p[0] = 1;\n'},
     {'src/io/a.c': 'x->p = malloc(4);\nif (!x->p)\n    return -1;\n'}),
    ('unchecked_allocations', {'src/io/a.c': 'char *q = strdup(s);\nuse(q);\n'},
     {'src/io/a.c': 'char *q = strdup(s);\nreturn q ? use(q) : -1;\n',
      'src/io/b.c': 'if (!(q = malloc(4)))\n    return -1;\nr = malloc(4);\nCW_ASSERT(r);\n'}),
    ('header_form', {'src/io/a.h': '#ifndef IO_A_H\n#define IO_A_H\n#endif\n'},
     {'src/io/a.h': '/* A. */\n#ifndef IO_A_H\n#define IO_A_H\n#endif\n'}),
    ('header_form', {'src/io/a.h': '/* A. */\n#ifndef A_H\n#define A_H\n#endif\n'}, {}),
    ('function_length', {'src/io/a.c': 'int f(int a,\n      int b)\n' + body(LONG)},
     {'src/io/a.c': 'int f(void)\n' + body(LONG - 1)}),
    ('function_length',
     {'src/io/a.c': '/* long: too short to need one */\nint f(void)\n' + body(3)},
     {'src/io/a.c': '/* long: one case a type */\nint f(int a,\n      int b)\n' + body(LONG)}),
    ('function_length', {'src/io/a.c': '/* long: there is no function here */\nint x;\n'}, {}),
    ('function_length', {'src/io/a.c': '/* long: */\nint f(void)\n' + body(LONG)}, {}),
    ('file_length', {'src/io/a.c': 'int x;\n' * 501}, {'src/io/a.c': 'int x;\n' * 500}),
    ('file_length', {'src/io/a.c': '/* long file: not long at all */\nint x;\n'},
     {'src/io/a.c': '/* long file: one table that belongs together */\n' + 'int x;\n' * 600}),
    ('line_form', {'src/io/a.c': 'x' * 101 + '\n'}, {'src/io/a.c': 'x' * 100 + '\n'}),
    ('line_form', {'a.py': 'x \n'}, {'a.md': 'x \n'}),
    ('line_form', {'a.c': '\tx;\n'}, {}),
    ('line_form', {'a.c': 'x;'}, {}),
    ('every_module_has_a_test', {'src/io/a.c': '', 'tests/wire/test_a.c': ''},
     {'src/io/a.c': '', 'tests/io/test_a_more.c': ''}),
    ('every_module_has_a_test', {'src/io/a.c': '', 'tests/io/test_b.c': '/* covers: b */\n'},
     {'src/io/a.c': '', 'src/io/c.c': '',
      'tests/io/test_b.c': '/*\n * covers: a,\n * io/c\n */\n'}),
    ('open_ends', {'a.c': '/* TODO: later */\n'}, {'a.c': '/* TODO(ann): later */\n"XXXXXX"\n'}),
    ('open_ends', {'a.c': '/* FIXME */\n'}, {}),
    ('local_words', {'a.c': '"/' + 'home/ann/x"\n'}, {'a.c': '"build/root/x ~/work/x"\n'}),
    ('local_words', {'lock.json': '"resolved": "https://x"\n'}, {}),
]


class TheRules(unittest.TestCase):
    """Negative controls: a check that cannot fail proves nothing."""

    def test_every_rule_has_a_bad_sample(self):
        self.assertEqual({name for name, _, _ in SAMPLES}, {rule.__name__ for rule in rules.RULES})

    def test_bad_samples_are_found_and_good_ones_are_not(self):
        for name, bad, good in SAMPLES:
            with self.subTest(rule=name, bad=bad):
                self.assertTrue(getattr(rules, name)(bad))
            with self.subTest(rule=name, good=good):
                self.assertEqual(getattr(rules, name)(good), [])

    def test_a_header_that_needs_another_one_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(f'{root}/src/io')
            for name, text in {'bad.h': 'size_t f(void);\n',
                               'good.h': '#include <stddef.h>\nsize_t f(void);\n'}.items():
                with open(f'{root}/src/io/{name}', 'w', encoding='utf-8') as file:
                    file.write(text)
            compiler = ['gcc', '-std=gnu11', '-x', 'c']
            self.assertIn('size_t', rules.compiles_alone(root, 'src/io/bad.h', compiler) or '')
            self.assertIsNone(rules.compiles_alone(root, 'src/io/good.h', compiler))


add_rule_tests()
if __name__ == '__main__':
    unittest.main(verbosity=1)
