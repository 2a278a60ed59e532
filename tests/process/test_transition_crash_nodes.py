#!/usr/bin/python3
"""kill -9 of nodes while keys move: of a source, of a target, of all at once. The move goes on by
itself, or can be cancelled, and every acknowledged write is there.

covers: main
"""
import time
import unittest

from crash_fleet import DURABLE, CrashFleet


class ANode(CrashFleet):
    def begin_tracking(self, options):
        self.start_fleet(options)
        self.begin_add()
        self.watch_stored('tracking')
        time.sleep(0.5)  # so that something was copied

    def test_a_source_dies_and_has_its_data(self):
        self.begin_tracking(DURABLE)
        self.servers['cache-2'].kill()
        time.sleep(0.3)
        self.servers['cache-2'] = self.restart(self.servers['cache-2'])
        self.expect('done', 'source killed')
        self.assertTrue(self.load.errors)

    def test_a_target_dies_and_is_empty(self):
        self.begin_tracking(())
        self.fourth.kill()
        self.servers['cache-4'] = self.fourth = self.restart(self.fourth)
        self.expect('done', 'target killed, empty afterwards')

    def test_a_target_dies_and_has_its_data(self):
        self.begin_tracking(DURABLE)
        self.fourth.kill()
        self.servers['cache-4'] = self.fourth = self.restart(self.fourth)
        self.expect('done', 'target killed, with its data')

    def test_a_target_dies_after_the_switch(self):
        self.start_fleet(DURABLE)
        self.begin_add('keys=2000')
        self.watch_stored('cleaning')
        self.fourth.kill()
        self.servers['cache-4'] = self.fourth = self.restart(self.fourth)
        self.expect('done', 'target killed when cleaning, with its data')

    def test_a_target_that_is_gone(self):
        self.begin_tracking(())
        self.fourth.kill()
        self.command('transition', 'cancel')
        self.watch_stored('aborting')
        self.fourth = self.restart(self.fourth)
        self.expect('cancelled', 'target killed, then cancelled')

    def test_all_at_once(self):
        self.begin_tracking(DURABLE)
        for server in (self.router, self.servers['cache-1'], self.fourth):
            server.kill()
        self.servers['cache-1'] = self.restart(self.servers['cache-1'])
        self.servers['cache-4'] = self.fourth = self.restart(self.fourth)
        self.start_router()
        self.expect('done', 'router, source and target killed')


if __name__ == '__main__':
    unittest.main()
