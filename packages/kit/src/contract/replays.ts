/**
 * Sending old deliveries again, many at a time: which, how fast, and what came of it. Times are Unix
 * milliseconds; sizes are bytes.
 */
import type { DeliveryPhase, DeliveryState } from './sluice.ts';

/** One value, or several of which any will do. */
export type OneOrSeveral<Value> = Value | readonly Value[];

/** Which deliveries: those that fit every field that is given. Both ends of a range belong to it. */
export interface DeliveryFilter {
  /** Of the deliveries themselves, 500 at most. */
  id?: OneOrSeveral<string> | undefined;
  streamId?: OneOrSeveral<string> | undefined;
  /** In hex; of Aptos `aptos:` and the network. */
  chainId?: OneOrSeveral<string> | undefined;
  state?: OneOrSeveral<DeliveryState> | undefined;
  phase?: OneOrSeveral<DeliveryPhase> | undefined;
  /** How the last attempt was answered: a code (`404`), a class (`5xx`), `none` where nothing came. */
  status?: OneOrSeveral<string> | undefined;
  /** A part of what the last attempt failed with, in any case of letters. */
  error?: string | undefined;
  blockFrom?: number | undefined;
  blockTo?: number | undefined;
  /** When the delivery was made. */
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
  attemptsFrom?: number | undefined;
  attemptsTo?: number | undefined;
  /** Whether its block left the chain. */
  reorged?: boolean | undefined;
  /** The replay that last sent it again. */
  replayId?: string | undefined;
}

/** The states of deliveries that did not succeed, and that a replay sends again. */
export const UNDELIVERED = ['failed', 'quarantined', 'pending'] as const satisfies DeliveryState[];

/** What a replay of such a selection would send. */
export interface ReplayEstimate {
  deliveries: number;
  /** Of their bodies, about. */
  bytes: number;
  /** There are more: counting ended here, at a million. */
  isCapped: boolean;
}

/** What to send again, and how fast. */
export interface CreateReplay {
  /** For people, at most 128 characters. */
  name: string;
  /** At least one field of it must be given. */
  filter: DeliveryFilter;
  /** Deliveries made due in a second, 0.1 to 1000. Default 50. */
  perSecond?: number | undefined;
}

export const REPLAY_STATES = ['running', 'done', 'cancelled'] as const;

/** Where a replay stands. */
export type ReplayState = (typeof REPLAY_STATES)[number];

/**
 * Deliveries sent again, oldest first, each with its id and its body. It takes those that fit when their
 * turn comes, of those that were there when it was made; what is under way, cancelled or of a deleted
 * stream is passed over.
 */
export interface Replay {
  id: string;
  name: string;
  filter: DeliveryFilter;
  perSecond: number;
  /** `done` once every delivery had its turn, however its sending ends. */
  state: ReplayState;
  /** Deliveries that fitted when it was made; a million at most. */
  total: number;
  /** Made due so far. */
  replayed: number;
  /** Of those that it was the last to replay: delivered, given up, and waiting or under way. */
  succeeded: number;
  failed: number;
  waiting: number;
  /** Name of the API key that asked for it; `bootstrap` is the one that the service was started with. */
  createdBy: string;
  createdAt: number;
  /** When it moved on last; once it is not `running`, when it ended. */
  updatedAt: number;
}

/**
 * How many of the deliveries that a replay was the last to send came to their end, step by step from
 * `createdAt` on: at most 60 steps, which end soon after the replay does. A retry may end later still.
 */
export interface ReplayProgress {
  /** Of one step: a second at least. */
  stepMs: number;
  /** Delivered in each step. */
  succeeded: number[];
  /** Given up in each step. */
  failed: number[];
}
