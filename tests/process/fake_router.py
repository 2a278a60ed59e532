"""A router's admin address that answers as a test tells it: for what the commands show of plans,
refusals and transitions that a real router gives only at moments of its own."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeRouter:
    """answers: {'METHOD page': [(code, object), …]} below /v1/pools/main/; the last one stays.
    `asked` is what came: (method, page, body)."""

    def __init__(self, answers):
        self.answers = {'GET': {}, 'POST': {}}
        for name, list_of in answers.items():
            method, page = name.split(' ')
            self.answers[method][page] = list(list_of)
        self.asked = []
        self.status = 404, {}
        self.server = ThreadingHTTPServer(('127.0.0.1', 0), self.make_handler())
        self.address = f'127.0.0.1:{self.server.server_address[1]}'
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,),
                                       daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def answer(self, method, path, body):
        if path == '/v1/pools':
            return 200, {'pools': [{'name': 'main'}]}
        if path == '/v1/status':
            return self.status
        page = path.removeprefix('/v1/pools/main/')
        self.asked.append((method, page, body))
        left = self.answers[method].get(page)
        if not left:
            return 404, {'error': f'no page {method} {page}', 'remedy': 'mend the test'}
        return left.pop(0) if len(left) > 1 else left[0]

    def bodies(self, page):
        return [body for _, name, body in self.asked if name == page]

    def make_handler(self):
        router = self

        class Handler(BaseHTTPRequestHandler):
            def respond(self):
                length = int(self.headers.get('Content-Length') or 0)
                text = self.rfile.read(length)
                body = json.loads(text) if text else None
                code, answer = router.answer(self.command, self.path, body)
                data = json.dumps(answer).encode()
                self.send_response(code)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = respond

            def log_message(self, *_):
                pass
        return Handler
