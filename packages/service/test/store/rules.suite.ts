/** Tests how a matcher follows changes to the rules. */
import { describe, expect, test } from 'vitest';
import { createAddressChanges } from '../../src/store/addresses/addressChanges.ts';
import { splitFinalBody } from '../../src/store/blocks/body.ts';
import { movedBy } from '../../src/store/live/movedBy.test-only.ts';
import { packAddresses, unpackAddresses } from '../../src/store/addresses/packedAddresses.ts';
import { takeChain } from './takeChain.ts';
import { DEFAULT_APTOS_OPTIONS, DEFAULT_DELIVERY } from '../../src/store/streams/contract.ts';
import { newMatch } from './newMatch.ts';
import { type StoreTools, KEY_ID, hashOf, newChain, draft, address } from './storeTools.ts';
import { plain } from './plain.ts';

export function testRules(tools: StoreTools): void {
  const { add, remove, cleanUp, startChain, deliveriesOf } = tools;

  describe('rules', () => {
    test('are complete at first, then contain only changes', async () => {
      const active = await tools.store.createStream(draft(['0x1']));
      const paused = await tools.store.createStream(draft(['0x1']));
      await add(active.id, [7]);
      await tools.store.setStreamStatus(paused.id, 'paused', '');
      const all = await tools.store.readRules(-1, 'evm');
      expect(all.whole).toBe(true);
      expect(all.changed.map(({ id }) => id)).toContain(active.id);
      expect(all.gone).toContain(paused.id);
      const nothing = { revision: all.revision, whole: false, changed: [], gone: [] };
      expect(await tools.store.readRules(all.revision, 'evm')).toEqual(nothing);

      // If only the addresses of a stream changed, `readRules` omits the stream, and the changes
      // are read separately.
      await add(active.id, [8]);
      await remove(active.id, [7]);
      const added = await tools.store.readRules(all.revision, 'evm');
      expect(added).toEqual({ ...nothing, revision: all.revision + 2 });
      const last = Number.MAX_SAFE_INTEGER;
      const from = { revision: all.revision, change: last, part: last };
      const changes = await tools.store.readAddressChanges(from, added.revision);
      expect(
        changes?.changes.map(({ kind, addresses }) => [kind, unpackAddresses(addresses)]),
      ).toEqual([
        ['add', [address(8)]],
        ['remove', [address(7)]],
      ]);

      await tools.store.deleteStream(active.id);
      const later = await tools.store.readRules(added.revision, 'evm');
      expect(later.revision).toBeGreaterThan(added.revision);
      expect(later.gone).toEqual([active.id]);
    });

    test('are complete again once list changes are no longer stored', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const { revision } = await tools.store.readRules(-1, 'evm');
      await add(id, [1]);
      await cleanUp({ keepMs: 3_600_000 });
      expect((await tools.store.readRules(revision, 'evm')).whole).toBe(false);
      await cleanUp({ keepMs: -1 });
      expect((await tools.store.readRules(revision, 'evm')).whole).toBe(true);
      const from = { revision, change: 0, part: 0 };
      expect(await tools.store.readAddressChanges(from, revision + 1)).toBeUndefined();
      const now = await tools.store.readRules(-1, 'evm');
      expect((await tools.store.readRules(now.revision, 'evm')).whole).toBe(false);
    });

    test('belong to one chain family, and on Aptos apply from a ledger version', async () => {
      const chain = newChain();
      const own = `0x${'b0b'.padStart(64, '0')}`;
      const aptos = await tools.store.createStream(
        plain({
          family: 'aptos' as const,
          tag: 'tag',
          description: '',
          webhookUrl: 'https://example.com',
          chainIds: [chain],
          ...DEFAULT_DELIVERY,
          options: DEFAULT_APTOS_OPTIONS,
        }),
      );
      const evm = await tools.store.createStream(draft([chain]));
      const ids = async (family: 'evm' | 'aptos') =>
        (await tools.store.readRules(-1, family)).changed.map(({ id }) => id);
      expect(await ids('aptos')).toContain(aptos.id);
      expect(await ids('aptos')).not.toContain(evm.id);
      expect(await ids('evm')).toContain(evm.id);
      expect(await ids('evm')).not.toContain(aptos.id);

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
      const { revision } = await tools.store.readRules(-1, 'evm');
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

      // The versions of a block with settled rules count only until it is committed.
      let parent = await tools.store.readCheckpoint(chain);
      const commitNext = (lastVersion: number, ruleRevision: number) =>
        tools.store.commitBlock({
          chain,
          epoch,
          ruleRevision,
          windowBlocks: 256,
          matches: [],
          confirmUpTo: parent!.number + 1,
          block: {
            number: parent!.number + 1,
            hash: hashOf(),
            parentHash: parent!.hash,
            timestamp: first.timestamp,
            lastVersion,
          },
        });
      const newest = async () => (await tools.store.readRules(-1, 'evm')).revision;
      const settled = await newest();
      expect(await commitNext(120, revision)).toMatchObject({ revision: settled });
      expect(await change()).toMatchObject({ effectiveFrom: { [chain]: 121 } });
      expect(await commitNext(120, settled)).toMatchObject({ outcome: 'committed' });
      parent = await tools.store.readCheckpoint(chain);
      expect(await commitNext(130, await newest())).toMatchObject({ outcome: 'committed' });
      expect(await change()).toMatchObject({ effectiveFrom: { [chain]: 131 } });
    });

    test('a match on a chain with final blocks is confirmed at once, and its body has no `confirmed`', async () => {
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

    test('a block matched with older rules is rejected once, and later changes apply after it', async () => {
      const { store } = tools;
      const chain = await startChain();
      const newest = async () => (await store.readRules(Number.MAX_SAFE_INTEGER, 'evm')).revision;
      const create = async () => (await store.createStream(draft([chain.chain]))).id;
      const [early, paused, gone] = [await create(), await create(), await create()];
      const block = chain.next();
      const older = await newest();
      const commitWith = (ruleRevision: number, matched: string[] = []) =>
        store.commitBlock({
          ...chain.held,
          block,
          ruleRevision,
          confirmUpTo: 0,
          windowBlocks: 256,
          matches: matched.map((id) => newMatch(id)),
        });

      expect(await add(early, [1])).toMatchObject({ effectiveFrom: { [chain.chain]: 101 } });
      const settled = { outcome: 'stale-rules', revision: await newest() };
      expect(await commitWith(older)).toEqual(settled);
      expect((await store.readCheckpoint(chain.chain))?.number).toBe(100);

      expect(await add(early, [2])).toMatchObject({ effectiveFrom: { [chain.chain]: 102 } });
      await store.setStreamStatus(paused, 'paused', '');
      await store.deleteStream(gone);
      const late = await create();
      expect(await commitWith(older)).toEqual(settled);
      const all = [early, paused, gone];
      const { result, moved } = await movedBy(store, () => commitWith(settled.revision, all));
      expect(result).toMatchObject({ outcome: 'committed' });
      expect(moved).toMatchObject([{ streamId: early }, { streamId: paused }]);
      expect(await add(early, [3])).toMatchObject({ effectiveFrom: { [chain.chain]: 102 } });
      expect(await store.readCoverage(early)).toMatchObject([{ from: 101, to: 101, holes: [] }]);
      expect(await store.readCoverage(paused)).toMatchObject([{ from: 101, to: 101, holes: [] }]);
      expect(await store.readCoverage(late)).toMatchObject([{ from: null }]);
      expect(await commitWith(await newest())).toEqual({ outcome: 'not-next' });
    });

    test('coverage follows the rules that a block was matched with, even if newer than the settled ones', async () => {
      const { store } = tools;
      const chain = await startChain();
      const create = async () => (await store.createStream(draft([chain.chain]))).id;
      const [paused, resumed] = [await create(), await create()];
      const [pausedLate, resumedLate] = [await create(), await create()];
      await store.setStreamStatus(resumed, 'paused', '');
      await chain.commit(chain.next(), []);
      await store.setStreamStatus(resumedLate, 'paused', '');
      const block = chain.next();
      const commitWith = (ruleRevision: number) =>
        store.commitBlock({
          ...chain.held,
          block,
          ruleRevision,
          confirmUpTo: 0,
          windowBlocks: 256,
          matches: [],
        });
      expect((await commitWith(0)).outcome).toBe('stale-rules');
      await store.setStreamStatus(paused, 'paused', '');
      await store.setStreamStatus(resumed, 'active', '');
      const created = await create();
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
      // These changes are newer than the rules that the block was matched with.
      await store.setStreamStatus(pausedLate, 'paused', '');
      await store.setStreamStatus(resumedLate, 'active', '');
      const createdLate = await create();
      expect((await commitWith(revision)).outcome).toBe('committed');
      const coverageOf = async (id: string) => (await store.readCoverage(id))[0];
      const without102 = { from: 101, to: 102, holes: [{ from: 102, to: 102, reason: 'paused' }] };
      expect(await coverageOf(paused)).toMatchObject(without102);
      expect(await coverageOf(resumed)).toMatchObject({ from: 102, to: 102, holes: [] });
      expect(await coverageOf(created)).toMatchObject({ from: 102, to: 102, holes: [] });
      expect(await coverageOf(pausedLate)).toMatchObject({ from: 101, to: 102, holes: [] });
      expect(await coverageOf(resumedLate)).toMatchObject(without102);
      expect(await coverageOf(createdLate)).toMatchObject({ from: null });
    });

    test('a rewind discards settled rules', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const start = chain.tip();
      await chain.commit(chain.next(), []);
      const block = chain.next();
      const commit = { ...chain.held, block, confirmUpTo: 0, windowBlocks: 256, matches: [] };
      await tools.store.commitBlock({ ...commit, ruleRevision: 0 });
      expect(await add(id, [1])).toMatchObject({ effectiveFrom: { [chain.chain]: 103 } });
      await chain.rewind(start);
      expect(await add(id, [2])).toMatchObject({ effectiveFrom: { [chain.chain]: 101 } });
    });
  });
}
