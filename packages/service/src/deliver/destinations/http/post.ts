/**
 * Makes one HTTP request, with limits on time and response size. A failure is returned as a result,
 * so the promise never rejects.
 */
import type { Dispatcher } from 'undici';
import { describeError } from '../../../base/log.ts';
import { describeTimeout } from '../../../base/timedOut.ts';
import { startStopwatch } from '../../stopwatch.ts';
import { STALL_MS, startDeadline } from '../../send/deadline.ts';
import { type StatusLine, watchStatusLine } from './statusLine.ts';
import { type LocalFailure, readLocalFailure } from '../../send/localFailure.ts';
import type { ConnectionAttempt, Connections } from './connections.ts';

export interface PostResult {
  /** HTTP status; null if no status line arrived. */
  status: number | null;
  /** The raw `Retry-After` header. */
  retryAfter: string | undefined;
  /** The first bytes of the response, up to the limit of the request, as text. */
  responseBody: string;
  /** Whether the response was longer than `responseBody`. */
  isCut: boolean;
  /** Reason why no complete response arrived; null if enough of the response was read. */
  failure: string | null;
  /**
   * Cause of a failure in this process; undefined on success, or if the receiver or the network
   * failed.
   */
  localFailure: LocalFailure | undefined;
  /** The connection that was opened for the request or failed; undefined if one was reused. */
  connecting: ConnectionAttempt | undefined;
  /** Whether the request was given to a connection, so that the receiver may have received it. */
  isSent: boolean;
  /** Time at which the response started, from `performance.now()`; undefined if none started. */
  answeredAt: number | undefined;
}

const RESPONSE_LIMIT_BYTES = 4 * 1024;
/** Maximum bytes of a response that is read to its end, so that its connection stays reusable. */
const DRAIN_LIMIT_BYTES = 64 * 1024;

/**
 * Posts a request over the dispatcher and reads the start of the response. Uses undici's `dispatch`
 * instead of streams, because thousands of small responses may arrive per second.
 *
 * @param timeoutMs time from now to the last byte read: connection, headers and body together
 * @param responseLimitBytes maximum size of `responseBody`. Default: 4 KiB
 */
export function post(
  dispatcher: Dispatcher,
  connections: Connections,
  request: { origin: string; path: string; headers: Record<string, string>; body: Uint8Array },
  timeoutMs: number,
  responseLimitBytes = RESPONSE_LIMIT_BYTES,
): Promise<PostResult> {
  return new Promise((resolve) => {
    const elapsedMs = startStopwatch();
    let status: number | null = null;
    let statusLine: StatusLine | undefined;
    let retryAfter: string | undefined;
    let controller: Dispatcher.DispatchController | undefined;
    const kept: Buffer[] = [];
    let keptBytes = 0;
    let readBytes = 0;
    let over = false;
    let connecting: ConnectionAttempt | undefined;
    let answeredAt: number | undefined;

    const end = (failure: string | null, localFailure?: LocalFailure): void => {
      if (over) return;
      over = true;
      endDeadline();
      // Text in the ledger cannot contain NUL.
      const responseBody = Buffer.concat(kept).toString('utf8').replaceAll('\0', '\u{fffd}');
      const isSent = controller !== undefined;
      const isCut = readBytes > keptBytes;
      status ??= statusLine?.read() ?? null;
      const exchange = { status, retryAfter, responseBody, isCut, failure, localFailure };
      resolve({ ...exchange, connecting, isSent, answeredAt });
    };
    const giveUp = (failure: string | null, localFailure?: LocalFailure): void => {
      end(failure, localFailure);
      controller?.abort(new Error('given up'));
    };
    const late = describeTimeout(timeoutMs);
    const stopped = `${late}, during which this process was suspended`;
    const endDeadline = startDeadline(timeoutMs, (stalled) => {
      if (stalled) giveUp(stopped, 'STALLED');
      else giveUp(late);
    });

    dispatcher.dispatch(
      { ...request, method: 'POST' },
      {
        onRequestStart(started) {
          connecting = connections.takeOpened();
          // The deadline passed while the request waited for a connection. It must not be sent now,
          // because its lease may have expired if this process was stopped meanwhile.
          if (elapsedMs() > timeoutMs + STALL_MS) end(stopped, 'STALLED');
          if (over) started.abort(new Error('given up'));
          else {
            controller = started;
            statusLine = watchStatusLine();
          }
        },
        onResponseStart(_, statusCode, headers) {
          // Interim responses, such as 103 Early Hints, precede the response.
          if (statusCode < 200) return;
          status = statusCode;
          answeredAt = performance.now();
          const header = headers['retry-after'];
          if (typeof header === 'string') retryAfter = header;
        },
        onResponseData(_, chunk) {
          if (over) return;
          readBytes += chunk.length;
          if (keptBytes < responseLimitBytes) {
            // Copies the chunk, because the parser owns its memory.
            const part = Buffer.from(chunk.subarray(0, responseLimitBytes - keptBytes));
            kept.push(part);
            keptBytes += part.length;
          }
          // The status is known, so the rest of a huge response need not be read.
          if (readBytes > DRAIN_LIMIT_BYTES) giveUp(null);
        },
        onResponseEnd: () => end(null),
        onResponseError(_, error) {
          connecting ??= connections.ofError(error);
          const explained = connecting?.refusal ?? connecting?.alert();
          end(explained ?? describeError(error), readLocalFailure(error));
        },
      },
    );
  });
}
