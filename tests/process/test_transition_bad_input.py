#!/usr/bin/python3
"""Changes that real servers and a real router refuse: with a reason and a remedy, nothing is
touched, and the router serves as before.

covers: move/check, move/look, move/transition_plan, control/change_check, control/change_wait
"""
import json
import re
import threading
import unittest

from crash_fleet import CrashFleet
from harness import free_port


class BadInput(CrashFleet):
    def setUp(self):
        super().setUp()
        self.start_fleet()

    def address(self, server):
        return f'127.0.0.1:{server.port}'

    def assert_refused(self, words, *arguments):
        """Exit code 1 with these words; and it is as if nobody had asked."""
        before = self.stored()
        result = self.run_clockwise(*arguments, '--yes', '--admin', self.admin)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(words, result.stderr)
        print(f'\n{" ".join(arguments)}\n  {result.stderr.strip()}', flush=True)
        self.assertEqual(self.stored(), before)
        self.assertFalse(self.is_running())

    def assert_add_refused(self, words, address=None, *arguments):
        self.assert_refused(words, 'node', 'add', 'cache-4', address or self.address(self.fourth),
                            *arguments)

    def file_with(self, nodes=None, **options):
        pool = {**self.config['pools']['main'], **options}
        if nodes is not None:
            pool['nodes'] = nodes
        return self.write('new.yaml', json.dumps({'pools': {'main': pool}}))

    # ---- files -----------------------------------------------------------------------------------

    def test_files_that_no_change_leads_to(self):
        self.assert_refused("would remove every node of pool 'main'", 'apply', self.file_with(
            [{'id': 'other', 'address': self.address(self.fourth)}]))
        self.assert_refused('new.yaml:', 'apply', self.file_with([]))
        self.assert_refused('write slots: 16384', 'apply', self.file_with(slots=1024))
        self.assert_refused('never changes it to embedded; write engine: redis', 'apply',
                            self.file_with([{'id': 'cache-1'}], engine='embedded'))
        same = self.config['pools']['main']['nodes']
        self.assert_refused('the same address', 'apply', self.file_with(
            [*same, {'id': 'cache-4', 'address': same[0]['address']}]))
        self.check_all()

    def test_the_id_of_a_dead_node_is_never_used_again(self):
        self.load.stop()
        self.servers['cache-3'].kill()
        self.command('node', 'dead', 'cache-3', '--yes')
        self.assert_refused('never used again', 'node', 'add', 'cache-3',
                            self.address(self.fourth))
        self.assert_refused('never used again', 'apply', self.file_with())
        self.router.stop()
        self.start_router()
        self.assert_refused('never used again', 'node', 'add', 'cache-3',
                            self.address(self.fourth))
        with self.router.client() as client:
            for number in range(100):
                self.assertEqual(client.call('SET', f'new:{number}', number), 'OK')

    # ---- servers ---------------------------------------------------------------------------------

    def test_a_target_that_is_not_empty(self):
        with self.fourth.client() as client:
            client.pipeline(('SET', f'other:{number}', number) for number in range(100))
            client.pipeline(('SET', f'cold:{number}', 'old') for number in range(100))
            self.assert_add_refused('is not empty: it has 200 keys')
            self.assertEqual(client.call('DBSIZE'), 200)
            self.begin_add('off', '--purge')
            self.assertEqual(self.wait_for_end(), 'done')
            client.pipeline(('DEL', f'other:{number}') for number in range(100))
            places = self.located([f'cold:{number}' for number in range(100)])
            client.pipeline(('DEL', key) for key, node in places.items() if node != 'cache-4')
        self.check_all()

    def test_a_target_that_is_too_small(self):
        with self.router.client() as client:
            client.pipeline(('SET', f'large:{number}', 'x' * 100000) for number in range(60))
        with self.fourth.client() as client:
            used = int(re.search(rb'used_memory:(\d+)', client.call('INFO', 'memory')).group(1))
            client.call('CONFIG', 'SET', 'maxmemory', used + 400000)
            self.assert_add_refused('raise its maxmemory over')
            client.call('CONFIG', 'SET', 'maxmemory', used // 2)
            self.assert_add_refused('it has reached its maxmemory: raise it or free memory')
            self.assertEqual(client.call('DBSIZE'), 0)
            client.call('CONFIG', 'SET', 'maxmemory', '100mb')
        self.begin_add('off')
        self.assertEqual(self.wait_for_end(), 'done')
        self.check_all()

    def test_a_target_that_is_a_replica(self):
        with self.fourth.client() as client:
            client.call('REPLICAOF', '127.0.0.1', self.servers['cache-1'].port)
            self.assert_add_refused('is a replica; give the address of its primary')
            client.call('REPLICAOF', 'NO', 'ONE')
            client.call('FLUSHALL')
        self.check_all()

    def test_the_same_server_under_another_name(self):
        for address in (f'localhost:{self.servers["cache-1"].port}', self.address(self.router),
                        self.address(self.servers['cache-1'])):
            self.assert_add_refused('', address)
        self.check_all()

    def test_a_target_that_is_not_there(self):
        self.assert_add_refused('cache-4', f'127.0.0.1:{free_port()}')
        self.fourth.pause()
        self.assert_add_refused('cache-4')
        self.fourth.resume()
        self.check_all()

    def test_a_node_that_dies_between_plan_and_apply(self):
        arguments = ('node', 'add', 'cache-4', self.address(self.fourth))
        self.assertIn('cache-4', self.command(*arguments, '--dry-run'))
        self.fourth.kill()
        self.assert_refused("node 'cache-4'", *arguments)
        self.fourth = self.restart(self.fourth)
        self.servers['cache-2'].pause()  # a source
        self.assert_refused("node 'cache-2'", *arguments)
        self.servers['cache-2'].resume()
        self.check_all()

    # ---- others ----------------------------------------------------------------------------------

    def test_two_at_once(self):
        """One of them begins; the other one is told why not, and it can be asked again later."""
        results = []

        def ask(*arguments):
            results.append(self.run_clockwise(*arguments, '--yes', '--throttle', 'keys=300',
                                              '--no-wait', '--admin', self.admin))
        threads = [threading.Thread(target=ask, args=('node', 'weight', f'cache-{i}', '3'))
                   for i in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(result.returncode for result in results), [0, 1])
        said = ''.join(result.stderr for result in results)
        self.assertRegex(said, 'transition|generation')
        print(f'\ntwo at once\n  {said.strip()}')
        result = self.run_clockwise('node', 'drain', 'cache-3', '--yes', '--admin', self.admin)
        self.assertEqual(result.returncode, 1)
        self.assertIn('transition', result.stderr)
        self.assertEqual(self.go_on(), 'done')
        self.check_all()


class WithoutAStore(CrashFleet):
    def test_maps_that_are_kept_nowhere_are_not_changed(self):
        self.start_fleet(more={'map_store': 'off'})
        result = self.run_clockwise('node', 'drain', 'cache-2', '--yes', '--admin', self.admin)
        self.assertEqual(result.returncode, 1)
        self.assertIn('map_store', result.stderr)
        print(f'\nmap_store: off\n  {result.stderr.strip()}')
        self.check_all()


if __name__ == '__main__':
    unittest.main()
