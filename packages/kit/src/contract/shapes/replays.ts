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
