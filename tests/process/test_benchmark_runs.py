#!/usr/bin/python3
"""redis-benchmark runs against both engines and meets no error."""
import os
import re
import subprocess
import unittest

from harness import ROOT, ProcessTest, embedded_config, relay_config

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
            path = os.path.join(ROOT, 'bench', f'{name}.py')
            text = subprocess.run([path, '--help'], capture_output=True, text=True, timeout=60,
                                  check=True).stdout
            self.assertTrue(text.startswith(f'usage: {name}.py '), text)


if __name__ == '__main__':
    unittest.main()
