/** Tests, before a node is added, whether it responds and serves its chain. */
import { setTimeout as wait } from 'node:timers/promises';
import type { UrlTestResult } from '@sluice/kit/contract';
import type { AddressGuard } from '../deliver/destinations/http/guard.ts';
import { type SourceErrorKind, isOfKind } from '../ingest/source.ts';
import type { AnyProvider } from '../ingest/nodes/anyProvider.ts';

export type TestNode = (node: { chainId: string; url: string }) => Promise<UrlTestResult>;

/** Opens a node of a chain, and connects to it only through the guard. */
export type OpenNode = (
  node: { chainId: string; url: string },
  guard: Pick<AddressGuard, 'connect'>,
) => Pick<AnyProvider, 'identify' | 'readHead' | 'close'>;

const TIMEOUT_MS = 10_000;

type Failure = Pick<UrlTestResult, 'code' | 'message'>;

// The messages do not quote the response, which may come from another server in the network.
const FAILURES: Partial<Record<SourceErrorKind, Failure>> = {
  unreachable: {
    code: 'unreachable',
    message: 'does not respond like a node: check the URL, including its path and key',
  },
  'rate-limited': {
    code: 'rate-limited',
    message: 'rate-limits requests: try again later, or use another node',
  },
  'wrong-chain': {
    code: 'wrong-chain',
    message: 'serves another chain: correct the chain ID or the URL',
  },
};
const UNUSABLE: Failure = {
  code: 'unusable',
  message: 'does not return its newest block: check the URL, or use another node',
};
const TIMED_OUT: Failure = {
  code: 'timed-out',
  message: `did not respond within ${TIMEOUT_MS / 1_000} s: check the URL, or use another node`,
};

export function createNodeTest(
  guard: Pick<AddressGuard, 'refuseResolved' | 'connect'>,
  openNode: OpenNode,
  timeoutMs = TIMEOUT_MS,
): TestNode {
  return async ({ chainId, url }) => {
    const startedAt = performance.now();
    const refused = await guard.refuseResolved(new URL(url));
    if (refused !== undefined) return { code: 'blocked', message: refused, latencyMs: null };
    const node = openNode({ chainId, url }, guard);
    const over = new AbortController();
    try {
      const failure = await Promise.race([
        findFailure(node),
        wait(timeoutMs, TIMED_OUT, { signal: over.signal }),
      ]);
      return failure === undefined
        ? {
            code: 'ok',
            message: 'responds and serves this chain',
            latencyMs: Math.round(performance.now() - startedAt),
          }
        : { ...failure, latencyMs: null };
    } finally {
      over.abort();
      await node.close();
    }
  };
}

/** Returns why the node cannot be used; undefined if it serves its chain. */
async function findFailure(
  node: Pick<AnyProvider, 'identify' | 'readHead'>,
): Promise<Failure | undefined> {
  try {
    await node.identify();
    await node.readHead();
    return undefined;
  } catch (error) {
    const known = Object.entries(FAILURES).find(([kind]) =>
      isOfKind(error, kind as SourceErrorKind),
    );
    return known?.[1] ?? UNUSABLE;
  }
}
