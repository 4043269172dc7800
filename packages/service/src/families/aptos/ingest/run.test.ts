import { createScriptedAptosLedger, scriptedAptos } from '@sluice/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AptosJson, AptosTransaction } from '../match/block.ts';
import type { AptosPage } from './provider.ts';
import { createAptosRun } from './run.ts';
import { toAptosTransaction } from './transaction.ts';
import { SourceError } from '../../../ingest/source.ts';

const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;
const FIRST = 1;
const BLOCKS = 60;

const ledger = createScriptedAptosLedger();
for (let n = 0; n < BLOCKS; n++) {
  ledger.mine({
    transactions: Array.from({ length: n % 9 }, (_, k) =>
      scriptedAptos.transfer({ from: account(n + 1), to: account(k + 90), amount: 5n }),
    ),
    end: n % 2 === 0 ? 'block_epilogue' : 'state_checkpoint',
  });
}
const blocks = ledger.blocks().slice(FIRST);
const ENDS = ['block_epilogue_transaction', 'state_checkpoint_transaction'];

/**
 * Lists the transactions of all blocks, with contiguous versions. The `endless` blocks have no
 * closing transaction, as at the end of an epoch.
 */
function versionsOf(endless: readonly number[]): AptosTransaction[] {
  const all = ledger
    .blocks()
    .flatMap(({ height, transactions }) =>
      transactions
        .map((raw) => toAptosTransaction(raw as unknown as AptosJson, 'a script'))
        .filter(({ type }) => !(endless.includes(Number(height)) && ENDS.includes(type))),
    );
  return all.map((transaction, version) => ({ ...transaction, version }));
}

/**
 * Creates a run over these transactions. The lengths of its pages cycle through `lengths`; `upTo`
 * is the newest version that exists.
 */
function runOver(versions: AptosTransaction[], lengths: readonly number[] = [100], upTo?: number) {
  let pages = 0;
  const faults: string[] = [];
  const giver = {
    name: 'node',
    fault: (kind: string) => faults.push(kind),
  } as unknown as AptosPage['giver'];
  const at = versions.findIndex(({ raw }) => raw['id'] === blocks[0]!.hash);
  const state = { last: upTo ?? versions.length - 1, versions, heads: new Map<number, string>() };
  const run = createAptosRun(
    {
      number: FIRST,
      hash: blocks[0]!.hash,
      parentHash: ledger.blocks()[0]!.hash,
      timestamp: 0,
      firstVersion: at,
      lastVersion: at,
    },
    {
      hashAt: (height) => state.heads.get(height),
      ledgerVersion: () => state.last,
      async readPage(start, limit): Promise<AptosPage> {
        const length = Math.min(limit, lengths[pages++ % lengths.length]!);
        return {
          transactions: state.versions.slice(start, Math.min(start + length, state.last + 1)),
          sizeBytes: 1_000,
          giver,
        };
      },
    },
  );
  return { run, state, faults };
}

describe('a run of blocks', () => {
  test('property: equals the chain for any page ends, epoch ends and order of reads', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 8 }),
        fc.uniqueArray(fc.integer({ min: FIRST, max: BLOCKS - 1 }), { maxLength: 5 }),
        fc.shuffledSubarray(
          blocks.map(({ height }) => Number(height)),
          { minLength: BLOCKS },
        ),
        async (lengths, endless, order) => {
          const { run } = runOver(versionsOf(endless), lengths);
          const read = await Promise.all(order.map((height) => run.read(height)));
          const inOrder = read.toSorted((a, b) => a!.number - b!.number);
          expect(inOrder.map((block) => block?.hash)).toEqual(blocks.map(({ hash }) => hash));
          let version = inOrder[0]!.firstVersion;
          let parentHash = ledger.blocks()[0]!.hash as string;
          for (const block of inOrder) {
            expect(block!.parentHash).toBe(parentHash);
            expect(block!.firstVersion).toBe(version);
            expect(block!.transactions.map((each) => each.version)).toEqual(
              block!.transactions.map((_, n) => version + n),
            );
            version = block!.lastVersion + 1;
            parentHash = block!.hash;
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test('returns a block only once it is complete', async () => {
    const versions = versionsOf([]);
    const last = versions.findLastIndex(({ type }) => type === 'user_transaction');
    const { run, state } = runOver(versions, [100], last);
    const whole = versions
      .slice(0, last + 1)
      .filter(({ type }) => type === 'block_metadata_transaction').length;
    expect(await run.read(whole)).toBeUndefined();
    expect(await run.read(whole - 1)).toMatchObject({ number: whole - 1 });
    state.last = versions.length - 1;
    expect(await run.read(whole)).toMatchObject({ number: whole, lastVersion: last + 1 });
  });

  test('rejects a height out of sequence, blames the node, and continues from there', async () => {
    const versions = versionsOf([]);
    const metadata = versions.filter(({ type }) => type === 'block_metadata_transaction');
    const wrong = versions.map((each) =>
      each === metadata[20] ? { ...metadata[25]!, version: each.version } : each,
    );
    const { run, state, faults } = runOver(wrong);
    await expect(run.read(30)).rejects.toThrow(/begins at \d+, where 21 was expected/);
    expect(faults).toEqual(['inconsistent']);
    expect((await run.read(20))!.hash).toBe(blocks[19]!.hash);
    state.versions = versions;
    expect((await run.read(30))!.hash).toBe(blocks[29]!.hash);
  });

  test('rejects a block with another hash than the head that was observed', async () => {
    const { run, state, faults } = runOver(versionsOf([]));
    state.heads.set(21, account(7));
    await expect(run.read(30)).rejects.toThrow(`where 21 ${account(7)} was expected`);
    expect(faults).toEqual(['inconsistent']);
    state.heads.set(21, blocks[20]!.hash);
    expect((await run.read(30))!.hash).toBe(blocks[29]!.hash);
  });

  test('fails all waiting reads when a page cannot be read, and retries on the next read', async () => {
    const versions = versionsOf([]);
    let isDown = true;
    const { run, state } = runOver(versions);
    const healthy = state.versions;
    Object.defineProperty(state, 'versions', {
      get() {
        if (isDown) throw new SourceError('unreachable', 'node: gone');
        return healthy;
      },
    });
    const waiting = [run.read(5), run.read(7)];
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isDown = false;
    expect((await run.read(7))!.hash).toBe(blocks[6]!.hash);
  });
});
