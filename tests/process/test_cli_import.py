#!/usr/bin/python3
"""`clockwise import` as a person runs it: what it reads, says, writes and refuses.

covers: cli/import, cli/import_nutcracker, cli/import_write
"""
import os
import stat
import unittest

from harness import ProcessTest

NUTCRACKER = """\
alpha:
  listen: 127.0.0.1:22121
  hash: fnv1a_64
  distribution: ketama
  auto_eject_hosts: true
  redis: true
  timeout: 400
  servers:
   - 127.0.0.1:6380:2 second
   - 127.0.0.1:6379:1 first
"""
EJECT = ("{}:5: option 'auto_eject_hosts': unless on_node_down says otherwise, a failed node's "
         "keys fail fast")
SAMPLES = {
    'nutcracker': NUTCRACKER,
    'haproxy': 'backend b\n  balance uri\n  server s 10.0.0.1:80\n',
    'nginx': 'http {\n  upstream u {\n    hash $uri consistent;\n    server 10.0.0.1:80;\n  }\n}\n',
    'mcrouter': '{"pools": {"A": {"servers": ["10.0.0.1:11211"]}}, "route": "PoolRoute|A"}\n',
    'memcached-proxy': "p = mcp.pool({mcp.backend('b', '10.0.0.1', 11211)})\n",
    'redis-cluster': '07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:7000@17000 '
                     'myself,master - 0 0 1 connected 0-16383\n',
    'nodetool': 'Datacenter: dc1\n==========\nAddress Rack Status State Load Owns Token\n'
                '10.0.0.1 r1 Up Normal 70KiB 100% 5\n',
}


