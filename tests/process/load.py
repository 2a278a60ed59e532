"""Clients that write all the time and count what was acknowledged, for tests of moving keys.

Each is a process of its own with keys of its own, so it knows what every key must hold at the end.
A write of which the fate is unknown (the connection broke, an error came) leaves its key in doubt:
it is what it was before or after that write, and nothing else. The key is read before it is written
again, and counts anew from then on.
"""
import collections
import multiprocessing
import random
import time

from resp import Client, ReplyError

FAR = 4_000_000_000_000  # an expiry in ms that no test lives to see


class Wrong(Exception):
    """A reply that can't be true."""


KINDS = ('incr', 'hash', 'list', 'zset', 'text', 'gone')
STRINGS = ('incr', 'text', 'gone')


class Writer:
    KEYS = 60  # of each kind

    def __init__(self, number, port, cold_count, kinds):
        self.number, self.port, self.cold_count, self.kinds = number, port, cold_count, kinds
        self.random = random.Random(number)
        self.model = collections.defaultdict(int)  # key -> count, or None when it is in doubt
        self.doubts = {}  # key -> its two possible counts
        self.latencies = []  # (when, seconds, kind of command)
        self.errors = collections.Counter()
        self.client = None

    def key(self, kind):
        return f'{kind}:{self.number}:{self.random.randrange(self.KEYS)}'

    def write_to(self, kind, key):
        """(command, what the reply must be by the model, the model after it)"""
        count = self.model[key]
        after = count + 1
        if kind == 'incr':
            return ('INCR', key), after, after
        if kind == 'hash':
            return ('HINCRBY', key, 'field', 1), after, after
        if kind == 'list':
            return ('RPUSH', key, 'element'), after, after
        if kind == 'zset':
            return ('ZADD', key, 'INCR', 1, 'member'), str(after).encode(), after
        if kind == 'text':
            return ('SET', key, after, 'PXAT', FAR + self.number), 'OK', after
        if count:
            return ('DEL', key), 1, 0
        return ('SET', key, 1), 'OK', 1

    def step(self):
        if self.cold_count and self.random.randrange(4) == 0:
            key = f'cold:{self.random.randrange(self.cold_count)}'
            self.ask(('GET', key), {key[5:].encode()})
            return
        kind = self.random.choice(self.kinds)
        key = self.key(kind)
        if key in self.doubts:
            self.look_at(key)
        else:
            self.write(kind, key)

    def ask(self, command, expected):
        """True when it was answered, and as it had to be."""
        before = time.monotonic()
        try:
            reply = self.client.call(*command)
        except ReplyError as error:
            self.errors[error.code] += 1
            return False
        except OSError:
            self.errors['connection'] += 1
            raise
        self.latencies.append((before, time.monotonic() - before))
        if reply not in expected:
            raise Wrong(f'{command}: {reply!r} instead of {expected!r}')
        return True

    def write(self, kind, key):
        command, expected, after = self.write_to(kind, key)
        self.doubts[key], self.model[key] = (self.model[key], after), None
        if self.ask(command, {expected}):
            del self.doubts[key]
            self.model[key] = after

    def look_at(self, key):
        try:
            count = read_key(self.client, key)
        except ReplyError as error:
            self.errors[error.code] += 1
            return
        except OSError:
            self.errors['connection'] += 1
            raise
        if count not in self.doubts[key]:
            raise Wrong(f'{key} is {count}, which is none of {self.doubts[key]}')
        del self.doubts[key]
        self.model[key] = count

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


def work(number, port, cold_count, kinds, stop, pipe, seconds):
    writer = Writer(number, port, cold_count, kinds)
    problem = None
    try:
        writer.run(stop, time.monotonic() + seconds)
    except Wrong as error:
        problem = str(error)
    pipe.send({'model': dict(writer.model), 'doubts': writer.doubts,
               'latencies': writer.latencies,
               'errors': dict(writer.errors), 'problem': problem})
    pipe.close()


class Load:
    """Starts the writers; stop() ends them and gathers what they know."""

    def __init__(self, port, cold_count=0, writers=4, seconds=240, kinds=KINDS):
        context = multiprocessing.get_context('fork')
        self.stop_event = context.Event()
        self.processes, self.pipes = [], []
        for number in range(writers):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(
                target=work,
                args=(number, port, cold_count, kinds, self.stop_event, theirs, seconds))
            process.start()
            theirs.close()
            self.processes.append(process)
            self.pipes.append(ours)

    def stop(self):
        if self.stop_event.is_set():
            return self
        self.stop_event.set()
        results = [pipe.recv() for pipe in self.pipes]
        for process in self.processes:
            process.join(30)
        self.model, self.doubts, self.latencies = {}, {}, []
        self.errors = collections.Counter()
        self.problems = [result['problem'] for result in results if result['problem']]
        for result in results:
            self.model.update(result['model'])
            self.doubts.update(result['doubts'])
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
