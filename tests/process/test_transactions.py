#!/usr/bin/python3
"""Transactions over real servers: the words are those that a server says itself, nobody's increment
under WATCH is lost or done twice, and so it is while a server joins.

covers: main
"""
import collections
import random
import threading
import unittest

import redis

from harness import ProcessTest, relay_config
from test_transition import Fleet

CLIENTS = 8
COUNTERS = 4

# What is said in one go, and by another client before it. Each is said to a server itself and
# through the router, and the bytes that come back are compared.
DIALOGUES = (
    'EXEC|DISCARD|UNWATCH|MULTI|MULTI|WATCH {x}1|EXEC|EXEC',
    'MULTI|SET {x}1 5|INCR {x}1|GET {x}2|EXEC|GET {x}1',
    'MULTI|EXEC|MULTI|DISCARD|GET {x}1',
    'MULTI|SET {x}1 a|INCR {x}1|LPUSH {x}1 b|GET {x}1|EXEC',
    'MULTI|GET|GET {x}1|EXEC|EXEC',
    'MULTI|EXEC x|EXEC|EXEC x',
    'MULTI|DISCARD x|MULTI x|EXEC',
    'MULTI|SET {x}1 1|RESET|EXEC|GET {x}1',
    'MULTI|BLPOP {x}1 0|RPUSH {x}1 a|BLPOP {x}1 0|BRPOPLPUSH {x}1 {x}2 0|UNWATCH|PING|ECHO e|EXEC',
    'MULTI|XREAD BLOCK 0 STREAMS {x}1 0|XREAD BLOCK 0 STREAMS {x}1 $|EXEC',
    'WATCH {x}1|RPUSH {x}2 a|BLPOP {x}2 0|MULTI|INCR {x}1|EXEC',
    'RPUSH {x}1 a b|WATCH {x}1|BLPOP {x}1 0|MULTI|LLEN {x}1|EXEC',
    'MULTI|HSET {x}h a 1 b 2|HGETALL {x}h|SMEMBERS {x}s|ZADD {x}z 1.5 m|ZSCORE {x}z m|EXEC',
    'MULTI|EVAL "return redis.call(\'INCR\', KEYS[1])" 1 {x}1|EVAL "return {1,2}" 0|GET {x}1|EXEC',
    'MULTI|EVALSHA 0000000000000000000000000000000000000000 1 {x}1|SET {x}1 1|EXEC',
    'WATCH|MULTI|WATCH|EXEC',
    'WATCH {x}1 {x}2|GET {x}1|MULTI|INCR {x}1|EXEC|INCR {x}1|MULTI|INCR {x}1|EXEC',
    'WATCH {x}1|SET {x}1 2|MULTI|INCR {x}1|EXEC|MULTI|INCR {x}1|EXEC',
    'WATCH {x}1|SET {x}1 2|UNWATCH|MULTI|INCR {x}1|EXEC',
    'WATCH {x}1|SET {x}1 2|MULTI|DISCARD|MULTI|INCR {x}1|EXEC',
    'WATCH {x}1|SET {x}1 2|MULTI|GET|EXEC|MULTI|EXEC',
    'WATCH {x}1|EXPIRE {x}1 100|MULTI|INCR {x}1|EXEC|DEL {x}2|MULTI|EXEC',
    'WATCH {x}1|MULTI|UNWATCH|SET {x}1 1|EXEC|WATCH {x}1|RESET|SET {x}1 2|MULTI|GET {x}1|EXEC',
    'WATCH {x}1|SET {x}1 "a b"|MULTI|EXEC|MULTI|APPEND {x}1 "\\r\\n"|EXEC',
    'MULTI|SET {x}1 1|QUIT',
)


def say(process, dialogue, protocol):
    """All that comes back. ECHO tells that it is over, if the connection is still there."""
    with process.client() as client:
        if protocol == 3:
            client.call('HELLO', 3)
        text = ''.join(word + '\r\n' for word in dialogue.split('|'))
        client.send_raw((text + 'ECHO over\r\n').encode())
        answer = b''
        while not answer.endswith(b'\r\nover\r\n'):
            more = client.socket.recv(1 << 16)
            if not more:
                return answer + b'<closed>'
            answer += more
        return answer


