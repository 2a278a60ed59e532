#!/usr/bin/python3
"""The map store: a restart keeps every key's place, whatever the file says by then.

covers: control/stored_maps, control/map_difference, control/map_store_file, control/fleet
covers: control/serve, control/banner, cli/map_source, cli/stored_note
"""
import json
import os
import random
import re
import signal
import subprocess
import unittest

from harness import (CLOCKWISE, ProcessTest, embedded_config, free_port, relay_config,
                     sanitizer_environment)

KEYS = [f'key:{number}' for number in range(300)]


class MapStore(ProcessTest):
    def document(self, folder, pool='main'):
        with open(os.path.join(folder, f'{pool}.json'), encoding='utf-8') as file:
            return json.load(file)

    def set_all(self, router):
        with router.client() as client:
            for key in KEYS:
                client.call('SET', key, f'value of {key}')

    def assert_all_there(self, router):
        with router.client() as client:
            for key in KEYS:
                self.assertEqual(client.call('GET', key), f'value of {key}'.encode(), key)

    def start_fails(self, config):
        config['pools']['main']['listen'] = f'127.0.0.1:{free_port()}'
        path = self.write('fails.yaml', json.dumps(config))
        result = self.run_clockwise('serve', '-c', path)
        self.assertEqual(result.returncode, 1, result.stderr)
        return result.stderr

    # ---- a restart -------------------------------------------------------------------------------

    def restart_keeps_the_map(self, config, change, wanted):
        """Starts, stops, changes the file and starts again: each key is still found."""
        folder = os.path.join(config['data_dir'], 'maps')
        router = self.start_clockwise(config)
        self.assertEqual(self.document(folder)['generation'], 1)
        self.assertEqual(self.document(folder)['revision'], 1)
        before = self.document(folder)['map']
        self.set_all(router)
        self.assertEqual(router.stop(), 0)
        self.assertNotIn('event=map_differs', router.log())
        change(config['pools']['main'])
        again = self.start_clockwise(config, name='clockwise-again')
        self.assert_all_there(again)
        self.assertEqual(self.document(folder)['map'], before)
        self.assertEqual(again.log().count('event=map_differs'), 1)
        self.assertIn(wanted, again.log())
        self.assertIn(f'To make the map like the file: {CLOCKWISE} apply {again.config_path}\n',
                      again.log())
        self.assertEqual(again.stop(), 0)

    def test_redis_nodes_keep_their_keys_although_the_file_has_a_node_more(self):
        servers = {f'r{number}': self.start_redis(f'r{number}') for number in range(3)}
        more = self.start_redis('r3')
        config = relay_config(servers)
        config['data_dir'] = self.path('data')

        def change(pool):
            pool['nodes'].append({'id': 'r3', 'address': f'127.0.0.1:{more.port}'})
            pool['nodes'][0]['weight'] = 5
        self.restart_keeps_the_map(config, change,
                                   'node r0 has weight 5 in the file and 1 in the map; '
                                   'node r3 is in the file only')
        with more.client() as client:
            self.assertEqual(client.call('DBSIZE'), 0)

    def test_embedded_nodes_are_those_of_the_map_and_not_of_the_file(self):
        config = embedded_config(self.path('data'))

        def change(pool):
            pool['nodes'] = [{'id': 'node-2'}, {'id': 'node-9'}]
            pool['placement'] = 'ring'
        self.restart_keeps_the_map(config, change,
                                   'placement is ring in the file and slots in the map; node '
                                   'node-9 is in the file only; node node-1 is in the map only; '
                                   'node node-3 is in the map only')
        self.assertEqual(sorted(os.listdir(self.path('data', 'main'))),
                         ['node-1', 'node-2', 'node-3'])

    def test_a_restart_with_the_same_file_says_nothing(self):
        config = embedded_config(self.path('data'))
        for name in ('clockwise-1', 'clockwise-2'):
            router = self.start_clockwise(config, name=name)
            self.assertEqual(router.stop(), 0)
            self.assertNotIn('differs', router.log())
        self.assertEqual(self.document(self.path('data', 'maps'))['revision'], 1)

    def test_killed_at_any_moment_it_starts_again_with_the_same_map(self):
        config = embedded_config(self.path('data'))
        config['pools']['main']['listen'] = f'127.0.0.1:{free_port()}'
        path = self.write('killed.yaml', json.dumps(config))
        random.seed(1)
        for _ in range(12):
            # Killed while it starts, mostly before it has stored or said anything.
            process = subprocess.Popen([CLOCKWISE, 'serve', '-c', path], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=sanitizer_environment())
            try:
                process.wait(random.choice((0, 0.005, 0.02, 0.05, 0.1, 0.3)))
                self.fail(f'it ended by itself with {process.returncode}')
            except subprocess.TimeoutExpired:
                pass
            process.kill()
            process.wait()
        router = self.start_clockwise(config)
        self.set_all(router)
        map_before = self.document(self.path('data', 'maps'))['map']
        router.kill()
        again = self.start_clockwise(config, name='clockwise-again')
        self.assert_all_there(again)
        self.assertEqual(self.document(self.path('data', 'maps'))['map'], map_before)
        self.assertEqual(self.document(self.path('data', 'maps'))['revision'], 1)
        with open(self.path('data', 'maps', 'main.journal'), encoding='utf-8') as file:
            self.assertEqual([json.loads(line)['state'] for line in file], ['stable'])

    def test_who_asks_the_file_is_told_of_the_stored_map(self):
        config = embedded_config(self.path('data'))
        router = self.start_clockwise(config)
        router.stop()
        same = self.run_clockwise('locate', '-c', router.config_path, 'a-key')
        self.assertEqual((same.returncode, same.stderr), (0, ''))
        config['pools']['main']['nodes'].append({'id': 'node-4'})
        path = self.write('other.yaml', json.dumps(config))
        for command in (('locate', '-c', path, 'a-key'), ('plan', '--from', path, '--weight',
                                                          'node-4=2')):
            result = self.run_clockwise(*command)
            self.assertEqual(result.returncode, 0)
            self.assertIn("has stored another map of pool 'main' "
                          f'({self.path("data")}/maps/main.json, generation 1): node node-4 is in '
                          'the file only; ask it with --admin', result.stderr)
        plan = self.run_clockwise('plan', '--from', router.config_path, '--to', path)
        self.assertEqual((plan.returncode, plan.stderr), (0, ''))
        self.assertIn('node-4', plan.stdout)

    # ---- what is refused -------------------------------------------------------------------------

    def test_a_second_router_is_refused(self):
        servers = {'r0': self.start_redis('r0')}
        config = relay_config(servers)
        config['map_store'] = {'file': self.path('maps')}
        router = self.start_clockwise(config)
        error = self.start_fails(dict(config, pools={'main': dict(config['pools']['main'])}))
        self.assertIn(f'a router works with it already, process {router.pid}; end that one, or set '
                      'another map_store', error)
        router.kill()
        self.assertEqual(self.start_clockwise(config, name='clockwise-again').stop(), 0)

    def test_a_folder_that_cannot_be_used_is_refused(self):
        config = relay_config({'r0': self.start_redis('r0')})
        self.write('file', 'x')
        config['map_store'] = {'file': self.path('file')}
        self.assertIn('map store', self.start_fails(config))
        config['map_store'] = {'file': self.path('file', 'maps')}
        self.assertIn('set another map_store', self.start_fails(config))
        if os.getuid() != 0:
            os.mkdir(self.path('closed'), 0o500)
            config['map_store'] = {'file': self.path('closed')}
            self.assertIn('give this user the right to write there', self.start_fails(config))

    def test_an_engine_never_changes(self):
        config = relay_config({'r0': self.start_redis('r0')})
        config['map_store'] = self.path('maps')
        self.start_clockwise(config).stop()
        config['pools']['main']['engine'] = 'embedded'
        config['pools']['main']['nodes'] = [{'id': 'r0'}]
        self.assertIn("pool 'main': engine is embedded in the configuration and redis in the "
                      'stored map', self.start_fails(config))

    def test_what_is_damaged_old_or_gone_is_refused(self):
        config = embedded_config(self.path('data'))
        self.start_clockwise(config).stop()
        path = self.path('data', 'maps', 'main.json')
        with open(path, encoding='utf-8') as file:
            good = file.read()
        for text, wanted in ((good[:200], 'main.json cannot be used: line '),
                             ('', 'main.json cannot be used: '),
                             (good.replace('main/node-1', 'main/node-2'),
                              'its check does not fit the rest'),
                             (re.sub(r',\n"check".*', '',
                                     good.replace('main/node-1', 'main/node-2')), 'which is none'),
                             (good.replace('"revision"', '"revison"'),
                              'unknown key revison; did you mean revision?')):
            self.write('data/maps/main.json', text)
            error = self.start_fails(config)
            self.assertIn(wanted, error)
            self.assertIn('put the newest good copy back', error)
        os.unlink(path)
        self.assertIn('main.json is gone, but revision 1', self.start_fails(config))
        self.write('data/maps/main.json', good)
        self.write('data/maps/main.highest', '{"revision": 9, "generation": 3}\n')
        self.assertIn('an older copy was put back', self.start_fails(config))
        os.unlink(self.path('data', 'maps', 'main.highest'))
        self.start_clockwise(config, name='clockwise-again').stop()

    def test_off_keeps_nothing(self):
        for store in ('off', {'file': 'off'}):
            config = embedded_config(self.path('data'))
            config['map_store'] = store
            self.start_clockwise(config, name='clockwise-off').stop()
            self.assertEqual(os.listdir(self.path('data')), ['main'])
        config['pools']['main']['nodes'].pop()
        router = self.start_clockwise(config, name='clockwise-fewer')
        self.assertEqual(router.stop(signal.SIGINT), 0)
        self.assertNotIn('differs', router.log())


if __name__ == '__main__':
    unittest.main()
