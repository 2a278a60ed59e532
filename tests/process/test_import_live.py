#!/usr/bin/python3
"""Real programs fill real servers; then `clockwise import` reads the configuration of the program
that did, and not one key is elsewhere than clockwise says.

Debian's nutcracker, redis-server, memcached and libmemcached; nothing is skipped.

covers: cli/import, cli/import_nutcracker, cli/import_write
"""
import ctypes
import socket
import unittest

from harness import CLOCKWISE, Process, ProcessTest, free_port, wait_for

KEY_COUNT = 10000
BATCH = 500
TAGS = 700


def make_keys(name):
    """Ids, paths and hash tags, with some bytes that are no ASCII."""
    kinds = ('user:{}', 'session/{}/profile', 'cart{{{tag}}}:{}', '{{{tag}}}.list.{}', 'é:{}')
    return [f'{name}:' + kinds[i % len(kinds)].format(i, tag=f't{i % TAGS}')
            for i in range(KEY_COUNT)]


def batches(items):
    return [items[i:i + BATCH] for i in range(0, len(items), BATCH)]


# ---- memcached's protocol ------------------------------------------------------------------------

class Memcached:
    """As much of the text protocol as is needed: set, and get of many."""

    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port), timeout=20)
        self.file = self.socket.makefile('rb')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def set_all(self, keys):
        for batch in batches(keys):
            self.socket.sendall(b''.join(b'set %s 0 0 1\r\nv\r\n' % key.encode() for key in batch))
            for key in batch:
                answer = self.file.readline()
                if answer != b'STORED\r\n':
                    raise AssertionError(f'set {key}: {answer}')

    def get_those_there(self, keys):
        found = set()
        for batch in batches(keys):
            self.socket.sendall(b'get ' + ' '.join(batch).encode() + b'\r\n')
            while (line := self.file.readline()) != b'END\r\n':
                words = line.split()
                if not words or words[0] != b'VALUE':
                    raise AssertionError(f'get: {line}')
                found.add(words[1].decode())
                self.file.read(int(words[3]) + 2)
        return found


class MemcachedProcess(Process):
    """memcached, or nutcracker before it: is there when it answers a get."""

    def answers(self):
        if self.popen.poll() is not None:
            self.forget()
            raise AssertionError(f'{self.name} ended with {self.popen.returncode}:\n{self.log()}')
        try:
            with Memcached(self.port) as client:
                return client.get_those_there(['x']) == set()
        except (OSError, AssertionError):
            return False


# ---- libmemcached --------------------------------------------------------------------------------

KETAMA_WEIGHTED = 16  # memcached_behavior_t


class Libmemcached:
    """The library itself, by ctypes: what PHP's and Python's clients are made of."""

    def __init__(self, servers):
        library = self.library = ctypes.CDLL('libmemcached.so.11')
        library.memcached_create.restype = ctypes.c_void_p
        self.handle = ctypes.c_void_p(library.memcached_create(None))
        self.check(library.memcached_behavior_set(self.handle, KETAMA_WEIGHTED,
                                                  ctypes.c_uint64(1)))
        for port, weight in servers:
            self.check(library.memcached_server_add_with_weight(
                self.handle, b'127.0.0.1', ctypes.c_uint16(port), ctypes.c_uint32(weight)))

    def check(self, status):
        if status != 0:
            raise AssertionError(f'libmemcached: status {status}')

    def set_all(self, keys):
        for key in keys:
            text = key.encode()
            self.check(self.library.memcached_set(
                self.handle, text, ctypes.c_size_t(len(text)), b'v', ctypes.c_size_t(1),
                ctypes.c_long(0), ctypes.c_uint32(0)))

    def close(self):
        self.library.memcached_free(self.handle)


# ---- the tests -----------------------------------------------------------------------------------

