#!/usr/bin/python3
"""Nodes that can't be looked at: nobody listens, a password is wanted, or the user may not do what
moving keys needs. Each is refused with the remedy; and with the rights that the guide lists, and no
others, everything moves.

covers: move/refusal, move/peer_greet
"""
import os
import re
import unittest

from harness import free_port, relay_config
from test_transition import Fleet

GUIDE = os.path.join(os.environ['CLOCKWISE_SOURCE'], 'docs', 'guide.md')
KEYS = 400


def rights_of_the_guide():
    with open(GUIDE, encoding='utf-8') as file:
        chapter = file.read().split('### What a node\'s user may do')[1]
    return re.search(r'```\n(.*?)```', chapter, re.S).group(1).split()


class Rights(Fleet):
    def start_pool(self, options=(), **pool_options):
        self.servers = {node: self.start_redis(node, options=options)
                        for node in ('cache-1', 'cache-2')}
        self.third = self.start_redis('cache-3', options=options)
        self.admin = f'127.0.0.1:{free_port()}'
        self.config = {**relay_config(self.servers, **pool_options), 'admin': self.admin,
                       'data_dir': self.path('data')}

    def start_router(self):
        self.router = self.start_clockwise(self.config)

    def add(self, port, *arguments):
        return self.run_clockwise('node', 'add', 'cache-3', f'127.0.0.1:{port}', '--yes', '--admin',
                                  self.admin, *arguments)

    def assert_refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_where_no_server_listens_the_remedy_is_told(self):
        self.start_pool()
        self.start_router()
        self.assert_refused(self.add(free_port()), "node 'cache-3'", 'Connection refused',
                            'start it, or correct its address')
        admin = int(self.admin.rsplit(':', 1)[1])
        self.assert_refused(self.add(admin), 'look whether a Redis server listens there')
        self.assert_refused(self.add(self.router.port), 'it is a router and no server')

    def test_a_password_that_is_missing_or_too_much(self):
        self.start_pool()
        self.start_router()
        with self.third.client() as client:
            client.call('CONFIG', 'SET', 'requirepass', 'secret')
        self.assert_refused(self.add(self.third.port), 'NOAUTH', "give the pool's `password:`")

    def test_a_password_that_the_server_does_not_know(self):
        self.start_pool(password='other')
        for server in self.servers.values():
            with server.client() as client:
                client.call('CONFIG', 'SET', 'requirepass', 'other')
        self.start_router()
        self.assert_refused(self.add(self.third.port), 'it has no password')
        with self.third.client() as client:
            client.call('CONFIG', 'SET', 'requirepass', 'secret')
        self.assert_refused(self.add(self.third.port), 'WRONGPASS', 'correct them')

    def set_user(self, *rights):
        for server in (*self.servers.values(), self.third):
            with server.client() as client:
                client.call('ACL', 'SETUSER', 'clockwise', 'reset', 'on', '>secret', '~*', *rights)

    def start_with_user(self, *rights):
        """The pool's user may do this and no more."""
        self.start_pool(username='clockwise', password='secret')
        self.set_user(*rights)
        self.start_router()

    def test_rights_that_are_missing(self):
        self.start_with_user(*rights_of_the_guide(), '-client|id')
        self.assert_refused(self.add(self.third.port), 'NOPERM', 'the guide lists what its ACL')

    def test_the_rights_of_the_guide_are_enough(self):
        self.start_with_user('+@all')
        self.fill(KEYS)
        with self.router.client() as client:  # large keys, which are copied by their elements
            large = range(10100)
            for number in range(6):
                client.call('RPUSH', f'large-list:{number}', *large)
                client.call('SADD', f'large-set:{number}', *large)
                client.call('HSET', f'large-hash:{number}', *(word for i in large
                                                              for word in (i, i)))
                client.call('ZADD', f'large-zset:{number}', *(word for i in large
                                                              for word in (i, f'm{i}')))
                client.call('SET', f'large-string:{number}', 'x' * (2 << 20), 'EX', 3600)
                stream = f'large-stream:{number}'
                client.pipeline([('XADD', stream, f'{i}-1', 'field', i) for i in large[1:]])
                client.call('XGROUP', 'CREATE', stream, 'group', '0')
                client.call('XREADGROUP', 'GROUP', 'group', 'me', 'COUNT', 5, 'STREAMS', stream,
                            '>')
        self.set_user(*rights_of_the_guide())
        result = self.add(self.third.port, '--verify', 'deep', '--throttle', 'off')
        denied = {}
        for name, server in {**self.servers, 'cache-3': self.third}.items():
            with server.client() as client:
                denied[name] = [dict(zip(entry[::2], entry[1::2]))[b'object']
                                for entry in client.call('ACL', 'LOG')]
        self.assertEqual(denied, dict.fromkeys(denied, []), result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('done: add cache-3', result.stdout)


if __name__ == '__main__':
    unittest.main()
