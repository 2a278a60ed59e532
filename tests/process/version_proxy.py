"""A real redis-server that looks like one of another version: INFO tells that version, DUMP stamps
another one into its payloads, RESTORE refuses those of the real one."""
import collections
import re
import socket
import struct
import threading

from resp import Client, encode

REFUSAL = b'-ERR DUMP payload version or checksum are wrong\r\n'


def read_command(file):
    """The arguments of one command, or None at the end."""
    line = file.readline()
    if not line:
        return None
    arguments = []
    for _ in range(int(line[1:])):
        length = int(file.readline()[1:])
        arguments.append(file.read(length + 2)[:-2])
    return arguments


def read_reply(file):
    """The bytes of one RESP2 reply, b'' at the end."""
    line = file.readline()
    parts = [line]
    if line[:1] == b'$' and int(line[1:]) >= 0:
        parts.append(file.read(int(line[1:]) + 2))
    elif line[:1] == b'*':
        parts += [read_reply(file) for _ in range(int(line[1:]))]
    return b''.join(parts)


def text(reply):
    """A bulk string's bytes, or None."""
    if reply[:1] != b'$' or reply.startswith(b'$-1'):
        return None
    return reply.split(b'\r\n', 1)[1][:-2]


def bulk(value):
    return b'$%d\r\n%s\r\n' % (len(value), value)


def integers(numbers):
    return b'*%d\r\n' % len(numbers) + b''.join(b':%d\r\n' % number for number in numbers)


class VersionProxy:
    """`dump_version`: what DUMP stamps (None: what the server does); `restores`: whether RESTORE is
    let through; `has_fields`: whether it knows the lifetimes of single fields, which it keeps
    itself: {key: {field: milliseconds since 1970}}."""

    def __init__(self, server, version, dump_version=None, restores=False, has_fields=False):
        self.server, self.version, self.dump_version = server, version, dump_version
        self.restores, self.has_fields, self.fields = restores, has_fields, {}
        self.lock = threading.Lock()
        self.refused = 0
        self.names = collections.Counter()  # of the commands that came
        self.listener = socket.socket()
        self.listener.bind(('127.0.0.1', 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def client(self, **options):
        return Client(self.port, **options)

    def close(self):
        for one in [self.listener, *self.sockets]:
            close(one)

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(('127.0.0.1', self.server.port))
            except OSError:
                return
            for one in near, far:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets += near, far
            waiting = collections.deque()  # what becomes of the replies to come
            for work in self.send, self.answer:
                threading.Thread(target=self.run, args=(work, near, far, waiting),
                                 daemon=True).start()

    @staticmethod
    def run(work, near, far, waiting):
        try:
            work(near, far, waiting)
        except (OSError, ValueError, IndexError):
            pass
        close(near)
        close(far)

    def send(self, near, far, waiting):
        file = near.makefile('rb', 1 << 16)
        while (arguments := read_command(file)) is not None:
            change = self.change_of(arguments)
            waiting.append(change)
            # What is answered here goes on as PING, so that the order stays.
            far.sendall(encode([b'PING'] if isinstance(change, bytes) else arguments))

    @staticmethod
    def answer(near, far, waiting):
        file = far.makefile('rb', 1 << 16)
        while reply := read_reply(file):
            change = waiting.popleft()
            near.sendall(change if isinstance(change, bytes) else change(reply))

    def change_of(self, arguments):
        """A function of the reply, or the reply itself."""
        name = arguments[0].upper().decode()
        self.names[name] += 1
        if name == 'INFO':
            return self.change_info
        if name == 'DUMP' and self.dump_version is not None:
            return self.change_dump
        if name == 'RESTORE' and not self.restores:
            self.refused += 1
            return REFUSAL
        with self.lock:
            return self.change_fields(name, arguments) or (lambda reply: reply)

    def change_info(self, reply):
        info = text(reply)
        if info is None:
            return reply
        return bulk(re.sub(rb'(?m)^redis_version:[^\r]*', b'redis_version:' + self.version.encode(),
                           info))

    def change_dump(self, reply):
        payload = text(reply)
        if payload is None:
            return reply
        return bulk(payload[:-10] + struct.pack('<H', self.dump_version) + payload[-8:])

    # ---- lifetimes of fields ---------------------------------------------------------------------

    def change_fields(self, name, arguments):
        key = arguments[1] if len(arguments) > 1 else b''
        if name == 'RENAME':
            self.fields.pop(arguments[2], None)
            if key in self.fields:
                self.fields[arguments[2]] = self.fields.pop(key)
        elif name in ('UNLINK', 'DEL'):
            for one in arguments[1:]:
                self.fields.pop(one, None)
        elif name in ('HSET', 'HDEL') and key in self.fields:
            for field in arguments[2::2 if name == 'HSET' else 1]:
                self.fields[key].pop(field, None)
        elif name == 'HPEXPIREAT' and self.has_fields:
            for field in arguments[5:]:
                self.fields.setdefault(key, {})[field] = int(arguments[2])
            return integers([1] * len(arguments[5:]))
        elif name == 'HPEXPIRETIME' and self.has_fields:
            times = self.fields.get(key, {})
            return integers([times.get(field, -1) for field in arguments[4:]])
        return None


def close(one):
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    one.close()
