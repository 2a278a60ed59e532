#!/usr/bin/python3
"""Nodes that are gone for good while they should be cleared: a person gives them up, the pool can
be changed again, and what such a node still holds harms nobody when it comes back.

covers: move/transition_abandon
"""
import unittest

from crash_fleet import DURABLE, END_SECONDS, Trouble
from harness import wait_for

REMEDY = 'clockwise transition abandon'


class Abandon(Trouble):
    def abandon(self):
        self.command('transition', 'abandon', '--yes')
        wait_for(self.has_ended, 'the end of the transition', END_SECONDS)

    def assert_not_abandoned(self, words):
        result = self.run_clockwise('transition', 'abandon', '--yes', '--admin', self.admin)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(words, result.stderr)

    def assert_told(self, node):
        """By the transition, and by the journal that outlives the router."""
        note = self.status()['note']
        self.assertIn(f"given up without being cleared: node '{node}'", note)
        self.assertIn(note, self.command('status', '--history', '--json'))

    def lose_target(self, lose):
        """A transition that was cancelled, and whose target cannot be cleared."""
        self.start_fleet(DURABLE)
        self.begin_add()
        self.watch_stored('tracking')
        self.assert_not_abandoned('only a node that is waited for')
        wait_for(lambda: self.status()['progress']['copies'] > 50, 'copies', END_SECONDS)
        lose()
        self.command('transition', 'cancel')
        self.wait_for_note(REMEDY)
        self.assertIn("waiting for 'cache-4'", self.status()['doing'])
        self.assert_served()

    def add_again(self, *arguments):
        """It holds copies: it is refused; then it is emptied, or cleared with --purge."""
        add = ('node', 'add', 'cache-4', f'127.0.0.1:{self.fourth.port}', '--yes', '--admin',
               self.admin)
        refused = self.run_clockwise(*add)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn('is not empty', refused.stderr)
        if not arguments:
            with self.fourth.client() as client:
                client.call('FLUSHALL')
        self.clockwise_output(*add, *arguments, seconds=END_SECONDS)
        self.servers['cache-4'] = self.fourth
        print(f'\nadded again: {self.check_all()}', flush=True)

    def test_a_target_that_was_killed(self):
        self.lose_target(lambda: self.fourth.kill())
        self.abandon()
        self.assertEqual(self.journal_states()[-1], 'stable')
        self.assert_told('cache-4')
        self.servers.pop('cache-4')
        self.command('node', 'weight', 'cache-1', '2', '--yes')
        self.fourth = self.restart(self.fourth)
        self.add_again()

    def test_a_target_that_hangs_and_a_router_that_is_started_anew(self):
        """Its connections are those of a router that was killed: they are waited for, too."""
        self.lose_target(lambda: self.fourth.pause())
        self.kill_router()
        self.start_router()
        self.wait_for_note(REMEDY)
        self.assertIn("fencing, waiting for 'cache-4'", self.status()['doing'])
        self.abandon()
        self.assert_told('cache-4')
        self.servers.pop('cache-4')
        self.fourth.resume()
        self.add_again('--purge')

    def test_an_old_owner_after_the_switch(self):
        self.start_fleet(DURABLE)
        self.fourth = None
        self.command('node', 'drain', 'cache-3', '--yes', '--no-wait')
        self.watch_stored('cleaning')
        lost = self.servers.pop('cache-3')
        lost.pause()
        self.wait_for_note(REMEDY)
        self.abandon()
        self.assert_told('cache-3')
        self.assertNotIn('aborting', self.journal_states())
        self.command('node', 'weight', 'cache-1', '2', '--yes')
        print(f'\nthe old owner was given up: {self.check_all()}', flush=True)
        lost.resume()


if __name__ == '__main__':
    unittest.main()
