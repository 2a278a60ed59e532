#!/usr/bin/python3
"""Clients that wait at real servers: every command that waits, many clients at once, and a fleet
that changes while consumers wait and producers push.

covers: main
"""
import collections
import threading
import time
import unittest

from harness import ProcessTest, relay_config, wait_for
from resp import Client
from test_transition import Fleet


def blocked_clients(client):
    """How many wait, as the worker says that serves this client."""
    info = client.call('INFO', 'clients').decode()
    return int(info.split('blocked_clients:')[1].split('\r\n')[0])


class Waiting(ProcessTest):
    def setUp(self):
        super().setUp()
        self.servers = {f'node-{i}': self.start_redis(f'node-{i}') for i in range(3)}
        config = relay_config(self.servers)
        config['workers'] = 1
        self.router = self.start_clockwise(config)

    def wait(self, waiting, command, count=1):
        """Sends a command that waits, and returns when it does."""
        waiting.send(*command)
        with self.router.client() as client:
            wait_for(lambda: blocked_clients(client) == count, f'{command} to wait')

    def test_every_command_that_waits(self):
        cases = (
            (('BLPOP', 'none{q}', 'q', 0), ('RPUSH', 'q', 'a'), [b'q', b'a']),
            (('BRPOP', 'q', 0), ('RPUSH', 'q', 'a', 'b'), [b'q', b'b']),
            (('BLMOVE', 'q{1}', 'to{1}', 'LEFT', 'RIGHT', 0), ('RPUSH', 'q{1}', 'a'), b'a'),
            (('BRPOPLPUSH', 'q{2}', 'to{2}', 0), ('RPUSH', 'q{2}', 'a'), b'a'),
            (('BLMPOP', 0, 1, 'l', 'LEFT', 'COUNT', 2), ('RPUSH', 'l', 'a', 'b'),
             [b'l', [b'a', b'b']]),
            (('BZPOPMIN', 'z', 0), ('ZADD', 'z', 1, 'a', 2, 'b'), [b'z', b'a', (b'1', 1.0)]),
            (('BZPOPMAX', 'y', 0), ('ZADD', 'y', 1, 'a', 2, 'b'), [b'y', b'b', (b'2', 2.0)]),
            (('BZMPOP', 0, 1, 'x', 'MIN'), ('ZADD', 'x', 1, 'a'), None),
            (('XREAD', 'BLOCK', 0, 'STREAMS', 's', '$'), ('XADD', 's', '5-1', 'f', 'v'), None),
            (('XREADGROUP', 'GROUP', 'g', 'c', 'BLOCK', 0, 'STREAMS', 't', '>'),
             ('XADD', 't', '5-1', 'f', 'v'), None))
        for protocol in 2, 3:
            with self.router.client() as waiting, self.router.client() as other:
                waiting.call('HELLO', protocol)
                other.call('FLUSHALL')
                other.call('XGROUP', 'CREATE', 't', 'g', '$', 'MKSTREAM')
                for command, push, reply in cases:
                    self.wait(waiting, command)
                    other.call(*push)
                    found = waiting.read()
                    if reply and isinstance(reply[-1], tuple):
                        self.assertIn(found[-1], reply[-1])
                        found, reply = found[:-1], reply[:-1]
                    if reply is None:
                        self.assertIn("b'a'" if 'Z' in command[0] else "b'5-1'", str(found))
                    else:
                        self.assertEqual(found, reply)

    def test_a_timeout_ends_the_wait(self):
        with self.router.client() as client:
            for command in (('BLPOP', 'q', 0.05), ('BLMOVE', 'q', 'q', 'LEFT', 'LEFT', 0.05),
                            ('BZPOPMIN', 'q', 0.05), ('XREAD', 'BLOCK', 50, 'STREAMS', 'q', 0)):
                self.assertIsNone(client.call(*command), command)
            replies = client.pipeline([('BLPOP', 'q', 'x'), ('BLPOP', 'q', -1), ('PING',),
                                       ('BLMPOP', 0, 0, 'LEFT'), ('XREAD', 'BLOCK', 'STREAMS')])
            self.assertEqual(replies[2], 'PONG')
            self.assertTrue(all(isinstance(replies[i], Exception) for i in (0, 1, 3, 4)), replies)

    def test_what_a_client_waited_for_stays_when_it_leaves(self):
        waiting = self.router.client()
        self.wait(waiting, ('BLPOP', 'q', 0))
        waiting.close()
        with self.router.client() as client:
            wait_for(lambda: blocked_clients(client) == 0, 'the router to see it')
            wait_for(lambda: not any(map(self.has_blocked, self.servers.values())),
                     'the servers to forget it')
            client.call('RPUSH', 'q', 'a')
            self.assertEqual(client.call('LLEN', 'q'), 1)

    def has_blocked(self, server):
        with server.client() as client:
            return blocked_clients(client)

    def test_200_clients_wait_at_once(self):
        waiting = [self.router.client() for _ in range(200)]
        with self.router.client() as client:
            for number, one in enumerate(waiting):
                one.send('BLPOP', f'q:{number}', 0)
            wait_for(lambda: blocked_clients(client) == 200, 'all to wait')
            client.pipeline(('RPUSH', f'q:{number}', number) for number in range(200))
            for number, one in enumerate(waiting):
                self.assertEqual(one.read(), [f'q:{number}'.encode(), str(number).encode()])
                one.close()
            self.assertEqual(blocked_clients(client), 0)
            self.assertEqual(client.call('SET', 'a', 1), 'OK')


