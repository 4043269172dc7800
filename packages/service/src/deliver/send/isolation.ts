/**
 * Sends deliveries that the service may have died of from a process of their own, one at a time, beside
 * everything else. Should one kill its sender again, nothing dies with it, and we are there to see
 * it; should both processes end together, that says nothing of the delivery.
 */
import { InternalError } from '../../base/errors.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { startDeadline } from './deadline.ts';
import type { SendResult, Sending } from './send.ts';

export interface Isolation {
  /** Resolves once the process waits for work; rejects when it cannot be started. */
  start(): Promise<void>;
  /**
   * Sends from the process, which was started before.
   *
   * @param onTaken called when the process has the delivery: what kills us from then on is not it
   * @throws InternalError, code `sender_died`, when the process died of it.
   */
  send(sending: Sending, onTaken: () => void): Promise<SendResult>;
  /** Ends the process; what it sends is cut. */
  close(): Promise<void>;
}

/** The process that sent a delivery, alone, did not live to tell of it. */
const senderDied = (how: string): InternalError => new InternalError('sender_died', how);

/** How the process is set up: as JSON in a variable, which other users of the machine do not see. */
export interface IsolatedSetup {
  /** As in `AddressGuardOptions`. */
  allowCidrs: readonly string[];
  timeoutMs?: number | undefined;
  /** As in `SenderOptions`. */
  egressProxy?: string | undefined;
}

export const SETUP_VARIABLE = 'SLUICE_ISOLATED_SETUP';

/** What the process is told to send. */
export interface Errand {
  sending: Sending;
  secret: string;
  region: string;
}

/** What the process tells. */
export type Report = 'ready' | 'taken' | SendResult;

export interface IsolationOptions extends IsolatedSetup {
  /** As in `SenderOptions`. */
  secret(): string;
  region(): string;
  /** Heap of the process in MiB. Default 512: many times the largest webhook. */
  heapMib?: number;
}

const HEAP_MIB = 512;
const START_MS = 30_000;
/** Longer than an attempt may take, and shorter than a lease. */
const ANSWER_MS = 30_000;
/** Who kills us both may hit the process first: we judge it only if we are still there then. */
const OUTLIVE_MS = 1_000;
const IDLE_MS = 60_000;

export function createIsolation({
  secret,
  region,
  heapMib = HEAP_MIB,
  ...setup
}: IsolationOptions): Isolation {
  let sender: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  /** It takes nothing more from this moment on. */
  const end = async (ended: ChildProcess): Promise<void> => {
    if (sender === ended) sender = undefined;
    const exited = new Promise((resolve) => ended.once('exit', resolve));
    if (ended.kill('SIGKILL')) await exited;
  };

  return {
    async start() {
      clearTimeout(idle);
      if (sender !== undefined) return;
      const started = fork(
        new URL(`./isolatedSender${extname(import.meta.url)}`, import.meta.url),
        {
          env: { ...process.env, [SETUP_VARIABLE]: JSON.stringify(setup satisfies IsolatedSetup) },
          execArgv: [...process.execArgv, `--max-old-space-size=${heapMib}`],
          serialization: 'advanced',
        },
      );
      started.once('exit', () => {
        if (sender === started) sender = undefined;
      });
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`the sending process was not ready within ${START_MS / 1000} s`));
          void end(started);
        }, START_MS);
        started.once('message', () => resolve());
        started.once('error', reject);
        started.once('exit', (code, signal) => {
          reject(new Error(`the sending process did not start: it ${howEnded(code, signal)}`));
        });
        started.once('message', () => clearTimeout(timer));
        started.once('exit', () => clearTimeout(timer));
      });
      if (closed) await end(started);
      else sender = started;
    },

    async send(sending, onTaken) {
      const current = sender;
      if (current === undefined) throw new Error('the sending process is not there');
      const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
      const onReport = (report: Report): void => {
        if (report === 'taken') onTaken();
        else if (report !== 'ready') resolve(report);
      };
      const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
        setTimeout(() => {
          reject(
            closed
              ? new Error('the service was stopped')
              : senderDied(`the process that sent it, alone, ${howEnded(code, signal)}`),
          );
        }, OUTLIVE_MS);
      };
      const endDeadline = startDeadline(ANSWER_MS, () => {
        reject(
          senderDied(
            `the process that sent it, alone, did not answer within ${ANSWER_MS / 1000} s`,
          ),
        );
        void end(current);
      });
      current.on('message', onReport).once('exit', onExit);
      const errand: Errand = { sending, secret: secret(), region: region() };
      // Where it cannot be told, it has gone, and its exit says how.
      current.send(errand, () => {});
      try {
        return await promise;
      } finally {
        endDeadline();
        current.off('message', onReport).off('exit', onExit);
        idle = setTimeout(() => void end(current), IDLE_MS).unref();
      }
    },

    async close() {
      closed = true;
      clearTimeout(idle);
      if (sender !== undefined) await end(sender);
    },
  };
}

const howEnded = (code: number | null, signal: NodeJS.Signals | null): string =>
  signal === null ? `ended with exit code ${code}` : `ended by ${signal}`;
