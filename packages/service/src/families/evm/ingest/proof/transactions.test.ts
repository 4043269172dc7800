import { keccak256 } from '@sluice/kit/contract';
import fc from 'fast-check';
import { type Hex, concat, toHex, toRlp } from 'viem';
import { serializeTransaction as serializeCelo } from 'viem/celo';
import { serializeTransaction as serializeOp } from 'viem/op-stack';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../ingest/json.ts';
import { encodeTransaction } from './transactions.ts';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const word = (digit: string): Hex => `0x${digit.repeat(64)}`;
const encode = (body: Json): Hex | undefined => {
  const encoded = encodeTransaction(body);
  return encoded === undefined ? undefined : toHex(encoded);
};
/** Quantities of the specification, as RLP. */
const q = (value: number | bigint): Hex => (value === 0 || value === 0n ? '0x' : toHex(value));

const CALL = { to: address('b'), value: '0x5', input: '0xabcd', gas: '0x100' };
const FEES = { chainId: '0xa4b1', nonce: '0x7', maxPriorityFeePerGas: '0x1', maxFeePerGas: '0x3' };
const SIGNATURE = { v: '0x1', r: '0x22', s: '0x33' };
const STORAGE = [{ address: address('d'), storageKeys: [word('e')] }];
const CALL_RLP = [q(0x100), address('b'), q(5), '0xabcd'] as const;
const FEES_RLP = [q(0xa4b1), q(7), q(1), q(3)] as const;
const SIGNATURE_RLP = [q(1), q(0x22), q(0x33)] as const;
const STORAGE_RLP = [[address('d'), [word('e')]]] as const;

type Rlp = Parameters<typeof toRlp>[0];
const ARBITRUM = { chainId: '0xa4b1', from: address('a'), nonce: '0x7', ...CALL };
const AFTER_FEES = [q(9), ...CALL_RLP] as const;

describe('a transaction of a network is encoded as its specification says:', () => {
  test.each<[string, Json, Rlp]>([
    [
      'Arbitrum deposit',
      { ...ARBITRUM, type: '0x64', requestId: word('1') },
      [q(0xa4b1), word('1'), address('a'), address('b'), q(5)],
    ],
    [
      'Arbitrum unsigned',
      { ...ARBITRUM, type: '0x65', gasPrice: '0x9' },
      [q(0xa4b1), address('a'), q(7), ...AFTER_FEES],
    ],
    [
      'Arbitrum contract',
      { ...ARBITRUM, type: '0x66', requestId: word('1'), gasPrice: '0x8', maxFeePerGas: '0x9' },
      [q(0xa4b1), word('1'), address('a'), ...AFTER_FEES],
    ],
    [
      'Arbitrum retry that creates a contract',
      {
        ...ARBITRUM,
        type: '0x68',
        to: null,
        gasPrice: '0x9',
        ticketId: word('2'),
        refundTo: address('c'),
        maxRefund: '0x10',
        submissionFeeRefund: '0x11',
      },
      [
        ...[q(0xa4b1), q(7), address('a'), q(9), q(0x100), '0x', q(5), '0xabcd'],
        ...[word('2'), address('c'), q(0x10), q(0x11)],
      ] as Rlp,
    ],
    [
      'Arbitrum submission',
      {
        ...ARBITRUM,
        type: '0x69',
        gasPrice: '0x9',
        requestId: word('1'),
        l1BaseFee: '0x2',
        depositValue: '0x3',
        retryTo: address('e'),
        retryValue: '0x4',
        retryData: '0x12',
        beneficiary: address('f'),
        maxSubmissionFee: '0x6',
        refundTo: address('c'),
      },
      [
        ...[q(0xa4b1), word('1'), address('a'), q(2), q(3), q(9), q(0x100)],
        ...[address('e'), q(4), address('f'), q(6), address('c'), '0x12'],
      ] as Rlp,
    ],
    ['Arbitrum internal', { type: '0x6a', chainId: '0xa4b1', input: '0x12' }, [q(0xa4b1), '0x12']],
    [
      'Celo denominated (CIP-66)',
      {
        ...FEES,
        ...CALL,
        ...SIGNATURE,
        type: '0x7a',
        accessList: STORAGE,
        feeCurrency: address('c'),
        maxFeeInFeeCurrency: '0x44',
      },
      [...FEES_RLP, ...CALL_RLP, STORAGE_RLP, address('c'), q(0x44), ...SIGNATURE_RLP],
    ],
    [
      'Celo before CIP-64 (CIP-42)',
      {
        ...FEES,
        ...CALL,
        ...SIGNATURE,
        type: '0x7c',
        accessList: [],
        feeCurrency: address('c'),
        gatewayFeeRecipient: null,
        gatewayFee: '0x0',
      },
      [
        ...[...FEES_RLP, q(0x100), address('c'), '0x', '0x'],
        ...[...CALL_RLP.slice(1), [], ...SIGNATURE_RLP],
      ] as Rlp,
    ],
    [
      'Berachain distribution',
      { ...ARBITRUM, type: '0x7e', gasPrice: '0x9' },
      [q(0xa4b1), address('a'), address('b'), q(7), q(0x100), q(9), '0xabcd'],
    ],
    [
      'Polygon state sync',
      {
        type: '0x7f',
        stateSyncData: [{ id: '0x5', contract: address('a'), data: '0x12', txHash: word('3') }],
      },
      [[q(5), address('a'), '0x12', word('3')]],
    ],
    [
      'Stable',
      {
        ...FEES,
        ...CALL,
        ...SIGNATURE,
        type: '0x3f',
        accessList: [],
        nonceKey: '0x1',
        timeoutTimestamp: '0x2',
      },
      [...FEES_RLP, ...CALL_RLP, [], ...SIGNATURE_RLP, q(1), q(2)],
    ],
  ])('%s', (_, body, rlp) => {
    expect(encode(body)).toBe(concat([body['type'] as Hex, toRlp(rlp)]));
  });

  test('Celo legacy with a fee currency', () => {
    const body = {
      ...CALL,
      ...SIGNATURE,
      type: '0x0',
      nonce: '0x7',
      gasPrice: '0x9',
      feeCurrency: address('c'),
      ethCompatible: false,
    };
    const [gas, ...call] = CALL_RLP;
    expect(encode(body)).toBe(
      toRlp([q(7), q(9), gas, address('c'), '0x', '0x', ...call, ...SIGNATURE_RLP]),
    );
  });

  test('OP Stack post-exec, whose input is its encoding', () => {
    expect(encode({ type: '0x7d', nonce: '0x0', input: '0xc3010203' })).toBe('0x7dc3010203');
  });
});

const hexAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes));
const amount = fc.bigInt({ min: 0n, max: 2n ** 120n });
const data = fc.uint8Array({ maxLength: 80 }).map((bytes) => toHex(bytes));

describe('a transaction is encoded as viem does it:', () => {
  test('OP Stack deposit', () => {
    fc.assert(
      fc.property(
        fc.record({
          from: hexAddress,
          to: fc.option(hexAddress),
          mint: fc.option(amount),
          value: amount,
          gas: amount,
          data,
          isSystemTx: fc.boolean(),
        }),
        ({ mint, to, ...fields }) => {
          const expected = serializeOp({
            ...fields,
            type: 'deposit',
            sourceHash: word('5'),
            ...(mint === null ? {} : { mint }),
            ...(to === null ? {} : { to }),
          });
          const body = {
            type: '0x7e',
            sourceHash: word('5'),
            from: fields.from,
            to,
            mint: mint === null ? null : toHex(mint),
            value: toHex(fields.value),
            gas: toHex(fields.gas),
            input: fields.data,
            isSystemTx: fields.isSystemTx,
          };
          expect(encode(body)).toBe(expected);
        },
      ),
    );
  });

  test('Celo with a fee currency (CIP-64)', () => {
    fc.assert(
      fc.property(
        fc.record({ to: hexAddress, feeCurrency: hexAddress, value: amount, gas: amount, data }),
        (fields) => {
          const signature = { r: word('6'), s: word('7'), yParity: 1, v: 1n };
          const expected = serializeCelo(
            {
              ...fields,
              type: 'cip64',
              chainId: 42_220,
              nonce: 7,
              accessList: STORAGE,
              maxFeePerGas: 3n,
              maxPriorityFeePerGas: 1n,
            },
            signature,
          );
          const body = {
            ...FEES,
            type: '0x7b',
            chainId: '0xa4ec',
            to: fields.to,
            accessList: STORAGE,
            value: toHex(fields.value),
            gas: toHex(fields.gas),
            input: fields.data,
            feeCurrency: fields.feeCurrency,
            yParity: '0x1',
            r: word('6'),
            s: word('7'),
          };
          expect(encode(body)).toBe(expected);
        },
      ),
    );
  });
});