class Import(ProcessTest):
    def read(self, path):
        with open(path, encoding='utf-8') as file:
            return file.read()

    def write_bytes(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)
        return self.path(name)

    def assert_refused(self, status, wanted, *arguments, **options):
        result = self.run_clockwise('import', *arguments, **options)
        self.assertEqual((result.returncode, result.stdout), (status, ''))
        self.assertIn(wanted, result.stderr)
        return result

    def test_what_is_not_redis_is_not_served_as_redis(self):
        for system in ('haproxy', 'nginx', 'mcrouter', 'memcached-proxy', 'nodetool'):
            made = self.path(f'{system}.yaml')
            self.clockwise_output('import', '--format', system, self.write(system, SAMPLES[system]),
                                  '-o', made)
            result = self.run_clockwise('serve', '-c', made)
            self.assertEqual(result.returncode, 1, system)
            self.assertIn('use the file with `clockwise locate` and `plan`', result.stderr)
            self.clockwise_output('locate', '-c', made, 'key')

    def test_a_configuration_comes_out_and_what_is_lost_is_said_twice(self):
        path = self.write('nutcracker.yml', NUTCRACKER)
        result = self.run_clockwise('import', path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count('\n'), 1)
        self.assertIn(EJECT.format(path), result.stderr)
        self.assertIn('# ' + EJECT.format(path), result.stdout)
        self.assertIn('      - {id: second, address: 127.0.0.1:6380, name: second, weight: 2}\n'
                      '      - {id: first, address: 127.0.0.1:6379, name: first}\n', result.stdout)

    def test_standard_input_is_read_and_named(self):
        result = self.run_clockwise('import', '-', stdin=NUTCRACKER)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(EJECT.format('stdin'), result.stderr)

    def test_every_system_is_recognised_by_itself_with_line_ends_and_marks_of_windows(self):
        for name, text in SAMPLES.items():
            for data in (text.encode(), b'\xef\xbb\xbf' + text.replace('\n', '\r\n').encode()):
                path = self.write_bytes('file', data)
                result = self.run_clockwise('import', path)
                self.assertEqual(result.returncode, 0, f'{name}: {result.stderr}')
                self.assertIn(f'`clockwise import --format {name}`', result.stdout)
                named = self.run_clockwise('import', path, '--format', name)
                self.assertEqual(named.stdout, result.stdout)

    def test_a_file_is_written_and_never_over_another(self):
        path = self.write('nutcracker.yml', NUTCRACKER)
        out = self.path('clockwise.yaml')
        printed = self.run_clockwise('import', path).stdout
        self.assertEqual(self.run_clockwise('import', path, '-o', out).stdout, '')
        self.assertEqual(self.read(out), printed)
        self.assert_refused(1, f'{out}: is there already', path, '-o', out)
        self.assertEqual(self.read(out), printed)
        self.assert_refused(1, 'No such file or directory', path, '-o', self.path('no', 'x'))

    def test_a_file_with_a_password_is_its_owners_alone(self):
        path = self.write('nutcracker.yml', NUTCRACKER + '  redis_auth: secret\n')
        out = self.path('clockwise.yaml')
        self.assertEqual(self.run_clockwise('import', path, '-o', out).returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o600)
        self.assertIn('    password: secret\n    client_password: secret\n', self.read(out))

    def test_what_moves_keys_is_written_by_force_alone(self):
        path = self.write('nutcracker.yml', NUTCRACKER.replace('ketama', 'random'))
        self.assert_refused(1, "option 'distribution': random is no placement", path)
        self.assert_refused(1, '--force writes it all the same', path, '-o', self.path('x.yaml'))
        self.assertFalse(os.path.exists(self.path('x.yaml')))
        result = self.run_clockwise('import', path, '--force')
        self.assertEqual(result.returncode, 0)
        self.assertIn('# ' + path + ":4: option 'distribution': random", result.stdout)

    def test_what_is_wrong_is_not_written_by_force_either(self):
        path = self.write('nutcracker.yml', NUTCRACKER + '   - 127.0.0.1:6378:0 third\n')
        self.assert_refused(1, f"{path}:11: server '127.0.0.1:6378:0 third': a weight of 0", path,
                            '--force')

    def test_files_that_are_none_are_refused(self):
        self.assert_refused(1, 'no such file', self.path('none'))
        self.assert_refused(1, 'Is a directory', self.folder)
        self.assert_refused(1, 'is empty', '-', stdin=' \n')
        self.assert_refused(1, 'of no system that is known here; say which with --format', '-',
                            stdin='hello\n')
        path = self.write_bytes('program', b'\x7fELF\n\0\1\2')
        self.assert_refused(1, f'{path}:2: a zero byte: this is no text', path)
        path = self.write_bytes('large', b'#' * (16 << 20) + b'\n')
        self.assert_refused(1, 'is larger than 16mb', path)

    def test_bytes_without_sense_are_refused_by_every_reader(self):
        noise = self.write_bytes('noise', bytes(1 + (i * 7919 + i * i) % 255 for i in range(70000)))
        for name in SAMPLES:
            result = self.assert_refused(1, noise, noise, '--format', name)
            self.assertTrue(all(byte >= ' ' for byte in result.stderr.replace('\n', '')))

    def test_options_are_checked(self):
        path = self.write('nutcracker.yml', NUTCRACKER)
        self.assert_refused(2, 'name the file to read')
        self.assert_refused(2, 'one file at a time', path, path)
        self.assert_refused(2, "unknown format 'nut'; there are redis-cluster", path, '-f', 'nut')
        self.assert_refused(2, '--backend is not for nutcracker, which wants --pool', path,
                            '--backend', 'x')
        self.assert_refused(1, "no pool 'x' in it", path, '--pool', 'x')
        self.assert_refused(2, "unknown profile 'x'", path, '--placement', 'x')
        self.assert_refused(2, 'nginx-hash is no placement of twemproxy', path, '--placement',
                            'nginx-hash')

    def test_another_placement_of_the_same_system_can_be_named(self):
        path = self.write('haproxy.cfg', 'backend b\n  balance uri\n  hash-type consistent\n'
                                         '  server s 10.0.0.1:80\n')
        result = self.run_clockwise('import', path, '--placement', 'haproxy-3.0-consistent')
        self.assertIn('placement: haproxy-3.0-consistent\n', result.stdout)

    def test_a_file_of_ten_megabytes_is_read(self):
        lines = [f'   - 10.{i >> 16}.{i >> 8 & 255}.{i & 255}:11211:1 {"x" * 80}{i}'
                 for i in range(95000)]
        text = NUTCRACKER.replace('ketama', 'modula') + '\n'.join(lines) + '\n'
        path = self.write('nutcracker.yml', text)
        self.assertGreater(os.path.getsize(path), 10 << 20)
        result = self.run_clockwise('import', path, seconds=200)
        self.assertEqual(result.returncode, 0, result.stderr[-400:])
        self.assertEqual(result.stdout.count('\n      - {'), 95002)


if __name__ == '__main__':
    unittest.main()
