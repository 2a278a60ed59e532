#!/usr/bin/python3
"""The disk becomes full under the map store while keys move: nothing changes state, clients are
served, the transition says what it waits for, can be paused and cancelled, and goes on when there
is room again.

covers: control/pool_file, move/transition_record
"""
import json
import os
import resource
import subprocess
import time
import unittest

from crash_fleet import Trouble
from harness import CLOCKWISE

DISK_SIZE = 4 << 20


def can_mount():
    """A disk of its own for a process; needs root, or user namespaces."""
    result = subprocess.run(['unshare', '-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
                            capture_output=True, check=False)
    return result.returncode == 0


class AFullDisk(Trouble):
    """Files may not grow any more (EFBIG), or the disk is full (ENOSPC)."""

    wrapper = ()  # what starts the router

    def start_router(self):
        def command(port):
            path = self.write_config(port)
            return [*self.wrapper, CLOCKWISE, 'serve', '-c', path]
        self.router = self.start('clockwise', command)

    def write_config(self, port):
        self.config['pools']['main']['listen'] = f'127.0.0.1:{port}'
        return self.write('clockwise.yaml', json.dumps(self.config))

    def fill_disk(self):
        resource.prlimit(self.router.pid, resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))

    def free_disk(self):
        resource.prlimit(self.router.pid, resource.RLIMIT_FSIZE,
                         (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def test_when_it_begins(self):
        self.start_fleet()
        self.fill_disk()
        before = self.stored()
        result = self.run_clockwise('node', 'add', 'cache-4', f'127.0.0.1:{self.fourth.port}',
                                    '--yes', '--admin', self.admin)
        self.assertEqual(result.returncode, 1)
        self.assertIn('map store', result.stderr)
        print(f'\nfull when it begins\n  {result.stderr.strip()}')
        self.assertEqual(self.stored(), before)
        self.assert_served()
        self.free_disk()
        self.begin_add('off')
        self.expect('done', 'it was full when it began')

    def test_in_its_course(self):
        self.start_fleet()
        self.begin_add()
        self.watch_stored('tracking')
        self.fill_disk()
        self.command('transition', 'throttle', 'off')
        self.wait_for_note('map store')
        self.assert_served()
        time.sleep(1)  # it tries again, more than once
        self.assertEqual(self.stored_state(), 'tracking')
        self.assert_served()
        self.free_disk()
        self.expect('done', 'it was full in its course')

    def test_a_pause_meanwhile_does_not_stop_it_for_ever(self):
        self.start_fleet()
        self.begin_add()
        self.watch_stored('tracking')
        self.fill_disk()
        self.servers['cache-4'].kill()  # so that the copy begins anew, and cannot be stored
        self.servers['cache-4'] = self.fourth = self.restart(self.fourth)
        self.wait_for_note('map store')
        self.command('transition', 'pause')
        self.command('transition', 'resume')
        self.free_disk()
        self.expect('done', 'full, then paused and resumed')

    def test_it_can_be_cancelled(self):
        self.start_fleet()
        self.begin_add()
        self.watch_stored('tracking')
        self.fill_disk()
        self.command('transition', 'cancel')
        self.wait_for_note('map store')
        self.assert_served()
        self.free_disk()
        self.expect('cancelled', 'full, then cancelled')


@unittest.skipUnless(can_mount(), 'nobody may mount here')
class AFullFilesystem(AFullDisk):
    test_it_can_be_cancelled = test_when_it_begins = None  # these go the same way

    def setUp(self):
        super().setUp()
        os.makedirs(self.path('data', 'maps'))
        script = 'mount -t tmpfs -o size=%d tmpfs "$0" && exec "$@"' % DISK_SIZE
        self.wrapper = ('unshare', '-rm', 'sh', '-c', script, self.path('data', 'maps'))

    def on_disk(self, name):
        return f'/proc/{self.router.pid}/root{self.path("data", "maps", name)}'

    def stored(self):
        with open(self.on_disk('main.json'), encoding='utf-8') as file:
            return file.read()

    def fill_disk(self):
        with open(self.on_disk('filler'), 'wb', buffering=0) as file:
            try:
                while file.write(b'x' * 4096):
                    pass
            except OSError:
                pass

    def free_disk(self):
        os.unlink(self.on_disk('filler'))


if __name__ == '__main__':
    unittest.main()
