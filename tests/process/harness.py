"""Runs the built clockwise beside real servers, for tests.

A test case derives from ProcessTest and asks it for servers: they listen on free loopback ports,
live in one temporary folder, are stopped by their process ids when the test ends (and by the kernel
should the test itself be killed), and their logs are shown when the test fails. A clockwise that
reports a sanitizer's finding, or ends in any other way than asked, fails the test.
"""
import atexit
import ctypes
import fcntl
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from resp import Client, ReplyError

ROOT = os.environ.get('CLOCKWISE_SOURCE') or os.path.realpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
CLOCKWISE = os.environ.get('CLOCKWISE') or os.path.join(ROOT, 'build', 'release', 'clockwise')

START_SECONDS = 20  # a bound, not a wish: sanitizers on a busy machine are slow
STOP_SECONDS = 20
TRIES = 5

SANITIZER = re.compile(r'(?:Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:|'
                       r'assertion failed')


def sanitizer_environment():
    environment = dict(os.environ)
    environment.setdefault('ASAN_OPTIONS', 'detect_leaks=1:quarantine_size_mb=16')
    environment.setdefault('UBSAN_OPTIONS', 'print_stacktrace=1')
    return environment


# ---- ports ---------------------------------------------------------------------------------------

PORT_LOCKS = []


def claim_port(port):
    """True when no other test process has this port: the claim is a lock that ends with us."""
    folder = os.path.join(tempfile.gettempdir(), f'clockwise-test-ports-{os.getuid()}')
    os.makedirs(folder, exist_ok=True)
    lock = open(os.path.join(folder, str(port)), 'w', encoding='ascii')
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return False
    PORT_LOCKS.append(lock)
    return True