class ImportLive(ProcessTest):
    def start_speaking_memcached(self, name, make_command):
        port = free_port()
        process = MemcachedProcess(name, make_command(port), self.path(f'{name}.log'), port)
        self.processes.append(process)
        wait_for(process.answers, f'{name} to answer')
        return process

    def start_memcached(self, name):
        return self.start_speaking_memcached(name, lambda port: [
            'memcached', '-l', '127.0.0.1', '-p', str(port), '-U', '0', '-u', 'root', '-m', '64'])

    def write_nutcracker(self, port, servers, options):
        lines = ['main:', f'  listen: 127.0.0.1:{port}', '  timeout: 20000',
                 *(f'  {key}: {value}' for key, value in options.items()),
                 '  servers:', *(f'   - {server}' for server in servers)]
        return self.write('nutcracker.yml', '\n'.join(lines) + '\n')

    def nutcracker_command(self, port, servers, options):
        path = self.write_nutcracker(port, servers, options)
        return ['nutcracker', '-c', path, '-s', str(free_port()), '-a', '127.0.0.1']

    def import_file(self):
        result = self.run_clockwise('import', self.path('nutcracker.yml'),
                                    '-o', self.path('clockwise.yaml'))
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.path('clockwise.yaml')

    # -- redis ----------------------------------------------------------------------------------

    def set_all(self, process, keys):
        with process.client() as client:
            for batch in batches(keys):
                for answer in client.pipeline([('SET', key, 'of ' + key) for key in batch]):
                    self.assertEqual(answer, 'OK')

    def count_hits(self, process, keys):
        hits = 0
        with process.client() as client:
            for batch in batches(keys):
                answers = client.pipeline([('GET', key) for key in batch])
                hits += sum(answer in (f'of {key}', f'of {key}'.encode())
                            for key, answer in zip(batch, answers))
        return hits

    def key_counts(self, servers):
        counts = []
        for server in servers:
            with server.client() as client:
                counts.append(client.call('DBSIZE'))
        return counts

    def serve_instead_of(self, nutcracker, path):
        """At the same address, as an operator would."""
        nutcracker.kill()
        self.admin = f'127.0.0.1:{free_port()}'
        return self.start('clockwise', lambda port: [
            CLOCKWISE, 'serve', '-c', path, '--admin', self.admin, '--data-dir',
            self.path('data')], nutcracker.port)

    def check_redis(self, options, names=('', '', ''), weights=(3, 1, 2)):
        redis = [self.start_redis(f'redis-{i}') for i in range(3)]
        servers = [f'127.0.0.1:{server.port}:{weight}{name and " " + name}'
                   for server, weight, name in zip(redis, weights, names)]
        servers = [servers[2], servers[0], servers[1]]
        options = {'redis': 'true', **options}
        nutcracker = self.start('nutcracker', lambda port: self.nutcracker_command(
            port, servers, options))
        keys = make_keys('redis')
        self.set_all(nutcracker, keys)
        counts = self.key_counts(redis)
        self.assertEqual(sum(counts), KEY_COUNT)
        self.assertGreater(min(counts), 0)
        path = self.import_file()
        clockwise = self.serve_instead_of(nutcracker, path)
        self.assertEqual(self.count_hits(clockwise, keys), KEY_COUNT)
        self.set_all(clockwise, keys)
        self.assertEqual(self.key_counts(redis), counts)
        return path, clockwise, keys

    def test_ketama_over_shuffled_weighted_servers_has_no_miss_behind_clockwise(self):
        path, clockwise, keys = self.check_redis({'hash': 'fnv1a_64', 'distribution': 'ketama'})
        self.assertEqual(clockwise.stop(), 0)
        # That a wrong placement would be seen: our own has misses with the same nodes.
        with open(path, encoding='utf-8') as file:
            lines = [line for line in file if 'profile: {' not in line]
        other = self.write('slots.yaml', ''.join(lines).replace('twemproxy-ketama', 'slots'))
        with_slots = self.start('clockwise-slots', lambda port: [
            CLOCKWISE, 'serve', '-c', other, '--listen', f'127.0.0.1:{port}', '--admin', 'off',
            '--data-dir', self.path('no-map-yet')])
        self.assertLess(self.count_hits(with_slots, keys), KEY_COUNT * 0.9)

    def test_named_servers_with_another_hash_have_no_miss_behind_clockwise(self):
        self.check_redis({'hash': 'murmur', 'distribution': 'ketama'}, ('gamma', 'b', 'alpha'))

    def test_modula_with_a_hash_tag_has_no_miss_behind_clockwise(self):
        self.check_redis({'hash': 'one_at_a_time', 'distribution': 'modula', 'hash_tag': '"{}"'})

    # -- and then to another placement ----------------------------------------------------------

    def write_slots(self, path):
        """The imported file with our own placement: two lines of it changed."""
        with open(path, encoding='utf-8') as file:
            lines = [line for line in file if 'profile: {' not in line]
        text = ''.join(lines).replace('placement: twemproxy-ketama', 'placement: slots')
        self.assertIn('placement: slots', text)
        return self.write('slots.yaml', text)

    def apply(self, path, *options):
        result = self.run_clockwise('apply', path, '--admin', self.admin, *options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def check_owners(self, keys, servers):
        """Each key is on the node that the router names, and nowhere else."""
        lines = self.clockwise_output('locate', '--admin', self.admin,
                                      stdin='\n'.join(keys) + '\n').splitlines()
        owned = {}
        for line in lines:
            key, owner = line.rsplit('\t', 1)
            owned.setdefault(owner, []).append(key)
        self.assertEqual(len(owned), len(servers))
        for server in servers:
            own = owned[f'127.0.0.1:{server.port}']
            self.assertEqual(self.count_hits(server, own), len(own))
        self.assertEqual(self.key_counts(servers),
                         [len(owned[f'127.0.0.1:{server.port}']) for server in servers])

    def test_the_placement_is_changed_to_slots_by_a_transition_without_a_miss(self):
        path, clockwise, keys = self.check_redis({'hash': 'fnv1a_64', 'distribution': 'ketama'})
        servers = [process for process in self.processes if process.name.startswith('redis-')]
        self.check_owners(keys, servers)
        slots = self.write_slots(path)
        self.assertIn('placement twemproxy-ketama to slots', self.apply(slots, '--dry-run'))
        self.check_owners(keys, servers)
        self.assertIn('done: placement twemproxy-ketama to slots', self.apply(slots, '--yes'))
        self.assertEqual(self.count_hits(clockwise, keys), KEY_COUNT)
        self.check_owners(keys, servers)
        # The next server costs what it must: with slots nothing moves without need.
        more = self.start_redis('redis-3')
        plan = self.run_clockwise('node', 'add', f'127.0.0.1:{more.port}',
                                  f'127.0.0.1:{more.port}', '--admin', self.admin, '--yes')
        self.assertEqual(plan.returncode, 0, plan.stdout + plan.stderr)
        self.assertIn('0.00 % move without need', plan.stdout)
        self.check_owners(keys, [*servers, more])
        # What was decided is kept, whatever file the next start is given.
        self.assertEqual(clockwise.stop(), 0)
        again = self.start('clockwise-again', lambda port: [
            CLOCKWISE, 'serve', '-c', path, '--admin', self.admin, '--data-dir',
            self.path('data')], clockwise.port)
        self.assertEqual(self.count_hits(again, keys), KEY_COUNT)

    # -- memcached ------------------------------------------------------------------------------

    def located(self, path, keys):
        """The key's node, as `clockwise locate` says."""
        lines = self.clockwise_output('locate', '-c', path,
                                      stdin='\n'.join(keys) + '\n').splitlines()
        return dict(line.rsplit('\t', 1) for line in lines)

    def count_right(self, path, servers, keys):
        """Keys that are on the server that is named, and on no other; servers by id."""
        located = self.located(path, keys)
        right = 0
        for node, server in servers.items():
            with Memcached(server.port) as client:
                there = client.get_those_there(keys)
            self.assertGreater(len(there), 0, node)
            right += sum(located[key] == node for key in there)
            right -= sum(located[key] != node for key in there)
        return right

    def test_memcached_filled_by_nutcracker_is_where_locate_says(self):
        servers = {name: self.start_memcached(name) for name in ('mc-10', 'mc-2', 'mc-1')}
        lines = [f'127.0.0.1:{server.port}:{weight} {name}'
                 for (name, server), weight in zip(servers.items(), (5, 1, 2))]
        nutcracker = self.start_speaking_memcached(
            'nutcracker', lambda port: self.nutcracker_command(
                port, lines, {'hash': 'fnv1a_64', 'distribution': 'ketama'}))
        keys = make_keys('nutcracker')
        with Memcached(nutcracker.port) as client:
            client.set_all(keys)
        self.assertEqual(self.count_right(self.import_file(), servers, keys), KEY_COUNT)

    def write_libmemcached(self, name, servers, weights):
        lines = [f'      - {{id: {node}, address: "127.0.0.1:{server.port}", weight: {weight}}}'
                 for (node, server), weight in zip(servers.items(), weights)]
        return self.write(name, '\n'.join([
            'pools:', '  main:', '    listen: 127.0.0.1:7400',
            '    placement: libmemcached-ketama-weighted', '    nodes:', *lines]) + '\n')

    def test_memcached_filled_by_libmemcacheds_weighted_ketama_is_where_locate_says(self):
        weights = (1, 4, 2)
        servers = {name: self.start_memcached(name) for name in ('mc-c', 'mc-a', 'mc-b')}
        library = Libmemcached([(server.port, weight)
                                for server, weight in zip(servers.values(), weights)])
        keys = make_keys('libmemcached')
        library.set_all(keys)
        library.close()
        path = self.write_libmemcached('right.yaml', servers, weights)
        self.assertEqual(self.count_right(path, servers, keys), KEY_COUNT)
        # That a wrong placement would be seen: equal weights are one.
        other = self.write_libmemcached('wrong.yaml', servers, (1, 1, 1))
        self.assertLess(self.count_right(other, servers, keys), KEY_COUNT * 0.9)


if __name__ == '__main__':
    unittest.main()
