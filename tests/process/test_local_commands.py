#!/usr/bin/python3
"""What the router answers itself, as clients ask it when they connect; where a real redis-server
says something that does not depend on which server it is, both must say the same.

covers: router/local, router/local_client, router/local_command, router/local_info
"""
import re
import unittest

from harness import ProcessTest, relay_config, wait_for
from resp import ReplyError

SAME_AS_REDIS = [
    ['PING'], ['PING', 'hello'], ['PING', 'a', 'b'], ['ECHO', 'hello'], ['ECHO'],
    ['SELECT', '0'], ['SELECT', 'x'], ['CLIENT', 'GETNAME'], ['CLIENT', 'SETNAME', 'me'],
    ['CLIENT', 'GETNAME'], ['CLIENT', 'SETNAME', 'two words'], ['RESET'], ['CLIENT', 'GETNAME'],
    ['COMMAND', 'INFO', 'nosuchcommand'], ['COMMAND', 'GETKEYS', 'MSET', 'a', '1', 'b', '2'],
    ['COMMAND', 'GETKEYS', 'EVAL', 'script', '2', 'a', 'b', 'c'], ['HELLO', '4'],
    ['HELLO', '3', 'SETNAME'], ['PING', 'back to work'],
]


class LocalCommands(ProcessTest):
    def setUp(self):
        super().setUp()
        self.server = self.start_redis()
        self.router = self.start_clockwise(relay_config({'node': self.server}))
        self.client = self.router.client()
        self.addCleanup(self.client.close)

    def test_they_say_what_redis_says(self):
        with self.server.client() as direct:
            for command in SAME_AS_REDIS:
                ours, theirs = (one.pipeline([command])[0] for one in (self.client, direct))
                with self.subTest(command):
                    self.assertEqual(type(ours), type(theirs), (ours, theirs))
                    if isinstance(ours, ReplyError):
                        self.assertEqual(ours.code, theirs.code)
                    else:
                        self.assertEqual(ours, theirs)

    def test_hello_changes_the_protocol(self):
        with self.server.client() as direct:
            for version in (2, 3):
                ours, theirs = (one.call('HELLO', version, 'SETNAME', 'me')
                                for one in (self.client, direct))
                if version == 2:
                    ours, theirs = (dict(zip(hello[::2], hello[1::2])) for hello in (ours, theirs))
                self.assertEqual(set(ours), set(theirs))
                self.assertEqual(ours[b'proto'], version)
                self.assertEqual(ours[b'role'], b'master')
                self.assertEqual(ours[b'mode'], b'standalone')
        self.assertEqual(self.client.call('CLIENT', 'GETNAME'), b'me')
        self.assertIsNone(self.client.call('GET', 'nothing'))
        self.client.send_raw(b'GET nothing\r\n')
        self.assertEqual(self.client.file.readline(), b'_\r\n')

    def test_command_describes_commands_as_redis_does(self):
        names = ['get', 'set', 'mget', 'mset', 'del', 'lpush', 'zadd', 'expire', 'eval', 'xadd']
        with self.server.client() as direct:
            ours, theirs = (one.call('COMMAND', 'INFO', *names) for one in (self.client, direct))
        for mine, other in zip(ours, theirs):
            self.assertEqual(mine[:2], other[:2])      # name, arity
            if mine[0] != b'eval':                     # its keys are found otherwise
                self.assertEqual(mine[3:6], other[3:6])  # first, last, step
        self.assertGreater(self.client.call('COMMAND', 'COUNT'), 150)
        self.assertIn(b'get', self.client.call('COMMAND', 'LIST'))
        docs = self.client.call('COMMAND', 'DOCS', 'get')
        self.assertEqual(docs[0], b'get')
        self.assertIn(b'summary', docs[1])

    def test_client_tells_of_connections(self):
        self.assertEqual(self.client.call('CLIENT', 'SETINFO', 'LIB-NAME', 'test'), 'OK')
        self.client.call('CLIENT', 'SETNAME', 'me')
        number = self.client.call('CLIENT', 'ID')
        self.assertIn(f'id={number} ', self.client.call('CLIENT', 'INFO').decode())
        self.assertIn('name=me', self.client.call('CLIENT', 'INFO').decode())
        with self.router.client() as other:
            self.assertNotEqual(other.call('CLIENT', 'ID'), number)
        self.assertIn(f'id={number} ', self.client.call('CLIENT', 'LIST').decode())

    def test_info_has_what_clients_and_exporters_read(self):
        text = self.client.call('INFO').decode()
        for line in (r'redis_version:\d', r'redis_mode:standalone', r'clockwise_version:\d',
                     r'connected_clients:\d', r'total_commands_processed:\d', r'role:master',
                     r'node0:id=node,'):
            self.assertRegex(text, line)
        self.assertEqual(re.findall(r'(?<!\r)\n', text), [])

    def test_time_is_the_time_of_day(self):
        with self.server.client() as direct:
            ours, theirs = (int(one.call('TIME')[0]) for one in (self.client, direct))
        self.assertLess(abs(ours - theirs), 30)

    def test_quit_answers_and_closes(self):
        self.assertEqual(self.client.call('QUIT'), 'OK')
        self.assertTrue(self.client.is_closed())

    def test_a_password_is_asked_for(self):
        router = self.start_clockwise(
            relay_config({'node': self.server}, client_password='secret'), name='clockwise-2')
        with router.client() as client:
            for command in (['GET', 'a'], ['INFO'], ['AUTH', 'wrong'], ['AUTH', 'a', 'b', 'c']):
                with self.assertRaises(ReplyError):
                    client.call(*command)
            self.assertEqual(client.call('AUTH', 'secret'), 'OK')
            self.assertIsNone(client.call('GET', 'a'))
        with router.client() as client:
            self.assertEqual(client.call('HELLO', 3, 'AUTH', 'default', 'secret')[b'proto'], 3)
            self.assertIsNone(client.call('GET', 'a'))

    def test_nodes_that_want_a_password_get_it(self):
        self.server.stop()
        locked = self.start_redis('locked', options=['--requirepass', 'secret'])
        router = self.start_clockwise(relay_config({'locked': locked}, password='secret'),
                                      name='clockwise-2')
        with router.client() as client:
            wait_for(lambda: client.call('SET', 'a', 'b') == 'OK', 'a write')
        wrong = self.start_clockwise(relay_config({'locked': locked}, password='wrong'),
                                     name='clockwise-3')
        with wrong.client() as client, self.assertRaisesRegex(ReplyError, 'locked'):
            client.call('SET', 'a', 'b')


if __name__ == '__main__':
    unittest.main()
