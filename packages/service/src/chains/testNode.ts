/** Tests, before a node is added, whether it responds and which chain it serves. */
import { setTimeout as wait } from 'node:timers/promises';
import type { NodeTestResult } from '@sluice/kit/contract';
import type { AddressGuard } from '../deliver/destinations/http/guard.ts';
import { type SourceErrorKind, isOfKind } from '../ingest/source.ts';
import type { AnyProvider } from '../ingest/nodes/anyProvider.ts';

/** A node to test. Without `chainId`, its chain is read from it. */
export interface NodeToTest {
  chainId?: string | undefined;
  url: string;
}

export type TestNode = (node: NodeToTest) => Promise<NodeTestResult>;

/** Opens a node of a chain, and connects to it only through the guard. */
export type OpenNode = (
  node: { chainId: string; url: string },
  guard: Pick<AddressGuard, 'connect'>,
) => Pick<AnyProvider, 'identify' | 'readHead' | 'close'>;

/**
 * Asks a node which chain it serves; undefined if it serves none of this family, or one whose ID
 * changes.
 */
export type FindChain = (
  url: string,
  guard: Pick<AddressGuard, 'connect'>,
) => Promise<string | undefined>;

const TIMEOUT_MS = 10_000;

type Failure = Pick<NodeTestResult, 'code' | 'message'>;

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
const UNKNOWN: Failure = {
  code: 'unusable',
  message: 'does not say which chain it serves: choose the chain, or correct the URL',
};
const TIMED_OUT: Failure = {
  code: 'timed-out',
  message: `did not respond within ${TIMEOUT_MS / 1_000} s: check the URL, or use another node`,
};

export function createNodeTest(
  guard: Pick<AddressGuard, 'refuseResolved' | 'connect'>,
  { openNode, findChain }: { openNode: OpenNode; findChain: FindChain },
  timeoutMs = TIMEOUT_MS,
): TestNode {
  /** Returns the chain of a node that can be used, or why it cannot. */
  const test = async (
    { chainId: given, url }: NodeToTest,
    over: AbortSignal,
  ): Promise<string | Failure> => {
    try {
      const chainId = given ?? (await findChain(url, guard));
      if (chainId === undefined || over.aborted) return UNKNOWN;
      const node = openNode({ chainId, url }, guard);
      over.addEventListener('abort', () => void node.close().catch(() => {}));
      await node.identify();
      await node.readHead();
      return chainId;
    } catch (error) {
      const known = Object.entries(FAILURES).find(([kind]) =>
        isOfKind(error, kind as SourceErrorKind),
      );
      return known?.[1] ?? UNUSABLE;
    }
  };

  return async (node) => {
    const startedAt = performance.now();
    const failed = (failure: Failure): NodeTestResult => ({
      ...failure,
      latencyMs: null,
      chainId: null,
    });
    const refused = await guard.refuseResolved(new URL(node.url));
    if (refused !== undefined) return failed({ code: 'blocked', message: refused });
    const over = new AbortController();
    const tested = await Promise.race([
      test(node, over.signal),
      wait(timeoutMs, TIMED_OUT, { signal: over.signal }),
    ]);
    over.abort();
    if (typeof tested !== 'string') return failed(tested);
    return {
      code: 'ok',
      message: `responds and serves ${node.chainId === undefined ? tested : 'this chain'}`,
      latencyMs: Math.round(performance.now() - startedAt),
      chainId: tested,
    };
  };
}
