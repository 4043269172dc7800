import type { ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';

/** An endpoint of the gRPC transaction stream that serves a scripted ledger and fails on demand. */
export interface RunningScriptedAptosStream {
  /** `grpc://127.0.0.1:<port>`, or `grpc://:<key>@127.0.0.1:<port>` if a key is required. */
  readonly url: string;
  readonly port: number;
  /** First requested version of each stream accepted so far. */
  readonly calls: readonly number[];
  /** Number of transactions sent so far, including those that `versionGap` or `garbage` drops. */
  readonly sent: number;
  /** Replaces the current trouble. The new one also affects open streams. */
  trouble(trouble: AptosStreamTrouble): void;
  /** Ends the trouble. Hanging streams continue. */
  heal(): void;
  /** Closes every connection at once and frees the port. */
  stop(): Promise<void>;
}

export type AptosStreamTrouble =
  /** Open and new streams fail with this gRPC status; 14 is `UNAVAILABLE`. */
  | { kind: 'status'; code: number; details?: string }
  /** Open and new streams fail with `RESOURCE_EXHAUSTED`, with `retry-after` in the metadata. */
  | { kind: 'rateLimit'; retryAfterSeconds: number }
  /** Each stream ends without an error after its next message. */
  | { kind: 'ends' }
  /** Streams stay open but send nothing. */
  | { kind: 'hangs' }
  /** The endpoint lags behind the ledger by this number of versions. */
  | { kind: 'lag'; versions: number }
  /** The middle transaction is missing from each message with at least three transactions. */
  | { kind: 'versionGap' }
  /** Messages contain a different chain id. */
  | { kind: 'wrongChainId'; chainId: number }
  /** Messages are not valid Protobuf. */
  | { kind: 'garbage' };

export interface StartScriptedAptosStreamOptions {
  ledger: ScriptedAptosLedger;
  /** Required bearer token. Default: none. */
  key?: string;
  /** Default: a free port. */
  port?: number;
}
