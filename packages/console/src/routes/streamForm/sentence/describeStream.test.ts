import { expect, test } from 'vitest';
import { ERC20_TRANSFER, withWalletEvents } from '../../../families/evm/draft.ts';
import { withConditions } from '../../../families/evm/leastAmount.ts';
import { NEW_FACTORY } from '../../../families/evm/routes/factories.ts';
import { NEW_READ } from '../../../families/evm/routes/reads.ts';
import { NEW_DRAFT, type StreamDraft } from '../draft/draft.ts';
import type { KnownTokens } from '../draft/knownTokens.ts';
import { describeStream, type Watched } from './describeStream.ts';

const USDC = { symbol: 'USDC', decimals: 6, address: `0x${'a0'.repeat(20)}` };
const KNOWN: KnownTokens = { tokens: [USDC], only: USDC };
const draft: StreamDraft = { ...NEW_DRAFT, webhookUrl: 'https://api.example.com/hooks' };

const describe = (changes: Partial<StreamDraft>, watched: Watched = { count: 2 }): string =>
  describeStream({ ...draft, ...changes }, KNOWN, watched, ['Ethereum']);

test('the sentence names the records, the addresses, the chain, the receiver and the phases', () => {
  expect(describe({})).toBe(
    'Sends all events of 2 addresses on Ethereum to api.example.com, at once and when confirmed.',
  );
  const wallet = withWalletEvents<StreamDraft>({
    ...draft,
    includeNativeTxs: true,
    deliver: 'confirmed',
  });
  expect(describe(wallet, { count: 1, name: 'treasury' })).toBe(
    'Sends Transfer, TransferSingle, and TransferBatch events and transactions of treasury on Ethereum to api.example.com, when confirmed.',
  );
  const feed = { allAddresses: true, includeContractLogs: false, webhookUrl: 'sluice://feed' };
  expect(describe({ ...feed, calledFunctions: 'transfer(address to, uint256 value)' })).toBe(
    'Sends calls of transfer of all addresses on Ethereum to the feed, at once and when confirmed.',
  );
  expect(describe({ ...feed, calledFunctions: '*', transactionStatus: 'failed' })).toMatch(
    /^Sends failed calls of all addresses/,
  );
});

test('filters, factories and values on chain are in the sentence', () => {
  const condition = { name: 'value', operator: 'gte', value: '1000500000' } as const;
  const large = withConditions(draft, [ERC20_TRANSFER], condition);
  expect(describe(large)).toMatch(
    /confirmed\. Only Transfer where value at least 1,000\.5 USDC\.$/,
  );
  const factories = [{ ...NEW_FACTORY, event: 'Created(address child)' }];
  expect(describe({ factories }, { count: 0 })).toMatch(
    /^Sends all events of the children of 1 factory on/,
  );
  const low = { ...NEW_READ, source: 'native', when: { kind: 'below', limit: '0.5' } } as const;
  expect(describe({ includeContractLogs: false, reads: [{ ...low }] })).toMatch(
    /^Sends the native balance of the stream’s addresses when it falls below 0\.5 on Ethereum/,
  );
});

test('Aptos streams are described, too', () => {
  const functions = '0x1::aptos_account::transfer\n0x1::coin::transfer<0x1::aptos_coin::AptosCoin>';
  expect(describe({ family: 'aptos', functions })).toBe(
    'Sends transactions that call transfer of 2 addresses on Ethereum to api.example.com.',
  );
  expect(describe({ family: 'aptos' })).toMatch(/^Sends all transactions of 2 addresses/);
});

test('missing parts are an ellipsis', () => {
  expect(describeStream({ ...draft, webhookUrl: '' }, KNOWN, { count: 0 }, [])).toBe(
    'Sends all events of … on … to …, at once and when confirmed.',
  );
  expect(describe({ includeContractLogs: false })).toBe(
    'Sends nothing, because no records are selected.',
  );
});
