/** The interface and the limits of the JSON-RPC clients. */
import { SourceError } from '../../../../ingest/source.ts';

/**
 * A JSON-RPC client for one node, over HTTP or WebSocket. While the node is unreachable, requests
 * fail with a `SourceError`. A closed socket is reopened by the next request.
 */
export interface RpcClient {
  /**
   * Returns the `result` of the response. Throws a {@link SourceError} if there is none.
   *
   * @param maxBytes maximum response size; default 256 MiB
   */
  request(method: string, params: readonly unknown[], maxBytes?: number): Promise<unknown>;
  /**
   * Calls back with each header that the node pushes, over WebSocket only; some may be lost.
   * Returns a function that unsubscribes.
   */
  subscribeHeads(onHead: (header: unknown) => void): () => void;
  close(): Promise<void>;
}

/**
 * Timeout of requests for logs, traces and the receipts of a block, which may be slow. Other
 * requests time out after `TIMEOUT_MS`.
 */
const BLOCK_TIMEOUT_MS = 30_000;
export const TIMEOUT_MS = 8_000;
const OF_A_BLOCK = /^(debug_|trace_|eth_getBlockReceipts|eth_getLogs)/;
/** Maximum response size. The largest traces of a block are far smaller. */
export const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export const timeoutOf = (method: string): number =>
  OF_A_BLOCK.test(method) ? BLOCK_TIMEOUT_MS : TIMEOUT_MS;

export const tooLarge = (what: string, maxBytes: number): SourceError =>
  new SourceError('too-large', `${what} failed: the response exceeds ${maxBytes} bytes`);
