import fc from 'fast-check';
import {
  type AbiEvent,
  type Hex,
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  parseAbi,
  toHex,
} from 'viem';
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
const erc2309 = parseAbi([
  'event ConsecutiveTransfer(uint256 indexed fromTokenId, uint256 toTokenId, address indexed from, address indexed to)',
]);
const erc6909 = parseAbi([
  'event Transfer(address caller, address indexed sender, address indexed receiver, uint256 indexed id, uint256 amount)',
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

const CONTEXT = { chain: '0x1' };
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
    const arrays = decodeTransfers(
      [
        logOf(erc20, 'Transfer', { from: address(1), to: address(2), value: MAX }),
        logOf(erc20, 'Approval', { owner: address(1), spender: address(2), value: 0n }),
      ],
      CONTEXT,
    );
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
      decodeTransfers(
        [
          logOf(erc721, 'Transfer', { from: address(1), to: address(2), tokenId: 5n }),
          logOf(erc721, 'Approval', { owner: address(1), approved: address(0), tokenId: 5n }),
        ],
        CONTEXT,
      ),
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

  test('contain an ERC-1155 batch as one entry per id, all of one log', () => {
    const parties = { operator: address(1), from: address(2), to: address(3) };
    const arrays = decodeTransfers(
      [
        logOf(erc1155, 'TransferSingle', { ...parties, id: 1n, value: 10n }),
        logOf(erc1155, 'TransferBatch', { ...parties, ids: [4n, 5n, 4n], values: [1n, 0n, MAX] }),
        logOf(erc1155, 'TransferBatch', { ...parties, ids: [], values: [] }),
      ],
      CONTEXT,
    );
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
  const approval = logOf(erc721, 'ApprovalForAll', {
    ...{ owner: address(1), operator: address(2), approved: true },
  });
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
      {
        ...batch,
        data: `0x${word(34 * 32)}${word(0x20)}${word(0).repeat(32)}${word(32)}${word(0).repeat(32)}`,
      },
    ],
    ['an approval for all that is neither true nor false', { ...approval, data: `0x${word(2)}` }],
    ['another event', { ...good, topics: [`0x${'ab'.repeat(32)}`, ...good.topics.slice(1)] }],
  ])('omit %s', (_, log) => {
    expect(decodeTransfers([log], CONTEXT)).toEqual(NOTHING);
  });

  test('contain an address whose topic has other bits, which Solidity ignores', () => {
    const topics = [good.topics[0]!, `0x${'1'.repeat(24)}${address(9).slice(2)}`, good.topics[2]!];
    expect(decodeTransfers([{ ...good, topics }], CONTEXT).erc20Transfers).toMatchObject([
      { from: address(9), to: address(2), value: '3' },
    ]);
  });

  test('contain a range of tokens (ERC-2309) as one entry', () => {
    const range = { fromTokenId: 0n, toTokenId: 4_999n, from: address(0), to: address(2) };
    const logs = [
      logOf(erc2309, 'ConsecutiveTransfer', range),
      logOf(erc2309, 'ConsecutiveTransfer', { ...range, fromTokenId: 4_999n }),
      logOf(erc2309, 'ConsecutiveTransfer', { ...range, fromTokenId: 5_000n }),
    ];
    const entry = {
      operator: null,
      from: address(0),
      to: address(2),
      tokenId: '0',
      amount: '5000',
      ...at,
      possibleSpam: false,
      tokenName: '',
      tokenSymbol: '',
      tokenContractType: 'ERC721',
      toTokenId: '4999',
    };
    expect(decodeTransfers(logs, CONTEXT)).toEqual({
      ...NOTHING,
      nftTransfers: [entry, { ...entry, tokenId: '4999', amount: '1' }],
    });
  });

  test('contain transfers and approvals of CryptoKitties, which are not indexed', () => {
    const contract = '0x06012c8cf97bead5deae237070f9587f8e7a266d';
    const data = `0x${word(1)}${word(2)}${word(0x3a5b)}`;
    const transfer = { ...good, address: contract, topics: good.topics.slice(0, 1), data };
    const approval = logOf(erc20, 'Approval', {
      owner: address(1),
      spender: address(2),
      value: 0n,
    });
    const approved = { ...transfer, topics: approval.topics.slice(0, 1) };
    const parties = { ...at, contract, tokenId: '14939', tokenContractType: 'ERC721' };
    expect(decodeTransfers([transfer, approved], CONTEXT)).toMatchObject({
      nftTransfers: [{ ...parties, from: address(1), to: address(2), amount: '1' }],
      nftTokenApprovals: [{ ...parties, account: address(1), operator: address(2) }],
    });
    const others = [
      { ...transfer, address: CONTRACT },
      { ...transfer, data: `${data}00` },
      { ...transfer, topics: [`0x${'ab'.repeat(32)}`] },
    ];
    expect(decodeTransfers(others, CONTEXT)).toEqual(NOTHING);
    expect(decodeTransfers([transfer], { chain: '0x2' })).toEqual(NOTHING);
  });

  test('contain a native transfer with the currency of the chain, unless it is reported', () => {
    const native = '0xfffffffffffffffffffffffffffffffffffffffe';
    const args = { from: address(1), to: address(2), value: 1_500_000_000_000_000_000n };
    const log = { ...logOf(erc20, 'Transfer', args), address: native };
    const [entry] = decodeTransfers([log], CONTEXT).erc20Transfers;
    expect(entry).toEqual({
      ...at,
      contract: native,
      from: address(1),
      to: address(2),
      value: '1500000000000000000',
      tokenName: 'ETH',
      tokenSymbol: 'ETH',
      tokenDecimals: '18',
      possibleSpam: false,
      valueWithDecimals: '1.5',
    });
    expect(decodeTransfers([log], { chain: '0x89' }).erc20Transfers[0]?.tokenSymbol).toBe('POL');
    expect(decodeTransfers([log], { chain: '0x123456' }).erc20Transfers[0]?.tokenName).toBe(
      'native',
    );
    expect(decodeTransfers([log], { ...CONTEXT, isReported: () => true })).toEqual(NOTHING);
    const burn = { ...log, topics: [keccak256(toHex('Burn(address,uint256)')), log.topics[1]!] };
    expect(decodeTransfers([burn], CONTEXT)).toEqual(NOTHING);
  });

  interface Inputs {
    addresses: readonly [Hex, Hex, Hex];
    numbers: readonly [bigint, bigint];
    approved: boolean;
  }
  /** Events whose logs have a fixed number of topics and words, with what they decode to. */
  const events: [
    name: string,
    toLog: (inputs: Inputs) => EvmLog,
    toArrays: (inputs: Inputs) => object,
  ][] = [
    [
      'an ERC-20 transfer',
      ({ addresses: [from, to], numbers: [value] }) =>
        logOf(erc20, 'Transfer', { from, to, value }),
      ({ addresses: [from, to], numbers: [value] }) => ({
        erc20Transfers: [{ from, to, value: String(value) }],
      }),
    ],
    [
      'an ERC-20 approval',
      ({ addresses: [owner, spender], numbers: [value] }) =>
        logOf(erc20, 'Approval', { owner, spender, value }),
      ({ addresses: [owner, spender], numbers: [value] }) => ({
        erc20Approvals: [{ owner, spender, value: String(value) }],
      }),
    ],
    [
      'an ERC-721 transfer',
      ({ addresses: [from, to], numbers: [tokenId] }) =>
        logOf(erc721, 'Transfer', { from, to, tokenId }),
      ({ addresses: [from, to], numbers: [tokenId] }) => ({
        nftTransfers: [{ operator: null, from, to, tokenId: String(tokenId), amount: '1' }],
      }),
    ],
    [
      'an ERC-721 approval',
      ({ addresses: [owner, approved], numbers: [tokenId] }) =>
        logOf(erc721, 'Approval', { owner, approved, tokenId }),
      ({ addresses: [owner, approved], numbers: [n] }) => ({
        nftApprovals: { ERC721: [{ owner, approved, tokenId: String(n) }], ERC1155: [] },
        nftTokenApprovals: [
          { account: owner, operator: approved, approvedAll: false, tokenId: String(n) },
        ],
      }),
    ],
    [
      'an approval for all',
      ({ addresses: [owner, operator], approved }) =>
        logOf(erc721, 'ApprovalForAll', { owner, operator, approved }),
      ({ addresses: [account, operator], approved }) => ({
        nftApprovals: { ERC721: [], ERC1155: [{ ...at, account, operator, approved }] },
        nftTokenApprovals: [{ ...at, account, operator, approvedAll: approved, tokenId: null }],
      }),
    ],
    [
      'a single transfer of ERC-1155',
      ({ addresses: [operator, from, to], numbers: [id, value] }) =>
        logOf(erc1155, 'TransferSingle', { operator, from, to, id, value }),
      ({ addresses: [operator, from, to], numbers: [id, value] }) => ({
        nftTransfers: [
          {
            ...{ ...at, operator, from, to, tokenId: String(id), amount: String(value) },
            tokenContractType: 'ERC1155',
          },
        ],
      }),
    ],
    [
      'a range of ERC-2309',
      ({ addresses: [from, to], numbers: [first, length] }) =>
        logOf(erc2309, 'ConsecutiveTransfer', {
          ...{ from, to, fromTokenId: first / 2n, toTokenId: first / 2n + length / 2n },
        }),
      ({ addresses: [from, to], numbers: [first, length] }) => ({
        nftTransfers: [
          {
            ...{ operator: null, from, to, tokenId: String(first / 2n) },
            ...{ toTokenId: String(first / 2n + length / 2n), amount: String(length / 2n + 1n) },
          },
        ],
      }),
    ],
    [
      'a transfer of ERC-6909',
      ({ addresses: [caller, sender, receiver], numbers: [id, amount] }) =>
        logOf(erc6909, 'Transfer', { caller, sender, receiver, id, amount }),
      ({ addresses: [operator, from, to], numbers: [id, amount] }) => ({
        nftTransfers: [
          {
            ...{ ...at, operator, from, to, tokenId: String(id), amount: String(amount) },
            tokenContractType: 'ERC6909',
          },
        ],
      }),
    ],
  ];

  const uint = fc.bigInt({ min: 0n, max: MAX });
  const anyAddress = fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes): Hex => toHex(bytes));

  test.each(events)('property: contain %s as it was encoded', (_, toLog, toArrays) => {
    const anyInputs = fc.record({
      addresses: fc.tuple(anyAddress, anyAddress, anyAddress),
      numbers: fc.tuple(uint, uint),
      approved: fc.boolean(),
    });
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        const arrays = decodeTransfers([toLog(inputs)], CONTEXT);
        expect(arrays).toMatchObject({ ...NOTHING, ...toArrays(inputs) });
      }),
    );
  });

  test.each(events)('omit %s with another number of topics or words', (_, toLog) => {
    const log = toLog({
      addresses: [address(1), address(2), address(3)],
      numbers: [4n, 5n],
      approved: true,
    });
    const others = [
      { ...log, data: log.data + word(1) },
      { ...log, data: log.data.slice(0, -64) },
      { ...log, topics: log.topics.slice(0, -1) },
      { ...log, topics: [...log.topics, `0x${word(1)}`] },
    ].filter(({ data }) => data.startsWith('0x'));
    expect(decodeTransfers(others, CONTEXT)).toEqual(NOTHING);
  });

  test('property: no log makes decoding throw, and a batch decodes to what was encoded', () => {
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
            decodeTransfers([log], CONTEXT).nftTransfers.map(({ tokenId, amount }) => [
              BigInt(tokenId),
              BigInt(amount),
            ]),
          ).toEqual(items);
          const cut = { ...log, data: `0x${Buffer.from(noise).toString('hex')}` };
          expect(() => decodeTransfers([cut], CONTEXT)).not.toThrow();
        },
      ),
    );
  });
});
