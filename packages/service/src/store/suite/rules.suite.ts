/** The rules that a matcher follows. */
import { describe, expect, test } from 'vitest';
import { createAddressChanges } from '../addressChanges.ts';
import { splitFinalBody } from '../body.ts';
import { packAddresses, unpackAddresses } from '../packedAddresses.ts';
import { takeChain } from '../takeChain.test-only.ts';
import { DEFAULT_APTOS_OPTIONS, DEFAULT_LIMITS } from '../store.ts';
import { newMatch } from '../newMatch.test-only.ts';
import {
  type StoreTools,
  KEY_ID,
  hashOf,
  newChain,
  draft,
  address,
} from './storeTools.test-only.ts';

export function testRules(tools: StoreTools): void {
  const { add, remove, cleanUp, startChain, deliveriesOf } = tools;

  describe('rules', () => {
    test('come whole at first, then only what changed since', async () => {
      const active = await tools.store.createStream(draft(['0x1']));
      const paused = await tools.store.createStream(draft(['0x1']));
      await add(active.id, [7]);
      await tools.store.setStreamStatus(paused.id, 'paused', '');
      const all = await tools.store.readRules(-1);
      expect(all.whole).toBe(true);
      expect(all.changed.map(({ id }) => id)).toContain(active.id);
      expect(all.gone).toContain(paused.id);
      const nothing = { revision: all.revision, whole: false, changed: [], gone: [] };
      expect(await tools.store.readRules(all.revision)).toEqual(nothing);

      // Of a list only what changed is read again, and not its stream.
      await add(active.id, [8]);
      await remove(active.id, [7]);
      const added = await tools.store.readRules(all.revision);
      expect(added).toEqual({ ...nothing, revision: all.revision + 2 });
      const from = { revision: all.revision, part: Number.MAX_SAFE_INTEGER };
      const changes = await tools.store.readAddressChanges(from, added.revision);
      expect(
        changes?.changes.map(({ kind, addresses }) => [kind, unpackAddresses(addresses)]),
      ).toEqual([
        ['add', [address(8)]],
        ['remove', [address(7)]],
      ]);

      await tools.store.deleteStream(active.id);
      const later = await tools.store.readRules(added.revision);
      expect(later.revision).toBeGreaterThan(added.revision);
      expect(later.gone).toEqual([active.id]);
    });

    test('come whole again once it is no longer kept how lists changed', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const { revision } = await tools.store.readRules(-1);
      await add(id, [1]);
      await cleanUp({ keepMs: 3_600_000 });
      expect((await tools.store.readRules(revision)).whole).toBe(false);
      await cleanUp({ keepMs: -1 });
      expect((await tools.store.readRules(revision)).whole).toBe(true);
      const from = { revision, part: 0 };
      expect(await tools.store.readAddressChanges(from, revision + 1)).toBeUndefined();
      const now = await tools.store.readRules(-1);
      expect((await tools.store.readRules(now.revision)).whole).toBe(false);
    });

    test('are of one family, and of Aptos effective from a version', async () => {
      const chain = newChain();
      const own = `0x${'b0b'.padStart(64, '0')}`;
      const aptos = await tools.store.createStream({
        family: 'aptos' as const,
        tag: 'tag',
        description: '',
        webhookUrl: 'https://example.com',
        chainIds: [chain],
        headers: {},
        limits: DEFAULT_LIMITS,
        options: DEFAULT_APTOS_OPTIONS,
      });
      const evm = await tools.store.createStream(draft([chain]));
      const ids = async (family?: 'evm' | 'aptos') =>
        (await tools.store.readRules(-1, family)).changed.map(({ id }) => id);
      expect(await ids('aptos')).toContain(aptos.id);
      expect(await ids('aptos')).not.toContain(evm.id);
      expect(await ids()).toContain(evm.id);
      expect(await ids()).not.toContain(aptos.id);

      const first = { number: 5, hash: hashOf(), parentHash: hashOf(), timestamp: 1_700_000_000 };
      const epoch = await takeChain(tools.store, chain);
      await tools.store.startChain({
        chain,
        epoch,
        block: { ...first, lastVersion: 90 },
        genesisHash: '2',
      });
      const change = () =>
        createAddressChanges(tools.store).add(aptos.id, {
          addresses: packAddresses([own], 32),
          labels: new Map(),
          keyId: KEY_ID,
        });
      expect(await change()).toMatchObject({ effectiveFrom: { [chain]: 91 } });
      const { revision } = await tools.store.readRules(-1);
      const { outcome } = await tools.store.commitBlock({
        chain,
        epoch,
        block: { ...first, number: 6, hash: hashOf(), parentHash: first.hash, lastVersion: 104 },
        ruleRevision: revision,
        confirmUpTo: 6,
        windowBlocks: 256,
        matches: [],
      });
      expect(outcome).toBe('committed');
      expect(await change()).toMatchObject({ effectiveFrom: { [chain]: 105 } });
    });

    test('a match of a final chain is confirmed with its block, and its body says nothing of it', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const body = splitFinalBody({ streamId: id, tag: 'tag' }, { transactions: [] });
      const match = { ...newMatch(id), deliver: 'confirmed' as const, ...body };
      await chain.commit(chain.next(), [match], 0);
      const [delivery, ...others] = await deliveriesOf(id);
      expect(others).toEqual([]);
      expect(delivery).toMatchObject({ phase: 'confirmed', state: 'pending' });
      expect(await tools.store.readDeliveryBody(delivery!.id)).toBe(
        `{"streamId":"${id}","tag":"tag","retries":0,"transactions":[]}`,
      );
    });

    test('a block matched with older rules is refused', async () => {
      const chain = await startChain();
      const { revision } = await tools.store.readRules(Number.MAX_SAFE_INTEGER);
      await tools.store.createStream(draft([chain.chain]));
      const block = chain.next();
      expect(
        await tools.store.commitBlock({
          ...chain.held,
          block,
          ruleRevision: revision,
          confirmUpTo: 99,
          windowBlocks: 256,
          matches: [],
        }),
      ).toEqual({ outcome: 'stale-rules' });
      expect((await tools.store.readCheckpoint(chain.chain))?.number).toBe(100);
    });
  });
}
