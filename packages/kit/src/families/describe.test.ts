import { describe, expect, test } from 'vitest';
import type { EvmWebhook } from '../contract/shapes.generated.ts';
import { describeWebhook } from './describe.ts';
import { sampleAptosWebhook, sampleWebhook } from '../webhooks/testing.ts';

const FROM = '0x28c6c06298d514db089934071355e5743bf21d60';
const TO = '0x5a52e96bacdabb82fd05763e25335261b270efcb';

const transferOf = (changes: object): EvmWebhook => {
  const sample = sampleWebhook('erc20-transfer');
  const erc20Transfers = sample.erc20Transfers.map((transfer) => ({
    ...transfer,
    from: FROM,
    to: TO,
    ...changes,
  }));
  return { ...sample, abi: [], erc20Transfers };
};

test('a webhook without some lists is described, and null values are left out', () => {
  const { chainId, logs, nftTransfers, abi } = sampleWebhook('erc721-transfer');
  const line = describeWebhook({ chainId, logs, nftTransfers, abi });
  expect(line).toBe(describeWebhook(sampleWebhook('erc721-transfer')));
  expect(line).toMatch(/^Transfer /);
  const names = ['logs', 'txs', 'txsInternal', 'erc20Transfers', 'erc20Approvals'];
  const others = ['nftTransfers', 'nftTokenApprovals', 'abi'];
  for (const nothing of [null, undefined]) {
    const lists = Object.fromEntries([...names, ...others].map((name) => [name, nothing]));
    expect(describeWebhook({ ...lists, chainId })).toBe('');
    const rest = Object.fromEntries(others.map((name) => [name, nothing]));
    expect(describeWebhook({ ...rest, chainId, logs })).toBe('');
  }
  const nameless = nftTransfers.map((each) => ({ ...each, tokenSymbol: null as never }));
  expect(describeWebhook({ chainId, logs, nftTransfers: nameless })).toMatch(/^Transfer #\d+ 0x/);
  const { transactions } = sampleAptosWebhook('coin-transfer');
  expect(describeWebhook({ coinTransfers: [], transactions })).toBe(transactions[0]?.type);
  expect(describeWebhook({ coinTransfers: [] })).toBe('');
});

test('the log of a native transfer has the currency of the chain', () => {
  const sample = sampleWebhook('erc20-transfer');
  const logs = sample.logs.map((log) => ({
    ...log,
    address: '0xfffffffffffffffffffffffffffffffffffffffe',
    topic1: `0x${FROM.slice(2).padStart(64, '0')}`,
    topic2: `0x${TO.slice(2).padStart(64, '0')}`,
    data: '0x0000000000000000000000000000000000000000000000000de0b6b3a7640000',
  }));
  const line = describeWebhook({ ...sample, logs, erc20Transfers: [] });
  expect(line).toBe('1 ETH 0x28c6…1d60 → 0x5a52…efcb');
});

test('a range of NFTs has its first and last id', () => {
  const sample = sampleWebhook('erc721-transfer');
  const range = { from: FROM, to: TO, tokenId: '0', toTokenId: '4999', amount: '5000' };
  const nftTransfers = sample.nftTransfers.map((nft) => ({ ...nft, ...range, tokenSymbol: 'N' }));
  expect(describeWebhook({ ...sample, nftTransfers })).toBe(
    'Transfer N #0–#4999 0x28c6…1d60 → 0x5a52…efcb',
  );
});

describe('tokens', () => {
  test.each([
    ['1200500000', '6', 'USDT', 'Transfer 1,200.5 USDT'],
    ['1', '18', 'SLD', 'Transfer <0.000001 SLD'],
    ['1000000000000000000', '18', '', 'Transfer 1'],
    ['1234567', '7', 'SLD', 'Transfer 0.123456… SLD'],
    ['250', '', '', 'Transfer 250'],
    [String(10n ** 60n), '18', 'JUNK', 'Transfer 1.00e42 JUNK'],
    ['0', '6', 'US\u202eD\u2069\nC', 'Transfer 0 USDC'],
    ['0', '6', 'x'.repeat(100), `Transfer 0 ${'x'.repeat(24)}`],
    ['0', '6', `${'x'.repeat(23)}😀y`, `Transfer 0 ${'x'.repeat(23)}😀`],
  ])('%s with %s decimals of %s', (value, tokenDecimals, tokenSymbol, line) => {
    expect(describeWebhook(transferOf({ value, tokenDecimals, tokenSymbol }))).toBe(
      `${line} 0x28c6…1d60 → 0x5a52…efcb`,
    );
  });

  test('transfers are described without logs', () => {
    const webhook = transferOf({ value: '5', tokenDecimals: '0', tokenSymbol: 'A' });
    expect(describeWebhook({ ...webhook, logs: [] })).toMatch(/^Transfer 5 A /);
  });

  test('an unlimited approval is described as such', () => {
    const webhook = transferOf({});
    const [{ from, to, ...transfer }] = webhook.erc20Transfers as [
      EvmWebhook['erc20Transfers'][number],
    ];
    const approval = { ...transfer, owner: from, spender: to, value: String(2n ** 256n - 1n) };
    expect(
      describeWebhook({
        ...webhook,
        erc20Transfers: [],
        erc20Approvals: [{ ...approval, tokenSymbol: 'USDC' }],
      }),
    ).toBe('Approval unlimited USDC 0x28c6…1d60 → 0x5a52…efcb');
  });

  test('NFTs are described with their id and number', () => {
    const sample = sampleWebhook('erc721-transfer');
    const line = (changes: object) => {
      const moved = { from: FROM, to: TO, ...changes };
      const nftTransfers = sample.nftTransfers.map((nft) => ({ ...nft, ...moved }));
      return describeWebhook({ ...sample, nftTransfers });
    };
    const of = { tokenSymbol: 'BAYC', tokenId: '12', amount: '1' };
    expect(line(of)).toBe('Transfer BAYC #12 0x28c6…1d60 → 0x5a52…efcb');
    expect(line({ ...of, amount: '3' })).toBe('Transfer 3 × BAYC #12 0x28c6…1d60 → 0x5a52…efcb');
    expect(line({ ...of, tokenId: '9'.repeat(78) })).toContain('#99999999…');
  });
});

test('NFT approvals are described for one NFT or all', () => {
  const sample = sampleWebhook('nft-approval-for-all');
  expect(describeWebhook(sample)).toMatch(/^Approval all .*0x.* → 0x/);
  const ofOne = sample.nftTokenApprovals.map((all) => ({ ...all, tokenId: '12' }));
  expect(describeWebhook({ ...sample, nftTokenApprovals: ofOne })).toMatch(/^Approval #12 /);
});

test('the first record is described, and the others are counted', () => {
  const webhook = transferOf({ value: '5', tokenDecimals: '0', tokenSymbol: 'A' });
  const others = webhook.logs.map((log) => ({ ...log, logIndex: '9999', address: TO }));
  const { logs } = webhook;
  expect(describeWebhook({ ...webhook, logs: [...logs, ...others] })).toMatch(/A .* \+1$/);
  expect(describeWebhook({ ...webhook, logs: [...others, ...logs] })).toBe('log of 0x5a52…efcb +1');
});

test('an event without records is named by the ABI', () => {
  const { abi: _abi, ...webhook } = { ...transferOf({}), erc20Transfers: [] };
  const parameter = (name: string, type: string, indexed: boolean) => ({ name, type, indexed });
  const abiWith = (payer: string) => {
    const inputs = [
      parameter(payer, 'address', true),
      parameter('to', 'address', true),
      parameter('value', 'uint256', false),
    ];
    return [{ type: 'event', name: 'Transfer', inputs }];
  };
  expect(describeWebhook({ ...webhook, abi: abiWith('from') })).toMatch(
    /^Transfer [\d,]+ 0x\w{4}…\w{4} → 0x/,
  );
  expect(describeWebhook({ ...webhook, abi: abiWith('payer') })).toMatch(/^Transfer [\d,]+ at 0x/);
  expect(describeWebhook({ ...webhook, abi: [] })).toMatch(/^log of 0x/);
  expect(describeWebhook(webhook)).toBe('');
});

test.each([
  [[{ type: 'event', anonymous: true, inputs: [] }]],
  [[{ type: 'event', name: 'Transfer' }]],
  [[{ type: 'event', name: 'Transfer', inputs: [{ type: 'tuple', indexed: true }, {}, null] }]],
  [[{ type: 'event', name: 5, inputs: 'x' }]],
  [[{}, null]],
])('an invalid ABI is ignored: %j', (abi) => {
  const webhook = { ...transferOf({}), erc20Transfers: [], abi } as unknown as EvmWebhook;
  expect(describeWebhook(webhook)).toMatch(/^log of 0x/);
});

test('payments have the native currency of the chain', () => {
  const sample = sampleWebhook('native-transfer');
  const line = (chainId: string, toAddress: string | null = TO) => {
    const paid = { value: '1500000000000000000', fromAddress: FROM, toAddress };
    return describeWebhook({
      ...sample,
      chainId,
      txs: sample.txs.map((tx) => ({ ...tx, ...paid })),
    });
  };
  expect(line('0x1')).toBe('1.5 ETH 0x28c6…1d60 → 0x5a52…efcb');
  expect(line('0x89')).toBe('1.5 POL 0x28c6…1d60 → 0x5a52…efcb');
  expect(line('0xfade')).toBe('1.5 native 0x28c6…1d60 → 0x5a52…efcb');
  expect(line('0x1', null)).toBe('1.5 ETH 0x28c6…1d60 → new contract');
  expect(describeWebhook(sampleWebhook('internal-transfer'))).toMatch(/ ETH 0x.* inside$/);
});

test('a call is described by the name of its function or its selector', () => {
  const failed = sampleWebhook('failed-call');
  expect(describeWebhook(sampleWebhook('call'))).toBe('transfer 0x0a1a…9419 → 0xa0b8…eb48');
  expect(describeWebhook(failed)).toBe('transfer 0x0a1a…9419 → 0xa0b8…eb48 failed');
  const calls = failed.calls!.map((call) => ({ ...call, function: null }));
  expect(describeWebhook({ ...failed, calls })).toMatch(/^0xa9059cbb /);
});

test('Aptos webhooks are described, and test webhooks are not', () => {
  expect(describeWebhook(sampleAptosWebhook('coin-transfer'))).toMatch(/^1\.5 APT 0x.* → 0x/);
  expect(describeWebhook(sampleAptosWebhook('test'))).toBe('');
  expect(describeWebhook(sampleWebhook('test'))).toBe('');
});