class Words(ProcessTest):
    def test_the_words_are_those_of_a_server(self):
        server = self.start_redis('direct')
        servers = {node: self.start_redis(node) for node in ('north', 'south')}
        router = self.start_clockwise(relay_config(servers))
        for protocol in (2, 3):
            for dialogue in DIALOGUES:
                with self.subTest(dialogue=dialogue, protocol=protocol):
                    expected = say(server, dialogue, protocol)
                    self.assertEqual(say(router, dialogue, protocol), expected)
                    for process in (server, *servers.values()):
                        with process.client() as client:
                            client.call('FLUSHALL')

    def test_a_full_server_says_why(self):
        servers = {'north': self.start_redis('north')}
        router = self.start_clockwise(relay_config(servers))
        with servers['north'].client() as client:
            client.call('SET', 'filler', 'x' * 100000)
            client.call('CONFIG', 'SET', 'maxmemory', '1')
        with redis.Redis(port=router.port) as client:
            with self.assertRaisesRegex(redis.ResponseError, 'OOM command not allowed'):
                client.pipeline().delete('filler').set('other', 1).execute()
            self.assertEqual(client.exists('filler'), 1)


class Incrementing:
    """Clients that read a counter under WATCH and write it back with one more, and note it in a
    list in the same transaction; and one that does without WATCH. Counts what was acknowledged."""

    def __init__(self, port):
        self.port = port
        self.lock = threading.Lock()
        self.done, self.nils, self.problems = collections.Counter(), 0, []
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(number,))
                        for number in range(CLIENTS + 1)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        client = redis.Redis(port=self.port, socket_timeout=60)
        generator = random.Random(number)
        try:
            while not self.stopped.is_set():
                if number < CLIENTS:
                    self.increment(client, generator.randrange(COUNTERS))
                else:
                    self.increment_blindly(client)
        except redis.RedisError as error:
            self.problems.append(repr(error))
        finally:
            client.close()

    def increment(self, client, counter):
        key = f'{{counter:{counter}}}'
        with client.pipeline() as pipe:
            while True:
                try:
                    pipe.watch(key)
                    value = int(pipe.get(key) or 0) + 1
                    pipe.multi()
                    pipe.set(key, value)
                    pipe.rpush(key + ':log', value)
                    pipe.execute()
                    break
                except redis.WatchError:
                    with self.lock:
                        self.nils += 1
        with self.lock:
            self.done[counter] += 1

    def increment_blindly(self, client):
        number = self.done['blind'] + 1
        replies = client.pipeline().incr('{blind}').rpush('{blind}:log', number).execute()
        if replies != [number, number]:
            self.problems.append(f'blind: {replies}, not {number}')
        self.done['blind'] = number

    def total(self):
        return sum(self.done.values())

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(120)


class Race(Fleet):
    def setUp(self):
        super().setUp()
        self.race = None

    def tearDown(self):
        if self.race:
            self.race.stop()
        super().tearDown()

    def run_until(self, count):
        while self.race.total() < count and not self.race.problems:
            self.race.stopped.wait(0.05)

    def check(self):
        race = self.race
        race.stop()
        self.assertEqual(race.problems, [])
        keys = {f'{{counter:{number}}}': race.done[number] for number in range(COUNTERS)}
        keys['{blind}'] = race.done['blind']
        with self.router.client() as client:
            for key, count in keys.items():
                self.assertEqual(client.call('GET', key), str(count).encode(), key)
                self.assertEqual(client.call('LRANGE', key + ':log', 0, -1),
                                 [str(i + 1).encode() for i in range(count)], key)
        print(f'\n{self.id().rsplit(".")[-1]}: {race.total()} transactions, {race.nils} nils')
        self.assertGreater(race.nils, 0)  # or there was no race

    def test_no_increment_is_lost_in_a_race(self):
        self.start_fleet()
        self.race = Incrementing(self.router.port)
        self.run_until(1500)
        self.check()

    def test_none_is_lost_or_done_twice_while_a_server_joins(self):
        self.start_fleet()
        self.fill(1000)
        self.servers['cache-4'] = self.start_redis('cache-4')
        before = self.located(['{counter:%d}' % number for number in range(COUNTERS)])
        self.race = Incrementing(self.router.port)
        self.run_until(300)
        self.command('node', 'add', 'cache-4', f'127.0.0.1:{self.servers["cache-4"].port}', '--yes')
        self.run_until(self.race.total() + 300)
        self.check()
        self.check_places()
        after = self.located(list(before))
        moved = sum(before[key] != after[key] for key in before)
        print(f'{moved} of {COUNTERS} counters moved')
        self.assertGreater(moved, 0)


if __name__ == '__main__':
    unittest.main()
