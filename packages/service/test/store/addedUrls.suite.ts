/** Tests URLs that were added while the service ran, and the alerts to them. */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import type { AlertRow } from '../../src/store/alerts/contract.ts';
import type { StoreTools } from './storeTools.ts';

export function testAddedUrls(tools: StoreTools): void {
  const listIds = async () => (await tools.store.listAddedUrls()).map(({ id }) => id);
  const add = async (chain: string | null, existing?: string[]) =>
    tools.store.addUrl(
      { id: randomUUID(), chain, sealed: `sealed ${chain}` },
      existing ?? (await listIds()),
    );
  const alert = (receiver: string): AlertRow => ({
    receiver,
    subject: 'chain 0x1',
    state: 'halted',
    reported: '',
    id: randomUUID(),
    body: '{}',
    attempts: 0,
    runAt: 1,
    sentAt: null,
  });

  describe('added URLs', () => {
    afterEach(async () => {
      for (const { id } of await tools.store.listAddedUrls()) await tools.store.removeUrl(id);
      for (const row of await tools.store.listAlerts('')) await tools.store.deleteAlert(row);
    });

    test('are listed in order, resealed and removed', async () => {
      const node = (await add('0x1'))!;
      // URLs of one millisecond have no order.
      await expect.poll(() => Date.now()).toBeGreaterThan(node.createdAt);
      const receiver = (await add(null))!;
      expect(await tools.store.listAddedUrls()).toEqual([node, receiver]);
      await tools.store.resealUrl({ id: node.id, sealed: 'again' });
      expect(await tools.store.removeUrl(receiver.id)).toBe(true);
      expect(await tools.store.removeUrl(receiver.id)).toBe(false);
      expect(await tools.store.listAddedUrls()).toEqual([{ ...node, sealed: 'again' }]);
    });

    test('are added one at a time, each after a look at all others', async () => {
      const added = await Promise.all(Array.from({ length: 16 }, () => add('0x1', [])));
      expect(added.filter((each) => each !== undefined)).toHaveLength(1);
      expect(await tools.store.listAddedUrls()).toHaveLength(1);
    });

    test('have their own alerts, which are removed with them', async () => {
      const receiver = (await add(null))!;
      const rows = [alert(''), alert(receiver.id)] as const;
      for (const row of rows) await tools.store.saveAlert(row);
      expect(await tools.store.listAlerts('')).toEqual([rows[0]]);
      expect(await tools.store.listAlerts(receiver.id)).toEqual([rows[1]]);
      await tools.store.saveAlert({ ...rows[1], attempts: 1 });
      expect(await tools.store.listAlerts('')).toEqual([rows[0]]);
      await tools.store.removeUrl(receiver.id);
      expect(await tools.store.listAlerts(receiver.id)).toEqual([]);
      expect(await tools.store.listAlerts('')).toEqual([rows[0]]);
    });
  });
}
