import { expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';
import { createSuspects } from './suspects.ts';

/** Starts to send suspects. The test controls when the isolated process starts and attempts end. */
function startSuspects() {
  const started = Promise.withResolvers<void>();
  const attempted = Promise.withResolvers<void>();
  const suspect = { id: 'd', streamId: 's', webhookUrl: 'http://127.0.0.1:1/' } as ClaimedDelivery;
  const startProcess = vi.fn(() => started.promise);
  const claimSuspect = vi.fn(() => Promise.resolve(suspect));
  const attempt = vi.fn(() => attempted.promise);
  const suspects = createSuspects({
    store: {
      hasDueSuspect: () => Promise.resolve(true),
      claimSuspect,
    } as Partial<Store> as Store,
    isolation: { start: startProcess, send: vi.fn(), close: () => Promise.resolve() },
    log: createLog(() => {}),
    leases: { renew: (leases) => Promise.resolve([...leases]), abandon() {} },
    leaseMs: 40_000,
    attempt,
    isIsolable: () => true,
    failingStreams: () => [],
  });
  suspects.start();
  return { suspects, started, attempted, startProcess, claimSuspect, attempt };
}

test('claims a suspect once the isolated process has started, and none while the service stops', async () => {
  const { suspects, started, startProcess, claimSuspect } = startSuspects();
  await vi.waitFor(() => expect(startProcess).toHaveBeenCalledOnce());
  expect(claimSuspect).not.toHaveBeenCalled();
  const stopped = suspects.stop();
  started.resolve();
  await stopped;
  expect(claimSuspect).not.toHaveBeenCalled();
});

test('the service stops after the attempt of a suspect', async () => {
  const { suspects, started, attempted, claimSuspect, attempt } = startSuspects();
  started.resolve();
  await vi.waitFor(() => expect(attempt).toHaveBeenCalledOnce());
  let isStopped = false;
  const stopped = suspects.stop().then(() => (isStopped = true));
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  attempted.resolve();
  await stopped;
  expect(claimSuspect).toHaveBeenCalledOnce();
});
