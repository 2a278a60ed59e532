#!/usr/bin/python3
"""A large hash moves while its fields are written, a large string while it is written and clients
work with other keys: everything is right afterwards, and no command of the move was one that takes
a server the longer the larger the value is.

CW_BIG_FIELDS says how many fields (the recorded run: 1000000), CW_BIG_MB how long the string is (60
and 200). What SLOWLOG has of more than 10 ms
is printed, and with CW_BIG_STRICT=1 there must be nothing: on a busy machine its clock includes
what other processes did.

covers: move/copy_big, move/copy_big_job, move/copy_big_types, move/drain_elements
covers: move/transition_big, move/copy_big_string, move/peer_stream, router/big_keys
"""
import multiprocessing
import os
import random
import time
import unittest

from crash_fleet import CrashFleet
from resp import Client

FIELDS = int(os.environ.get('CW_BIG_FIELDS', '60000'))
IS_STRICT = bool(os.environ.get('CW_BIG_STRICT'))
STRING_LEN = int(float(os.environ.get('CW_BIG_MB', '12')) * (1 << 20)) + 4321
PIECE_LEN, EDITS = 1 << 20, 60
LIST_LENGTH, PUSHERS = 12000, 4
WRITERS = 2
KEY = 'large'
WHOLE = (b'dump', b'restore', b'del', b'hgetall', b'hkeys', b'hvals', b'copy', b'migrate', b'get',
         b'append')
LOGGED_US, SLOW_US = 200, 10000


