#!/usr/bin/python3
"""The commands with which people change a fleet: what they ask a router, what they show of its
plans and refusals, how they wait. The router is played, so that it may answer anything; how a real
one moves keys is in test_apply.py.

covers: cli/node, cli/apply_go, cli/apply_ask, cli/apply_plan, cli/apply_throttle, cli/apply_watch
covers: cli/transition, cli/transition_print, cli/status_history
"""
import json
import os
import pty
import signal
import subprocess
import unittest

from fake_router import FakeRouter
from harness import CLOCKWISE, ProcessTest, free_port, sanitizer_environment, wait_for

PLAN = {
    'pool': 'main', 'is_change': True, 'kind': 'change', 'what': 'add d', 'generation_before': 4,
    'generation_after': 5, 'placement_before': 'slots', 'placement_after': 'slots', 'share': 0.25,
    'ideal_share': 0.25, 'share_error': 0.0, 'needless_share': 0.0, 'keys': 1234,
    'memory': 3 << 20, 'sampled': 100, 'problem': '',
    'heaviest': {'key': 'big\\x1b', 'memory': 2048},
    'nodes': [
        {'id': 'a', 'weight_before': 1, 'weight_after': 1, 'share_before': 1.0,
         'share_after': 0.75, 'ideal_share_after': 0.75, 'keys_out': 1234, 'memory_out': 3 << 20},
        {'id': 'd', 'weight_before': 0, 'weight_after': 1, 'share_before': 0.0,
         'share_after': 0.25, 'ideal_share_after': 0.25, 'keys_in': 1234, 'memory_in': 3 << 20}],
    'moves': [{'from': 'a', 'to': 'd', 'from_address': 'h:1', 'to_address': 'h:2', 'share': 0.25,
               'keys': 1234, 'memory': 3 << 20}],
}


def transition(outcome, state='tracking', **more):
    return {'pool': 'main', 'id': 7, 'kind': 'change', 'state': state, 'outcome': outcome,
            'is_running': outcome in ('running', 'paused'), 'is_paused': outcome == 'paused',
            'what': 'add d', 'who': 'me', 'note': '', 'doing': '', 'generation': 5,
            'started_ms': 1000, 'now_ms': 9000, 'part': 0.5, 'keys_scanned_per_second': 250.0,
            'seconds_left': 61, 'copies': 1234, 'copied_bytes': 3 << 20, 'freeze_us': 1300,
            'reached': {'prepared': 1000}, 'progress': {'copies': 600, 'copied_bytes': 1024},
            'throttle': {'automatic': True, 'factor': 0.5}, 'writes': {'marks': 3}, **more}


DONE = transition('done', 'stable', reached={'prepared': 1000, 'stable': 3500})
RUN = {
    'POST plan': [(200, PLAN)],
    'POST transitions': [(202, {'pool': 'main', 'transition': transition('running', 'prepared')})],
    'GET transition': [(200, transition('running')), (200, DONE)],
}
ADD = ('node', 'add', 'd', 'h:2')


