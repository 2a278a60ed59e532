#!/usr/bin/python3
"""The clients that people use connect without a complaint and do a small program, over real servers
and over embedded nodes: redis-cli, Debian's python3-redis, and npm's redis and ioredis."""
import os
import subprocess
import unittest

import redis

from harness import ProcessTest, embedded_config, relay_config

CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'clients')


class Clients:
    """The tests; the classes below say what the router stands over."""

    def run_program(self, *command, stdin=''):
        result = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stderr, '')
        return result.stdout

    def redis_cli(self, *arguments, stdin=''):
        return self.run_program('redis-cli', '-p', str(self.router.port), *arguments, stdin=stdin)

    def test_redis_cli(self):
        self.assertEqual(self.redis_cli('set', 'greeting', 'hello'), 'OK\n')
        self.assertEqual(self.redis_cli('get', 'greeting'), 'hello\n')
        self.assertEqual(self.redis_cli('incr', 'counter'), '1\n')
        self.assertEqual(self.redis_cli('mset', 'a', '1', 'b', '2'), 'OK\n')
        self.assertEqual(self.redis_cli('mget', 'a', 'b', 'nothing'), '1\n2\n\n')
        self.assertEqual(self.redis_cli('expire', 'a', '100'), '1\n')
        self.assertEqual(self.redis_cli('del', 'a', 'b', 'nothing'), '2\n')
        self.assertEqual(sorted(self.redis_cli('--scan').split()), ['counter', 'greeting'])
        self.assertEqual(self.redis_cli('-3', 'get', 'greeting'), 'hello\n')
        self.assertIn('ERR', self.redis_cli('incr', 'greeting'))

    def test_redis_cli_reads_a_script_and_a_mass_of_commands(self):
        lines = ''.join(f'SET key:{i} "value {i}"\n' for i in range(1000))
        self.assertEqual(self.redis_cli(stdin=lines), 'OK\n' * 1000)
        self.assertIn('errors: 0, replies: 1000', self.redis_cli('--pipe', stdin=lines))
        self.assertEqual(self.redis_cli('get', 'key:999'), 'value 999\n')

    def test_redis_py(self):
        with redis.Redis(port=self.router.port, decode_responses=True, socket_timeout=20,
                         client_name='a-client') as client:
            self.assertTrue(client.ping())
            self.assertTrue(client.set('greeting', 'hello'))
            self.assertEqual(client.get('greeting'), 'hello')
            self.assertEqual([client.incr('counter'), client.incrby('counter', 41)], [1, 42])
            self.assertTrue(client.mset({'a': 1, 'b': 2, 'c': 3}))
            self.assertEqual(client.mget('a', 'b', 'nothing', 'c'), ['1', '2', None, '3'])
            self.assertTrue(client.expire('a', 100))
            self.assertIn(client.ttl('a'), range(90, 101))
            self.assertEqual(client.delete('a', 'b', 'nothing'), 2)
            self.assertEqual(client.exists('c', 'nothing'), 1)
            with self.assertRaises(redis.ResponseError):
                client.incr('greeting')
            self.check_redis_py_in_bulk(client)
            self.assertIn('redis_version', client.info())
            self.assertEqual(client.client_getname(), 'a-client')

    def check_redis_py_in_bulk(self, client):
        keys = [f'many:{i}' for i in range(200)]
        with client.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.set(key, f'value of {key}', ex=1000)
                pipeline.get(key)
            self.assertEqual(pipeline.execute()[1::2], [f'value of {key}' for key in keys])
        self.assertEqual(sorted(client.scan_iter('many:*', count=30)), sorted(keys))
        self.assertEqual(sorted(client.keys('many:*')), sorted(keys))
        self.assertEqual(client.dbsize(), 203)
        self.assertTrue(client.flushall())
        self.assertEqual(client.dbsize(), 0)
        client.set('greeting', 'hello')

    def run_node(self, script, *arguments):
        self.assertEqual(self.run_program('node', os.path.join(CLIENTS, script),
                                          str(self.router.port), *arguments), 'ok\n')

    def test_node_redis_with_resp2(self):
        self.run_node('node_redis.mjs', '2')

    def test_node_redis_with_resp3(self):
        self.run_node('node_redis.mjs', '3')

    def test_ioredis(self):
        self.run_node('ioredis.mjs')


class OverServers(Clients, ProcessTest):
    def setUp(self):
        super().setUp()
        servers = {node: self.start_redis(node) for node in ('a', 'b', 'c')}
        self.router = self.start_clockwise(relay_config(servers))

    def test_redis_py_uses_the_other_types(self):
        with redis.Redis(port=self.router.port, decode_responses=True) as client:
            client.hset('hash', mapping={'x': '1', 'y': '2'})
            self.assertEqual(client.hgetall('hash'), {'x': '1', 'y': '2'})
            client.rpush('list', *'abc')
            self.assertEqual(client.lrange('list', 0, -1), list('abc'))
            client.sadd('set', *'abc')
            self.assertEqual(client.smembers('set'), set('abc'))
            client.zadd('zset', {'one': 1, 'two': 2})
            self.assertEqual(client.zrange('zset', 0, -1, withscores=True),
                             [('one', 1), ('two', 2)])
            entry = client.xadd('stream', {'field': 'value'})
            self.assertEqual(client.xrange('stream'), [(entry, {'field': 'value'})])
            self.assertEqual(client.eval('return redis.call("get", KEYS[1])', 1, 'none'), None)
            self.assertEqual(client.type('zset'), 'zset')


class OverEmbeddedNodes(Clients, ProcessTest):
    def setUp(self):
        super().setUp()
        self.router = self.start_clockwise(embedded_config(self.path('data')))


if __name__ == '__main__':
    unittest.main()