class FieldWriter:
    """Writes fields of its own and knows what they hold."""

    def __init__(self, number, port):
        self.number, self.random = number, random.Random(number)
        self.fields = {}  # what it wrote
        self.writes = 0
        self.client = Client(port, timeout=60)

    def step(self):
        number = self.random.randrange(FIELDS // WRITERS + 500) * WRITERS + self.number
        value = self.fields.get(number, number if number < FIELDS else None)
        kind = self.random.randrange(4)
        if kind < 2:
            after = wanted = (value or 0) + 1
            command = 'HINCRBY', KEY, f'f{number}', 1
        elif kind == 2:
            after, wanted = 7, int(value is None)
            command = 'HSET', KEY, f'f{number}', 7
        else:
            after, wanted = None, int(value is not None)
            command = 'HDEL', KEY, f'f{number}'
        reply = self.client.call(*command)
        self.fields[number] = after
        self.writes += 1
        if reply != wanted:
            raise AssertionError(f'{command}: {reply} instead of {wanted}')


def work(number, port, stop, pipe):
    problem = None
    writer = FieldWriter(number, port)
    try:
        while not stop.is_set():
            writer.step()
    except Exception as error:  # whatever it is, the test must hear of it
        problem = repr(error)
    writer.client.close()
    pipe.send((writer.fields, problem, writer.writes))


def push(number, port, stop, pipe):
    """Writes a list as a whole, as often as it can: sends how many elements were acknowledged."""
    problem, count = None, 0
    try:
        with Client(port, timeout=60) as client:
            while not stop.is_set():
                client.call('RPUSH', KEY, *(f'{number}:{count + i}' for i in range(2)))
                count += 2
    except Exception as error:
        problem = repr(error)
    pipe.send((count, problem))


def edit(port, stop, pipe):
    """Writes into a string, here and there and at its end, for a while: were it for ever, it would
    have to be copied within the time for which writes may wait. Sends what was acknowledged."""
    problem, edits, chance = None, [], random.Random(5)
    length = STRING_LEN
    try:
        with Client(port, timeout=60) as client:
            while len(edits) < EDITS and not stop.wait(0.05):
                bytes_ = b'<%d>' % len(edits)
                is_at_end = chance.randrange(4) == 0
                offset = length if is_at_end else chance.randrange(STRING_LEN - 20)
                length = max(length, offset + len(bytes_))
                reply = client.call('SETRANGE', KEY, offset, bytes_)
                edits.append((offset, bytes_))
                if reply != length:
                    raise AssertionError(f'SETRANGE said {reply} instead of {length}')
    except Exception as error:
        problem = repr(error)
    pipe.send((edits, problem))


def count(number, port, stop, pipe):
    """Counts in other keys of all nodes, as often as it can: any error is a problem."""
    problem, done, longest = None, 0, 0
    try:
        with Client(port, timeout=60) as client:
            while not stop.is_set():
                began = time.monotonic()
                client.call('INCR', f'count:{number}:{done % 50}')
                longest = max(longest, time.monotonic() - began)
                done += 1
    except Exception as error:
        problem = repr(error)
    pipe.send((done, longest, problem))


class ALargeKey(CrashFleet):
    def setUp(self):
        super().setUp()
        self.stop_writers = multiprocessing.get_context('fork').Event()
        self.writers, self.pipes = [], []

    def tearDown(self):
        for process in self.writers:
            process.kill()
            process.join()
        super().tearDown()

    def start_writers(self, function, arguments):
        context = multiprocessing.get_context('fork')
        for more in arguments:
            ours, theirs = context.Pipe(duplex=False)
            self.writers.append(context.Process(
                target=function, args=(*more, self.router.port, self.stop_writers, theirs)))
            self.writers[-1].start()
            self.pipes.append(ours)

    def replace_owner(self):
        """Everything of the node that owns the key moves to the fourth server."""
        owner = self.located([KEY])[KEY]
        self.command('node', 'replace', owner, f'127.0.0.1:{self.fourth.port}', '--yes')
        with self.servers[owner].client() as client:
            self.assertEqual(client.call('DBSIZE'), 0)
        self.servers[owner] = self.fourth
        return self.status()

    def log_commands(self, servers):
        """SLOWLOG with far less than such a command takes with such a key."""
        for server in servers:
            with server.client() as client:
                client.call('CONFIG', 'SET', 'slowlog-log-slower-than', LOGGED_US)
                client.call('CONFIG', 'SET', 'slowlog-max-len', 1000000)
                client.call('SLOWLOG', 'RESET')

    def check_commands(self, servers):
        """Nothing took the hash as a whole. Returns (node, ms, command) of what was slow."""
        slow = []
        for server in servers:
            with server.client() as client:
                entries = client.call('SLOWLOG', 'GET', -1)
            for _, _, took_us, command, *_ in entries:
                is_whole = command[0].lower() in WHOLE and command[1].endswith(KEY.encode())
                self.assertFalse(is_whole, f'{server.name}: {command[:3]}')
                if took_us >= SLOW_US:
                    slow.append((server.name, took_us / 1000, command[:3]))
        return slow


class AList(ALargeKey):
    def fill(self, _):
        with self.router.client() as client:
            client.pipeline(('RPUSH', KEY, *(f'old:{first + i}' for i in range(500)))
                            for first in range(0, LIST_LENGTH, 500))

    def start_load(self):
        self.start_writers(push, [(number,) for number in range(PUSHERS)])

    def test_it_moves_although_it_is_pushed_to_all_the_time(self):
        self.start_fleet()
        report = self.replace_owner()
        self.stop_writers.set()
        counts = {b'old': LIST_LENGTH}
        for number, pipe in enumerate(self.pipes):
            counts[str(number).encode()], problem = pipe.recv()
            self.assertIsNone(problem)
        found = {pusher: [] for pusher in counts}
        with self.router.client() as client:
            for element in client.call('LRANGE', KEY, 0, -1):
                pusher, number = element.split(b':')
                found[pusher].append(int(number))
        for pusher, count in counts.items():
            self.assertEqual(found[pusher], list(range(count)))
        self.assertEqual(list(self.check_places()), [KEY.encode()])
        print(f'\na list of {LIST_LENGTH} elements, {sum(counts.values()) - LIST_LENGTH} pushed '
              f'meanwhile, hold {report["freeze_us"] / 1000:.1f} ms')


class ALargeHash(ALargeKey):
    def fill(self, _):
        """Nothing but the hash."""
        with self.router.client() as client:
            client.pipeline(('HSET', KEY, *(word for i in range(first, min(first + 500, FIELDS))
                                            for word in (f'f{i}', i)))
                            for first in range(0, FIELDS, 500))
            self.assertEqual(client.call('HLEN', KEY), FIELDS)

    def start_load(self):
        self.start_writers(work, [(number,) for number in range(WRITERS)])

    def check_fields(self):
        self.stop_writers.set()
        expected, writes = {f'f{i}'.encode(): i for i in range(FIELDS)}, 0
        for pipe in self.pipes:
            fields, problem, count = pipe.recv()
            self.assertIsNone(problem)
            expected.update((f'f{number}'.encode(), value) for number, value in fields.items())
            writes += count
        found, cursor = {}, b'0'
        with self.router.client() as client:
            while True:
                cursor, page = client.call('HSCAN', KEY, cursor, 'COUNT', 1000)
                found.update(zip(page[::2], map(int, page[1::2])))
                if cursor == b'0':
                    break
        wrong = [(field, found.get(field), value) for field, value in expected.items()
                 if found.get(field) != value]
        self.assertEqual(wrong[:10], [])
        self.assertEqual(len(found), sum(value is not None for value in expected.values()))
        return writes

    def test_it_moves_while_it_is_written(self):
        self.start_fleet()
        servers = [*self.servers.values(), self.fourth]
        self.log_commands(servers)
        began = time.monotonic()
        report = self.replace_owner()
        ended = time.monotonic()
        slow = self.check_commands(servers)
        writes = self.check_fields()
        self.assertEqual(list(self.check_places()), [KEY.encode()])
        progress = report['progress']
        self.assertGreater(progress['big_keys'], 0)
        print(f'\n{FIELDS} fields, {ended - began:.1f} s, {progress["chunks"]} chunks, hold '
              f'{report["freeze_us"] / 1000:.1f} ms, {writes} counted writes, none lost; '
              f'{len(slow)} commands over 10 ms')
        for node, ms, command in slow:
            print(f'  {node}: {ms:.1f} ms {command}')
        if IS_STRICT:
            self.assertEqual(slow, [])


class ALargeString(ALargeKey):
    def fill(self, _):
        piece = bytes(1 + i * 7 % 251 for i in range(PIECE_LEN))
        self.expected = bytearray((piece * (STRING_LEN // PIECE_LEN + 1))[:STRING_LEN])
        with self.servers[self.located([KEY])[KEY]].client() as client:
            client.call('SET', KEY, bytes(self.expected))
        with self.router.client() as client:
            client.pipeline(('SET', f'cold:{i}', i) for i in range(1000))

    def start_load(self):
        self.start_writers(edit, [()])
        self.start_writers(count, [(number,) for number in range(2)])

    def check_string(self, edits):
        for offset, bytes_ in edits:
            self.expected[offset:offset + len(bytes_)] = bytes_
        with self.router.client() as client:
            self.assertEqual(client.call('STRLEN', KEY), len(self.expected))
            for first in range(0, len(self.expected), PIECE_LEN):
                found = client.call('GETRANGE', KEY, first, first + PIECE_LEN - 1)
                self.assertTrue(found == self.expected[first:first + PIECE_LEN], first)

    def test_it_moves_while_it_is_written_and_others_work(self):
        self.start_fleet()
        servers = [*self.servers.values(), self.fourth]
        self.log_commands(servers)
        began = time.monotonic()
        report = self.replace_owner()
        ended = time.monotonic()
        slow = self.check_commands(servers)
        self.stop_writers.set()
        edits, problem = self.pipes[0].recv()
        self.assertIsNone(problem)
        counted, longest = 0, 0
        for pipe in self.pipes[1:]:
            done, worst, problem = pipe.recv()
            self.assertIsNone(problem)
            counted, longest = counted + done, max(longest, worst)
        self.check_string(edits)
        self.assertGreater(report['progress']['big_keys'], 0)
        print(f'\na string of {STRING_LEN >> 20} MB, {ended - began:.1f} s, {len(edits)} writes to '
              f'it, writes held {report["freeze_us"] / 1000:.1f} ms; {counted} commands to '
              f'other keys, the longest {longest * 1000:.0f} ms; {len(slow)} commands over 10 ms')
        for node, ms, command in slow:
            print(f'  {node}: {ms:.1f} ms {command}')
        if IS_STRICT:
            self.assertEqual([entry for entry in slow if entry[2][0].lower() != b'unlink'], [])


if __name__ == '__main__':
    unittest.main()