class NodeCommands(ProcessTest):
    def play(self, **answers):
        router = FakeRouter({**RUN, **{name.replace('_', ' '): value
                                       for name, value in answers.items()}})
        self.addCleanup(router.close)
        return router

    def run_with(self, router, *arguments, **options):
        return self.run_clockwise(*arguments, '--admin', router.address, **options)

    def output_of(self, router, *arguments):
        result = self.run_with(router, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def assert_fails(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    # ---- the plan

    def test_a_dry_run_shows_the_plan_and_starts_nothing(self):
        router = self.play()
        text = self.output_of(router, *ADD, '--dry-run')
        for words in ('pool main: add d\nplacement slots, generation 4 to 5\n',
                      'about 1234 keys and 3.0 MB of memory, estimated from 100 keys',
                      '25.00 % of the keys move; ideal would be 25.00 %',
                      'the heaviest key seen is big\\x1b with 2.0 KB of memory'):
            self.assertIn(words, text)
        self.assertRegex(text, r'(?m)^d +- to 1 +0\.00 % +25\.00 % +25\.00 % +- +- +1234 +3\.0 MB$')
        self.assertRegex(text, r'(?m)^a +d +25\.00 % +1234 +3\.0 MB$')
        self.assertNotIn('\033', text)
        self.assertEqual(router.bodies('transitions'), [])

    def test_what_will_not_fit_is_shown(self):
        router = self.play(POST_plan=[(200, {**PLAN, 'problem': 'd has room for 1 MB; more'})])
        self.assertIn('speaks against it: d has room for 1 MB; more\n',
                      self.output_of(router, *ADD, '-n'))

    def test_a_plan_that_changes_nothing(self):
        router = self.play(POST_plan=[(200, {**PLAN, 'is_change': False})])
        self.assertEqual(self.output_of(router, *ADD, '--yes'), 'pool main: nothing to change\n')
        self.assertEqual(router.bodies('transitions'), [])

    # ---- what is asked

    def test_each_verb_asks_for_its_change(self):
        router = self.play()
        for arguments, wish in (
                (('add', 'd', 'h:2', '-w', '3', '-z', 'z'),
                 {'add': [{'id': 'd', 'address': 'h:2', 'weight': 3, 'zone': 'z'}]}),
                (('add', 'd'), {'add': [{'id': 'd'}]}),
                (('drain', 'a'), {'drain': ['a']}),
                (('weight', 'a', '3'), {'weight': [{'id': 'a', 'weight': 3}]}),
                (('replace', 'a', 'h:9', '--no-copy'),
                 {'replace': {'id': 'a', 'address': 'h:9'}, 'no_copy': True}),
                (('dead', 'a'), {'dead': 'a'})):
            self.output_of(router, 'node', *arguments, '--dry-run')
            body = router.bodies('plan')[-1]
            self.assertTrue(body.pop('who'))
            self.assertLessEqual(wish.items(), body.items())

    def test_options_and_the_planned_generation_are_sent(self):
        router = self.play()
        self.output_of(router, *ADD, '--yes', '--verify', 'deep', '--purge', '--throttle',
                       'keys=10,bytes=1kb')
        body = router.bodies('transitions')[0]
        self.assertEqual((body['generation'], body['deep'], body['purge'], body['throttle']),
                         (4, True, True, {'automatic': False, 'keys_per_second': 10,
                                          'bytes_per_second': 1024}))

    def test_slips_of_the_pen(self):
        router = self.play()
        for arguments, words in (
                (('node',), 'add, drain, weight, replace, dead'),
                (('node', 'drian', 'a'), 'node drian: use drain'),
                (('node', 'drain'), 'write clockwise node drain ID'),
                (('node', 'drain', 'a', 'b'), 'write clockwise node drain ID'),
                (('node', 'weight', 'a', '0'), 'from 1 to'),
                (('node', 'weight', 'a', '-w', '2'), 'node weight ID N'),
                (('node', 'drain', 'a', '--no-copy'), '--no-copy is for'),
                (('node', 'drain', 'a', '--verify', 'x'), 'use --verify deep'),
                (('node', 'drain', 'a', '--wait', '--no-wait'), 'exclude each other'),
                (('node', 'drain', 'a', '--json'), '--json asks nobody'),
                (('node', 'drain', 'a'), 'no terminal on which to ask'),
                (('node', 'drain', 'a', '-y', '-t', 'fast'), "throttle 'fast': use auto"),
                (('node', 'drain', 'a', '-y', '-t', 'keys=x'), 'throttle keys=x'),
                (('transition', 'pasue'), 'transition pasue: use pause'),
                (('transition', 'pause', 'x'), "'x' is too much"),
                (('transition', 'throttle'), 'how fast?')):
            self.assert_fails(self.run_with(router, *arguments), 2, words)
        self.assertEqual(router.asked, [])

    # ---- refusals

    def test_refusals_are_shown_with_their_remedy(self):
        for page in ('POST_plan', 'POST_transitions'):
            router = self.play(**{page: [(409, {'error': 'it is busy', 'remedy': 'wait'})]})
            self.assert_fails(self.run_with(router, *ADD, '--yes'), 1,
                              'pool main: it is busy; wait')
        router = self.play(POST_plan=[(500, ['?'])])
        self.assert_fails(self.run_with(router, *ADD, '--yes'), 1, 'the router answered 500')

    def test_pools_and_routers_that_are_not_there(self):
        router = self.play()
        self.assert_fails(self.run_with(router, *ADD, '-y', '-p', 'mian'), 1,
                          "no pool 'mian'; did you mean 'main'?")
        self.assert_fails(self.run_clockwise(*ADD, '-y', '--admin', f'127.0.0.1:{free_port()}'), 1,
                          'no router answers')

    def test_a_node_is_not_removed_but_drained(self):
        self.assert_fails(self.run_clockwise('node', 'remove', 'a'), 2, 'use drain, which gives')

    def test_a_pool_is_named_once(self):
        router = self.play(POST_plan=[(404, {'error': "pool 'main' has no node 'x'",
                                             'remedy': 'choose'})])
        result = self.run_with(router, *ADD, '--yes')
        self.assertEqual(result.stderr, "clockwise: pool 'main' has no node 'x'; choose\n")

    # ---- waiting

    def test_waiting_ends_with_a_summary(self):
        router = self.play(GET_transition=[(200, transition('running')),
                                           (200, transition('running', 'switched')), (200, DONE)])
        result = self.run_with(router, *ADD, '--yes')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines()[-1],
                         'done: add d; 1234 copies (3.0 MB) in 2.5 s; freeze 1.3 ms; generation 5')
        self.assertEqual(result.stderr.splitlines(), [
            f'{state}, 50 %, 1:01 left, 250 keys/s scanned, 600 copies, 1.0 KB'
            for state in ('tracking', 'switched')])

    def test_no_wait_ends_at_once(self):
        router = self.play()
        self.assertIn('started: transition 7; `clockwise transition status`',
                      self.output_of(router, *ADD, '--yes', '--no-wait'))
        self.assertNotIn('transition', [page for _, page, _ in router.asked])

    def test_json_is_the_plan_and_the_end(self):
        answer = json.loads(self.output_of(self.play(), *ADD, '--yes', '--json'))
        self.assertEqual((answer['plan']['keys'], answer['transition']['outcome']),
                         (1234, 'done'))
        answer = json.loads(self.output_of(self.play(), *ADD, '--dry-run', '--json'))
        self.assertIsNone(answer['transition'])

    def test_a_transition_that_pauses_by_itself_is_told_with_its_reason(self):
        paused = transition('paused', note='d is full; give it more memory')
        router = self.play(GET_transition=[(200, paused)])
        self.assert_fails(self.run_with(router, *ADD, '--yes'), 1,
                          'paused: d is full; give it more memory', 'clockwise transition resume')

    def test_one_that_a_person_paused_is_waited_for(self):
        router = self.play(GET_transition=[(200, transition('paused')), (200, DONE)])
        self.assertIn('done: add d', self.output_of(router, *ADD, '--yes'))

    def test_a_cancelled_transition_is_a_failure(self):
        cancelled = transition('cancelled', 'stable', note='asked by me')
        router = self.play(GET_transition=[(200, cancelled)])
        self.assert_fails(self.run_with(router, *ADD, '--yes'), 1, 'cancelled: asked by me')

    def test_ctrl_c_says_that_the_transition_goes_on(self):
        router = self.play(GET_transition=[(200, transition('running'))])
        process = subprocess.Popen(
            [CLOCKWISE, *ADD, '--yes', '--admin', router.address], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=sanitizer_environment())
        wait_for(lambda: router.bodies('transition'), 'the command to wait')
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT, errors)
        self.assertIn('the transition goes on in the router', errors)

    # ---- on a terminal

    def type_in(self, router, arguments, typed):
        """Runs a command on a terminal of its own; what it showed, and its exit code."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ.update(sanitizer_environment(), TERM='xterm')
            os.execv(CLOCKWISE, [CLOCKWISE, *arguments, '--admin', router.address])
        os.write(terminal, typed.encode())
        shown = b''
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # its other end is closed
                break
            if not part:
                break
            shown += part
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), shown.decode()

    def test_the_person_is_asked(self):
        for typed, is_started in (('y\n', True), ('YES\n', True), ('n\n', False), ('\n', False)):
            router = self.play()
            code, shown = self.type_in(router, ADD, typed)
            self.assertIn('Go on? [y/N]', shown)
            self.assertEqual((code, len(router.bodies('transitions'))), (0, 1) if is_started
                             else (1, 0), shown)
            self.assertIn('\033[1m', shown)

    def test_giving_up_a_node_wants_its_id_typed(self):
        for typed, is_started in (('a\n', True), ('y\n', False)):
            router = self.play(POST_plan=[(200, {**PLAN, 'kind': 'dead', 'what': 'dead a'})])
            code, shown = self.type_in(router, ('node', 'dead', 'a'), typed)
            self.assertIn("Type the node's id to go on:", shown)
            self.assertIn('what it alone held is lost', shown)
            self.assertEqual((code, len(router.bodies('transitions'))), (0, 1) if is_started
                             else (1, 0), shown)

    def test_a_bar_is_drawn(self):
        router = self.play(GET_transition=[(200, transition('running'))] * 6 + [(200, DONE)])
        code, shown = self.type_in(router, (*ADD, '--yes'), '')
        self.assertEqual(code, 0, shown)
        self.assertIn('tracking [##########..........]  50 %  1:01 left, 250 keys/s scanned',
                      shown)

    # ---- transition

    def test_transition_status(self):
        router = self.play()
        text = self.output_of(router, 'transition', 'status')
        for words in ('pool main, transition 7 running: add d\n', 'tracking, 50 %', 'asked by me',
                      'automatic, now at 50 %', '3 marked'):
            self.assertIn(words, text)
        self.assertIn('done: add d;', self.output_of(router, 'transition'))
        self.assertEqual(json.loads(self.output_of(router, 'transition', '--json')), DONE)

    def test_transition_wait(self):
        self.assertIn('done: add d', self.output_of(self.play(), 'transition', 'wait'))

    def test_a_transition_is_steered(self):
        router = self.play(**{f'POST_transition/{verb}': [(200, {'text': f'{verb}d'})]
                              for verb in ('pause', 'resume', 'cancel', 'throttle')})
        for verb in ('pause', 'resume', 'cancel'):
            self.assertEqual(self.output_of(router, 'transition', verb), f'pool main: {verb}d\n')
        self.output_of(router, 'transition', 'throttle', 'auto,keys=5')
        self.assertEqual(router.bodies('transition/throttle'),
                         [{'automatic': True, 'keys_per_second': 5}])
        router = self.play(**{'POST_transition/cancel': [
            (409, {'error': 'the new map is in use', 'remedy': 'go back with another change'})]})
        self.assert_fails(self.run_with(router, 'transition', 'cancel'), 1,
                          'the new map is in use; go back with another change')

    # ---- status

    def test_status_shows_what_is_changed_and_what_was_lost(self):
        router = self.play()
        pool = {'name': 'main', 'listen': 'h:1', 'nodes': [],
                'transition': transition('paused', note='d is full; give it more memory'),
                'losses': {'count': 2, 'seen_ms': 5, 'node': 'a'}}
        router.status = 200, {'version': '1', 'pools': [pool]}
        text = self.output_of(router, 'status')
        for words in ('  transition 7 paused: add d\n    paused, 50 %, 1:01 left,',
                      '\n    d is full; give it more memory\n',
                      "  node 'a' came back empty; 2 times nodes did: what it held is lost\n"):
            self.assertIn(words, text)
        pool.update(transition=DONE, losses={'count': 0})
        text = self.output_of(router, 'status')
        self.assertNotIn('transition', text)
        self.assertNotIn('came back', text)

    def test_history_is_a_table_or_json(self):
        entries = [{'time_ms': 0, 'transition': 0, 'state': 'stable', 'generation': 1},
                   {'time_ms': 1700000000000, 'transition': 3, 'state': 'tracking',
                    'generation': 1, 'copies': 5, 'copied_bytes': 2048, 'freeze_us': 1500,
                    'who': 'me', 'what': 'add d', 'note': 'begun\nanew'}]
        router = self.play(GET_history=[(200, {'pool': 'main', 'entries': entries})])
        text = self.output_of(router, 'status', '--history')
        self.assertRegex(text, r'(?m)^2023-11-14 22:13:20Z +3  tracking +1 +5 +2\.0 KB +1\.5 ms  '
                               r'add d: begun\\x0aanew, asked by me$')
        self.assertRegex(text, r'(?m)^1970-01-01 00:00:00Z +-  stable')
        self.assertEqual(json.loads(self.output_of(router, 'status', '--history', '--json')),
                         {'pool': 'main', 'entries': entries})
        self.assert_fails(self.run_with(router, 'status', '-p', 'main'), 2, '--history')


if __name__ == '__main__':
    unittest.main()
