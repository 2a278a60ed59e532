// ioredis: ioredis.mjs PORT
import { Redis } from 'ioredis';
import { runProgram } from './program.mjs';

const client = new Redis({
  host: '127.0.0.1',
  port: Number(process.argv[2]),
  connectionName: 'a-client',
  connectTimeout: 20000,
  retryStrategy: () => null,
  maxRetriesPerRequest: 0,
});
client.on('error', (error) => {
  console.error(error);
  process.exit(1);
});
await runProgram({
  call: (...args) => client.call(...args),
  pipeline: async (commands) => {
    const replies = await client.pipeline(commands).exec();
    return replies.map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
  },
  scanAll: async (match) => {
    const found = [];
    for await (const keys of client.scanStream({ match, count: 30 })) found.push(...keys);
    return found;
  },
});
await client.quit();
console.log('ok');
