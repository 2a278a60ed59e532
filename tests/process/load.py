"""Clients that write all the time and count what was acknowledged, for tests of moving keys.

Each is a process of its own with keys of its own, so it knows what every key must hold at the end.
A write of which the fate is unknown (the connection broke, an error came) makes its key uncounted.
"""
import collections
import multiprocessing
import random
import time

from resp import Client, ReplyError

FAR = 4_000_000_000_000  # an expiry in ms that no test lives to see


class Wrong(Exception):
    """A reply that can't be true."""


class Writer:
    KEYS = 60  # of each kind

    def __init__(self, number, port, cold_count):
        self.number, self.port, self.cold_count = number, port, cold_count
        self.random = random.Random(number)
        self.model = collections.defaultdict(int)  # key -> count, or None when nobody knows
        self.latencies = []  # (when, seconds, kind of command)
        self.errors = collections.Counter()
        self.client = None

    def key(self, kind):
        return f'{kind}:{self.number}:{self.random.randrange(self.KEYS)}'

    def choose(self):
        """(key, command, what the reply must be by the model, the model after it)"""
        kind = self.random.choice(('incr', 'hash', 'list', 'zset', 'text', 'gone'))
        key = self.key(kind)
        count = self.model[key]
        after = None if count is None else count + 1
        if kind == 'incr':
            return key, ('INCR', key), after, after
        if kind == 'hash':
            return key, ('HINCRBY', key, 'field', 1), after, after
        if kind == 'list':
            return key, ('RPUSH', key, 'element'), after, after
        if kind == 'zset':
            return key, ('ZADD', key, 'INCR', 1, 'member'), str(after).encode(), after
        if kind == 'text':
            return key, ('SET', key, after or 0, 'PXAT', FAR + self.number), 'OK', after
        if count:
            return key, ('DEL', key), 1, 0
        return key, ('SET', key, 1), 'OK', None if count is None else 1

    def step(self):
        if self.cold_count and self.random.randrange(4) == 0:
            number = self.random.randrange(self.cold_count)
            key, command, expected, after = f'cold:{number}', ('GET', f'cold:{number}'), \
                str(number).encode(), 0
            is_write = False
        else:
            key, command, expected, after = self.choose()
            is_write = True
        before = time.monotonic()
        try:
            reply = self.client.call(*command)
        except ReplyError as error:
            self.errors[error.code] += 1
            if is_write:
                self.model[key] = None
            return
        except OSError:
            self.errors['connection'] += 1
            if is_write:
                self.model[key] = None
            raise
        self.latencies.append((before, time.monotonic() - before))
        known = not is_write or self.model[key] is not None
        if is_write and known:
            self.model[key] = after
        if known and reply != expected:
            raise Wrong(f'{command}: {reply!r} instead of {expected!r}')

    def connect(self, end):
        while time.monotonic() < end:
            try:
                self.client = Client(self.port, timeout=30)
                return True
            except OSError:
                time.sleep(0.01)
        return False

    def run(self, stop, end):
        while not stop.is_set() and time.monotonic() < end and self.connect(end):
            try:
                while not stop.is_set() and time.monotonic() < end:
                    self.step()
            except OSError:
                pass
            finally:
                self.client.close()


def work(number, port, cold_count, stop, pipe, seconds):
    writer = Writer(number, port, cold_count)
    problem = None
    try:
        writer.run(stop, time.monotonic() + seconds)
    except Wrong as error:
        problem = str(error)
    pipe.send({'model': dict(writer.model), 'latencies': writer.latencies,
               'errors': dict(writer.errors), 'problem': problem})
    pipe.close()


class Load:
    """Starts the writers; stop() ends them and gathers what they know."""

    def __init__(self, port, cold_count=0, writers=4, seconds=240):
        context = multiprocessing.get_context('fork')
        self.stop_event = context.Event()
        self.processes, self.pipes = [], []
        for number in range(writers):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(
                target=work, args=(number, port, cold_count, self.stop_event, theirs, seconds))
            process.start()
            theirs.close()
            self.processes.append(process)
            self.pipes.append(ours)

    def stop(self):
        self.stop_event.set()
        results = [pipe.recv() for pipe in self.pipes]
        for process in self.processes:
            process.join(30)
        self.model, self.latencies, self.errors = {}, [], collections.Counter()
        self.problems = [result['problem'] for result in results if result['problem']]
        for result in results:
            self.model.update(result['model'])
            self.latencies += result['latencies']
            self.errors.update(result['errors'])
        self.latencies.sort()
        return self

    def kill(self):
        for process in self.processes:
            if process.is_alive():
                process.kill()
                process.join()

    def percentiles(self, start, end):
        """(count, p50, p99, max in ms) of what began between two moments."""
        took = sorted(seconds for when, seconds in self.latencies if start <= when < end)
        if not took:
            return 0, 0, 0, 0
        return (len(took), 1000 * took[len(took) // 2], 1000 * took[len(took) * 99 // 100],
                1000 * took[-1])


def read_key(client, key):
    """What a key holds, as the model counts."""
    kind = key.split(':')[0]
    if kind == 'hash':
        value = client.call('HGET', key, 'field')
    elif kind == 'list':
        value = client.call('LLEN', key)
    elif kind == 'zset':
        value = client.call('ZSCORE', key, 'member')
    else:
        value = client.call('GET', key)
    return 0 if value is None else int(value)
