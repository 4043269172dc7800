import type { ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';

/** An endpoint of the gRPC transaction stream that serves a scripted ledger and fails on demand. */
export interface RunningScriptedAptosStream {
  /** `grpc://127.0.0.1:<port>`, with the required key as its password. */
  readonly url: string;
  readonly port: number;
  /** The first requested version of each stream opened so far. */
  readonly calls: readonly number[];
  /** Number of transactions sent. */
  readonly sent: number;
  /** Replaces the endpoint's trouble, which also affects open streams. */
  trouble(trouble: AptosStreamTrouble): void;
  /** Ends the trouble. Hanging streams keep hanging. */
  heal(): void;
  /** Breaks every connection and frees the port. */
  stop(): Promise<void>;
}

export type AptosStreamTrouble =
  /** Open and new streams fail with this gRPC status; 14 is `UNAVAILABLE`. */
  | { kind: 'status'; code: number; details?: string }
  /** `RESOURCE_EXHAUSTED`, with `retry-after`. */
  | { kind: 'rateLimit'; retryAfterSeconds: number }
  /** Streams end without an error after each message. */
  | { kind: 'ends' }
  /** Streams stay open but send nothing. */
  | { kind: 'hangs' }
  /** The endpoint is behind by this number of versions. */
  | { kind: 'lag'; versions: number }
  /** A transaction is missing from the middle of each message. */
  | { kind: 'versionGap' }
  /** Messages name a different chain. */
  | { kind: 'wrongChainId'; chainId: number }
  /** Messages are invalid. */
  | { kind: 'garbage' };

export interface StartScriptedAptosStreamOptions {
  ledger: ScriptedAptosLedger;
  /** Required bearer token. Default: none. */
  key?: string;
  /** Default: a free port. */
  port?: number;
}
