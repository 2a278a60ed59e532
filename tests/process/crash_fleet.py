"""A fleet under load of which the router and the nodes are killed, for tests of moving keys."""
import json
import re

from harness import free_port, relay_config, wait_for
from load import Load, read_key
from test_transition import Fleet

DURABLE = ('--appendonly', 'yes', '--appendfsync', 'always')
END_SECONDS = 120
COLD_KEYS = 1500  # at THROTTLE a transition lasts for seconds
THROTTLE = 'keys=400'
WRITERS = 2


class CrashFleet(Fleet):
    def start_fleet(self, options=(), more=None, **pool_options):
        """Three nodes, a fourth that is in no pool yet, keys, and writers."""
        self.server_options = options
        self.servers = {f'cache-{i}': self.start_redis(f'cache-{i}', options=options)
                        for i in (1, 2, 3)}
        self.fourth = self.start_redis('cache-4', options=options)
        self.admin = f'127.0.0.1:{free_port()}'
        self.config = relay_config(self.servers, **pool_options)
        self.config['admin'] = self.admin
        self.config['data_dir'] = self.path('data')
        self.config.update(more or {})
        self.start_router()
        self.fill(COLD_KEYS)
        self.start_load()

    def start_load(self):
        self.load = Load(self.router.port, self.cold_count, writers=WRITERS)

    # ---- the router ------------------------------------------------------------------------------

    def start_router(self):
        self.router = self.start_clockwise(self.config)

    def kill_router(self):
        """Returns the state that was stored when it died."""
        self.router.kill()
        return self.stored_state()

    def stored(self):
        try:
            with open(self.path('data', 'maps', 'main.json'), encoding='utf-8') as file:
                return file.read()
        except FileNotFoundError:
            return ''

    def stored_state(self):
        found = re.search(r'"state": ?"(\w+)"', self.stored())
        return found.group(1) if found else 'stable'

    def watch_stored(self, state, seconds=END_SECONDS):
        """Looks as fast as it can until the state is stored."""
        return self.see(lambda: self.stored_state() == state, state, seconds)

    def wait_copying(self):
        """Until this router has copied something: what is stored may be by the one before."""
        wait_for(lambda: self.status()['progress']['copies'], 'some keys copied', END_SECONDS)

    @staticmethod
    def see(condition, what, seconds):
        for _ in range(2000):  # without a pause: some states last for milliseconds
            if condition():
                return True
        return wait_for(condition, what, seconds)

    # ---- the nodes -------------------------------------------------------------------------------

    def restart(self, server):
        """Starts a redis-server that was killed again, with what it kept, on its port."""
        return self.start_redis(server.name, server.port, self.server_options)

    # ---- a transition ----------------------------------------------------------------------------

    def begin_add(self, throttle=THROTTLE, *arguments):
        self.servers['cache-4'] = self.fourth
        self.command('node', 'add', 'cache-4', f'127.0.0.1:{self.fourth.port}', '--yes',
                     '--no-wait', '--throttle', throttle, *arguments)

    def go_on(self):
        """Full speed, and to the end: how it ended."""
        self.run_clockwise('transition', 'throttle', 'off', '--admin', self.admin)
        return self.wait_for_end()

    def wait_for_end(self):
        wait_for(self.has_ended, 'the end of the transition', END_SECONDS)
        return 'cancelled' if 'aborting' in self.journal_states() else 'done'

    def has_ended(self):
        return self.stored_state() == 'stable' and not self.is_running()

    def is_running(self):
        """A router that was started since the end knows of it by the journal only."""
        result = self.run_clockwise('transition', 'status', '--json', '--admin', self.admin)
        return result.returncode == 0 and json.loads(result.stdout)['is_running']

    def journal_states(self):
        """The states that the last transition reached, in their order."""
        entries = json.loads(self.command('status', '--history', '--json'))['entries']
        last = max(entry['transition'] for entry in entries)
        return [entry['state'] for entry in entries if entry['transition'] == last]

    # ---- what is there afterwards ----------------------------------------------------------------

    def check_doubts(self):
        """A write of which the fate is not known was done once or not at all."""
        with self.router.client() as client:
            for key, possible in self.load.doubts.items():
                self.assertIn(read_key(client, key), possible, key)

    def check_all(self):
        """Every acknowledged write is there, each key on its owner alone, and nothing goes on."""
        before = self.stored()
        load = self.check_counts()
        self.check_doubts()
        places = self.check_places()
        self.assertFalse(self.is_running())
        self.assertEqual(self.stored(), before)
        if self.fourth and self.fourth not in self.servers.values():
            with self.fourth.client() as client:
                self.assertEqual(client.call('DBSIZE'), 0)
        counted = sum(count for count in load.model.values() if count)
        return f'{len(places)} keys, {counted} counted writes, {len(load.doubts)} in doubt'

    def expect(self, outcome, what):
        ended = self.go_on()
        self.assertEqual(ended, outcome)
        if outcome == 'cancelled':
            self.servers.pop('cache-4', None)
        print(f'\n{what}: {outcome}, {self.check_all()}', flush=True)


class Trouble(CrashFleet):
    def wait_for_note(self, words, outcome='running'):
        """What the transition says by itself about what it waits for."""
        def has_note():
            report = self.status()
            return report if words in report['note'] and report['outcome'] == outcome else None
        report = wait_for(has_note, f'{outcome} and the note "{words}"', END_SECONDS)
        print(f'\n{report["state"]}, {outcome}\n  {report["note"]}', flush=True)

    def assert_served(self):
        with self.router.client() as client:
            for number in range(100):
                self.assertEqual(client.call('GET', f'cold:{number}'), str(number).encode())
                self.assertEqual(client.call('SET', f'served:{number}', number), 'OK')
