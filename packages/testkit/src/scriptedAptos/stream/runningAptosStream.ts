import type { ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';

/** An endpoint of the gRPC transaction stream that serves a scripted ledger and fails on demand. */
export interface RunningScriptedAptosStream {
  /** `grpc://127.0.0.1:<port>`, with the key as its password where one is wanted. */
  readonly url: string;
  readonly port: number;
  /** Streams that were opened, by the version each was to begin with. */
  readonly calls: readonly number[];
  /** Transactions that were handed to the connection. */
  readonly sent: number;
  /** Replaces the endpoint's trouble; it also affects open streams. */
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
  /** Streams end well, after each message. */
  | { kind: 'ends' }
  /** Nothing is sent, and nothing ends. */
  | { kind: 'hangs' }
  /** The endpoint is behind by this number of versions. */
  | { kind: 'lag'; versions: number }
  /** A transaction is missing from the middle of each message. */
  | { kind: 'versionGap' }
  /** Messages name another chain. */
  | { kind: 'wrongChainId'; chainId: number }
  /** Messages are invalid. */
  | { kind: 'garbage' };

export interface StartScriptedAptosStreamOptions {
  ledger: ScriptedAptosLedger;
  /** Required bearer token. Default: none. */
  key?: string;
  /** Absent: a free port. */
  port?: number;
}