def free_port():
    """A port that nobody listens on and that stays ours: below the range that the kernel gives to
    connections, and claimed, so that no other test takes it before it is used."""
    for _ in range(1000):
        port = random.randint(10000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(('127.0.0.1', port))
            except OSError:
                continue
        if claim_port(port):
            return port
    raise RuntimeError('no free port')


def wait_for(condition, what, seconds=START_SECONDS):
    """Asks until the condition gives something true, and returns that."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f'waited {seconds} s for {what}')
        time.sleep(0.02)


# ---- processes -----------------------------------------------------------------------------------

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1
RUNNING = set()


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_all():
    for process in list(RUNNING):
        process.kill()


atexit.register(kill_all)


def answers_ping(process):
    with process.client(timeout=2) as client:
        try:
            return client.call('PING') == 'PONG'
        except ReplyError as error:  # it wants a password, so it is there
            return error.code == 'NOAUTH'


class Process:
    """A server under test: its process, port and log."""

    def __init__(self, name, command, log_path, port):
        self.name, self.port, self.log_path = name, port, log_path
        self.log_file = open(log_path, 'ab')
        self.popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log_file,
                                      stderr=self.log_file, preexec_fn=die_with_parent,
                                      env=sanitizer_environment(),
                                      cwd=os.path.dirname(log_path))
        RUNNING.add(self)

    @property
    def pid(self):
        return self.popen.pid

    def log(self):
        with open(self.log_path, encoding='utf-8', errors='replace') as file:
            return file.read()

    def client(self, **options):
        return Client(self.port, **options)

    def answers(self):
        """True once PING is answered; an AssertionError when the process has ended."""
        if self.popen.poll() is not None:
            self.forget()
            raise AssertionError(f'{self.name} ended with {self.popen.returncode}:\n{self.log()}')
        try:
            return answers_ping(self)
        except OSError:
            return False

    def send_signal(self, number):
        self.popen.send_signal(number)

    def pause(self):
        """Stops it as a person would with Ctrl-Z: the kernel still accepts in its name."""
        self.send_signal(signal.SIGSTOP)

    def resume(self):
        self.send_signal(signal.SIGCONT)

    def stop(self, number=signal.SIGTERM, seconds=STOP_SECONDS):
        """Asks it to end and returns its exit status."""
        if self.popen.poll() is None:
            self.send_signal(signal.SIGCONT)
            self.send_signal(number)
        try:
            self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f'{self.name} did not end within {seconds} s') from None
        self.forget()
        return self.popen.returncode

    def kill(self):
        """Gives it no chance, as a crash of the machine would."""
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()
        self.forget()

    def forget(self):
        RUNNING.discard(self)
        self.log_file.close()

    def status(self, key):
        """A number of /proc/PID/status, e.g. VmRSS in kB."""
        with open(f'/proc/{self.pid}/status', encoding='ascii', errors='replace') as file:
            for line in file:
                if line.startswith(key + ':'):
                    return int(line.split()[1])
        raise KeyError(key)

    def memory_mb(self):
        return self.status('VmRSS') / 1024


# ---- servers -------------------------------------------------------------------------------------

class Launcher:
    """Starts servers in a temporary folder of its own; close() ends and removes it all."""

    def open(self):
        self.folder = tempfile.mkdtemp(prefix='clockwise-test-')
        self.processes = []

    def close(self):
        for process in self.processes:
            process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    def start(self, name, make_command, port=None):
        """Starts a server: make_command(port) says how. Without a port, a free one is taken, and
        another one when somebody else was faster."""
        for left in reversed(range(TRIES)):
            own_port = port or free_port()
            process = Process(name, make_command(own_port), self.path(f'{name}.log'), own_port)
            self.processes.append(process)
            try:
                wait_for(process.answers, f'{name} to answer')
                return process
            except AssertionError:
                taken = re.search(r'(?i)in use|EADDRINUSE', process.log())
                if port or not left or not taken:
                    raise
                process.kill()
                self.processes.remove(process)
        raise AssertionError('not reached')

    def start_redis(self, name='redis', port=None, options=()):
        folder = self.path(name)
        os.makedirs(folder, exist_ok=True)
        return self.start(name, lambda port: [
            'redis-server', '--port', str(port), '--bind', '127.0.0.1', '--dir', folder,
            '--save', '', '--appendonly', 'no', '--daemonize', 'no', *options], port)

    def start_clockwise(self, config, arguments=(), name='clockwise', port=None):
        """`clockwise serve` with a configuration, a dict as Config makes it. It gets its port in
        the pool's `listen`, or keeps the one that stands there."""
        pool = next(iter(config['pools'].values()))
        if isinstance(pool.get('listen'), str):
            port = port or int(pool['listen'].rsplit(':', 1)[1])

        def command(port):
            pool['listen'] = f'127.0.0.1:{port}'
            # A folder for its maps, which no other router of this test uses.
            whole = {'data_dir': self.path(f'{name}-data'), **config}
            path = self.write(f'{name}.yaml', json.dumps(whole, indent=2) + '\n')
            return [CLOCKWISE, 'serve', '-c', path, *arguments]
        process = self.start(name, command, port)
        process.config_path = self.path(f'{name}.yaml')
        return process

    def start_nutcracker(self, servers, name='nutcracker', options=()):
        """Debian's twemproxy over {id: Process}, with what its own example configuration uses."""
        def command(port):
            pool = {'listen': f'127.0.0.1:{port}', 'redis': True, 'hash': 'fnv1a_64',
                    'distribution': 'ketama', 'auto_eject_hosts': False,
                    'servers': [f'127.0.0.1:{server.port}:1' for server in servers.values()]}
            lines = [f'  {key}: {str(value).lower()}' for key, value in pool.items()
                     if key != 'servers']
            lines += ['  servers:', *(f'   - {server}' for server in pool['servers'])]
            path = self.write(f'{name}.yml', '\n'.join(['main:', *lines]) + '\n')
            return ['nutcracker', '-c', path, '-s', str(free_port()), '-m', '16384', *options]
        return self.start(name, command)


# ---- test cases ----------------------------------------------------------------------------------

class ProcessTest(Launcher, unittest.TestCase):
    """Gives a test its servers and cleans up behind it."""

    maxDiff = 2000

    def setUp(self):
        self.assertTrue(os.access(CLOCKWISE, os.X_OK),
                        f'no program {CLOCKWISE}: set CLOCKWISE, or build it with ./dev build')
        self.open()

    def tearDown(self):
        problems = [problem for problem in map(self.end_process, self.processes) if problem]
        failed = bool(problems) or self.has_failed()
        if failed:
            for process in self.processes:
                tail = process.log()[-4000:]
                if tail:
                    print(f'---- log of {process.name} ----\n{tail}', flush=True)
        self.close()
        self.assertEqual(problems, [])

    def has_failed(self):
        outcome = self._outcome
        errors = getattr(outcome, 'errors', None)
        if errors is None:  # Python 3.11 and later keep them in the result only
            result = outcome.result
            return any(test is self for test, _ in result.failures + result.errors)
        return any(error for _, error in errors)

    def end_process(self, process):
        """Ends it if the test did not; returns what is wrong with how it went, or None."""
        is_ours = process.name.startswith('clockwise')
        try:
            if process in RUNNING:
                if is_ours:
                    status = process.stop()
                    if status != 0:
                        return f'{process.name} ended with {status}'
                else:
                    process.kill()
        except AssertionError as error:
            return str(error)
        found = SANITIZER.search(process.log()) if is_ours else None
        return f'{process.name}: {found.group()}, see its log' if found else None

    def run_clockwise(self, *arguments, stdin=None, seconds=60):
        """Runs a command of clockwise to its end: a CompletedProcess with texts."""
        result = subprocess.run([CLOCKWISE, *arguments], input=stdin or '', capture_output=True,
                                text=True, timeout=seconds, env=sanitizer_environment(),
                                cwd=self.folder)
        found = SANITIZER.search(result.stderr)
        self.assertIsNone(found, result.stderr[-4000:])
        return result

    def clockwise_output(self, *arguments, **options):
        result = self.run_clockwise(*arguments, **options)
        self.assertEqual(result.returncode, 0, f'{arguments}: {result.stderr}')
        return result.stdout


# ---- configurations -----------------------------------------------------------------------------

def relay_config(servers, weights=None, **pool_options):
    """The configuration of a pool over running redis-servers: {id: Process}."""
    weights = weights or {}
    nodes = [{'id': node, 'address': f'127.0.0.1:{server.port}', 'weight': weights.get(node, 1)}
             for node, server in servers.items()]
    return {'admin': 'off', 'workers': 2,
            'pools': {'main': {'engine': 'redis', 'placement': 'slots', 'nodes': nodes,
                               **pool_options}}}


def embedded_config(data_dir, node_ids=('node-1', 'node-2', 'node-3'), **pool_options):
    return {'admin': 'off', 'workers': 2, 'data_dir': data_dir,
            'pools': {'main': {'engine': 'embedded', 'nodes': [{'id': node} for node in node_ids],
                               **pool_options}}}
