/**
 * Checks the installed tarball against the contract's vectors. Uses plain JavaScript and
 * `node:test`, for Node versions that cannot run this repository's test runner.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SluiceError, decodeLogs, verifySignature } from '@sluice/kit';
import { toRecords } from '@sluice/kit/records';

const TEST_WEBHOOK =
  '{"abi":[],"block":{"number":"","hash":"","timestamp":""},"txs":[],"txsInternal":[],"logs":[],"chainId":"","confirmed":true,"retries":0,"tag":"","streamId":"","erc20Approvals":[],"erc20Transfers":[],"nftTokenApprovals":[],"nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}';

/** Test vectors, each of which was checked with the hosted SDK. */
const SIGNATURES = [
  {
    body: TEST_WEBHOOK,
    secret: 'test-secret',
    signature: '0xca8151ac91349184d89220719fca2dcf954525b58ba8f4a1c338e9927e852a2d',
  },
  {
    body: '{"confirmed":false,"chainId":"0x1","tag":"é ☕ \\"q\\"","retries":1,"logs":[]}',
    secret: 'test-secret',
    signature: '0xb7933917d1846bc3726f71b21d4bd448b27d60a3699ccaf735c5a86a99d98c03',
  },
  {
    body: TEST_WEBHOOK,
    secret: 'k9'.repeat(32),
    signature: '0x3c4b2e6b07e386f97198eb2dc639f7901f00a5d3ec1b8c8effe4838920d71829',
  },
];

for (const [at, { body, secret, signature }] of SIGNATURES.entries()) {
  void test(`signature vector ${at + 1}: as text, bytes and a parsed body`, () => {
    for (const form of [body, new TextEncoder().encode(body), JSON.parse(body)]) {
      assert.equal(verifySignature({ body: form, secret, signature }), true);
    }
    assert.equal(verifySignature({ body, apiKey: secret, signature }), true);
  });

  void test(`signature vector ${at + 1}: other bodies are rejected`, () => {
    for (const [changed, otherSecret, otherSignature] of [
      [`${body} `, secret, signature],
      [body, `${secret}x`, signature],
      [body, secret, signature.toUpperCase()],
      [body, secret, ''],
      [body, secret, undefined],
    ]) {
      assert.throws(
        () => verifySignature({ body: changed, secret: otherSecret, signature: otherSignature }),
        (error) => error instanceof SluiceError && error.code === 'invalid_signature',
      );
    }
  });
}

/** A log in the wire format, with a decimal `logIndex`. */
const LOG = {
  logIndex: '152',
  transactionHash: '0xed7266ed93e21d9d45c1ca019842ebae0a32f334a2444a7d6f4f41d8f76b36f8',
  address: '0x514910771af9ca656af840dff83e8264ecf986ca',
  data: '0x000000000000000000000000000000000000000000000107464f24d7a3180000',
  topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  topic1: '0x000000000000000000000000dfd5293d8e347dfe59e90efd55b2956a1343963d',
  topic2: '0x000000000000000000000000a68b437b38bfa3dad21915fd6513e5d8fda77574',
  topic3: null,
};
const input = (name, type, indexed) => ({ name, type, indexed });
const ABI = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      input('from', 'address', true),
      input('to', 'address', true),
      input('value', 'uint256', false),
    ],
  },
];

void test('decode vector', () => {
  const foreign = { ...LOG, topic0: LOG.topic1 };
  const { decoded, undecoded } = decodeLogs({ logs: [foreign, LOG], abi: ABI });
  assert.deepEqual(undecoded, [{ log: foreign, reason: 'unknown-event' }]);
  assert.deepEqual(decoded, [
    {
      name: 'Transfer',
      args: {
        from: '0xdfd5293d8e347dfe59e90efd55b2956a1343963d',
        to: '0xa68b437b38bfa3dad21915fd6513e5d8fda77574',
        value: 4856560000000000000000n,
      },
      logIndex: 152,
      transactionHash: LOG.transactionHash,
      address: LOG.address,
    },
  ]);
});

void test('decode rejects bodies without logs or ABI, with the messages of the hosted SDK', () => {
  assert.throws(() => decodeLogs({}), {
    code: 'invalid_webhook',
    message: 'Cannot decode the logs. No logs found in the webhook, or invalid webhook provided.',
  });
  assert.throws(() => decodeLogs(JSON.parse(TEST_WEBHOOK)), {
    code: 'missing_abi',
    message: 'Cannot decode the logs. No abis found in the provided webhook.',
  });
});

void test('records', () => {
  const webhook = { ...JSON.parse(TEST_WEBHOOK), tag: 'my-token', chainId: '0x1', logs: [LOG] };
  const { collectionName, logs } = toRecords({ ...webhook, abi: ABI }, { ids: 'compatible' });
  assert.equal(collectionName, 'MyToken');
  // sha256 of "1;<transactionHash>;152", as in the hosted SDK.
  assert.equal(logs[0].id, '0xd8879a2bd67aee1e89fc15e4cf7277a9fa4ca8ef0c29a07b2d2bb30a6d5c311e');
  assert.equal(logs[0].value, '4856560000000000000000');
});
