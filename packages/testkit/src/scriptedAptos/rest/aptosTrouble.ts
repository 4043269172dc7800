/**
 * A failure or a wrong response of a fullnode. It lasts until `heal`, or `times` times, and affects
 * the routes listed with it.
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
  /** Default: all routes that the kind affects. */
  routes?: readonly AptosRoute[];
  /** Number of requests that it affects, without those that it leaves unchanged. Default: all. */
  times?: number;
  /**
   * Affects every nth request; 2 simulates a load balancer that alternates between a good node and
   * a bad one. Default: 1.
   */
  every?: number;
}

export type AptosTroubleKind =
  /** The node never responds, and the connection stays open. */
  | { kind: 'hang' }
  /** The response is delayed. */
  | { kind: 'delay'; delayMs: number }
  /** 429 with Retry-After, as gateways do; or 503 with Aptos' own error body. Default: 429, 1 s. */
  | { kind: 'rateLimit'; status?: 429 | 503; retryAfterSeconds?: number }
  /** An HTTP status of a proxy before the node, such as 502, with a page of HTML. */
  | { kind: 'httpError'; status: number }
  /** The JSON of the response is truncated. */
  | { kind: 'malformedJson' }
  /** 500 with Aptos' error body, `internal_error`. */
  | { kind: 'internalError' }
  /** The node lags by `blocks`, in its headers and in its data. */
  | { kind: 'lag'; blocks: number }
  /** The node has pruned all versions below this one: 410, and matching headers. */
  | { kind: 'pruned'; belowVersion: bigint }
  /** A page ends early, although more was requested and exists. Default limit: half. */
  | { kind: 'truncatedPage'; limit?: number }
  /** A transaction is missing from the middle of a page. */
  | { kind: 'versionGap' }
  /** Responses and headers name a different chain. */
  | { kind: 'wrongChainId'; chainId: number };

export type AptosTroubleOf<Kind extends AptosTrouble['kind']> = Extract<
  AptosTrouble,
  { kind: Kind }
>;

/** The troubles that a node has now. */
export interface AptosTroubles {
  add(trouble: AptosTrouble): void;
  heal(): void;
  /**
   * Returns the oldest trouble of this kind that affects the request, and uses one of its times.
   */
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