describe('a transaction of a public ledger has the hash that its network computed:', () => {
  test('a message of Scroll', () => {
    const encoded = encodeTransaction({
      type: '0x7e',
      from: '0x7885bcbd5cecef1336b5300fb5186a12ddd8c478',
      to: '0x781e90f1c8fc4611c9b7497c3b47f99ef6969cbc',
      sender: '0x7885bcbd5cecef1336b5300fb5186a12ddd8c478',
      queueIndex: '0xe7ba0',
      gas: '0x1e8480',
      value: '0x0',
      nonce: '0x0',
      input: [
        '0x8ef1332e000000000000000000000000c186fa914353c44b2e33ebe05f21846f1048beda',
        '0000000000000000000000003bad7ad0728f9917d1bf08af5782dcbd516cdd96',
        '0'.repeat(64),
        '00000000000000000000000000000000000000000000000000000000000e7ba0',
        '00000000000000000000000000000000000000000000000000000000000000a0',
        '0000000000000000000000000000000000000000000000000000000000000044',
        '493a4f846ffc1507cbfe98a2b0ba1f06ea7e4eb749c001f78f6cb5540daa556a',
        '0566322a00000000000000000000000000000000000000000000000000000000',
        '0'.repeat(64),
      ].join(''),
    });
    expect(keccak256(encoded!)).toBe(
      '0x5c1c3785c8bf5d7f1cb714abd1d22e32642887215602c3a14a5e9ee105bad6aa',
    );
  });

  test('a transaction of Celo', () => {
    const encoded = encodeTransaction({
      type: '0x7b',
      chainId: '0xa4ec',
      nonce: '0x705',
      to: '0x7a1e295c4babdf229776680c93ed0f73d069abc0',
      value: '0x0',
      gas: '0x3644c',
      maxFeePerGas: '0x26442dbed',
      maxPriorityFeePerGas: '0x4d7ee',
      input: '0xcac35c7a290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563',
      accessList: [],
      feeCurrency: '0x2f25deb3848c207fc8e0c34035b3ba7fc157602b',
      yParity: '0x0',
      r: '0xaa0cfaa3df893578b3504062b862428f0e4a94046370cf2a4fd6c392c0760dd8',
      s: '0x1337d022bbb8faed78a9707e6c38d51f575816e7f85aa540f3d37a9081c58a71',
    });
    expect(keccak256(encoded!)).toBe(
      '0x2499b178a0e54fb856354bb53c9cb0fe2d1f70b2e6c876f6470e7a6e5090f3ac',
    );
  });
});

describe('account abstraction (EIP-8130)', () => {
  const FIELDS = { chainId: '0x2105', nonceKey: '0x0', maxPriorityFeePerGas: '0x1' };
  const SHORT = {
    ...FIELDS,
    type: '0x7d',
    from: address('a'),
    nonce: '0x1',
    expiry: '0x0',
    maxFeePerGas: '0x2',
    gas: '0x5208',
    accountChanges: [],
    calls: [[{ to: address('b'), data: '0x' }]],
    senderAuth: '0x12',
    payerAuth: '0x',
  };
  const withHash = (body: Json, type: Hex, rlp: Rlp): Json => ({
    ...body,
    hash: keccak256(Buffer.from(concat([type, toRlp(rlp)]).slice(2), 'hex')),
  });

  test.each<[string, Json, Hex, Rlp]>([
    [
      'without values of calls',
      SHORT,
      '0x7d',
      [
        ...[q(0x2105), '0x', '0x', q(1), '0x', q(1), q(2), q(0x5208), []],
        ...[[[[address('b'), '0x']]], '0x', '0x12', '0x'],
      ] as Rlp,
    ],
    [
      'with an explicit sender and values of calls',
      SHORT,
      '0x7d',
      [
        ...[q(0x2105), address('a'), '0x', q(1), '0x', q(1), q(2), q(0x5208), []],
        ...[[[[address('b'), '0x', '0x']]], '0x', '0x12', '0x'],
      ] as Rlp,
    ],
    [
      'in an object of its own, with a window of time, metadata and an open payer',
      {
        type: '0x79',
        senderAuth: '0x12',
        payerAuth: '0x34',
        tx: {
          ...FIELDS,
          chainId: 8453,
          sender: address('a'),
          nonceSequence: 7,
          validAfter: 0,
          validBefore: 9,
          maxFeePerGas: '0x2',
          gasLimit: 1_000,
          metadata: '0x56',
          payer: address('0'),
          calls: [],
          accountChanges: [{ type: 'delegation', target: address('d') }],
        },
      },
      '0x79',
      [
        ...[q(0x2105), address('a'), '0x', q(7), '0x', q(9), q(1), q(2), q(1_000)],
        ...[['0x02', [address('d')]], [], '0x56', '0x00', '0x12', '0x34'],
      ] as Rlp,
    ],
    [
      'that creates an account',
      {
        ...SHORT,
        accountChanges: [
          {
            type: 'create',
            userSalt: word('1'),
            code: '0x60',
            initialActors: [
              { actorId: word('2'), authenticator: address('c'), scope: 0, policyData: '0x' },
            ],
          },
        ],
      },
      '0x7d',
      [
        ...[q(0x2105), '0x', '0x', q(1), '0x', q(1), q(2), q(0x5208)],
        ['0x00', [word('1'), '0x60', [[word('2'), address('c'), '0x', '0x']]]],
        ...[[[[address('b'), '0x', '0x']]], '0x', '0x12', '0x'],
      ] as Rlp,
    ],
  ])('%s is recognized by its hash', (_, body, type, rlp) => {
    expect(encode(withHash(body, type, rlp))).toBe(concat([type, toRlp(rlp)]));
    expect(encode({ ...body, hash: word('9') })).toBeUndefined();
  });

  test('with changes of keys is unknown', () => {
    const accountChanges = [{ type: 'configChange', changes: [] }];
    expect(encode({ ...SHORT, accountChanges, hash: word('9') })).toBeUndefined();
  });
});

