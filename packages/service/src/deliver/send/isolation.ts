/**
 * Uses a separate process to send deliveries that may have crashed the service, one at a time and
 * in parallel with normal sending. If a delivery crashes its sender again, only that process dies,
 * and the service detects it.
 */
import { InternalError } from '../../base/errors.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import type { CertifiedKey } from '../destinations/http/clientCertificate.ts';
import { startDeadline } from './deadline.ts';
import type { SendResult } from '../destinations/destination.ts';
import type { HttpOptions } from '../destinations/http/http.ts';
import type { SenderOptions, SendRequest } from './send.ts';

export interface Isolation {
  /** Resolves when the process is ready for work; rejects if it cannot be started. */
  start(): Promise<void>;
  /**
   * Sends from the isolated process, which must have been started.
   * @param onTaken called when the process has received the delivery; if the service dies after
   * that, the delivery is not the cause
   * @throws InternalError, code `sender_died`, if the process died or did not respond in time
   */
  send(sending: SendRequest, onTaken: () => void): Promise<SendResult>;
  /** Ends the process and aborts an attempt in flight. */
  close(): Promise<void>;
}

const senderDied = (how: string): InternalError => new InternalError('sender_died', how);

/**
 * The setup of the process, passed as JSON in an environment variable, which other users cannot
 * read.
 */
export interface IsolatedSetup {
  /** Networks that webhooks may reach even though they are not public. */
  allowCidrs: readonly string[];
  httpsOnly?: boolean | undefined;
  timeoutMs?: number | undefined;
  /** Maximum time for an attempt, whatever the stream sets. Default: none. */
  maxTimeoutMs?: number | undefined;
  /** URL of a proxy for all requests, including its login. Default: none. */
  egressProxy?: string | undefined;
}

export const SETUP_VARIABLE = 'SLUICE_ISOLATED_SETUP';

export interface SendJob {
  sending: SendRequest;
  secret: string;
  region: string;
  privateKeys: readonly string[];
  clientCertificate: CertifiedKey | undefined;
}

export type SenderReport = 'ready' | 'taken' | SendResult;

export interface IsolationOptions
  extends
    IsolatedSetup,
    Pick<SenderOptions, 'secret' | 'region' | 'privateKeys'>,
    Pick<HttpOptions, 'clientCertificate'> {
  /** Maximum heap of the process in MiB. Default: 512, far more than any webhook needs. */
  heapMib?: number;
}

const HEAP_MIB = 512;
const START_MS = 30_000;
/**
 * Time within which the process must return a result, in addition to the stream's own timeout:
 * longer than an attempt with the default timeout may take.
 */
const ANSWER_MS = 30_000;
/**
 * Time to wait after the isolated process died before the delivery is blamed. If the service is
 * killed too, the isolated process may die first.
 */
const GRACE_MS = 1_000;
const IDLE_MS = 60_000;

export function createIsolation({
  secret,
  region,
  privateKeys = () => [],
  clientCertificate,
  heapMib = HEAP_MIB,
  ...setup
}: IsolationOptions): Isolation {
  let sender: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  /** Kills the process, which gets no more deliveries, and waits for its exit. */
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
          reject(new Error(`the isolated process was not ready within ${START_MS / 1000} s`));
          void end(started);
        }, START_MS);
        started.once('message', () => resolve());
        started.once('error', reject);
        started.once('exit', (code, signal) => {
          reject(new Error(`the isolated process did not start: it ${howEnded(code, signal)}`));
        });
        started.once('message', () => clearTimeout(timer));
        started.once('exit', () => clearTimeout(timer));
      });
      if (closed) await end(started);
      else sender = started;
    },

    async send(sending, onTaken) {
      const current = sender;
      if (current === undefined) throw new Error('the isolated process is not running');
      const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
      const onReport = (report: SenderReport): void => {
        if (report === 'taken') onTaken();
        else if (report !== 'ready') resolve(report);
      };
      const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
        setTimeout(() => {
          reject(
            closed
              ? new Error('the service was stopped')
              : senderDied(`the isolated process that sent the delivery ${howEnded(code, signal)}`),
          );
        }, GRACE_MS);
      };
      const limitMs = ANSWER_MS + (sending.timeoutMs ?? 0);
      const endDeadline = startDeadline(limitMs, () => {
        reject(
          senderDied(
            `the isolated process that sent the delivery did not respond within ${limitMs / 1000} s`,
          ),
        );
        void end(current);
      });
      current.on('message', onReport).once('exit', onExit);
      const ledgerTime = Date.now() + (sending.clockSkewMs ?? 0);
      const sendJob: SendJob = {
        sending,
        secret: secret(),
        region: region(),
        privateKeys: privateKeys(ledgerTime),
        clientCertificate: clientCertificate?.read(),
      };
      // If sending fails, the process has exited, and `onExit` reports how.
      current.send(sendJob, () => {});
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
  signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`;