GROUPS = 40  # of queues, with a consumer each


class Queues:
    """Producers that push numbered elements, and consumers that wait for them."""

    def __init__(self, port):
        self.port, self.is_over = port, False
        self.pushed, self.popped = collections.Counter(), collections.Counter()
        self.problems = []
        self.lock = threading.Lock()
        self.producers = [threading.Thread(target=self.guard, args=(self.produce, number))
                          for number in range(2)]
        self.consumers = [threading.Thread(target=self.guard, args=(self.consume, group))
                          for group in range(GROUPS)]
        for thread in self.producers + self.consumers:
            thread.daemon = True
            thread.start()

    def guard(self, run, number):
        try:
            with Client(self.port, timeout=60) as client:
                run(client, number)
        except Exception as error:  # an error reply, a broken connection, a wrong reply
            self.problems.append(f'{run.__name__} {number}: {error!r}')

    def produce(self, client, number):
        count = 0
        while not self.is_over:
            element = f'{number}-{count}'
            client.call('RPUSH', f'q{count % 3}:{{{count * 7 % GROUPS}}}', element)
            self.pushed[element] += 1
            count += 1
            time.sleep(0.001)

    def consume(self, client, group):
        keys = [f'q{i}:{{{group}}}' for i in range(3)]
        timeout = (0, 0.2, 5)[group % 3]
        while True:
            reply = client.call('BLPOP' if group % 2 else 'BRPOP', *keys, timeout)
            if reply and reply[1] == b'end':
                return
            if reply:
                with self.lock:
                    self.popped[reply[1].decode()] += 1

    def stop(self):
        self.is_over = True
        for thread in self.producers:
            thread.join(60)
        wait_for(lambda: self.problems or len(self.popped) >= len(self.pushed),
                 'all to be consumed', 60)
        with Client(self.port) as client:
            for group in range(GROUPS):
                client.call('RPUSH', f'q0:{{{group}}}', 'end')
        for thread in self.consumers:
            thread.join(60)


class Moving(Fleet):
    def test_a_server_joins_while_consumers_wait(self):
        self.start_fleet()
        self.fill(1000)
        self.servers['cache-4'] = self.start_redis('cache-4')
        queues = Queues(self.router.port)
        with self.router.client() as reader, self.router.client() as writer:
            streams = [f's:{number}' for number in range(20)]
            readers = [self.router.client(timeout=60) for _ in streams]
            for stream, one in zip(streams, readers):
                one.send('XREAD', 'BLOCK', 0, 'STREAMS', stream, '$')
            self.command('node', 'add', 'cache-4', f'127.0.0.1:{self.servers["cache-4"].port}',
                         '--yes')
            self.command('node', 'drain', 'cache-2', '--yes')
            for stream, one in zip(streams, readers):
                writer.call('XADD', stream, '7-7', 'f', 'v')
                self.assertIn("b'7-7'", str(one.read()))
                one.close()
            reader.call('DEL', *streams)
        queues.stop()
        self.assertEqual(queues.problems, [])
        self.assertEqual(queues.popped, queues.pushed)
        freeze_ms = self.status()['freeze_us'] / 1000
        print(f'\n{len(queues.pushed)} elements, each consumed once; freeze {freeze_ms:.1f} ms')
        self.check_places()


if __name__ == '__main__':
    unittest.main()
