import { EVM_CHAINS } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import * as viemChains from 'viem/chains';
import { EXPLORERS } from './explorers.ts';

test('each explorer is the one that viem lists for the chain', () => {
  for (const [id, url] of Object.entries(EXPLORERS)) {
    const listed = Object.values(viemChains)
      .filter((chain) => chain.id === Number(id))
      .map(({ blockExplorers }) => blockExplorers?.default.url);
    expect(listed, id).toContain(url);
  }
});

test('known chains without an explorer are listed here', () => {
  const without = EVM_CHAINS.filter(({ id }) => EXPLORERS[id] === undefined);
  // For Ronin Saigon and PulseChain, viem lists the URLs of a marketplace and an IPFS gateway.
  expect(without.map(({ name }) => name)).toEqual(['Ronin Saigon', 'PulseChain', 'Local chain']);
});
