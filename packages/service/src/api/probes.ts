/** Health, readiness and metrics, which every process serves regardless of its roles. */
import type { Hono } from 'hono';
import type { Store } from '../store/store.ts';
import type { ChainReport } from '../store/leases/contract.ts';
import type { FeedLag } from '../store/feeds/contract.ts';
import type { Auth } from './auth/auth.ts';
import { createCachedRead } from './auth/cachedRead.ts';

export interface ProbeNeeds {
  store: Pick<Store, 'engine' | 'listFeedLags'>;
  auth: Pick<Auth, 'admit'>;
  version: string;
  chains(): ChainReport[];
  readMetrics(): Promise<{ contentType: string; text: string }>;
  /** Returns readable reasons why this process is not ready; empty if it is. */
  whyNotReady(): Promise<string[]>;
}

const PROBES: readonly string[] = ['/health', '/ready', '/metrics'];
const UNCOUNTED: readonly string[] = ['/health', '/ready'];

export const isProbe = (path: string): boolean => PROBES.includes(path);

/**
 * Returns whether rate limits skip this path, so that health checks do not fail because of other
 * callers.
 */
export const isUncounted = (path: string): boolean => UNCOUNTED.includes(path);

/**
 * Returns what callers without a key may read of a chain: its states, but no messages, which may
 * contain text of a node.
 */
const toPublic = ({
  name: _name,
  code: _code,
  lacks: _lacks,
  failingReads: _failingReads,
  message: _message,
  proof,
  providers,
  ...health
}: ChainReport) => ({
  ...health,
  proof: proof && { isProven: proof.isProven },
  providers: providers.map(({ message: _message, ...provider }) => provider),
});

/** Returns the totals of all consumers of feeds. Names of streams and consumers need a key. */
const toTotals = (lags: readonly FeedLag[]) => ({
  consumers: lags.length,
  unread: lags.reduce((sum, { unread, leased }) => sum + unread + leased, 0),
  missed: lags.reduce((sum, { missed }) => sum + missed, 0),
});

export function addProbes(
  app: Hono,
  { store, auth, version, chains, readMetrics, whyNotReady }: ProbeNeeds,
): void {
  const lags = createCachedRead(() => store.listFeedLags());
  app.get('/health', async (context) =>
    context.json({
      status: 'ok',
      version,
      store: store.engine,
      chains: chains().map(toPublic),
      feeds: await lags.read().then(toTotals, () => null),
    }),
  );
  app.get('/ready', async (context) => {
    const reasons = await whyNotReady();
    return reasons.length === 0
      ? context.json({ status: 'ready' })
      : context.json({ status: 'not ready', reasons }, 503);
  });
  app.get('/metrics', async (context) => {
    auth.admit(context, 'any');
    const { contentType, text } = await readMetrics();
    return context.body(text, 200, { 'content-type': contentType });
  });
}
