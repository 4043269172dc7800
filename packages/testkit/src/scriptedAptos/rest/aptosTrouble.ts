/** A failure or a wrong response of a fullnode, until `heal` or for `times` requests. */
export type AptosTrouble = AptosTroubleScope & AptosTroubleKind;

/** An endpoint of the REST API, or `unknown` for any other request. */
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
  /**
   * The routes that the trouble affects. Default: all routes to which the trouble's kind applies.
   */
  routes?: readonly AptosRoute[];
  /**
   * Number of requests that the trouble affects. Pages that are too short to change do not count.
   * Default: all until `heal`.
   */
  times?: number;
  /**
   * The trouble affects only every nth request. 2 simulates a load balancer that alternates between
   * a good node and a bad one. Default: 1.
   */
  every?: number;
}

export type AptosTroubleKind =
  /** The node never responds, and the connection stays open. */
  | { kind: 'hang' }
  | { kind: 'delay'; delayMs: number }
  /**
   * Status 429 with a gateway's body, or 503 with an Aptos error body, and a Retry-After header.
   * Default: 429, 1 s.
   */
  | { kind: 'rateLimit'; status?: 429 | 503; retryAfterSeconds?: number }
  /** A proxy in front of the node responds with this status, such as 502, and an HTML page. */
  | { kind: 'httpError'; status: number }
  /** The JSON of the response is truncated. */
  | { kind: 'malformedJson' }
  /** The node responds with status 500 and the Aptos error code `internal_error`. */
  | { kind: 'internalError' }
  /** The node lags by `blocks` blocks, both in its headers and in its data. */
  | { kind: 'lag'; blocks: number }
  /**
   * The node has pruned all versions below `belowVersion`, as its headers show. Requests for a
   * pruned version or its block by height are rejected with status 410.
   */
  | { kind: 'pruned'; belowVersion: bigint }
  /**
   * A page contains only its first `limit` transactions, although more exist. Default: half of the
   * page.
   */
  | { kind: 'truncatedPage'; limit?: number }
  /** The middle transaction is missing from each page with at least three transactions. */
  | { kind: 'versionGap' }
  /** The ledger info and the headers contain a different chain id. */
  | { kind: 'wrongChainId'; chainId: number };

export type AptosTroubleOf<Kind extends AptosTrouble['kind']> = Extract<
  AptosTrouble,
  { kind: Kind }
>;

export interface AptosTroubles {
  add(trouble: AptosTrouble): void;
  heal(): void;
  /**
   * Returns the oldest trouble of this kind that affects the request and that `strikes` accepts,
   * and counts the request toward the trouble's `times`. Returns undefined if there is none.
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
