/**
 * A JSON-RPC client over HTTP. Sends requests for blocks in batches if the node supports batches.
 */
import { Pool } from 'undici';
import { describeError } from '../../../../base/log.ts';
import type { Connect } from '../../../../ingest/nodes/anyProvider.ts';
import { SourceError, isOfKind } from '../../../../ingest/source.ts';
import {
  type HttpFacts,
  nameNode,
  parseAnswer,
  readResult,
} from '../../../../ingest/nodes/rpcError.ts';
import { MAX_ANSWER_BYTES, type RpcClient, timeoutOf, tooLarge } from './rpcClient.ts';

/** Maximum number of concurrent requests to a node. */
const CONNECTIONS = 32;
/**
 * Methods that are sent in batches, because a backfill reads many blocks at once. Other methods are
 * sent alone, because some nodes run the calls of a batch one after another.
 */
const BATCHED = /^eth_getBlock(ByHash|ByNumber|Receipts)$/;
const BATCH_CALLS = 8;
/** Maximum size of the body that is read of an HTTP error. */
const MAX_ERROR_BYTES = 64 * 1024;

interface Call extends PromiseWithResolvers<unknown> {
  id: number;
  method: string;
  params: readonly unknown[];
  maxBytes: number;
}

interface Answer {
  /** Parsed JSON, or the text of a response that is not JSON. */
  value: unknown;
  http: HttpFacts;
}

/** @param name name of the node in messages, not its URL, which may contain an API key */
export function createHttpClient(url: URL, name: string, connect?: Connect): RpcClient {
  const node = nameNode(name, url.href);
  const pool = new Pool(url.origin, { connections: CONNECTIONS, ...(connect && { connect }) });
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (url.username !== '') {
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  let lastId = 0;
  /**
   * Calls per batch. Reduced when a batch times out, or when a call fails in a batch but succeeds
   * alone; never raised again.
   */
  let batchCalls = BATCH_CALLS;
  /** Calls to send in batches after the current turn of the event loop. */
  let gathered: Call[] = [];

  const post = async (
    body: object,
    what: string,
    { signal, maxBytes }: PostLimits,
  ): Promise<Answer> => {
    try {
      const response = await pool.request({
        method: 'POST',
        path: url.pathname + url.search,
        headers,
        body: JSON.stringify(body),
        signal,
      });
      const retryAfter = response.headers['retry-after'];
      const http = { status: response.statusCode, retryAfter: [retryAfter].flat()[0] };
      const text =
        http.status < 300
          ? await readText(response.body, () => tooLarge(what, maxBytes), maxBytes)
          : await readText(response.body, undefined, MAX_ERROR_BYTES);
      return { value: parseAnswer(text), http };
    } catch (error) {
      if (error instanceof SourceError) throw error;
      throw new SourceError('unreachable', `${name}: ${node.clean(describeError(error))}`);
    }
  };

  /** Sends one call and settles its promise. Returns whether the node responded with a result. */
  const sendAlone = async (call: Call): Promise<boolean> => {
    const { method, maxBytes } = call;
    try {
      const limits = { signal: AbortSignal.timeout(timeoutOf(method)), maxBytes };
      const { value, http } = await post(toRequest(call), `${name}: ${method}`, limits);
      call.resolve(readResult(node, method, value, http));
      return true;
    } catch (error) {
      call.reject(error);
      return false;
    }
  };

  const retryAlone = async (calls: readonly Call[], nextBatchCalls: number): Promise<void> => {
    const sent = await Promise.all(calls.map(sendAlone));
    if (sent.includes(true)) batchCalls = Math.min(batchCalls, nextBatchCalls);
  };

  const sendBatch = async (calls: readonly Call[]): Promise<void> => {
    const half = Math.floor(calls.length / 2);
    const what = `${name}: a batch of ${calls.length} requests`;
    const signal = AbortSignal.timeout(Math.max(...calls.map(({ method }) => timeoutOf(method))));
    let answer: Answer;
    try {
      const limits = { signal, maxBytes: MAX_ANSWER_BYTES };
      answer = await post(calls.map(toRequest), what, limits);
    } catch (error) {
      if (isOfKind(error, 'too-large')) return retryAlone(calls, half);
      if (signal.aborted) batchCalls = Math.min(batchCalls, half);
      for (const call of calls) call.reject(error);
      return;
    }
    const { value, http } = answer;
    if (!Array.isArray(value)) {
      const refusal = errorOf(() => readResult(node, calls[0]!.method, value, http));
      if (!isOfKind(refusal, 'rate-limited')) return retryAlone(calls, 1);
      for (const call of calls) call.reject(refusal);
      return;
    }
    const results = new Map(value.map((each: { id?: unknown } | null) => [each?.id, each]));
    const refused: Call[] = [];
    for (const call of calls) {
      try {
        // A node may omit responses, for example to limit the size of a batch.
        if (!results.has(call.id)) refused.push(call);
        else call.resolve(readResult(node, call.method, results.get(call.id), http));
      } catch (error) {
        if (isOfKind(error, 'too-large')) refused.push(call);
        else call.reject(error);
      }
    }
    if (refused.length > 0) await retryAlone(refused, half);
  };

  const sendGathered = (): void => {
    const calls = gathered;
    gathered = [];
    while (calls.length > 0) {
      const some = calls.splice(0, Math.max(1, batchCalls));
      void (some.length === 1 ? sendAlone(some[0]!) : sendBatch(some));
    }
  };

  return {
    request(method, params, maxBytes = MAX_ANSWER_BYTES) {
      const deferred = Promise.withResolvers<unknown>();
      const call: Call = { ...deferred, id: ++lastId, method, params, maxBytes };
      if (!BATCHED.test(method)) {
        void sendAlone(call);
      } else {
        // Sends the batches after all requests of this turn of the event loop.
        if (gathered.length === 0) process.nextTick(sendGathered);
        gathered.push(call);
      }
      return call.promise;
    },
    subscribeHeads: () => () => {},
    close: () => pool.destroy(),
  };
}

interface PostLimits {
  /** Ends the request after its time limit. */
  signal: AbortSignal;
  maxBytes: number;
}

const toRequest = ({ id, method, params }: Call) => ({ jsonrpc: '2.0', id, method, params });

function errorOf(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** @param failure returns the error to throw if the text exceeds `maxBytes`. Default: cut the text */
async function readText(
  body: AsyncIterable<Buffer>,
  failure: (() => SourceError) | undefined,
  maxBytes: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes && failure !== undefined) throw failure();
    chunks.push(chunk);
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks).toString();
}
