"""A small client for RESP2 and RESP3: enough to talk to a router in tests, with pipelines."""
import socket


class ReplyError(Exception):
    """An error reply, raised by call() and returned among the others by pipeline()."""

    @property
    def code(self):
        return str(self).split(' ', 1)[0]


def encode(arguments):
    parts = [b'*%d\r\n' % len(arguments)]
    for argument in arguments:
        if not isinstance(argument, bytes):
            argument = str(argument).encode()
        parts.append(b'$%d\r\n%s\r\n' % (len(argument), argument))
    return b''.join(parts)


class Client:
    """One connection. Strings come back as bytes, nulls as None, RESP3 maps as dicts."""

    BATCH = 256  # requests sent before their replies are read

    def __init__(self, port, host='127.0.0.1', timeout=20):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.file = self.socket.makefile('rb', 1 << 16)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *arguments):
        self.socket.sendall(encode(arguments))

    def send_raw(self, data):
        self.socket.sendall(data)

    def call(self, *arguments):
        self.send(*arguments)
        reply = self.read()
        if isinstance(reply, ReplyError):
            raise reply
        return reply

    def pipeline(self, commands):
        """The replies of many commands in their order; errors are among them, not raised."""
        commands = list(commands)
        replies = []
        for start in range(0, len(commands), self.BATCH):
            batch = commands[start:start + self.BATCH]
            self.socket.sendall(b''.join(map(encode, batch)))
            replies += [self.read() for _ in batch]
        return replies

    def read(self):
        line = self.file.readline()
        if not line.endswith(b'\r\n'):
            raise ConnectionError('the connection was closed' if not line else f'cut: {line!r}')
        kind, rest = line[:1], line[1:-2]
        if kind in SIMPLE:
            return SIMPLE[kind](rest)
        if kind in b'$!=':
            return self.read_bulk(kind, int(rest))
        if kind in b'*~>':
            return None if rest == b'-1' else [self.read() for _ in range(int(rest))]
        if kind == b'%':
            return {freeze(self.read()): self.read() for _ in range(int(rest))}
        raise ConnectionError(f'not RESP: {line!r}')

    def read_bulk(self, kind, length):
        if length < 0:
            return None
        data = self.file.read(length + 2)
        if len(data) != length + 2 or data[-2:] != b'\r\n':
            raise ConnectionError('a string was cut')
        data = data[:-2]
        return ReplyError(data.decode()) if kind == b'!' else data[4:] if kind == b'=' else data

    def is_closed(self):
        """Whether the other side has closed; reads and forgets what it still sends."""
        try:
            while self.file.read1(1 << 16):
                pass
            return True
        except ConnectionError:
            return True
        except OSError:
            return False


def freeze(value):
    return tuple(map(freeze, value)) if isinstance(value, list) else value


SIMPLE = {
    b'+': lambda rest: rest.decode(),
    b'-': lambda rest: ReplyError(rest.decode(errors='replace')),
    b':': int,
    b'_': lambda rest: None,
    b'#': lambda rest: rest == b't',
    b',': float,
    b'(': int,
}
