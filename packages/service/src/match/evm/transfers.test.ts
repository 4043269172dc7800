import fc from 'fast-check';
import { type AbiEvent, type Hex, encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import type { EvmLog } from './block.ts';
import { decodeTransfers } from './transfers.ts';

const erc20 = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
]);
const erc721 = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
]);
const erc1155 = parseAbi([
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);

const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;
const CONTRACT = address(0xc0);

/** Encodes a log with viem, an independent encoder. */
function logOf(abi: readonly AbiEvent[], eventName: string, args: Record<string, unknown>): EvmLog {
  const event = abi.find((item) => item.name === eventName)!;
  const plain = event.inputs.filter((input) => !input.indexed);
  return {
    logIndex: 7,
    transactionHash: '0xabc',
    transactionIndex: 0,
    address: CONTRACT,
    topics: encodeEventTopics({ abi: [event], eventName, args }).map(String),
    data: encodeAbiParameters(
      plain,
      plain.map((input) => args[input.name!]),
    ),
  };
}

const at = { transactionHash: '0xabc', logIndex: '7', contract: CONTRACT };
const NOTHING = {
  erc20Transfers: [],
  erc20Approvals: [],
  nftTokenApprovals: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nftTransfers: [],
};
const MAX = 2n ** 256n - 1n;

describe('decoded arrays', () => {
  test('contain an ERC-20 transfer and approval', () => {
    const arrays = decodeTransfers([
      logOf(erc20, 'Transfer', { from: address(1), to: address(2), value: MAX }),
      logOf(erc20, 'Approval', { owner: address(1), spender: address(2), value: 0n }),
    ]);
    expect(arrays).toEqual({
      ...NOTHING,
      erc20Transfers: [
        {
          ...at,
          from: address(1),
          to: address(2),
          value: MAX.toString(),
          tokenName: '',
          tokenSymbol: '',
          tokenDecimals: '',
          possibleSpam: false,
        },
      ],
      erc20Approvals: [
        {
          ...at,
          owner: address(1),
          spender: address(2),
          value: '0',
          tokenName: '',
          tokenSymbol: '',
          tokenDecimals: '',
          possibleSpam: false,
        },
      ],
    });
  });

  test('contain an ERC-721 transfer and approval, identified by the third indexed input', () => {
    const token = { tokenName: '', tokenSymbol: '', tokenContractType: 'ERC721' };
    expect(
      decodeTransfers([
        logOf(erc721, 'Transfer', { from: address(1), to: address(2), tokenId: 5n }),
        logOf(erc721, 'Approval', { owner: address(1), approved: address(0), tokenId: 5n }),
      ]),
    ).toEqual({
      ...NOTHING,
      nftTransfers: [
        {
          operator: null,
          from: address(1),
          to: address(2),
          tokenId: '5',
          amount: '1',
          ...at,
          possibleSpam: false,
          ...token,
        },
      ],
      nftApprovals: {
        ERC721: [{ ...at, owner: address(1), approved: address(0), tokenId: '5', ...token }],
        ERC1155: [],
      },
      nftTokenApprovals: [
        {
          ...at,
          account: address(1),
          operator: address(0),
          approvedAll: false,
          tokenId: '5',
          possibleSpam: false,
          ...token,
        },
      ],
    });
  });

  test.each([true, false])('contain an approval for all: %j', (approved) => {
    const arrays = decodeTransfers([
      logOf(erc721, 'ApprovalForAll', { owner: address(1), operator: address(2), approved }),
    ]);
    const parties = { ...at, account: address(1), operator: address(2) };
    expect(arrays.nftApprovals.ERC1155).toMatchObject([{ ...parties, approved }]);
    expect(arrays.nftTokenApprovals).toMatchObject([
      { ...parties, approvedAll: approved, tokenId: null },
    ]);
  });

  test('contain an ERC-1155 batch as one entry per id, all of one log', () => {
    const parties = { operator: address(1), from: address(2), to: address(3) };
    const arrays = decodeTransfers([
      logOf(erc1155, 'TransferSingle', { ...parties, id: 1n, value: 10n }),
      logOf(erc1155, 'TransferBatch', { ...parties, ids: [4n, 5n, 4n], values: [1n, 0n, MAX] }),
      logOf(erc1155, 'TransferBatch', { ...parties, ids: [], values: [] }),
    ]);
    expect(arrays.nftTransfers.map(({ tokenId, amount }) => [tokenId, amount])).toEqual([
      ['1', '10'],
      ['4', '1'],
      ['5', '0'],
      ['4', MAX.toString()],
    ]);
    expect(arrays.nftTransfers[3]).toMatchObject({
      ...parties,
      ...at,
      tokenContractType: 'ERC1155',
    });
  });

  const word = (n: number): string => n.toString(16).padStart(64, '0');
  const good = logOf(erc20, 'Transfer', { from: address(1), to: address(2), value: 3n });
  const batch = logOf(erc1155, 'TransferBatch', {
    operator: address(1),
    from: address(2),
    to: address(3),
    ids: [4n],
    values: [1n],
  });
  const unequal = encodeAbiParameters(
    [{ type: 'uint256[]' }, { type: 'uint256[]' }],
    [[1n, 2n], [3n]],
  );
  test.each<[string, EvmLog]>([
    ['no topics', { ...good, topics: [] }],
    ['a missing topic', { ...good, topics: good.topics.slice(0, 2) }],
    ['no data', { ...good, data: '0x' }],
    ['data that is not in full words', { ...good, data: `${good.data}00` }],
    ['data of two words', { ...good, data: good.data + good.data.slice(2) }],
    [
      'more than an address in a topic',
      { ...good, topics: [good.topics[0]!, `0x${'1'.repeat(64)}`, good.topics[2]!] },
    ],
    ['a truncated batch', { ...batch, data: batch.data.slice(0, 2 + 64 * 4) }],
    [
      'a batch that points outside',
      { ...batch, data: `0x${'f'.repeat(64)}${batch.data.slice(66)}` },
    ],
    ['a batch with lists of different lengths', { ...batch, data: unequal }],
    [
      'a batch whose arrays are the same',
      { ...batch, data: `0x${word(0x40)}${word(0x40)}${word(1)}${word(4)}` },
    ],
    [
      'a batch whose arrays overlap',
      { ...batch, data: `0x${word(0x40)}${word(0x60)}${word(1)}${word(1)}${word(7)}` },
    ],
    [
      'a batch whose arrays begin in its offsets',
      { ...batch, data: `0x${word(0x20)}${word(0x60)}${'0'.repeat(64)}${word(0)}${word(0)}` },
    ],
    ['another event', { ...good, topics: [`0x${'ab'.repeat(32)}`, ...good.topics.slice(1)] }],
  ])('omit %s', (_, log) => {
    expect(decodeTransfers([log])).toEqual(NOTHING);
  });

  test('property: no log makes decoding throw, and a batch decodes to what was encoded', () => {
    const uint = fc.bigInt({ min: 0n, max: MAX });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(uint, uint), { maxLength: 30 }),
        fc.uint8Array({ maxLength: 200 }),
        (items, noise) => {
          const log = logOf(erc1155, 'TransferBatch', {
            operator: address(1),
            from: address(2),
            to: address(3),
            ids: items.map(([id]) => id),
            values: items.map(([, value]) => value),
          });
          expect(
            decodeTransfers([log]).nftTransfers.map(({ tokenId, amount }) => [
              BigInt(tokenId),
              BigInt(amount),
            ]),
          ).toEqual(items);
          const cut = { ...log, data: `0x${Buffer.from(noise).toString('hex')}` };
          expect(() => decodeTransfers([cut])).not.toThrow();
        },
      ),
    );
  });
});
