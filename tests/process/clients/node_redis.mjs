// node-redis: node_redis.mjs PORT PROTOCOL
import { createClient } from 'redis';
import { runProgram } from './program.mjs';

const [port, protocol] = process.argv.slice(2).map(Number);
const client = createClient({
  RESP: protocol,
  name: 'a-client',
  socket: { host: '127.0.0.1', port, connectTimeout: 20000, reconnectStrategy: false },
});
client.on('error', (error) => {
  console.error(error);
  process.exit(1);
});
await client.connect();
await runProgram({
  call: (...args) => client.sendCommand(args),
  pipeline: (commands) => Promise.all(commands.map((args) => client.sendCommand(args))),
  scanAll: async (match) => {
    const found = [];
    for await (const keys of client.scanIterator({ MATCH: match, COUNT: 30 })) found.push(...keys);
    return found;
  },
});
// Its own spelling too, which reads replies by the protocol it speaks.
await client.mSet({ x: '1', y: '2' });
if ((await client.mGet(['x', 'y', 'nothing'])).join() !== '1,2,') throw new Error('mGet');
if ((await client.ping()) !== 'PONG') throw new Error('ping');
await client.close();
console.log('ok');