describe('Tempo', () => {
  const TEMPO = {
    type: '0x76',
    chainId: '0x1079',
    maxPriorityFeePerGas: '0x1',
    maxFeePerGas: '0x2',
    gas: '0x100',
    calls: [{ to: address('b'), value: '0x', input: '0x' }],
    accessList: [],
    nonceKey: '0x0',
    nonce: '0x1',
    validBefore: null,
    validAfter: null,
    feeToken: null,
    signature: { type: 'secp256k1', r: '0x1', s: '0x2', yParity: '0x1' },
  };
  const signature = concat([toHex(1, { size: 32 }), toHex(2, { size: 32 }), '0x1c']);
  const before: Rlp[] = [
    ...[q(0x1079), q(1), q(2), q(0x100), [[address('b'), '0x', '0x']], []],
    ...['0x', q(1), '0x', '0x', '0x', '0x'],
  ] as Rlp[];
  const KEY = {
    chainId: '0x1079',
    keyType: 'p256',
    keyId: address('c'),
    expiry: null,
    limits: null,
    allowedCalls: null,
    witness: null,
    signature: TEMPO.signature,
  };

  test.each<[string, Json, Rlp]>([
    ['without a key', {}, [...before, [], signature] as Rlp],
    [
      'with an admin key of an account',
      { keyAuthorization: { ...KEY, isAdmin: true, account: address('d') } },
      [
        ...[...before, []],
        [[q(0x1079), q(1), address('c'), '0x', '0x', '0x', '0x', q(1), address('d')], signature],
        signature,
      ] as Rlp,
    ],
    [
      'with a key of an account that is not an admin key',
      { keyAuthorization: { ...KEY, isAdmin: false, account: null, expiry: '0x9' } },
      [...before, [], [[q(0x1079), q(1), address('c'), q(9)], signature], signature] as Rlp,
    ],
    [
      'with a delegation',
      {
        aaAuthorizationList: [
          { chainId: '0x1079', address: address('e'), nonce: '0x3', signature: TEMPO.signature },
        ],
      },
      [...before, [[q(0x1079), address('e'), q(3), signature]], signature] as Rlp,
    ],
  ])('is encoded %s', (_, change, rlp) => {
    expect(encode({ ...TEMPO, ...change })).toBe(concat(['0x76', toRlp(rlp)]));
  });

  test('with an unknown kind of signature is unknown', () => {
    const other = { type: 'other', r: '0x1' };
    const list = [{ chainId: '0x1', address: address('e'), nonce: '0x3', signature: other }];
    expect(encode({ ...TEMPO, signature: other })).toBeUndefined();
    expect(encode({ ...TEMPO, aaAuthorizationList: list })).toBeUndefined();
  });
});

test.each([
  ['an unknown type', { type: '0x55' }],
  ['a state sync without its data', { type: '0x7f', input: '0x' }],
  ['a type that is a name of an object', { type: '0x0', toString: null, nonce: 'zz' }],
])('%s is unknown', (_, body) => expect(encode(body)).toBeUndefined());

test('an odd transaction is unknown, never an error', () => {
  const types = [
    ...['0x0', '0x1', '0x2', '0x3', '0x4', '0x3f', '0x64', '0x65', '0x66', '0x68', '0x69'],
    ...['0x6a', '0x76', '0x79', '0x7a', '0x7b', '0x7c', '0x7d', '0x7e', '0x7f', '0x80', 'zz'],
  ];
  const names = [
    ...['nonce', 'input', 'to', 'r', 'calls', 'signature', 'keyAuthorization', 'accessList'],
    ...['senderAuth', 'accountChanges', 'tx', 'sourceHash', 'queueIndex', 'stateSyncData'],
    ...['authorizationList', 'blobVersionedHashes', 'aaAuthorizationList', 'feePayerSignature'],
  ];
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('0x', '0x0', '0x1', address('a'), word('1'), [[]], [{}]),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...types),
      fc.dictionary(fc.constantFrom(...names), value),
      (type, fields) => {
        encodeTransaction({ ...CALL, ...FEES, ...SIGNATURE, ...fields, type });
      },
    ),
    { numRuns: 3_000 },
  );
});
