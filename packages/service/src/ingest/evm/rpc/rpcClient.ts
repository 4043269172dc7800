/** The interface and the limits of the JSON-RPC clients. */
import { SourceError } from '../../source.ts';

/**
 * JSON-RPC to one node, over HTTP or WebSocket. A node may be unreachable for hours: requests fail
 * at once with a `SourceError`, and a socket is reopened whenever it is needed.
 */
export interface RpcClient {
  /**
   * Returns the `result` of the response. Throws a {@link SourceError} for any other response.
   *
   * @param maxBytes maximum response size; default 256 MiB
   */
  request(method: string, params: readonly unknown[], maxBytes?: number): Promise<unknown>;
  /** Calls back with each new header that the node pushes; some may be lost. */
  subscribeHeads(onHead: (header: unknown) => void): () => void;
  close(): Promise<void>;
}

/**
 * Timeouts. Requests for complete blocks, receipts and traces are slow; other requests are quick or
 * lost.
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
