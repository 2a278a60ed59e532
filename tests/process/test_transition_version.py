#!/usr/bin/python3
"""Keys of every type move, under load, to a server of another version that refuses the payloads of
DUMP: they are copied by their values, and are equal afterwards.

covers: move/copy_big, move/copy_big_fields, move/copy_big_stream, move/drain_elements
covers: move/copier, move/check, move/look
"""
import threading
import unittest

from crash_fleet import CrashFleet
from load import FAR
from version_proxy import VersionProxy

OPTIONS = ('--enable-debug-command', 'yes')
EACH = 5  # keys of each kind, of which a third or so moves
COLD = 300
DELIVERED_MS = 1700000000123
CLOCKS_MS = 60000  # what a busy machine may put between reading the time and what it is for


def pairs(count, form):
    return [word for i in range(count) for word in form(i)]


def kinds(key):
    """Commands that make a key of each kind, by the kind's name."""
    many = 11000  # more than goes in one piece
    return {
        'string': [('SET', key, 'value \0\r\n\xff')],
        'number': [('SET', key, 1234567890123)],
        'empty': [('SET', key, '')],
        'expiring': [('SET', key, 'x', 'PXAT', FAR + 123)],
        'long': [('SET', key, bytes(1 + i % 251 for i in range(700001)), 'PXAT', FAR + 7)],
        'longer': [('SETRANGE', key, 3 << 20, 'end')],
        'bits': [('SETBIT', key, 12345, 1)],
        'log': [('PFADD', key, *range(3000))],
        'small-log': [('PFADD', key, 'a', 'b')],
        'list': [('RPUSH', key, *(f'e{i % 7}' for i in range(300)))],
        'large-list': [('RPUSH', key, *range(many))],
        'hash': [('HSET', key, 'f', '', '', 'v', 'n', 12)],
        'large-hash': [('HSET', key, *pairs(many, lambda i: (f'f{i}', i * 7))),
                       ('PEXPIREAT', key, FAR + 1)],
        'set': [('SADD', key, *(f'm{i}' for i in range(200)))],
        'numbers': [('SADD', key, *range(400))],
        'large-set': [('SADD', key, *(f'm{i}' for i in range(many)))],
        'zset': [('ZADD', key, *pairs(50, lambda i: (i / 3, f'm{i}'))),
                 ('ZADD', key, '-inf', 'least', 'inf', 'most', '5e-324', 'tiny')],
        'large-zset': [('ZADD', key, *pairs(many, lambda i: (i / 7, f'm{i}')))],
        'empty-stream': [('XGROUP', 'CREATE', key, 'g', '0', 'MKSTREAM')],
        'stream': [*(('XADD', key, f'{i}-1', 'a', i, 'b', '') for i in range(1, 400)),
                   ('XGROUP', 'CREATE', key, 'readers', '0'),
                   ('XGROUP', 'CREATE', key, 'others', '100-1', 'ENTRIESREAD', '100'),
                   ('XGROUP', 'CREATECONSUMER', key, 'others', 'idle'),
                   ('XREADGROUP', 'GROUP', 'readers', 'one', 'COUNT', 200, 'STREAMS', key, '>'),
                   ('XREADGROUP', 'GROUP', 'readers', 'two', 'COUNT', 9, 'STREAMS', key, '>'),
                   ('XCLAIM', key, 'readers', 'three', 0, '5-1', '6-1', 'TIME', DELIVERED_MS,
                    'RETRYCOUNT', 9),
                   ('XACK', key, 'readers', '7-1', '8-1'),
                   ('XDEL', key, '300-1', '399-1'),
                   ('PEXPIREAT', key, FAR + 5)],
    }


def pairs_of(reply):
    return dict(zip(reply[::2], reply[1::2]))


