/** One HTTP exchange, bounded in time and in bytes. Never rejects: a failure is an outcome too. */
import type { Dispatcher } from 'undici';
import { describeError } from '../../base/log.ts';
import type { Connecting, Connections } from './connections.ts';
import { startDeadline } from './deadline.ts';
import { type LocalFailure, readLocalFailure } from './localFailure.ts';

export interface Posted {
  /** Null when no answer began. */
  status: number | null;
  /** The `Retry-After` header, as it came. */
  retryAfter: string | undefined;
  /** The first {@link RESPONSE_LIMIT_BYTES} of the answer, as text. */
  responseBody: string;
  /** Why the answer is not complete; null when it is. */
  failure: string | null;
  /** Why the failure is this process's own; undefined for one of the receiver or the way to it. */
  localFailure: LocalFailure | undefined;
  /** The connection that was made for it, or that failed; undefined on an open one. */
  connecting: Connecting | undefined;
  /** When it was given to a connection, and when an answer began, as `performance.now()` says. */
  isSent: boolean;
  answeredAt: number | undefined;
}

const RESPONSE_LIMIT_BYTES = 4 * 1024;
/** Read, but not kept, so that a small answer leaves its connection usable. */
const DRAIN_LIMIT_BYTES = 64 * 1024;

/**
 * Posts over the dispatcher and reads the start of the answer. It works on undici's `dispatch`, below
 * its streams: an answer is a few bytes, and there are thousands a second.
 *
 * @param timeoutMs from now to the last byte read: connection, headers and body together
 */
export function post(
  dispatcher: Dispatcher,
  connections: Connections,
  request: { origin: string; path: string; headers: Record<string, string>; body: Uint8Array },
  timeoutMs: number,
): Promise<Posted> {
  return new Promise((resolve) => {
    let status: number | null = null;
    let retryAfter: string | undefined;
    let controller: Dispatcher.DispatchController | undefined;
    const kept: Buffer[] = [];
    let keptBytes = 0;
    let readBytes = 0;
    let over = false;
    let connecting: Connecting | undefined;
    let answeredAt: number | undefined;

    const end = (failure: string | null, localFailure?: LocalFailure): void => {
      if (over) return;
      over = true;
      endDeadline();
      // PostgreSQL cannot hold a NUL in text.
      const responseBody = Buffer.concat(kept).toString('utf8').replaceAll('\0', '\u{fffd}');
      const isSent = controller !== undefined;
      const exchange = { status, retryAfter, responseBody, failure, localFailure };
      resolve({ ...exchange, connecting, isSent, answeredAt });
    };
    const giveUp = (failure: string | null, localFailure?: LocalFailure): void => {
      end(failure, localFailure);
      controller?.abort(new Error('given up'));
    };
    const endDeadline = startDeadline(timeoutMs, (stalled) => {
      const late = `no complete answer within ${timeoutMs / 1000} s`;
      if (stalled) giveUp(`${late}, in which this process was stopped`, 'STALLED');
      else giveUp(late);
    });

    dispatcher.dispatch(
      { ...request, method: 'POST' },
      {
        onRequestStart(started) {
          controller = started;
          connecting = connections.takeOpened();
          // The deadline passed while it waited for a connection: it must not be sent now.
          if (over) started.abort(new Error('given up'));
        },
        onResponseStart(_, statusCode, headers) {
          status = statusCode;
          answeredAt = performance.now();
          const header = headers['retry-after'];
          if (typeof header === 'string') retryAfter = header;
        },
        onResponseData(_, chunk) {
          if (over) return;
          readBytes += chunk.length;
          if (keptBytes < RESPONSE_LIMIT_BYTES) {
            // A copy: the chunk's memory is the parser's.
            const part = Buffer.from(chunk.subarray(0, RESPONSE_LIMIT_BYTES - keptBytes));
            kept.push(part);
            keptBytes += part.length;
          }
          // The status has decided; the rest of a huge answer is not worth its bytes.
          if (readBytes > DRAIN_LIMIT_BYTES) giveUp(null);
        },
        onResponseEnd: () => end(null),
        onResponseError(_, error) {
          connecting ??= connections.ofError(error);
          end(connecting?.refusal ?? describeError(error), readLocalFailure(error));
        },
      },
    );
  });
}
