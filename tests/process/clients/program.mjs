// The small program that every npm client runs. `run` gets functions that hide how each client
// spells things; a wrong answer throws, and the process ends with 1.
import assert from 'node:assert/strict';

export async function runProgram(client) {
  const { call, pipeline, scanAll } = client;
  await call('flushall');
  assert.equal(await call('set', 'greeting', 'hello'), 'OK');
  assert.equal(await call('get', 'greeting'), 'hello');
  assert.equal(await call('get', 'nothing'), null);
  assert.equal(Number(await call('incr', 'counter')), 1);
  assert.equal(Number(await call('incrby', 'counter', '41')), 42);
  assert.equal(await call('mset', 'a', '1', 'b', '2', 'c', '3'), 'OK');
  assert.deepEqual(await call('mget', 'a', 'b', 'nothing', 'c'), ['1', '2', null, '3']);
  assert.equal(Number(await call('expire', 'a', '100')), 1);
  const ttl = Number(await call('ttl', 'a'));
  assert.ok(ttl > 90 && ttl <= 100, `ttl ${ttl}`);
  assert.equal(Number(await call('exists', 'a', 'b', 'nothing')), 2);
  assert.equal(Number(await call('del', 'a', 'b', 'nothing')), 2);

  const keys = Array.from({ length: 100 }, (_, i) => `many:${i}`);
  const sets = await pipeline(keys.map((key) => ['set', key, `value of ${key}`]));
  assert.deepEqual(sets, keys.map(() => 'OK'));
  assert.deepEqual(await pipeline(keys.map((key) => ['get', key])),
    keys.map((key) => `value of ${key}`));
  assert.deepEqual((await scanAll('many:*')).sort(), [...keys].sort());

  const bytes = '\u00e9\u4e16\ud83d\ude42'.repeat(1000);
  await call('set', 'unicode', bytes);
  assert.equal(await call('get', 'unicode'), bytes);
  await assert.rejects(call('incr', 'greeting'), /integer/);
}
