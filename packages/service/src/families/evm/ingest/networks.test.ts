import { EVM_CHAINS, UNVERIFIED_CODES } from '@sluice/kit/contract';
import * as viemChains from 'viem/chains';
import { describe, expect, test } from 'vitest';
import { listNetworks, networkOf } from './networks.ts';

const rows = listNetworks();
/** Names of public chains by chain ID. */
const known = Map.groupBy(
  [
    ...EVM_CHAINS,
    ...Object.values(viemChains).map(({ id, name }) => ({ id: `0x${id.toString(16)}`, name })),
  ],
  ({ id }) => id,
);

describe('the table of networks', () => {
  test('has standard rules for Ethereum and its test networks alone', () => {
    const standard = rows.filter(({ network }) => network.isStandard);
    expect(standard.flatMap(({ chains }) => Object.values(chains))).toEqual([
      ...['0x1', '0xaa36a7', '0x88bb0', '0x4268'],
    ]);
  });

  test('lists each chain ID once, in the form that chains have', () => {
    const ids = rows.flatMap(({ chains }) => Object.values(chains));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toBe(`0x${Number(id).toString(16)}`);
  });

  test('names the chains that have these IDs', () => {
    const wordsOf = (name: string): string[] => name.toLowerCase().split(/[^a-z]+/);
    const unknown = rows
      .flatMap(({ chains }) => Object.entries(chains))
      .filter(([name, id]) => {
        const words = known.get(id)?.flatMap((each) => wordsOf(each.name)) ?? [];
        return !wordsOf(name).some((word) => words.includes(word));
      });
    // No package lists these chains.
    expect(unknown.map(([name]) => name)).toEqual(['Tempo Andantino', 'Oasis Emerald']);
  });

  test('has known codes, and sources for what differs', () => {
    for (const { network } of rows) {
      for (const code of network.deviations) expect(UNVERIFIED_CODES).toHaveProperty(code);
      expect(network.notes).not.toBe('');
      if (network.deviations.length > 0) expect(network.sources.length).toBeGreaterThan(0);
      // These may mean that records are missing.
      expect(network.deviations).not.toContain('receipts');
    }
  });

  test('has a row for networks that are not listed', () => {
    expect(networkOf('0xdeadbeef')).toMatchObject({ isStandard: false, deviations: [] });
    expect(networkOf('0x89').name).toBe('Polygon');
  });
});