def read_stream(client, key):
    """What XINFO tells, without the times at which consumers were seen; and the times of delivery
    by themselves."""
    info = pairs_of(client.call('XINFO', 'STREAM', key, 'FULL', 'COUNT', 0))
    for name in b'radix-tree-keys', b'radix-tree-nodes':
        info.pop(name)
    times = {}
    groups = [pairs_of(group) for group in info[b'groups']]
    for group in groups:
        for entry in group[b'pending']:
            times[group[b'name'], entry[0]] = entry.pop(2)
        consumers = [pairs_of(consumer) for consumer in group[b'consumers']]
        group[b'consumers'] = sorted((one[b'name'], one[b'pel-count']) for one in consumers)
    info[b'groups'] = groups
    return info, times


class AnotherVersion(CrashFleet):
    def setUp(self):
        super().setUp()
        self.proxies, self.source_options = [], None

    def tearDown(self):
        super().tearDown()
        for proxy in self.proxies:
            proxy.close()

    def start_redis(self, name='redis', port=None, options=()):
        """The source, too, may be one of another version."""
        server = super().start_redis(name, port, options)
        if name != 'cache-1' or not self.source_options:
            return server
        self.proxies.append(VersionProxy(server, **self.source_options))
        return self.proxies[-1]

    def fill(self, _):
        super().fill(COLD)
        self.values = {}
        with self.router.client() as client:
            for kind in kinds(''):
                for number in range(EACH):
                    key = f'{kind}:{number}'
                    replies = client.pipeline(kinds(key)[kind])
                    self.assertEqual([one for one in replies if isinstance(one, Exception)], [])
                    self.values[key] = None
        for key, node in self.located(list(self.values)).items():
            self.values[key] = self.read(self.servers[node], key)

    @staticmethod
    def read(server, key):
        with server.client() as client:
            value = [client.call(*words) for words in (
                ('DEBUG', 'DIGEST-VALUE', key), ('TYPE', key), ('PEXPIRETIME', key))]
            return value, read_stream(client, key) if value[1] == 'stream' else None

    def add_proxy(self, version, **options):
        self.proxy = VersionProxy(self.fourth, version, **options)
        self.proxies.append(self.proxy)

    def replace(self, version, **options):
        """The server of cache-1 is replaced by one of another version."""
        self.start_fleet(OPTIONS)
        self.add_proxy(version, **options)
        self.command('node', 'replace', 'cache-1', f'127.0.0.1:{self.proxy.port}', '--yes')
        self.servers['cache-1'] = self.fourth

    def check_values(self):
        moved = 0
        for key, node in self.located(list(self.values)).items():
            moved += node == 'cache-1'
            (value, stream), (before, stream_before) = self.read(self.servers[node], key), \
                self.values[key]
            self.assertEqual(value, before, key)
            if stream:
                self.assertEqual(stream[0], stream_before[0], key)
                self.assertEqual(stream[1].keys(), stream_before[1].keys(), key)
                for entry, time_ms in stream[1].items():
                    self.assertLess(abs(time_ms - stream_before[1][entry]), CLOCKS_MS)
        self.assertGreater(moved, len(self.values) // 8)
        print(f'\n{self.proxy.version}, RESTORE refused {self.proxy.refused} times: {moved} keys '
              f'of {len(kinds(""))} kinds moved and are equal; {self.check_all()}', flush=True)


class EveryKind(AnotherVersion):
    def test_an_older_one_is_copied_to_by_value(self):
        self.replace('7.0.0', dump_version=9)
        self.assertEqual(self.proxy.refused, 0)  # known before
        self.assertGreater(self.status()['progress']['big_keys'], 3)  # marked by element
        self.check_values()

    def test_a_newer_one_that_refuses_payloads_is_copied_to_by_value_then(self):
        self.replace('8.2.1', dump_version=12)
        self.assertGreater(self.proxy.refused, 0)
        self.check_values()

    def test_a_newer_one_that_reads_older_payloads_gets_them(self):
        self.replace('8.2.1', dump_version=12, restores=True)
        self.assertGreater(self.proxy.names['RESTORE'], 100)
        self.check_values()

    def test_one_that_is_too_old_is_refused(self):
        self.start_fleet(OPTIONS)
        self.add_proxy('6.2.14', dump_version=9)
        result = self.run_clockwise('node', 'add', 'cache-4', f'127.0.0.1:{self.proxy.port}',
                                    '--yes', '--admin', self.admin)
        self.assertEqual(result.returncode, 1)
        self.assertIn('runs Redis 6.2.14; moving keys needs 7.0 or later', result.stderr)
        print('\n' + result.stderr.strip(), flush=True)
        self.check_all()


class LifetimesOfFields(AnotherVersion):
    """The source is one of Redis 7.4, whose fields of hashes may have lifetimes."""

    def setUp(self):
        super().setUp()
        self.source_options = {'version': '7.4.1', 'dump_version': 12, 'has_fields': True}
        self.counts = 0

    def fill(self, count):
        super().fill(count)
        source = self.servers['cache-1']
        self.hashes = [key for key, node in self.located(list(self.values)).items()
                       if node == 'cache-1' and 'hash' in key]
        self.assertGreater(len(self.hashes), 1)
        with source.client() as client:
            for key in self.hashes:
                fields = ['n'] if key.startswith('hash') else [f'f{i}' for i in range(1, 11000, 3)]
                client.call('HPEXPIREAT', key, FAR + 99, 'FIELDS', len(fields), *fields)
        self.counted = 0
        self.lifetimes = {key: dict(times) for key, times in source.fields.items()}

    def start_load(self):
        """Counts in the fields alone: two proxies are too slow for more."""

    def count(self, stop):
        """Counts in fields that have lifetimes, which they keep then."""
        with self.router.client(timeout=60) as client:
            keys = [key for key in self.hashes if not key.startswith('hash')]
            while self.counted < self.counts and not stop.wait(0.02):
                for key in keys:
                    client.call('HINCRBY', key, 'f4', 1)  # has a lifetime
                    client.call('HINCRBY', key, 'f5', 1)
                self.counted += 1

    def move_and_count(self, version, **options):
        self.start_fleet(OPTIONS)
        self.add_proxy(version, has_fields=True, **options)
        stop = threading.Event()
        counter = threading.Thread(target=self.count, args=(stop,))
        counter.start()
        self.command('node', 'replace', 'cache-1', f'127.0.0.1:{self.proxy.port}', '--yes')
        stop.set()
        counter.join()
        self.servers['cache-1'] = self.fourth
        self.check_places()
        with self.router.client() as client:
            for key in self.hashes:
                if not key.startswith('hash'):
                    self.assertEqual(client.call('HMGET', key, 'f4', 'f5'),
                                     [str(4 * 7 + self.counted).encode(),
                                      str(5 * 7 + self.counted).encode()])
        print(f'\n{sum(map(len, self.lifetimes.values()))} lifetimes of fields, {self.counted} '
              f'times counted in such fields', flush=True)

    def test_they_are_kept_by_value(self):
        self.counts = 50  # each time a key is written it is copied as a whole then
        self.move_and_count('8.0.0', dump_version=11)
        self.assertEqual(self.proxy.fields, self.lifetimes)

    def test_they_are_kept_of_large_hashes_that_are_marked_by_element(self):
        """Payloads fit here; those of the real servers say nothing of lifetimes, so small hashes
        have lost theirs."""
        self.source_options['dump_version'], self.counts = None, 1000000
        self.move_and_count('7.4.1', restores=True)
        for key, times in self.lifetimes.items():
            if len(times) > 1:
                self.assertEqual(self.proxy.fields[key], times)
        self.assertGreater(self.proxy.names['RESTORE'], 0)

    def test_a_target_that_knows_none_is_refused(self):
        self.start_fleet(OPTIONS)
        self.add_proxy('7.0.15')
        result = self.run_clockwise('node', 'replace', 'cache-1', f'127.0.0.1:{self.proxy.port}',
                                    '--yes', '--admin', self.admin)
        self.assertNotEqual(result.returncode, 0)
        print('\n' + result.stderr.strip(), flush=True)
        self.assertIn('fields have lifetimes of their own', result.stdout + result.stderr)
        self.assertEqual(self.servers['cache-1'].fields, self.lifetimes)


if __name__ == '__main__':
    unittest.main()
