/** A failure or a wrong response of a fullnode, until `heal`. */
export type AptosTrouble = AptosTroubleScope & AptosTroubleKind;

/** An endpoint of the REST API, or `unknown` for any other request. */
export type AptosRoute =
  | 'ledger'
  | 'transactions'
  | 'transactionByHash'
  | 'blockByHeight'
  | 'blockByVersion'
  | 'resource'
  | 'unknown';

export interface AptosTroubleScope {
  /**
   * The routes that the trouble affects. Default: all routes to which the trouble's kind applies.
   */
  routes?: readonly AptosRoute[];
  /**
   * The trouble affects only every nth request. 2 simulates a load balancer that alternates between
   * a good node and a bad one. Default: 1.
   */
  every?: number;
}

export type AptosTroubleKind =
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
  /** The node lags by `blocks` blocks. */
  | { kind: 'lag'; blocks: number }
  /**
   * The node has pruned all versions below `belowVersion`. Requests for a pruned version or its
   * block are rejected with status 410.
   */
  | { kind: 'pruned'; belowVersion: bigint }
  /**
   * A page contains only its first `limit` transactions, although more exist. Default: half of the
   * page.
   */
  | { kind: 'truncatedPage'; limit?: number }
  /** The middle transaction is missing from each page with at least three transactions. */
  | { kind: 'versionGap' }
  /** The ledger info contains a different chain id. */
  | { kind: 'wrongChainId'; chainId: number };

type AptosTroubleOf<Kind extends AptosTrouble['kind']> = Extract<AptosTrouble, { kind: Kind }>;

export interface AptosTroubles {
  add(trouble: AptosTrouble): void;
  heal(): void;
  /** Returns the oldest trouble of this kind that affects this request, if any. */
  take<Kind extends AptosTrouble['kind']>(
    kind: Kind,
    route: AptosRoute,
  ): AptosTroubleOf<Kind> | undefined;
}

export function createAptosTroubles(): AptosTroubles {
  let active: { trouble: AptosTrouble; requests: number }[] = [];

  return {
    add: (trouble) => {
      active.push({ trouble, requests: 0 });
    },
    heal: () => {
      active = [];
    },
    take: (kind, route) => {
      for (const each of active) {
        const { trouble } = each;
        if (trouble.kind !== kind || trouble.routes?.includes(route) === false) continue;
        each.requests += 1;
        if (each.requests % (trouble.every ?? 1) === 0)
          return trouble as AptosTroubleOf<typeof kind>;
      }
      return undefined;
    },
  };
}
