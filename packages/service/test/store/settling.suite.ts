/**
 * Tests changes to the rules while blocks are committed, by several processes if the engine
 * supports them.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { followRules } from '../../src/match/loadedRules.ts';
import { createStreamIndex } from '../../src/families/evm/match/match.ts';
import { createAddressChanges } from '../../src/store/addresses/addressChanges.ts';
import { packAddresses } from '../../src/store/addresses/packedAddresses.ts';
import type { Store } from '../../src/store/store.ts';
import { takeChain } from './takeChain.ts';
import { KEY_ID, address, draft, hashOf, newChain } from './storeTools.ts';

/** @param open opens one store per process; the last store reads the chain */
export function testSettling(open: () => Promise<Store[]>): void {
  test('property: blocks match the rules that responses promised, in at most two commits each', async () => {
    const stores = await open();
    const reader = stores.at(-1)!;
    const run = fc.record({
      /** For each client, the number of addresses that it adds one after the other. */
      clients: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 }),
      blocks: fc.integer({ min: 1, max: 12 }),
      ownStreams: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(run, async ({ clients, blocks, ownStreams }) => {
        const chain = newChain();
        const epoch = await takeChain(reader, chain);
        let tip = { number: 1, hash: hashOf(), parentHash: hashOf(), timestamp: 1_700_000_000 };
        await reader.startChain({ chain, epoch, block: tip, genesisHash: hashOf() });
        const shared = (await reader.createStream(draft([chain]))).id;
        const changes = stores.map(createAddressChanges);
        const promised: { id: string; address: string; from: number }[] = [];
        const addAll = async (count: number, client: number): Promise<void> => {
          const id = ownStreams ? (await reader.createStream(draft([chain]))).id : shared;
          for (let n = 0; n < count; n++) {
            const added = address(1_000 * (client + 1) + n);
            const outcome = await changes[client % changes.length]!.add(id, {
              addresses: packAddresses([added]),
              labels: new Map(),
              keyId: KEY_ID,
            });
            if (outcome.outcome !== 'changed') throw new Error(outcome.outcome);
            promised.push({ id, address: added, from: outcome.effectiveFrom[chain]! });
          }
        };

        const index = createStreamIndex();
        const refresh = followRules(index, reader);
        /** The streams and addresses that each block was matched against, by block number. */
        const watched = new Map<number, Set<string>>();
        const commit = async (atLeast?: number): Promise<void> => {
          const ruleRevision = await refresh(atLeast);
          const block = {
            number: tip.number + 1,
            hash: hashOf(),
            parentHash: tip.hash,
            timestamp: tip.timestamp + 1,
          };
          const seen = new Set<string>();
          for (let client = 0; client < clients.length; client++) {
            for (let n = 0; n < clients[client]!; n++) {
              const each = address(1_000 * (client + 1) + n);
              index.watching(chain, each, 2, ({ record }) => seen.add(`${record.id} ${each}`));
            }
          }
          const result = await reader.commitBlock({
            chain,
            epoch,
            block,
            ruleRevision,
            confirmUpTo: 0,
            windowBlocks: 9,
            matches: [],
          });
          if (result.outcome === 'stale-rules' && atLeast === undefined) {
            return commit(result.revision);
          }
          expect(result.outcome).toBe('committed');
          watched.set(block.number, seen);
          tip = block;
        };
        const commitAll = async (): Promise<void> => {
          for (let n = 0; n < blocks; n++) await commit();
        };
        await Promise.all([...clients.map(addAll), commitAll()]);
        await commit();
        const missed = promised.filter(({ id, address: each, from }) =>
          [...watched].some(([number, seen]) => number >= from && !seen.has(`${id} ${each}`)),
        );
        expect(missed).toEqual([]);
        expect(promised).toHaveLength(clients.reduce((sum, count) => sum + count, 0));
      }),
      { numRuns: 12 },
    );
    await Promise.all(stores.map((store) => store.close()));
  }, 180_000);
}
