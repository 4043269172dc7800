import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type FaultProxy, type FaultProxyTarget, startFaultProxy } from '../faultProxy.ts';
import { findOnPath } from '../findOnPath.ts';
import { type TetheredProcess, startTethered } from '../tether.ts';
import { until } from '../until.ts';

/**
 * The mock cluster of librdkafka, in one process of `kcat`. Topics are created with four partitions
 * when they are first used. Messages are in memory. There is no TLS, no login and no duplicate
 * detection. When this process ends, even by SIGKILL, the cluster ends too.
 */
export interface KafkaMock {
  /** `127.0.0.1:<port>` of each broker. `start` changes them. */
  readonly brokers: readonly string[];
  /**
   * A proxy in front of the first broker, with a port that stays the same. Clients find all brokers
   * through it, and then connect to them directly.
   */
  readonly network: FaultProxy;
  /**
   * Reads all messages of a topic; rejects after a while if the cluster does not respond. The cluster
   * keeps only the last 5 MB of a partition.
   */
  read(topic: string): Promise<KafkaRecord[]>;
  /** Passes all messages of a topic to `onRecord`, also those that are written later. */
  follow(topic: string, onRecord: (record: KafkaRecord) => void): Promise<void>;
  /**
   * Stops the process with SIGSTOP: connections stay open and get no response. Resolves when all of
   * its threads are stopped.
   */
  pause(): Promise<void>;
  /** Lets the process run after `pause`. */
  resume(): void;
  /** Sends SIGKILL, which loses all messages and followers; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Starts an empty cluster after `kill`. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface KafkaRecord {
  partition: number;
  offset: number;
  key: string | null;
  headers: Record<string, string>;
  body: string;
}

const START_MS = 30_000;
const READ_MS = 60_000;
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
const run = promisify(execFile);

/**
 * Starts a cluster on free ports of 127.0.0.1.
 *
 * @throws Error if `kcat` is not installed or does not start. The message explains the cause.
 */
export async function startKafkaMock({ brokers: count = 1 } = {}): Promise<KafkaMock> {
  const program = findOnPath('kcat');
  if (program === undefined) {
    throw new Error(
      'kcat was not found. Install it: `apt-get install kcat` (Debian, Ubuntu), `brew install kcat` (macOS).',
    );
  }
  let { kcat, brokers } = await launch(program, count);
  const target: FaultProxyTarget = { port: portOf(brokers) };
  const network = await startFaultProxy(target);
  const followers: TetheredProcess[] = [];
  const kill = async (): Promise<void> => {
    for (const each of [kcat, ...followers.splice(0)]) {
      each.signal('SIGKILL');
      await each.exited;
    }
  };
  return {
    get brokers() {
      return brokers;
    },
    network,
    async read(topic) {
      const list = brokers.join(',');
      const options = ['-C', '-b', list, '-t', topic, '-o', 'beginning', '-e', '-q', '-J'];
      const { stdout } = await run(program, options, {
        maxBuffer: MAX_OUTPUT_BYTES,
        timeout: READ_MS,
      });
      return stdout.split('\n').filter(Boolean).map(toRecord);
    },
    async follow(topic, onRecord) {
      const options = [
        '-C',
        '-b',
        brokers.join(','),
        '-t',
        topic,
        '-o',
        'beginning',
        '-q',
        '-u',
        '-J',
      ];
      const follower = await startTethered(program, options);
      followers.push(follower);
      follower.stderr.resume();
      createInterface({ input: follower.stdout }).on('line', (line) => onRecord(toRecord(line)));
    },
    async pause() {
      kcat.signal('SIGSTOP');
      const isStopped = async () =>
        (await run('ps', ['-o', 'state=', '-p', `${kcat.pid}`])).stdout.startsWith('T');
      await until('kcat is stopped', isStopped);
    },
    resume: () => kcat.signal('SIGCONT'),
    kill,
    async start() {
      ({ kcat, brokers } = await launch(program, count));
      target.port = portOf(brokers);
    },
    async stop() {
      await kill();
      await network.stop();
    },
  };
}

const portOf = ([first = '']: readonly string[]): number => Number(first.split(':')[1]);

function toRecord(line: string): KafkaRecord {
  const { partition, offset, key, payload, headers } = JSON.parse(line) as {
    partition: number;
    offset: number;
    key: string | null;
    payload: string;
    /** Names and values in turn. */
    headers: string[];
  };
  const pairs = Array.from({ length: headers.length / 2 }, (_, n) =>
    headers.slice(2 * n, 2 * n + 2),
  );
  return { partition, offset, key, body: payload, headers: Object.fromEntries(pairs) };
}

/** Starts a consumer that never ends. The cluster is a part of it. */
async function launch(
  program: string,
  count: number,
): Promise<{ kcat: TetheredProcess; brokers: string[] }> {
  const cluster = ['-X', `test.mock.num.brokers=${count}`, '-b', 'mock', '-C', '-t', 'idle'];
  const kcat = await startTethered(program, cluster);
  kcat.stdout.resume();
  let said = '';
  const started = new Promise<string[]>((resolve) => {
    kcat.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
      const [brokers, ...rest] = said.split('replaced with ').at(-1)!.split('\n');
      if (said.includes('replaced with ') && rest.length > 0) resolve(brokers!.split(','));
    });
  });
  const timer = new AbortController();
  const brokers = await Promise.race([
    started,
    kcat.exited,
    delay(START_MS, undefined, { signal: timer.signal }).catch(() => {}),
  ]);
  timer.abort();
  if (brokers) return { kcat, brokers };
  kcat.signal('SIGKILL');
  await kcat.exited;
  throw new Error(`kcat did not start a mock cluster: ${said.trim()}`);
}
