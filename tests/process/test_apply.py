#!/usr/bin/python3
"""`clockwise apply`: what it reads in a configuration and asks a router for; and what a router
refuses before it asks any node.

covers: cli/apply, cli/map_source, control/change_check
"""
import http.client
import json
import unittest

from fake_router import FakeRouter
from harness import ProcessTest, embedded_config, free_port
from test_node_commands import RUN


class WhatAFileAsksFor(ProcessTest):
    """The router is played: it shows what it was asked."""

    def setUp(self):
        super().setUp()
        self.router = FakeRouter(RUN)
        self.addCleanup(self.router.close)

    def apply(self, config, *arguments):
        path = self.write('new.yaml', json.dumps(config, indent=2))
        return self.run_clockwise('apply', path, '--admin', self.router.address, *arguments)

    def pool(self, **options):
        return {'listen': '127.0.0.1:7400', 'engine': 'redis',
                'nodes': [{'id': 'b', 'address': '127.0.0.1:2', 'weight': 3},
                          {'id': 'a', 'address': '127.0.0.1:1', 'zone': 'z'}], **options}

    def assert_refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(self.router.bodies('transitions'), [])

    def wish(self, **options):
        result = self.apply({'pools': {'main': self.pool(**options)}}, '--dry-run')
        self.assertEqual(result.returncode, 0, result.stderr)
        body = self.router.bodies('plan')[-1]
        self.assertTrue(body.pop('who'))
        return body

    def test_the_nodes_and_what_is_fixed(self):
        nodes = [{'id': 'b', 'address': '127.0.0.1:2', 'weight': 3},
                 {'id': 'a', 'address': '127.0.0.1:1', 'weight': 1, 'zone': 'z'}]
        self.assertEqual(self.wish(), {'nodes': nodes, 'engine': 'redis', 'placement': 'slots',
                                       'slots': 16384})
        self.assertEqual(self.wish(placement='ring', tokens=40),
                         {'nodes': nodes, 'engine': 'redis', 'placement': 'ring', 'tokens': 40})

    def test_embedded_nodes_have_no_address(self):
        body = self.wish(engine='embedded', nodes=[{'id': 'a'}])
        self.assertEqual((body['engine'], body['nodes']), ('embedded', [{'id': 'a', 'weight': 1}]))

    def test_it_is_carried_out(self):
        result = self.apply({'pools': {'main': self.pool()}}, '--yes')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('done: add d', result.stdout)
        self.assertEqual(self.router.bodies('transitions')[0]['generation'], 4)

    def test_which_file_and_which_pool(self):
        self.assert_refused(self.run_clockwise('apply', '--yes'), 2, 'which configuration?')
        self.assert_refused(self.run_clockwise('apply', 'a', 'b', '-y'), 2, 'which configuration?')
        self.assert_refused(self.run_clockwise('apply', self.path('none'), '-y'), 1, 'none')
        two = {'pools': {'main': self.pool(), 'other': self.pool(listen='127.0.0.1:7401')}}
        self.assert_refused(self.apply(two, '--yes'), 1, 'name one with --pool: main, other')
        self.assert_refused(self.apply(two, '--yes', '-p', 'othre'), 1, "did you mean 'other'?")
        self.assert_refused(self.apply(two, '--yes', '-p', 'other'), 1, "no pool 'other'")

    def test_a_file_with_mistakes_is_refused_as_serve_does(self):
        pool = self.pool(nodes=[{'id': 'a', 'address': '127.0.0.1:1'},
                                {'id': 'a', 'address': '127.0.0.1:2'}])
        self.assert_refused(self.apply({'pools': {'main': pool}}, '-y'), 1, 'a second time',
                            'new.yaml:')
        self.assert_refused(self.apply({'pools': {'main': self.pool(nodes=[])}}, '-y'), 1,
                            'new.yaml:')


