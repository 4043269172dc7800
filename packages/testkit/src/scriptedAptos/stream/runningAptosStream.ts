import type { ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';

/** An endpoint of the gRPC transaction stream that serves a scripted ledger, and has troubles on cue. */
export interface RunningScriptedAptosStream {
  /** `grpc://127.0.0.1:<port>`, with the key as its password where one is wanted. */
  readonly url: string;
  readonly port: number;
  /** Streams that were opened, by the version each was to begin with. */
  readonly calls: readonly number[];
  /** Transactions that were handed to the connection. */
  readonly sent: number;
  /** Gives the endpoint a trouble in the place of the one it has; streams that are open have it too. */
  trouble(trouble: AptosStreamTrouble): void;
  /** Ends the trouble. What hangs stays so. */
  heal(): void;
  /** Breaks every connection and frees the port. */
  stop(): Promise<void>;
}

export type AptosStreamTrouble =
  /** Streams break off, and none begins, with that status of gRPC: 14 is `UNAVAILABLE`. */
  | { kind: 'status'; code: number; details?: string }
  /** `RESOURCE_EXHAUSTED`, with `retry-after`. */
  | { kind: 'rateLimit'; retryAfterSeconds: number }
  /** Streams end well, after each message. */
  | { kind: 'ends' }
  /** Nothing is sent, and nothing ends. */
  | { kind: 'hangs' }
  /** The endpoint is that many versions behind. */
  | { kind: 'lag'; versions: number }
  /** Messages lack a transaction in their middle: a lie. */
  | { kind: 'versionGap' }
  /** Messages name another chain. */
  | { kind: 'wrongChainId'; chainId: number }
  /** Messages are no messages. */
  | { kind: 'garbage' };

export interface StartScriptedAptosStreamOptions {
  ledger: ScriptedAptosLedger;
  /** Required bearer token. Default: none. */
  key?: string;
  /** Absent: a free port. */
  port?: number;
}
