"""A server that looks like Redis to the router and misbehaves as a test wants."""
import socket
import threading

CLOSE = object()  # what an answer may be besides bytes and None (say nothing)


class FakeNode:
    """Answers PING (and HELLO, AUTH, SELECT with +OK), refuses INFO, which the router asks for
    itself to know a node that was started anew, and answers everything else by
    `answer(arguments)`: bytes are sent as they are, None is silence, CLOSE cuts the connection."""

    def __init__(self, answer, answer_ping=True):
        self.answer, self.answer_ping = answer, answer_ping
        self.requests = []  # what clients sent
        self.listener = socket.socket()
        self.listener.bind(('127.0.0.1', 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        for one in [self.listener, *self.sockets]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.sockets.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        file = connection.makefile('rb')
        try:
            while True:
                line = file.readline()
                if not line:
                    return
                arguments = []
                for _ in range(int(line[1:])):
                    length = int(file.readline()[1:])
                    arguments.append(file.read(length + 2)[:-2])
                reply = self.reply(arguments)
                if reply is CLOSE:
                    connection.shutdown(socket.SHUT_RDWR)
                    return
                if reply:
                    connection.sendall(reply)
        except (OSError, ValueError):
            return

    def reply(self, arguments):
        name = arguments[0].upper()
        if name == b'PING':
            return b'+PONG\r\n' if self.answer_ping else None
        if name in (b'HELLO', b'AUTH', b'SELECT', b'CLIENT'):
            return b'+OK\r\n'
        if name == b'INFO':
            return b"-ERR unknown command 'INFO'\r\n"
        self.requests.append(arguments)
        return self.answer(arguments)
