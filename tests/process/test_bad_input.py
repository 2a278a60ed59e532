#!/usr/bin/python3
"""What nobody should send, and somebody will: every case ends in a clear error or a bound, and the
router lives, serves the others, and keeps its memory within limits."""
import os
import random
import resource
import time
import unittest

from fake_node import CLOSE, FakeNode
from harness import ProcessTest, embedded_config, relay_config
from resp import Client, ReplyError, encode

# Sanitizers keep freed memory for a while and shadow the rest; what this catches is in gigabytes.
MEMORY_MB_MAX = 600
IDLE_CLIENTS = 10000 if os.environ.get('CLOCKWISE_SLOW_TESTS') else 2000


class BadClients(ProcessTest):
    def setUp(self):
        super().setUp()
        config = embedded_config(self.path('data'))
        config['limits'] = {'half_request': '1s', 'clients': 11000, 'client_memory': '16mb'}
        self.router = self.start_clockwise(config)

    def tearDown(self):
        if self.router.popen.poll() is None:
            self.assert_well()
        super().tearDown()

    def assert_well(self):
        with self.router.client() as client:
            self.assertEqual(client.call('SET', 'health', 'good'), 'OK')
            self.assertEqual(client.call('GET', 'health'), b'good')
        self.assertLess(self.router.memory_mb(), MEMORY_MB_MAX)

    def assert_refused(self, data, seconds=20):
        """The bytes get an error and the connection is closed, soon."""
        with self.router.client(timeout=seconds) as client:
            client.send_raw(data)
            reply = client.read()
            self.assertIsInstance(reply, ReplyError, data[:60])
            self.assertIn('ERR', str(reply))
            self.assertTrue(client.is_closed(), f'not closed after {data[:60]!r}')
            return str(reply)

    def test_lengths_that_cannot_be(self):
        for data in (b'*2147483648\r\n', b'*99999999999999999999\r\n', b'*1x\r\n', b'*+1\r\n',
                     b'*1\r\n$-1\r\n', b'*1\r\n$-2147483649\r\n',
                     b'*1\r\n$9223372036854775808\r\n', b'*2\r\n$3\r\nGET\r\n:5\r\n',
                     b'*1\r\n$4\r\nPINGxx', b'*1\r\n$ 4\r\nPING\r\n'):
            with self.subTest(data):
                self.assertIn('rotocol', self.assert_refused(data))

    def test_negative_and_empty_arrays_are_nothing_or_an_error(self):
        for data in (b'*-5\r\n', b'*-1\r\n', b'*0\r\n', b'\r\n', b'\n', b'   \r\n'):
            with self.subTest(data), self.router.client() as client:
                client.send_raw(data + encode(['PING']))
                reply = client.read()
                self.assertTrue(reply == 'PONG' or isinstance(reply, ReplyError), reply)

    def test_a_value_of_more_than_512_mb_is_refused_when_it_is_announced(self):
        for length in (536870913, 2 ** 31, 2 ** 32 + 1):
            self.assert_refused(b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n' % length)

    def test_many_announced_values_take_no_memory(self):
        clients = []
        for _ in range(100):
            client = self.router.client()
            client.send_raw(b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$60000000\r\n' + b'x' * 1000)
            clients.append(client)
        self.assert_well()
        for client in clients:
            client.close()

    def test_a_line_without_end_is_refused(self):
        with self.router.client() as client:
            try:
                for _ in range(64):
                    client.send_raw(b'a' * 65536)
                self.assertIsInstance(client.read(), ReplyError)
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.assertTrue(client.is_closed())

    def test_binary_garbage(self):
        source = random.Random(4711)
        for number in range(150):
            garbage = source.randbytes(source.randrange(1, 3000))
            if number % 3 == 0:
                garbage = b'*' + garbage
            if number % 5 == 0:
                garbage = b'*3\r\n$' + garbage
            with self.router.client(timeout=5) as client:
                try:
                    client.send_raw(garbage + b'\r\n\r\n')
                except (BrokenPipeError, ConnectionResetError):
                    pass

    def test_quotes_that_do_not_match_in_an_inline_command(self):
        self.assert_refused(b'SET key "value\r\n')

    def test_unknown_commands_and_wrong_arguments_keep_the_connection(self):
        with self.router.client() as client:
            for command in (['NOSUCHCOMMAND'], ['GET'], ['GET', 'a', 'b'], ['MSET', 'a'],
                            ['SET', 'a', 'b', 'NOSUCHOPTION'], ['SET', 'a', 'b', 'EX', '0'],
                            ['SET', 'a', 'b', 'EX', 'x'], ['EXPIRE', 'a', '1e3'], [''],
                            ['x' * 10000], ['\x00\xff\r\n'], ['SHUTDOWN'], ['DEBUG', 'SLEEP', '9'],
                            ['SCAN', 'x'], ['SCAN', '99999999999999999999999'],
                            ['HELLO', '4'], ['SELECT', '1'], ['CLIENT', 'NOSUCH']):
                with self.subTest(command), self.assertRaises(ReplyError):
                    client.call(*command)
            self.assertEqual(client.call('PING'), 'PONG')

    def test_an_error_never_breaks_its_line(self):
        with self.router.client() as client:
            for name in (b'a\r\n+OK', b'\r\n-x\r\n', b'\n\n\n'):
                with self.assertRaises(ReplyError):
                    client.call(name)
            self.assertEqual(client.call('PING'), 'PONG')

    def test_an_empty_key_is_a_key(self):
        with self.router.client() as client:
            self.assertEqual(client.call('SET', '', 'value'), 'OK')
            self.assertEqual(client.call('GET', ''), b'value')
            self.assertEqual(client.call('MGET', '', 'none'), [b'value', None])
            self.assertEqual(client.call('DEL', ''), 1)

    def test_keys_and_values_may_be_any_bytes(self):
        every_byte = bytes(range(256))
        with self.router.client() as client:
            self.assertEqual(client.call('SET', every_byte, every_byte * 100), 'OK')
            self.assertEqual(client.call('GET', every_byte), every_byte * 100)
            self.assertEqual(client.call('KEYS', '*'), [every_byte])

    def test_half_a_command_then_silence_is_closed(self):
        clients = [self.router.client() for _ in range(4)]
        for client, half in zip(clients, (b'*', b'*2\r\n$3\r\nGE', b'*2\r\n$3\r\nGET\r\n', b'PIN')):
            client.send_raw(half)
        started = time.monotonic()
        for client in clients:
            self.assertTrue(client.is_closed())
            client.close()
        self.assertLess(time.monotonic() - started, 15)

    def test_a_command_byte_by_byte_is_a_command(self):
        with self.router.client() as client:
            for byte in encode(['SET', 'slow', 'value']) + b'GET slow\r\n':
                client.send_raw(bytes([byte]))
            self.assertEqual([client.read(), client.read()], ['OK', b'value'])

    def test_idle_clients_cost_little_and_disturb_nobody(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        before = self.router.memory_mb()
        clients = [Client(self.router.port) for _ in range(IDLE_CLIENTS)]
        for client in clients[::100]:
            self.assertEqual(client.call('PING'), 'PONG')
        self.assert_well()
        grown = self.router.memory_mb() - before
        print(f'{IDLE_CLIENTS} idle clients: {grown * 1024 / IDLE_CLIENTS:.1f} kB each')
        self.assertLess(grown * 1024 / IDLE_CLIENTS, 64)
        for client in clients:
            client.close()

    def test_a_client_that_does_not_read_is_bounded(self):
        with self.router.client() as client:
            client.call('SET', 'large', 'x' * 100000)
        greedy = self.router.client(timeout=3)
        try:
            for _ in range(200):  # 20,000 replies of 100 kB: 2 GB, if they were kept
                greedy.send_raw(encode(['GET', 'large']) * 100)
        except OSError:
            pass  # it is not read from, or was closed
        self.assert_well()
        greedy.close()
        self.assert_well()


class BadNodes(ProcessTest):
    """Servers that are no Redis, or one gone mad: the client gets an error with their name."""

    def check(self, answer, **pool_options):
        node = FakeNode(answer)
        self.addCleanup(node.close)
        router = self.start_clockwise(relay_config(
            {'mad': node, 'sane': self.start_redis('sane')}, timeout='500ms',
            probe_interval='50ms', **pool_options))
        with router.client(timeout=30) as client:
            replies = client.pipeline(('SET', f'key:{number}', 'x') for number in range(60))
            good = [reply for reply in replies if reply == 'OK']
            bad = [reply for reply in replies if isinstance(reply, ReplyError)]
            self.assertEqual(len(good) + len(bad), 60)
            self.assertGreater(len(good), 10)
            self.assertGreater(len(bad), 10)
            for reply in bad:
                self.assertIn('mad', str(reply))
            self.assertEqual(client.call('PING'), 'PONG')
        self.assertLess(router.memory_mb(), MEMORY_MB_MAX)
        return router

    def test_a_node_that_answers_garbage(self):
        self.check(lambda _: b'HTTP/1.1 400 Bad Request\r\n\r\n')

    def test_a_node_that_answers_bytes_of_no_protocol(self):
        self.check(lambda _: bytes(range(256)))

    def test_a_node_that_closes_instead_of_answering(self):
        self.check(lambda _: CLOSE)

    def test_a_node_that_accepts_and_says_nothing(self):
        self.check(lambda _: None)

    def test_a_node_that_announces_a_huge_reply(self):
        self.check(lambda _: b'$4000000000\r\nxxxx')

    def test_a_node_that_announces_a_huge_array(self):
        self.check(lambda _: b'*2147483647\r\n')

    def test_a_node_that_begins_a_reply_and_stops(self):
        self.check(lambda _: b'$10\r\nabc')

    def test_a_node_whose_replies_are_nested_without_end(self):
        self.check(lambda _: b'*1\r\n' * 100000)

    def test_a_node_that_talks_without_being_asked(self):
        node = FakeNode(lambda _: b'+OK\r\n+OK\r\n+OK\r\n')
        self.addCleanup(node.close)
        router = self.start_clockwise(relay_config({'mad': node}, timeout='500ms',
                                                   probe_interval='50ms'))
        with router.client(timeout=30) as client:
            for _ in range(20):
                try:
                    self.assertEqual(client.call('SET', 'a', 'b'), 'OK')
                except ReplyError as error:
                    self.assertIn('mad', str(error))
            self.assertEqual(client.call('PING'), 'PONG')


class BadStart(ProcessTest):
    """`clockwise serve` that cannot start says why, names the thing, and ends."""

    def assert_ends(self, config_text, *wanted, arguments=()):
        path = self.write('bad.yaml', config_text)
        result = self.run_clockwise('serve', '-c', path, *arguments, seconds=30)
        self.assertNotEqual(result.returncode, 0)
        self.assertGreaterEqual(result.returncode, 1, result.stderr)
        for text in wanted:
            self.assertRegex(result.stderr, text)
        return result.stderr

    def pool_text(self, port, more=''):
        return (f'admin: off\ndata_dir: {self.path("data")}\npools:\n  main:\n'
                f'    listen: 127.0.0.1:{port}\n    engine: embedded\n{more}'
                '    nodes:\n      - {id: node-1}\n')

    def test_a_port_that_is_taken(self):
        other = self.start_redis()
        self.assert_ends(self.pool_text(other.port), f'127.0.0.1:{other.port}', '(?i)in use|taken')

    def test_a_port_that_another_clockwise_has(self):
        other = self.start_clockwise(embedded_config(self.path('other'), ['node-1']))
        self.assert_ends(self.pool_text(other.port), f'127.0.0.1:{other.port}', '(?i)in use|taken')

    def test_a_data_dir_that_another_clockwise_uses(self):
        config = embedded_config(self.path('data'), ['node-1'])
        self.start_clockwise(config)
        self.assert_ends(self.pool_text(1), self.path('data'), '(?i)in use|another|process')

    def test_a_data_dir_that_is_a_file(self):
        self.write('data', 'a file')
        self.assert_ends(self.pool_text(1), self.path('data'))

    def test_a_data_dir_that_cannot_be_made(self):
        text = self.pool_text(1).replace(self.path('data'), '/proc/no/such/folder')
        self.assert_ends(text, '/proc/no')

    def test_data_of_no_known_form(self):
        config = embedded_config(self.path('data'), ['node-1'])
        self.start_clockwise(config).stop()
        files = [os.path.join(folder, name) for folder, _, names in os.walk(self.path('data'))
                 for name in names if 'lock' not in name]
        self.assertTrue(files)
        for path in files:
            with open(path, 'r+b') as file:
                file.write(b'not what it was ' * 1024)
        self.assert_ends(self.pool_text(1), self.path('data'))

    def test_an_unknown_key_is_named_with_its_place_and_the_nearest_one(self):
        self.assert_ends(self.pool_text(1, '    durabilty: always\n'),
                         r'bad\.yaml:7:5: ', 'durabilty', 'durability')

    def test_an_unknown_unit_is_named_with_its_place(self):
        self.assert_ends(self.pool_text(1, '    timeout: 5 fortnights\n'), r'bad\.yaml:7:14: ',
                         'fortnights')

    def test_a_value_that_is_none_of_the_choices(self):
        self.assert_ends(self.pool_text(1, '    placement: sluts\n'), r'bad\.yaml:7:16: ', 'slots')

    def test_a_number_out_of_range(self):
        self.assert_ends(self.pool_text(1, '    connections: 17\n'), r'bad\.yaml:7:18: ', '16')

    def test_files_that_are_no_configuration(self):
        for text in ('', '\x00\x01\x02', '- a\n- b\n', 'pools: [', 'pools: {}\n', '{' * 5000,
                     'a: &a [*a, *a]\n', 'pools:\n\tmain: 1\n'):
            with self.subTest(text[:20]):
                self.assertIn('bad.yaml', self.assert_ends(text))

    def test_a_file_that_is_not_there(self):
        result = self.run_clockwise('serve', '-c', self.path('nothing.yaml'))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('nothing.yaml', result.stderr)

    def test_an_unknown_option_names_the_nearest_one(self):
        result = self.run_clockwise('serve', '--data-dri', 'x')
        self.assertEqual(result.returncode, 2)
        self.assertIn('--data-dri', result.stderr)
        self.assertIn('--data-dir', result.stderr)

    def test_an_address_without_port_and_one_that_is_not_ours(self):
        self.assert_ends(self.pool_text(1).replace('127.0.0.1:1', '127.0.0.1'), r'bad\.yaml:5:')
        self.assert_ends(self.pool_text(1).replace('127.0.0.1:1', '192.0.2.1:7400'), '192.0.2.1')


if __name__ == '__main__':
    unittest.main()
