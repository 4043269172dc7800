/** Tests that values on chain are written once per block, and follow the chain. */
import { describe, expect, test } from 'vitest';
import type { BlockHeader } from '../../src/store/blocks/contract.ts';
import type { ReadResult, StateReading } from '../../src/store/values/contract.ts';
import { newMatch } from './newMatch.ts';
import { type StoreTools, draft } from './storeTools.ts';

export function testValues(tools: StoreTools): void {
  type Chain = Awaited<ReturnType<StoreTools['startChain']>>;

  const start = async () => {
    const chain = await tools.startChain();
    const { id } = await tools.store.createStream(draft([chain.chain]));
    return { chain, id };
  };
  /** Commits the next block of the chain, in whose state values are to be read. */
  const commit = async (chain: Chain): Promise<BlockHeader> => {
    const block = chain.next();
    await chain.commit(block, [], 2, [], 1, undefined, [], true);
    return block;
  };
  const value = (streamId: string, json: string, continues?: number): ReadResult => ({
    streamId,
    key: 'k',
    value: json,
    error: null,
    continues: continues === undefined ? undefined : { from: continues },
    lasts: true,
  });
  /** A value whose reads fail, in a run that begins, or that began in this block. */
  const failed = (streamId: string, continues?: number): ReadResult => ({
    ...value(streamId, ''),
    value: null,
    error: 'it reverted',
    continues: continues === undefined ? undefined : { from: continues },
    lasts: false,
  });
  /** Reads the state of the lowest pending block. */
  const read = async (chain: Chain, reading: Partial<StateReading> = {}): Promise<boolean> => {
    const state = await tools.store.nextState(chain.chain);
    return tools.store.commitState({
      ...chain.held,
      state: state!,
      results: [],
      lasting: [
        ...new Set(
          (reading.results ?? []).flatMap(({ streamId, lasts }) => (lasts ? streamId : [])),
        ),
      ],
      ended: [],
      forgotten: [],
      lacking: [],
      matches: [],
      heights: undefined,
      ...reading,
    });
  };
  const runsOf = async (chain: Chain) =>
    (await tools.store.listKnownReads(chain.chain)).map(({ newest, last }) => ({
      newest: [newest.from, newest.to, newest.value ?? newest.error],
      last: last && [last.from, last.to, last.value],
    }));

  describe('values on chain', () => {
    test('are pending after the commit of a block, from the lowest one', async () => {
      const { chain } = await start();
      const first = await commit(chain);
      await commit(chain);
      const state = await tools.store.nextState(chain.chain);
      expect(state).toEqual({ chain: chain.chain, block: first, after: 100, pending: 2 });
      expect((await tools.store.countPendingStates())[chain.chain]).toBe(2);
      expect(await read(chain)).toBe(true);
      expect((await tools.store.nextState(chain.chain))?.block.number).toBe(102);
      await read(chain);
      expect(await tools.store.nextState(chain.chain)).toBeUndefined();
      expect((await tools.store.countPendingStates())[chain.chain]).toBe(0);
    });

    test('are not pending in blocks without reads', async () => {
      const { chain } = await start();
      await chain.commit(chain.next(), []);
      expect(await tools.store.nextState(chain.chain)).toBeUndefined();
    });

    test('are runs of blocks with the same result, and return with a rewind', async () => {
      const { chain, id } = await start();
      const ancestor = await commit(chain);
      await read(chain, { results: [value(id, '"1"')] });
      await commit(chain);
      await read(chain, { results: [value(id, '"1"', 101)] });
      expect(await runsOf(chain)).toEqual([{ newest: [101, 102, '"1"'], last: [101, 102, '"1"'] }]);
      await commit(chain);
      await read(chain, { results: [failed(id)] });
      expect(await runsOf(chain)).toEqual([
        { newest: [103, 103, 'it reverted'], last: [101, 102, '"1"'] },
      ]);
      await chain.rewind(ancestor);
      expect(await runsOf(chain)).toEqual([{ newest: [101, 101, '"1"'], last: [101, 101, '"1"'] }]);
    });

    test('last while their stream reads each block, and are not written again', async () => {
      const { chain, id } = await start();
      const other = await tools.store.createStream(draft([chain.chain]));
      const runs = async (block: number) =>
        (await tools.store.readValuesAt(chain.chain, id, block)).known
          .toSorted((a, b) => (a.key < b.key ? -1 : 1))
          .map(({ key, newest: { from, to, lasts } }) => [key, from, to, lasts]);
      await commit(chain);
      await read(chain, { results: [value(id, '"1"'), { ...value(id, '"1"'), key: 'other' }] });
      for (let n = 0; n < 2; n++) {
        await commit(chain);
        await read(chain, { lasting: [id] });
      }
      // One value is missing in block 104, and the whole stream in block 105.
      await commit(chain);
      const ended = [{ streamId: id, key: 'other' }];
      await read(chain, { lasting: [id], ended });
      expect(await runs(105)).toEqual([
        ['k', 101, 104, true],
        ['other', 101, 103, false],
      ]);
      const ancestor = await commit(chain);
      await read(chain, { results: [value(other.id, '"1"')] });
      await commit(chain);
      await read(chain, { results: [value(id, '"2"')] });
      expect(await runs(106)).toEqual([
        ['k', 101, 104, false],
        ['other', 101, 103, false],
      ]);
      // A run that ended lasts again on another branch.
      await chain.rewind({ ...ancestor, number: 103 });
      await commit(chain);
      await read(chain, { results: [value(id, '"1"', 101)] });
      expect(await runs(105)).toEqual([
        ['k', 101, 104, true],
        ['other', 101, 103, false],
      ]);
      await chain.rewind({ ...ancestor, number: 102 });
      expect(await runs(105)).toEqual([
        ['k', 101, 102, true],
        ['other', 101, 102, false],
      ]);
    });

    test('are known as of any block', async () => {
      const { chain, id } = await start();
      const at = async (block: number) => {
        const { known, begun, ...state } = await tools.store.readValuesAt(chain.chain, id, block);
        return {
          ...state,
          known: known.map(({ newest, last }) => [newest.from, last?.from]),
          begun: begun.map(({ from, value: json }) => [from, json]),
        };
      };
      await commit(chain);
      await read(chain, { results: [value(id, '"1"')] });
      await commit(chain);
      await read(chain, { results: [failed(id)] });
      await commit(chain);
      await read(chain, { results: [value(id, '"2"')] });
      await commit(chain);
      const kept = { keptFrom: 100, isPending: false };
      expect(await at(101)).toEqual({ ...kept, known: [], begun: [[101, '"1"']] });
      expect(await at(102)).toEqual({ ...kept, known: [[101, 101]], begun: [[102, null]] });
      expect(await at(103)).toEqual({ ...kept, known: [[102, 101]], begun: [[103, '"2"']] });
      expect(await at(104)).toEqual({
        keptFrom: 100,
        isPending: true,
        known: [[103, 103]],
        begun: [],
      });
      const other = await tools.store.createStream(draft([chain.chain]));
      const { known } = await tools.store.readValuesAt(chain.chain, other.id, 104);
      expect(known).toEqual([]);
    });

    test('keep only the runs to which a rewind may return', async () => {
      const { chain, id } = await start();
      // Runs are trimmed at block 112, and the window has two blocks.
      for (let n = 101; n <= 112; n++) {
        await chain.commit(chain.next(), [], 2, [], 1, undefined, [], true, 2);
        await read(chain, { results: [value(id, `"${n}"`)] });
      }
      await chain.rewind({ ...chain.tip(), number: 111 });
      expect(await runsOf(chain)).toEqual([
        { newest: [111, 111, '"111"'], last: [111, 111, '"111"'] },
      ]);
      await chain.rewind({ ...chain.tip(), number: 110 });
      expect(await runsOf(chain)).toEqual([]);
    });

    test('keep the last value before reads that fail for longer than the window', async () => {
      const { chain, id } = await start();
      for (let n = 101; n <= 112; n++) {
        await chain.commit(chain.next(), [], 2, [], 1, undefined, [], true, 2);
        const first = { 101: value(id, '"1"'), 102: failed(id) }[n];
        await read(chain, { results: [first ?? failed(id, 102)] });
      }
      expect(await runsOf(chain)).toEqual([
        { newest: [102, 112, 'it reverted'], last: [101, 101, '"1"'] },
      ]);
    });

    test('keep the last value of a stream, whatever others read', async () => {
      const { chain, id } = await start();
      const other = await tools.store.createStream(draft([chain.chain]));
      for (let n = 101; n <= 112; n++) {
        await chain.commit(chain.next(), [], 2, [], 1, undefined, [], true, 2);
        const its = n === 101 ? [value(id, '"1"')] : [];
        await read(chain, { results: [...its, value(other.id, `"${n}"`)] });
      }
      expect(await runsOf(chain)).toContainEqual({
        newest: [101, 101, '"1"'],
        last: [101, 101, '"1"'],
      });
    });

    test('are not written for a block that left the chain, or that was read already', async () => {
      const { chain, id } = await start();
      const ancestor = chain.tip();
      await commit(chain);
      const state = (await tools.store.nextState(chain.chain))!;
      await chain.rewind(ancestor);
      await commit(chain);
      expect(await read(chain, { state, results: [value(id, '"1"')] })).toBe(false);
      expect(await runsOf(chain)).toEqual([]);
      const again = (await tools.store.nextState(chain.chain))!;
      expect(await read(chain, { matches: [newMatch(id)] })).toBe(true);
      expect(await read(chain, { state: again, matches: [newMatch(id)] })).toBe(false);
      expect(await tools.deliveriesOf(id)).toHaveLength(1);
      expect(await read(chain, { state: again, epoch: chain.held.epoch - 1 })).toBe(false);
    });

    test('are sent in the phase of their block', async () => {
      const { chain, id } = await start();
      await commit(chain);
      const none = { chain: 100, latest: 101, depth: 101, safe: -1, finalized: -1 };
      await read(chain, { matches: [newMatch(id)], heights: none });
      expect((await tools.deliveriesOf(id)).map(({ phase }) => phase)).toEqual(['unconfirmed']);
      await commit(chain);
      await commit(chain);
      expect((await tools.deliveriesOf(id)).map(({ phase }) => phase)).toEqual([
        'confirmed',
        'unconfirmed',
      ]);
      // The state of block 102 is read after its confirmation.
      await read(chain, { matches: [newMatch(id)], heights: { ...none, chain: 102, latest: 104 } });
      const [late] = await tools.deliveriesOf(id);
      expect(late).toMatchObject({ phase: 'confirmed', blockNumber: 102 });
    });

    test('are sent once if their block leaves the chain and returns', async () => {
      const { chain, id } = await start();
      const ancestor = chain.tip();
      const block = await commit(chain);
      await read(chain, { results: [value(id, '"1"')], matches: [newMatch(id)] });
      await chain.rewind(ancestor);
      const [canceled] = await tools.deliveriesOf(id);
      expect(canceled?.state).toBe('cancelled');
      await chain.commit(block, [], 2, [], 1, undefined, [], true);
      await read(chain, { results: [value(id, '"1"')], matches: [newMatch(id)] });
      const deliveries = await tools.deliveriesOf(id);
      expect(deliveries.map(({ state }) => state)).toEqual(['pending']);
    });

    test('do not cancel the removal webhook of the records of their block', async () => {
      const chain = await tools.startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const ancestor = chain.tip();
      await chain.commit(chain.next(), [newMatch(id)], 2, [], 1, undefined, [], true);
      await read(chain, { matches: [newMatch(id)] });
      const sent = await tools.claimOf(id);
      await tools.store.completeDeliveries(sent.map((each) => tools.outcomeOf(each)));
      await chain.rewind(ancestor);
      const removals = await tools.claimOf(id);
      expect(removals.map(({ phase }) => phase)).toEqual(['removed', 'removed']);
      const failed = { status: 500, error: 'HTTP 500', result: 'retry' } as const;
      await tools.store.completeDeliveries(
        removals.map((each) => tools.outcomeOf(each, { ...failed, retryInMs: 0 })),
      );
      const states = (await tools.deliveriesOf(id)).map(({ phase, state }) => `${phase} ${state}`);
      expect(states.filter((each) => each === 'removed retrying')).toHaveLength(2);
    });

    test('that no node has are a hole of the stream, which ends with a rewind', async () => {
      const { chain, id } = await start();
      const other = await tools.store.createStream(draft([chain.chain]));
      const holesOf = async (streamId: string) =>
        (await tools.store.readCoverage(streamId))[0]!.holes;
      await commit(chain);
      await read(chain);
      const ancestor = await commit(chain);
      for (let n = 0; n < 2; n++) {
        if (n > 0) await commit(chain);
        await read(chain, { lacking: [id] });
      }
      expect(await holesOf(id)).toEqual([{ from: 102, to: 103, reason: 'state' }]);
      expect(await holesOf(other.id)).toEqual([]);
      expect(await tools.store.listCovering(chain.chain, 103)).toEqual([other.id]);
      await chain.rewind(ancestor);
      expect(await holesOf(id)).toEqual([{ from: 102, to: 102, reason: 'state' }]);
    });

    test('are forgotten with their read, their chain and their stream', async () => {
      const { chain, id } = await start();
      const other = await tools.startChain();
      await commit(chain);
      await read(chain, { results: [value(id, '"1"'), { ...value(id, '"2"'), key: 'other' }] });
      await commit(chain);
      await read(chain, { forgotten: [{ streamId: id, key: 'k' }] });
      expect(await tools.store.listKnownReads(chain.chain)).toMatchObject([{ key: 'other' }]);
      await tools.store.updateStream(id, { chainIds: [other.chain] });
      expect(await tools.store.listKnownReads(chain.chain)).toEqual([]);

      const second = await start();
      await commit(second.chain);
      await read(second.chain, { results: [value(second.id, '"1"')] });
      await tools.store.deleteStream(second.id);
      while (await tools.store.cleanUpValues());
      expect(await tools.store.listKnownReads(second.chain.chain)).toEqual([]);
      await commit(second.chain);
      await read(second.chain, {
        results: [value(second.id, '"2"')],
        matches: [newMatch(second.id)],
      });
      expect(await tools.store.listKnownReads(second.chain.chain)).toEqual([]);
      expect(await tools.deliveriesOf(second.id)).toEqual([]);
    });

    test('are forgotten when their chain restarts', async () => {
      const { chain, id } = await start();
      await commit(chain);
      await read(chain, { results: [value(id, '"1"')] });
      await commit(chain);
      const block = chain.next();
      await tools.store.startChain({ ...chain.held, block, genesisHash: block.hash });
      expect(await runsOf(chain)).toEqual([]);
      expect(await tools.store.nextState(chain.chain)).toBeUndefined();
    });
  });
}
