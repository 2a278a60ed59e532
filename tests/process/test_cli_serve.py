#!/usr/bin/python3
"""`clockwise serve` as a program: what it prints, what it serves over HTTP, how it ends.

covers: cli/serve, cli/status, control/serve, control/banner, control/preflight, control/log
covers: control/runner, control/fleet, control/crew, control/snapshot, control/metrics
covers: control/status_json
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import unittest

from harness import (CLOCKWISE, ProcessTest, embedded_config, free_port, relay_config,
                     sanitizer_environment)


class Admin(ProcessTest):
    def setUp(self):
        super().setUp()
        self.admin = f'127.0.0.1:{free_port()}'
        config = embedded_config(self.path('data'), ['n-1', 'n-2', 'n-3'])
        config['admin'] = self.admin
        config['workers'] = 2
        self.router = self.start_clockwise(config)

    def get(self, path, method='GET'):
        connection = http.client.HTTPConnection(self.admin, timeout=20)
        connection.request(method, path)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body

    def test_status_counts_what_was_asked(self):
        with self.router.client() as client:
            for number in range(100):
                client.call('SET', f'key:{number}', 'x')
            code, body = self.get('/v1/status')
        self.assertEqual(code, 200)
        status = json.loads(body)
        pool = status['pools'][0]
        self.assertGreaterEqual(status['total']['requests'], 100)
        self.assertGreaterEqual(status['total']['clients'], 1)
        self.assertEqual(len(status['workers']), 2)
        self.assertEqual([node['id'] for node in pool['nodes']], ['n-1', 'n-2', 'n-3'])
        self.assertEqual({node['health'] for node in pool['nodes']}, {'up'})
        self.assertGreaterEqual(sum(node['requests'] for node in pool['nodes']), 100)
        self.assertEqual(sum(node['store']['keys'] for node in pool['nodes']), 100)
        self.assertAlmostEqual(sum(node['share'] for node in pool['nodes']), 1)
        self.assertGreaterEqual(pool['latency_us']['count'], 100)

    def test_status_is_a_table_for_people(self):
        text = self.clockwise_output('status', '--admin', self.admin)
        self.assertRegex(text, r'^clockwise \d+\.\d+\.\d+, up 0d 00:00:\d\d, 2 workers')
        self.assertRegex(text, r'(?m)^  n-2 +(up|unknown) +1 +33\.\d\d %')
        self.assertEqual(json.loads(self.clockwise_output('status', '--admin', self.admin,
                                                          '--json'))['pools'][0]['generation'], 1)

    def test_metrics_are_prometheus_text(self):
        code, body = self.get('/metrics')
        self.assertEqual(code, 200)
        sample = re.compile(r'clockwise_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [-+.e\d]+$')
        names = set()
        for line in body.splitlines():
            if line.startswith('# TYPE '):
                name = line.split()[2]
                self.assertNotIn(name, names)
                names.add(name)
            elif not line.startswith('# HELP '):
                self.assertRegex(line, sample)
        self.assertIn('clockwise_node_requests_total', names)
        reference = self.clockwise_output('help', '--reference')
        for name in names:
            self.assertIn(f'| `{name}` |', reference)
        counts = [int(count) for count in
                  re.findall(r'clockwise_pool_request_seconds_bucket\S+ (\d+)', body)]
        self.assertEqual(counts, sorted(counts))

    def test_pages_that_are_there_and_pages_that_are_not(self):
        self.assertEqual(self.get('/healthz'), (200, 'ok\n'))
        self.assertIn('/v1/status', self.get('/')[1])
        self.assertEqual([pool['name'] for pool in json.loads(self.get('/v1/pools')[1])['pools']],
                         ['main'])
        self.assertEqual(json.loads(self.get('/v1/pools/main/map')[1])['generation'], 1)
        for path in ('/nothing', '/v1/pools/none/map', '/v1/pools/main', '/v1/pools/main/map/x',
                     '/v1/pools/../../etc/passwd', '/v1/pools//map', '/' + 'x' * 4000):
            self.assertEqual(self.get(path)[0], 404, path)
        self.assertEqual(self.get('/', 'POST')[0], 405)
        self.assertEqual(self.get('/healthz', 'HEAD'), (200, ''))

    def test_garbage_and_silence_do_not_stop_it(self):
        host, port = self.admin.split(':')
        silent = [socket.create_connection((host, int(port))) for _ in range(20)]
        for connection in silent[:10]:
            connection.sendall(b'\x00\xff' * 40000 if connection is silent[0] else b'GET /')
        self.assertEqual(self.get('/healthz'), (200, 'ok\n'))
        for connection in silent:
            connection.close()


class Serve(ProcessTest):
    def serve(self, *arguments, config=None, **options):
        command = [CLOCKWISE, 'serve', *arguments]
        if config:
            command += ['-c', self.write('serve.yaml', json.dumps(config))]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=sanitizer_environment(),
                                **options)

    def read_banner(self, process):
        lines = []
        while not lines or not lines[-1].startswith('  redis-cli'):
            line = process.stdout.readline()
            self.assertTrue(line, lines)
            lines.append(line.rstrip('\n'))
        return '\n'.join(lines)

    def assert_ends(self, process, status=0):
        _, log = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, log)
        self.assertNotIn('Sanitizer', log)
        return log

    def start_fails(self, *arguments, config=None):
        return self.assert_ends(self.serve(*arguments, config=config), 1)

    def test_without_a_configuration_three_nodes_are_served(self):
        port, admin = free_port(), free_port()
        process = self.serve('--listen', f'127.0.0.1:{port}', '--admin', f'127.0.0.1:{admin}',
                             '--data-dir', 'here')
        banner = self.read_banner(process)
        self.assertIn(f'pool default listens on 127.0.0.1:{port} (redis)', banner)
        for node in ('node-1', 'node-2', 'node-3'):
            self.assertRegex(banner, rf'(?m)^  {node} +1 +33\.\d\d % +- +in this process$')
        self.assertIn(f'  redis-cli -p {port} set hello world', banner)
        self.assertIn(f'  {CLOCKWISE} locate hello', process.stdout.readline())
        self.assertEqual(sorted(os.listdir(self.path('here/default'))),
                         ['node-1', 'node-2', 'node-3'])
        process.send_signal(signal.SIGINT)
        log = self.assert_ends(process)
        self.assertRegex(log, r'(?m)^\d{4}-\d\d-\d\dT\S+Z info event=started version=')
        self.assertRegex(log, r'(?m)event=stopped$')

    def test_without_a_configuration_no_file_differs_after_a_change(self):
        port, admin = free_port(), f'127.0.0.1:{free_port()}'
        arguments = ('--listen', f'127.0.0.1:{port}', '--admin', admin, '--data-dir', 'here')
        process = self.serve(*arguments)
        self.read_banner(process)
        self.clockwise_output('node', 'add', 'node-4', '--yes', '--admin', admin)
        process.send_signal(signal.SIGINT)
        self.assert_ends(process)
        process = self.serve(*arguments)
        banner = self.read_banner(process)
        self.assertIn('node-4', banner)
        self.assertNotIn('differs', banner)
        process.send_signal(signal.SIGINT)
        self.assertNotIn('differs', self.assert_ends(process))

    def test_engines_that_are_for_locate_and_plan_are_refused(self):
        for engine, reason in (('memcached', "memcached's protocol is not served yet"),
                               ('other', 'serve speaks to redis servers only')):
            config = {'pools': {'main': {'listen': f'127.0.0.1:{free_port()}', 'engine': engine,
                                         'nodes': [{'id': 'a', 'address': '127.0.0.1:1'}]}}}
            for arguments in ((), ('--check',)):
                log = self.start_fails(*arguments, config=config)
                self.assertIn(f'pools.main.engine: {reason}', log)
                self.assertIn('`clockwise locate` and `plan`', log)
            self.assertIn('a', self.clockwise_output('locate', '-c', self.path('serve.yaml'),
                                                     'key').split())

    def test_every_signal_that_ends_ends_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            config = embedded_config(self.path(f'data-{number}'), ['n'])
            config['pools']['main']['listen'] = f'127.0.0.1:{free_port()}'
            process = self.serve(config=config)
            self.read_banner(process)
            process.send_signal(number)
            self.assert_ends(process)

    def test_the_check_says_ok_or_what_is_wrong(self):
        config = relay_config({})
        config['pools']['main'].update(listen='127.0.0.1:1', nodes=[{'id': 'n', 'address': 'h:1'}])
        path = self.write('c.yaml', json.dumps(config))
        self.assertEqual(self.clockwise_output('serve', '--check', '-c', path), f'{path}: ok\n')
        self.write('c.yaml', 'pools: {a: {listen: x}}\n')
        result = self.run_clockwise('serve', '--check', '-c', path)
        self.assertEqual((result.returncode, result.stderr),
                         (1, f"{path}:1:21: pools.a.listen: 'x' is no address: the port is missing "
                             '(write host:port)\n'))
        self.assertEqual(self.clockwise_output('serve', '--check'),
                         'the default configuration: ok\n')

    def test_options_that_are_wrong(self):
        for arguments, wanted in (
                (('--workers', 'x'), "--workers: 'x' is not a whole number"),
                (('--listen', 'x'), "--listen: 'x' is no address"),
                (('--admin', 'x'), "--admin: 'x' is no address"),
                (('extra',), "'extra' is too much")):
            result = self.run_clockwise('serve', *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(wanted, result.stderr)

    def test_an_admin_port_that_is_taken(self):
        with socket.socket() as other:
            other.bind(('127.0.0.1', 0))
            other.listen()
            admin = f'127.0.0.1:{other.getsockname()[1]}'
            log = self.start_fails('--admin', admin, '--listen', f'127.0.0.1:{free_port()}')
            self.assertIn(f'cannot listen on {admin}: the address is in use', log)
        self.assertFalse(os.path.exists(self.path('clockwise-data')), 'nothing was made before')

    def test_an_admin_port_that_is_one_of_the_pool(self):
        log = self.start_fails('--admin', '127.0.0.1:7400')
        self.assertIn('which is the admin address', log)

    def test_a_low_limit_of_files_is_warned_of(self):
        import resource
        config = embedded_config(self.path('data'), ['n'])
        config['pools']['main']['listen'] = f'127.0.0.1:{free_port()}'
        process = self.serve(config=config, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (400, 400)))
        self.read_banner(process)
        process.send_signal(signal.SIGTERM)
        self.assertRegex(self.assert_ends(process), r'warn event=few_files message="limits\.clients'
                                                    r' 10000 needs \d+ open files and only 400')

    def test_a_unix_socket_is_served(self):
        config = embedded_config(self.path('data'), ['n'])
        config.pop('workers', None)
        config['pools']['main']['listen'] = f'unix:{self.path("s")}'
        process = self.serve(config=config)
        self.assertIn(f'redis-cli -s {self.path("s")} set hello', self.read_banner(process))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self.path('s'))
            client.sendall(b'PING\r\n')
            self.assertEqual(client.recv(100), b'+PONG\r\n')
        process.send_signal(signal.SIGTERM)
        self.assert_ends(process)


if __name__ == '__main__':
    unittest.main()
