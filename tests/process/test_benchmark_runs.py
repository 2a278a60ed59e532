#!/usr/bin/python3
"""redis-benchmark runs against both engines and meets no error."""
import os
import re
import subprocess
import unittest

from harness import CLOCKWISE, ROOT, ProcessTest, embedded_config, relay_config

REQUESTS = 20000


class BenchmarkRuns(ProcessTest):
    def run_benchmark(self, router):
        result = subprocess.run(
            ['redis-benchmark', '-p', str(router.port), '-t', 'set,get,mset,incr', '-P', '16',
             '-n', str(REQUESTS), '-c', '20', '-r', '10000', '-d', '64', '--csv'],
            capture_output=True, text=True, timeout=200)
        text = result.stdout + result.stderr
        self.assertEqual(result.returncode, 0, text)
        self.assertIsNone(re.search(r'(?i)error|ERR |-[A-Z]+ ', text), text)
        rows = re.findall(r'(?m)^"(SET|GET|INCR|MSET[^"]*)","([\d.]+)"', result.stdout)
        self.assertEqual(len(rows), 4, text)
        print(', '.join(f'{name} {float(rate):.0f}/s' for name, rate in rows))

    def test_over_real_servers(self):
        servers = {node: self.start_redis(node) for node in ('a', 'b', 'c')}
        self.run_benchmark(self.start_clockwise(relay_config(servers)))

    def test_over_embedded_nodes(self):
        self.run_benchmark(self.start_clockwise(embedded_config(self.path('data'))))

    def test_each_benchmark_is_itself(self):
        """Once, one that uses another's servers ran the other first."""
        for name in ('proxies', 'dead_node'):
            text = self.run_it(os.path.join(ROOT, 'bench', f'{name}.py'), '--help', 0).stdout
            self.assertTrue(text.startswith(f'usage: {name}.py '), text)

    def run_it(self, path, argument, code):
        result = subprocess.run([path, argument], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, code, f'{path} {argument}: {result}')
        return result

    def test_each_says_how_it_is_used_and_measures_nothing(self):
        folder = os.path.join(os.path.dirname(CLOCKWISE), 'bench')
        names = [entry.name for entry in os.scandir(folder)
                 if entry.is_file() and os.access(entry.path, os.X_OK)]
        self.assertIn('move', names)
        for name in names:
            path = os.path.join(folder, name)
            self.assertRegex(self.run_it(path, '--help', 0).stdout, rf'^usage: {name}')
            self.assertRegex(self.run_it(path, '--nonsense', 2).stderr, rf'^usage: {name}')


if __name__ == '__main__':
    unittest.main()