class AdminOfARouter(ProcessTest):
    """A real router's admin address."""

    def serve(self, **options):
        config = embedded_config(self.path('data'), **options)
        self.admin = config['admin'] = f'127.0.0.1:{free_port()}'
        return self.start_clockwise(config)

    def ask(self, method, page, body='{}', **headers):
        connection = http.client.HTTPConnection(self.admin, timeout=60)
        names = {'Content-Type': 'application/json', **headers}
        connection.request(method, f'/v1/pools/{page}', body,
                           {name.replace('_', '-'): value for name, value in names.items()})
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, json.loads(answer)

    def test_web_pages_may_change_nothing(self):
        self.serve()
        for page in ('plan', 'transitions', 'transition/cancel'):
            for headers in ({'Origin': 'http://evil.example'}, {'Sec_Fetch_Site': 'cross-site'},
                            {'Host': 'evil.example:80'}):
                code, answer = self.ask('POST', f'main/{page}', **headers)
                self.assertEqual(code, 403, answer)
                self.assertTrue(answer['error'] and answer['remedy'])
            self.assertEqual(self.ask('POST', f'main/{page}', Content_Type='text/plain')[0], 415)

    def test_questions_are_bounded(self):
        self.serve()
        code, answer = self.ask('POST', 'main/plan', '{"who": "' + 'x' * (1 << 20) + '"}')
        self.assertEqual((code, answer['error']), (413, 'the question is longer than 1 MB'))

    def test_unknown_pools_and_methods(self):
        self.serve()
        self.assertEqual(self.ask('POST', 'mian/plan'),
                         (404, {'error': "there is no pool 'mian'",
                                'remedy': "did you mean 'main'?"}))
        self.assertEqual(self.ask('GET', 'main/plan')[0], 405)


class RefusedByARouter(ProcessTest):
    """What is refused before any node is asked, as a person meets it."""

    def setUp(self):
        super().setUp()
        self.config = embedded_config(self.path('data'))
        self.admin = self.config['admin'] = f'127.0.0.1:{free_port()}'

    def assert_refused(self, words, *arguments):
        result = self.run_clockwise(*arguments, '--yes', '--admin', self.admin)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(words, result.stderr)

    def assert_file_refused(self, words, **options):
        pool = {'listen': '127.0.0.1:7400', 'engine': 'embedded',
                'nodes': [{'id': f'node-{i}'} for i in (1, 2, 3)], **options}
        path = self.write('new.yaml', json.dumps({'pools': {'main': pool}}))
        self.assert_refused(words, 'apply', path)

    def test_files_that_no_change_leads_to(self):
        self.start_clockwise(self.config)
        self.assert_file_refused("would remove every node of pool 'main'", nodes=[{'id': 'x'}])
        self.assert_file_refused('write slots: 16384', slots=1024)
        self.assert_file_refused('never changes it to redis; write engine: embedded',
                                 engine='redis',
                                 nodes=[{'id': 'node-1', 'address': '127.0.0.1:1'}])

    def test_nodes_that_do_not_exist_or_do(self):
        self.start_clockwise(self.config)
        self.assert_refused("has no node 'node-4'; did you mean", 'node', 'drain', 'node-4')
        self.assert_refused("has a node 'node-1' already", 'node', 'add', 'node-1')
        self.assert_refused('is embedded in the router', 'node', 'add', 'n', '127.0.0.1:1')
        self.assert_refused('is embedded in the router', 'node', 'replace', 'node-1', 'h:1')

    def test_what_is_there_already_is_no_change(self):
        process = self.start_clockwise(self.config)
        for arguments in (('apply', process.config_path), ('node', 'weight', 'node-1', '1')):
            self.assertEqual(self.clockwise_output(*arguments, '--yes', '--admin', self.admin),
                             'pool main: nothing to change\n')

    def test_a_router_without_a_map_store_changes_nothing(self):
        self.config['map_store'] = 'off'
        self.start_clockwise(self.config)
        self.assert_refused('write a folder instead of off as its map_store', 'node', 'drain',
                            'node-1')

    def test_the_history_begins_with_the_pool(self):
        self.start_clockwise(self.config)
        text = self.clockwise_output('status', '--history', '--admin', self.admin)
        self.assertIn(' MAP ', text.splitlines()[0])
        result = self.run_clockwise('transition', 'status', '--admin', self.admin)
        self.assertEqual(result.returncode, 1)
        self.assertIn('this pool had no transition yet', result.stderr)


if __name__ == '__main__':
    unittest.main()
