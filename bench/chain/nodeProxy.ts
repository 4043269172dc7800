/**
 * A TCP proxy in front of a node, in its own thread. It counts JSON-RPC calls, including each call
 * of a batch, and can delay all messages as if the node were far away.
 */
import { Worker } from 'node:worker_threads';

export interface NodeProxy {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Returns the number of JSON-RPC calls since `takeCalls` was last called, by method. */
  takeCalls(): Promise<Map<string, number>>;
  stop(): Promise<void>;
}

const THREAD = `
  const { connect, createServer } = require('node:net');
  const { parentPort, workerData: { port, oneWayMs } } = require('node:worker_threads');
  const CALL = /"method":"([a-zA-Z_]+)"/g;
  const LONGEST = 64;
  let calls = new Map();
  const pass = (from, to) => from.on('data', (chunk) => {
    if (oneWayMs === 0) to.write(chunk);
    else setTimeout(() => to.write(chunk), oneWayMs);
  });
  createServer((client) => {
    const node = connect(port, '127.0.0.1');
    for (const [one, other] of [[client, node], [node, client]]) {
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      pass(one, other);
    }
    let rest = '';
    client.on('data', (chunk) => {
      const text = rest + chunk.latin1Slice();
      let counted = 0;
      for (const match of text.matchAll(CALL)) {
        calls.set(match[1], (calls.get(match[1]) ?? 0) + 1);
        counted = match.index + match[0].length;
      }
      rest = text.slice(Math.max(counted, text.length - LONGEST));
    });
  }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port); });
  parentPort.on('message', () => {
    parentPort.postMessage(calls);
    calls = new Map();
  });
`;

/** @param oneWayMs delay of each message in each direction. Default: 0 */
export async function startNodeProxy(
  node: { port: number },
  { oneWayMs = 0 }: { oneWayMs?: number } = {},
): Promise<NodeProxy> {
  const worker = new Worker(THREAD, { eval: true, workerData: { port: node.port, oneWayMs } });
  const next = <T>(): Promise<T> => new Promise((resolve) => worker.once('message', resolve));
  const port = await next<number>();
  return {
    url: `http://127.0.0.1:${port}`,
    takeCalls() {
      const answer = next<Map<string, number>>();
      worker.postMessage('take');
      return answer;
    },
    async stop() {
      await worker.terminate();
    },
  };
}

export const totalOf = (calls: ReadonlyMap<string, number>): number =>
  [...calls.values()].reduce((sum, count) => sum + count, 0);
