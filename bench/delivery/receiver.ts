/**
 * A receiver in its own thread that returns 204 to each POST once its body has arrived, except at
 * `HUNG_PATH`. To save processor time, it parses only the HTTP that it needs.
 */
import { Worker } from 'node:worker_threads';

/** Path of requests that get no response. */
export const HUNG_PATH = '/hung';

export interface Receiver {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Returns the processor time of the thread so far, in microseconds. */
  readCpuUs(): Promise<number>;
  /**
   * Returns the time of the first byte of each webhook that arrived since the previous call, in
   * Unix milliseconds, by webhook id.
   */
  takeArrivals(): Promise<Map<string, number>>;
  stop(): Promise<void>;
}

const THREAD = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const ANSWER = Buffer.from('HTTP/1.1 204 No Content\\r\\n\\r\\n');
  let arrivals = [];
  const server = createServer((socket) => {
    let head = '';
    let left = 0;
    let firstByteAt = 0;
    let hangs = false;
    const answer = () => { if (!hangs) socket.write(ANSWER); };
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      let at = 0;
      while (at < chunk.length) {
        if (left > 0) {
          const taken = Math.min(left, chunk.length - at);
          left -= taken;
          at += taken;
          if (left === 0) answer();
          continue;
        }
        if (head === '') firstByteAt = performance.timeOrigin + performance.now();
        const end = chunk.indexOf('\\r\\n\\r\\n', at, 'latin1');
        head += chunk.latin1Slice(at, end < 0 ? chunk.length : end);
        if (end < 0) return;
        at = end + 4;
        hangs = head.startsWith('POST ${HUNG_PATH} ');
        const id = /\\r\\nwebhook-id: ([^\\r]+)/i.exec(head)?.[1];
        if (id !== undefined && !hangs) arrivals.push(id, firstByteAt);
        left = Number(/\\r\\ncontent-length: (\\d+)/i.exec(head)?.[1] ?? 0);
        head = '';
        if (left === 0) answer();
      }
    });
  });
  parentPort.on('message', () => {
    parentPort.postMessage(arrivals);
    arrivals = [];
  });
  server.listen(0, '0.0.0.0', () => parentPort.postMessage(server.address().port));
`;

export async function startReceiver(): Promise<Receiver> {
  const worker = new Worker(THREAD, { eval: true });
  const next = <T>(): Promise<T> => new Promise((resolve) => worker.once('message', resolve));
  const port = await next<number>();
  return {
    url: `http://127.0.0.1:${port}`,
    async readCpuUs() {
      const { user, system } = await worker.cpuUsage();
      return user + system;
    },
    async takeArrivals() {
      const answer = next<(string | number)[]>();
      worker.postMessage('arrivals');
      const flat = await answer;
      const arrivals = new Map<string, number>();
      for (let n = 0; n < flat.length; n += 2)
        arrivals.set(flat[n] as string, flat[n + 1] as number);
      return arrivals;
    },
    async stop() {
      await worker.terminate();
    },
  };
}
