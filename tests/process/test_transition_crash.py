#!/usr/bin/python3
"""kill -9 of the router in every state of a transition: after a restart it goes on by itself, and
every acknowledged write is there.

CW_CRASH_ROUNDS says how often each is done (once unless set).

covers: main, move/transition_record, move/fence
"""
import os
import time
import unittest

from crash_fleet import END_SECONDS, CrashFleet
from harness import wait_for

ROUNDS = int(os.environ.get('CW_CRASH_ROUNDS', '1'))
TRIES = 12  # for states that last for milliseconds


class TheRouter(CrashFleet):
    def die_in(self, state):
        """Kills it when the state is stored. Some are over before it is dead: False then."""
        self.watch_stored(state)
        return self.kill_router() == state

    def test_prepared(self):
        """A transition that is paused waits in PREPARED after a restart."""
        self.start_fleet()
        self.begin_add()
        self.watch_stored('tracking')
        self.command('transition', 'pause')
        self.kill_router()
        for _ in range(1 + ROUNDS):
            self.start_router()
            self.assertTrue(self.die_in('prepared'))
        self.start_router()
        self.assertTrue(self.status()['note'])
        self.command('transition', 'resume')
        self.expect('done', 'router killed when prepared')

    def test_prepared_at_the_first_attempt(self):
        """Clearing a target takes a while when there is much to clear."""
        self.start_fleet()
        with self.fourth.client() as client:
            client.pipeline(('SET', f'old:{number}', number) for number in range(4000))
        self.begin_add('keys=400', '--purge')
        self.assertTrue(self.die_in('prepared'))
        self.start_router()
        self.go_on()
        with self.fourth.client() as client:  # what is in nobody's way is nobody's
            client.pipeline(('DEL', f'old:{number}') for number in range(4000))
        self.expect('done', 'router killed when prepared, at the first attempt')

    def test_tracking(self):
        self.start_fleet()
        self.begin_add()
        for number in range(1 + ROUNDS):
            self.wait_copying()
            self.assertEqual(self.kill_router(), 'tracking')
            self.start_router()
            self.assertGreater(self.status()['attempt'], 1 + number)
        self.expect('done', 'router killed when tracking')

    def short_state(self, state):
        """A state of milliseconds: what was missed is done once more, the other way."""
        self.start_fleet()
        hits = 0
        for number in range(TRIES * ROUNDS):
            if number % 2 == 0:
                self.begin_add('off')
            else:
                self.command('node', 'drain', 'cache-4', '--yes', '--no-wait', '--throttle', 'off')
                del self.servers['cache-4']
            hits += self.die_in(state)
            self.start_router()
            self.assertEqual(self.go_on(), 'done')
            if hits == ROUNDS:
                break
        self.assertEqual(hits, ROUNDS)
        self.expect('done', f'router killed when {state}, try {number + 1}')

    def test_frozen(self):
        self.short_state('frozen')

    def test_switched(self):
        self.short_state('switched')

    def test_cleaning(self):
        self.start_fleet()
        self.begin_add('keys=1500')
        self.assertTrue(self.die_in('cleaning'))
        self.start_router()
        self.command('transition', 'throttle', 'keys=100')
        wait_for(lambda: self.status()['progress']['keys_purged'], 'some keys gone', END_SECONDS)
        self.assertEqual(self.kill_router(), 'cleaning')
        self.start_router()
        self.expect('done', 'router killed when cleaning')

    def test_aborting(self):
        self.start_fleet()
        self.begin_add()
        self.watch_stored('tracking')
        time.sleep(0.5)  # so that there is something to clear
        self.command('transition', 'cancel')
        for _ in range(ROUNDS):
            self.assertTrue(self.die_in('aborting'))
            self.start_router()
        self.expect('cancelled', 'router killed when aborting')


if __name__ == '__main__':
    unittest.main()
