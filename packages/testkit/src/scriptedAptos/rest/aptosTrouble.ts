/**
 * A way in which a fullnode fails or lies. Each lasts until `heal`, or `times` times, and concerns the
 * routes named with it.
 */
export type AptosTrouble = AptosTroubleScope & AptosTroubleKind;

/** A kind of request; `calls` counts by it. */
export type AptosRoute =
  | 'ledger'
  | 'transactions'
  | 'transactionByVersion'
  | 'transactionByHash'
  | 'blockByHeight'
  | 'blockByVersion'
  | 'account'
  | 'resources'
  | 'resource'
  | 'modules'
  | 'view'
  | 'healthy'
  | 'unknown';

export interface AptosTroubleScope {
  /** Default: all, and of those the ones that the kind is about. */
  routes?: readonly AptosRoute[];
  /** How many requests it strikes; one that finds nothing to change is not counted. Default: all. */
  times?: number;
  /**
   * Strikes one request of each so many, the last of them: 2 for a balancer that turns between a
   * good node and a bad one. Default 1: strikes all.
   */
  every?: number;
}

export type AptosTroubleKind =
  /** No answer ever comes, and the connection stays open. */
  | { kind: 'hang' }
  /** The answer comes that much later. */
  | { kind: 'delay'; delayMs: number }
  /** 429 with Retry-After, as gateways do; or 503 with Aptos' own error body. Default 429, 1 s. */
  | { kind: 'rateLimit'; status?: 429 | 503; retryAfterSeconds?: number }
  /** An HTTP status of a proxy before the node, such as 502, with a page of HTML. */
  | { kind: 'httpError'; status: number }
  /** The answer's JSON breaks off in the middle. */
  | { kind: 'malformedJson' }
  /** 500 with Aptos' error body, `internal_error`. */
  | { kind: 'internalError' }
  /** The node is that many blocks behind: its headers say so, and it knows nothing newer. */
  | { kind: 'lag'; blocks: number }
  /** The node forgot everything below that version: 410, and headers that say so. */
  | { kind: 'pruned'; belowVersion: bigint }
  /** A page ends early, although more was asked for and exists. Default limit: half; may be 0. */
  | { kind: 'truncatedPage'; limit?: number }
  /** A page lacks a transaction in its middle: a lie. */
  | { kind: 'versionGap' }
  /** Answers and headers name another chain. */
  | { kind: 'wrongChainId'; chainId: number };

export type AptosTroubleOf<Kind extends AptosTrouble['kind']> = Extract<
  AptosTrouble,
  { kind: Kind }
>;

/** The troubles that a node has now. */
export interface AptosTroubles {
  add(trouble: AptosTrouble): void;
  heal(): void;
  /** The oldest of that kind that concerns the route and that `strikes`; one of its times is used up. */
  take<Kind extends AptosTrouble['kind']>(
    kind: Kind,
    route: AptosRoute,
    strikes?: (trouble: AptosTroubleOf<Kind>) => boolean,
  ): AptosTroubleOf<Kind> | undefined;
}

export function createAptosTroubles(): AptosTroubles {
  let active: { trouble: AptosTrouble; timesLeft: number; requests: number }[] = [];

  return {
    add: (trouble) => {
      active.push({ trouble, timesLeft: trouble.times ?? Infinity, requests: 0 });
    },
    heal: () => {
      active = [];
    },
    take: (kind, route, strikes = () => true) => {
      for (const each of active) {
        const { trouble, timesLeft } = each;
        const concerns = trouble.routes?.includes(route) ?? true;
        if (trouble.kind !== kind || timesLeft <= 0 || !concerns) continue;
        const found = trouble as AptosTroubleOf<typeof kind>;
        if (!strikes(found)) continue;
        each.requests += 1;
        if (each.requests % (trouble.every ?? 1) !== 0) continue;
        each.timesLeft -= 1;
        return found;
      }
      return undefined;
    },
  };
}
