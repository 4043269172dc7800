/** Tests committed and removed blocks, their matches, and removal webhooks. */
import { movedBy } from '../../src/store/live/movedBy.test-only.ts';
import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS, type EvmStreamDraft } from '../../src/store/streams/contract.ts';
import type { BlockHeader } from '../../src/store/blocks/contract.ts';
import { newMatch } from './newMatch.ts';
import { type StoreTools, hashOf, draft } from './storeTools.ts';
import { plain } from './plain.ts';

export function testBlocks(tools: StoreTools): void {
  const { startChain, deliveriesOf, claimOf, outcomeOf } = tools;

  describe('blocks', () => {
    test('commit checkpoint, match and delivery together, and only after their parent', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const block = chain.next();
      const result = await chain.commit(block, [newMatch(id)]);
      expect(result).toMatchObject({
        outcome: 'committed',
        deliveries: [{ streamId: id, phase: 'unconfirmed', state: 'pending', blockNumber: 101 }],
      });
      expect(await tools.store.readCheckpoint(chain.chain)).toMatchObject({
        number: 101,
        hash: block.hash,
      });
      expect((await tools.store.readWindow(chain.chain, 1))[0]).toMatchObject({
        hash: block.hash,
        matches: 1,
      });

      const stranger = { ...chain.next(), parentHash: hashOf() };
      expect(await chain.commit(stranger, [newMatch(id)])).toEqual({ outcome: 'not-next' });
      expect(await chain.commit(block, [newMatch(id)])).toEqual({ outcome: 'not-next' });
      expect(await deliveriesOf(id)).toHaveLength(1);
    });

    test('leave nothing in the ledger if a part of their commit is rejected', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const before = await tools.store.readCheckpoint(chain.chain);
      const block = chain.next();
      const invalid = { streamId: id, factory: 'f', address: null as never };
      await expect(
        chain.commit(block, [newMatch(id)], 0, [], 1, undefined, [invalid]),
      ).rejects.toThrow(/not.null/i);
      expect(await tools.store.readCheckpoint(chain.chain)).toEqual(before);
      expect(await tools.store.readWindow(chain.chain, 256)).toMatchObject([chain.tip()]);
      expect(await deliveriesOf(id)).toEqual([]);
      expect(await chain.commit(block, [newMatch(id)])).toMatchObject({
        outcome: 'committed',
        deliveries: [{ streamId: id, blockNumber: block.number }],
      });
    });

    test('are committed once if several commits of a block run at the same time', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const block = chain.next();
      const commits = await Promise.all(
        Array.from({ length: 4 }, () => chain.commit(block, [newMatch(id)])),
      );
      expect(commits.map(({ outcome }) => outcome).toSorted()).toEqual([
        'committed',
        ...Array<string>(3).fill('not-next'),
      ]);
      expect(await deliveriesOf(id)).toHaveLength(1);
    });

    // At 101, no block is skipped, but the parent of the block is unknown, as after a skip.
    test.each([101, 140])(
      'are passed over in one step up to %i, only from the expected checkpoint and with current rules',
      async (number) => {
        const chain = await startChain();
        const start = chain.tip();
        const block = { ...chain.next(), number, parentHash: hashOf() };
        const { revision } = await tools.store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
        const commit = {
          ...chain.held,
          block,
          after: { number: start.number, hash: start.hash },
          ruleRevision: revision,
          confirmUpTo: block.number,
          windowBlocks: 256,
          matches: [],
          head: block.number,
        };
        const { id } = await tools.store.createStream(draft([chain.chain]));
        const { revision: now } = await tools.store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
        expect(await tools.store.commitBlock(commit)).toEqual({
          outcome: 'stale-rules',
          revision: now,
        });
        const after = { number: start.number, hash: hashOf() };
        expect(await tools.store.commitBlock({ ...commit, ruleRevision: now, after })).toEqual({
          outcome: 'not-next',
        });
        expect(await tools.store.commitBlock({ ...commit, ruleRevision: now })).toMatchObject({
          outcome: 'committed',
        });
        // The window starts over at this block, because the blocks of a window are consecutive.
        const window = await tools.store.readWindow(chain.chain, 256);
        expect(window.map(({ hash }) => hash)).toEqual([block.hash]);
        const next = chain.next(block);
        expect(await chain.commit(next, [newMatch(id)])).toMatchObject({ outcome: 'committed' });
        expect(await tools.store.readCoverage(id)).toMatchObject([
          { from: 101, to: number + 1, holes: [] },
        ]);
      },
    );

    test('confirm a match once enough blocks have followed, with the same body', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)]);
      await chain.commit(chain.next(), []);
      expect(await deliveriesOf(id)).toHaveLength(1);
      const result = await chain.commit(chain.next(), []);
      expect(result).toMatchObject({
        deliveries: [{ streamId: id, phase: 'confirmed', blockNumber: 101 }],
      });
      const [one, two] = await deliveriesOf(id);
      expect(one?.matchId).toBe(two?.matchId);
      expect(one?.id).not.toBe(two?.id);
      const bodies = await Promise.all(
        [one, two].map((each) => tools.store.readDeliveryBody(each!.id)),
      );
      expect(new Set(bodies)).toEqual(
        new Set([
          '{"confirmed":false,"chainId":"0x1","retries":0,"logs":[]}',
          '{"confirmed":true,"chainId":"0x1","retries":0,"logs":[]}',
        ]),
      );
    });

    test('do not confirm matches of deleted streams', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const kept = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id), newMatch(kept.id)]);
      await tools.store.deleteStream(id);
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await deliveriesOf(id)).map((each) => each.phase)).toEqual(['unconfirmed']);
      expect((await deliveriesOf(kept.id)).map((each) => each.phase).toSorted()).toEqual([
        'confirmed',
        'unconfirmed',
      ]);
    });

    test('create both deliveries at once if no confirmations are required', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const result = await chain.commit(chain.next(), [newMatch(id)], 0);
      expect(result.outcome === 'committed' && result.deliveries.map((each) => each.phase)).toEqual(
        ['unconfirmed', 'confirmed'],
      );
    });

    test('leave the chain in a reorg: unsent deliveries are canceled, sent ones stay, none are confirmed', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const ancestor = chain.tip();
      await chain.commit(chain.next(), [newMatch(id)]);
      for (const claimed of await claimOf(id))
        await tools.store.completeDeliveries([outcomeOf(claimed)]);
      await chain.commit(chain.next(), [newMatch(id)]);
      const canceled = await chain.rewind(ancestor);
      expect(canceled).toMatchObject([{ blockNumber: 102, state: 'cancelled' }]);
      for (let n = 0; n < 5; n++) await chain.commit(chain.next(), []);
      expect(
        (await deliveriesOf(id))
          .map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)
          .toSorted(),
      ).toEqual(['101 unconfirmed succeeded', '102 unconfirmed cancelled']);
    });

    test('from before a chain restart are neither confirmed nor sent', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)]);
      const [sent] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(sent!)]);
      await chain.commit(chain.next(), [newMatch(id)]);
      const fresh: BlockHeader = { number: 50, hash: hashOf(), parentHash: hashOf(), timestamp: 1 };
      const { moved } = await movedBy(tools.store, () =>
        tools.store.startChain({ ...chain.held, block: fresh, genesisHash: hashOf() }),
      );
      expect(moved).toMatchObject([{ blockNumber: 102, state: 'cancelled' }]);
      let block = fresh;
      for (let n = 0; n < 60; n++) {
        block = chain.next(block);
        await chain.commit(block, []);
      }
      expect((await tools.store.readCheckpoint(chain.chain))?.number).toBe(110);
      expect(
        (await deliveriesOf(id)).map((each) => `${each.phase} ${each.state}`).toSorted(),
      ).toEqual(['unconfirmed cancelled', 'unconfirmed succeeded']);
    });

    test('come back (A, B, A): the canceled delivery is due again, nothing is announced twice', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const ancestor = chain.tip();
      const a = chain.next();
      await chain.commit(a, [newMatch(id)]);
      const [first] = await deliveriesOf(id);
      await chain.rewind(ancestor);
      const b = chain.next();
      await chain.commit(b, [newMatch(id)]);
      await chain.rewind(ancestor);
      const back = await chain.commit(a, [newMatch(id)]);
      expect(back).toMatchObject({ deliveries: [{ id: first?.id, state: 'pending' }] });
      await chain.commit(chain.next(), []);
      await chain.commit(chain.next(), []);
      const all = await deliveriesOf(id);
      expect(all.map((each) => `${each.phase} ${each.state}`).toSorted()).toEqual([
        'confirmed pending',
        'unconfirmed cancelled',
        'unconfirmed pending',
      ]);
    });

    test('come back after they were sent: nothing is sent again, and they are confirmed once', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const [ancestor, a] = [chain.tip(), chain.next()];
      await chain.commit(a, [newMatch(id)]);
      for (const claimed of await claimOf(id))
        await tools.store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      await chain.commit(chain.next(), []);
      await chain.rewind(ancestor);
      expect(await chain.commit(a, [newMatch(id)])).toMatchObject({ deliveries: [] });
      await chain.commit(chain.next(), []);
      await chain.commit(chain.next(), []);
      expect(
        (await deliveriesOf(id)).map((each) => `${each.phase} ${each.state}`).toSorted(),
      ).toEqual(['confirmed pending', 'unconfirmed succeeded']);
    });
  });

  describe('a block that comes back', () => {
    test('makes no delivery due again that is in flight or has failed', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const [ancestor, a] = [chain.tip(), chain.next()];
      const matches = [0, 1].map((part) => newMatch(id, { part, parts: 2 }));
      await chain.commit(a, matches);
      const [failing, running] = await claimOf(id);
      const failure = { status: 500, error: 'HTTP 500', result: 'failed' } as const;
      await tools.store.completeDeliveries([outcomeOf(failing!, failure)]);
      await chain.rewind(ancestor);
      expect(await chain.commit(a, matches)).toMatchObject({ deliveries: [] });
      expect(await claimOf(id)).toEqual([]);
      await tools.store.completeDeliveries([outcomeOf(running!)]);
      expect((await deliveriesOf(id)).map(({ state }) => state).toSorted()).toEqual([
        'failed',
        'succeeded',
      ]);
    });
  });

  describe('an existing match', () => {
    const oneMatch = async () => {
      const chain = await startChain();
      const stream = await tools.store.createStream(draft([chain.chain]));
      const match = { tag: 'before', bodyHead: ',"chainId":"0x1","tag":"before","retries":' };
      await chain.commit(chain.next(), [newMatch(stream.id, match)]);
      return { chain, id: stream.id };
    };
    const bodiesOf = async (id: string): Promise<string[]> => {
      const bodies = await Promise.all(
        (await deliveriesOf(id)).map((each) => tools.store.readDeliveryBody(each.id)),
      );
      return bodies.map((body) => body!.replace(/"confirmed":(true|false)/, ''));
    };

    test('does not change with its stream, but goes to the current URL', async () => {
      const { chain, id } = await oneMatch();
      const [body] = await bodiesOf(id);
      await tools.store.updateStream(
        id,
        plain({
          tag: 'after',
          webhookUrl: 'http://127.0.0.1:2/new',
          headers: { 'x-new': '1' },
          options: { ...DEFAULT_OPTIONS, abi: [{ type: 'event', name: 'New', inputs: [] }] },
        }),
      );
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      expect(await bodiesOf(id)).toEqual([body, body]);
      expect((await deliveriesOf(id)).map((each) => each.tag)).toEqual(['before', 'before']);
      const claimed = await claimOf(id);
      expect(claimed.map((each) => [each.webhookUrl, each.headers])).toEqual(
        claimed.map(() => ['http://127.0.0.1:2/new', { 'x-new': '1' }]),
      );
      expect(claimed).toHaveLength(2);
    });

    test('does not change when its block returns after an edit of its stream', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const [ancestor, block] = [chain.tip(), chain.next()];
      await chain.commit(block, [newMatch(id, { tag: 'before' })]);
      const [body] = await bodiesOf(id);
      await tools.store.updateStream(id, { tag: 'after' });
      await chain.rewind(ancestor);
      const edited = { tag: 'after', bodyHead: ',"chainId":"0x1","tag":"after","retries":' };
      await chain.commit(block, [newMatch(id, edited)]);
      expect(await bodiesOf(id)).toEqual([body]);
    });

    test('has no further parts when its block returns after an edit of its stream', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const [ancestor, block] = [chain.tip(), chain.next()];
      await chain.commit(block, [newMatch(id)]);
      const [body] = await bodiesOf(id);
      await tools.store.updateStream(id, { tag: 'after' });
      await chain.rewind(ancestor);
      await chain.commit(
        block,
        [0, 1].map((part) => newMatch(id, { tag: 'after', part, parts: 2 })),
      );
      expect(await bodiesOf(id)).toEqual([body]);
    });

    test('waits while its stream is paused, even once confirmed, and resumes with it', async () => {
      const { chain, id } = await oneMatch();
      await tools.store.setStreamStatus(id, 'paused', '');
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      expect(await claimOf(id)).toEqual([]);
      expect((await deliveriesOf(id)).map((each) => each.state)).toEqual(['pending', 'pending']);
      await tools.store.setStreamStatus(id, 'active', '');
      expect(await claimOf(id)).toHaveLength(2);
    });

    test('is no longer sent once its stream is deleted, but can still be read', async () => {
      const { chain, id } = await oneMatch();
      const [sent] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(sent!)]);
      await chain.commit(chain.next(), [newMatch(id)]);
      await tools.store.deleteStream(id);
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect(await claimOf(id)).toEqual([]);
      expect((await deliveriesOf(id)).map((each) => each.state).toSorted()).toEqual([
        'cancelled',
        'succeeded',
      ]);
      expect((await tools.store.readDelivery(sent!.id))?.attemptList).toHaveLength(1);
    });
  });

  describe('removal webhooks', () => {
    /**
     * Creates a stream with removal webhooks and commits two blocks with a match each. The first
     * match is sent, the second is not.
     */
    const twoMatches = async (changes: Partial<EvmStreamDraft> = {}) => {
      const chain = await startChain();
      const stream = await tools.store.createStream(
        draft([chain.chain], { notifyRemoved: true, ...changes }),
      );
      const ancestor = chain.tip();
      const sent = chain.next();
      await chain.commit(sent, [newMatch(stream.id)]);
      for (const claimed of await claimOf(stream.id))
        await tools.store.completeDeliveries([outcomeOf(claimed)]);
      const unsent = chain.next();
      await chain.commit(unsent, [newMatch(stream.id)]);
      return { chain, id: stream.id, ancestor, sent, unsent };
    };

    const statesOf = async (id: string): Promise<string[]> =>
      (await deliveriesOf(id))
        .map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)
        .toSorted();

    test('are created for sent deliveries, and have `removed` in the body', async () => {
      const { chain, id, ancestor } = await twoMatches();
      const changed = await chain.rewind(ancestor);
      expect(changed.map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)).toEqual([
        '102 unconfirmed cancelled',
        '101 removed pending',
      ]);
      const removal = changed[1]!;
      const original = (await deliveriesOf(id)).find((each) => each.state === 'succeeded')!;
      expect(removal.matchId).toBe(original.matchId);
      expect(removal.id).not.toBe(original.id);
      expect(await tools.store.readDeliveryBody(removal.id)).toBe(
        '{"confirmed":false,"removed":true,"chainId":"0x1","retries":0,"logs":[]}',
      );
    });

    test('are not created for streams that are deleted or do not request them', async () => {
      const silent = await twoMatches({ notifyRemoved: false });
      expect((await silent.chain.rewind(silent.ancestor)).map((each) => each.phase)).toEqual([
        'unconfirmed',
      ]);
      const deleted = await twoMatches();
      await tools.store.deleteStream(deleted.id);
      expect(await deleted.chain.rewind(deleted.ancestor)).toEqual([]);
    });

    test('are sent once per match, even if both of its deliveries were sent', async () => {
      const { chain, id, ancestor } = await twoMatches();
      await chain.commit(chain.next(), []);
      for (const claimed of await claimOf(id))
        await tools.store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      expect(await statesOf(id)).toEqual([
        '101 confirmed succeeded',
        '101 removed pending',
        '101 unconfirmed succeeded',
        '102 removed pending',
        '102 unconfirmed succeeded',
      ]);
    });

    test('are followed by deliveries with new IDs when the block comes back', async () => {
      const { chain, id, ancestor, sent, unsent } = await twoMatches();
      await chain.rewind(ancestor);
      await chain.commit(sent, [newMatch(id)]);
      await chain.commit(unsent, [newMatch(id)]);
      expect(await statesOf(id)).toEqual([
        '101 removed cancelled',
        '101 unconfirmed pending',
        '101 unconfirmed succeeded',
        '102 unconfirmed pending',
      ]);
      // A second reorg removes both blocks. When block 101 comes back, its deliveries are created
      // again.
      for (const claimed of await claimOf(id))
        await tools.store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      await chain.commit(sent, [newMatch(id)]);
      const all = await deliveriesOf(id);
      expect(all.filter((each) => each.blockNumber === 101).map((each) => each.phase)).toEqual([
        'unconfirmed',
        'removed',
        'unconfirmed',
        'removed',
        'unconfirmed',
      ]);
      expect(
        new Set(all.filter((each) => each.blockNumber === 101).map((each) => each.matchId)).size,
      ).toBe(3);
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await statesOf(id)).filter((each) => each === '101 confirmed pending')).toHaveLength(
        1,
      );
    });
  });
}
