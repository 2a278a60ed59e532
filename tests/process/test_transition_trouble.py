#!/usr/bin/python3
"""Nodes that fill up or refuse writes while keys move: the transition pauses and says why, clients
are served, and when the cause is gone it goes on, or is cancelled.

covers: move/refusal
"""
import unittest

from crash_fleet import END_SECONDS, Trouble
from harness import wait_for


class ATarget(Trouble):
    def test_it_becomes_full(self):
        self.start_fleet()
        self.begin_add()
        self.watch_stored('tracking')
        with self.fourth.client() as client:
            client.call('CONFIG', 'SET', 'maxmemory', '1mb')
            self.wait_for_note('reached its maxmemory', 'paused')
            self.assert_served()
            client.call('CONFIG', 'SET', 'maxmemory', '0')
        self.command('transition', 'resume')
        self.expect('done', 'the target was full')

    def test_it_refuses_writes(self):
        self.start_fleet()
        self.begin_add()
        self.watch_stored('tracking')
        with self.fourth.client() as client:
            client.call('CONFIG', 'SET', 'min-replicas-to-write', '1')
            self.wait_for_note('min-replicas-to-write', 'paused')
            self.assert_served()
            client.call('CONFIG', 'SET', 'min-replicas-to-write', '0')
        self.command('transition', 'cancel')
        self.expect('cancelled', 'the target refused writes')

    def test_a_source_that_is_full_takes_no_marks(self):
        """Then its writes fail too, as they would without a move."""
        self.start_fleet()
        self.begin_add()
        self.watch_stored('tracking')
        with self.servers['cache-1'].client() as client:
            client.call('CONFIG', 'SET', 'maxmemory', '1mb')
            wait_for(lambda: self.status()['writes']['marks_failed'], 'a mark that was refused',
                     END_SECONDS)
            client.call('CONFIG', 'SET', 'maxmemory', '0')
        self.command('transition', 'resume')
        self.expect('done', 'a source was full')


if __name__ == '__main__':
    unittest.main()
