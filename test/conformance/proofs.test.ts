/**
 * Compares tries and proofs with @ethereumjs/mpt. Each implementation verifies the other's proofs.
 */
import { createRequire } from 'node:module';
import { type EvmWebhook, verifyLogProof } from '@sluice/kit';
import { keccak256 } from '@sluice/kit/contract';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createListTrie } from '../../packages/service/src/families/evm/ingest/proof/trie.ts';
import type { EvmBlock } from '../../packages/service/src/families/evm/match/block.ts';
import { type ProvenWebhook, readProvenWebhook } from './provenWebhook.ts';

interface Trie {
  put(key: Uint8Array, value: Uint8Array): Promise<void>;
  get(key: Uint8Array): Promise<Uint8Array | null>;
  root(): Uint8Array;
}
const require = createRequire(new URL('../peers/package.json', import.meta.url));
const { createMPT, createMerkleProof, verifyMerkleProof } = require('@ethereumjs/mpt') as {
  createMPT(): Promise<Trie>;
  createMerkleProof(trie: Trie, key: Uint8Array): Promise<Uint8Array[]>;
  verifyMerkleProof(key: Uint8Array, proof: Uint8Array[]): Promise<Uint8Array | null>;
};
const { RLP } = require('@ethereumjs/rlp') as { RLP: { encode(value: number): Uint8Array } };

const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

async function theirTrie(values: readonly Uint8Array[]): Promise<Trie> {
  const trie = await createMPT();
  for (const [n, value] of values.entries()) await trie.put(RLP.encode(n), value);
  return trie;
}

test(
  'roots and paths of any list equal those of @ethereumjs/mpt',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(20), fc.nat(300), fc.constantFrom(0, 1, 127, 128, 129, 256, 257)),
        fc.integer({ min: 2, max: 200 }),
        async (length, bytes) => {
          const values = Array.from({ length }, (_, n) => Buffer.alloc(bytes, n + 1));
          const ours = createListTrie(values);
          const theirs = await theirTrie(values);
          expect(ours.root).toBe(toHex(theirs.root()));
          for (const index of [0, 1, length >> 1, length - 1].filter((n) => n >= 0 && n < length)) {
            const key = RLP.encode(index);
            expect(await verifyMerkleProof(key, ours.prove(index))).toEqual(
              new Uint8Array(values[index]!),
            );
            const path = await createMerkleProof(theirs, key);
            // For shorter values, @ethereumjs/mpt also lists nodes that are embedded in their
            // parents.
            if (bytes >= 32) expect(ours.prove(index).map(toHex)).toEqual(path.map(toHex));
          }
        },
      ),
      { numRuns: 60 },
    );
  },
);

let block: EvmBlock;
let webhook: ProvenWebhook;

beforeAll(async () => {
  const log = (n: number) => ({
    address: `0x${'70'.repeat(20)}` as const,
    topics: [`0x${'fa'.repeat(32)}` as const, `0x${n.toString(16).padStart(64, '0')}` as const],
    data: `0x${'cd'.repeat(n % 40)}` as const,
  });
  ({ block, webhook } = await readProvenWebhook(
    Array.from({ length: 140 }, (_, n) => ({
      to: `0x${'bb'.repeat(20)}` as const,
      type: n % 2 === 0 ? ('legacy' as const) : ('eip1559' as const),
      logs: Array.from({ length: n % 4 }, (_each, at) => log(n + at)),
    })),
  ));
});

test('the proofs of a webhook verify, and name the hash to compare', () => {
  const { hash } = webhook.block;
  expect(webhook.logs).toHaveLength(210);
  expect(webhook.proofs.receipts).toHaveLength(105);
  expect(verifyLogProof(webhook, { blockHash: hash })).toEqual({
    isVerified: true,
    blockHash: hash,
  });
  expect(verifyLogProof(webhook)).toEqual({ isVerified: false, compare: hash });
  const upper = `0x${hash.slice(2).toUpperCase()}`;
  expect(verifyLogProof(webhook, { blockHash: upper }).isVerified).toBe(true);
});

test('our verifier accepts the proofs of @ethereumjs/mpt, which accepts ours', async () => {
  const values: Uint8Array[] = [];
  for (const { transactionIndex, nodes } of webhook.proofs.receipts) {
    const path = nodes.map((node) => Buffer.from(node.slice(2), 'hex'));
    const value = await verifyMerkleProof(RLP.encode(Number(transactionIndex)), path);
    values[Number(transactionIndex)] = value!;
    expect(value).not.toBeNull();
  }
  // The webhook proves only the receipts of matching transactions. The other receipts are read from
  // the trie of the block.
  const { prove } = block.proofs!;
  for (let index = 0; index < 140; index++) {
    const path = prove(index).map((node) => Buffer.from(node.slice(2), 'hex'));
    values[index] ??= (await verifyMerkleProof(RLP.encode(index), path))!;
  }
  const theirs = await theirTrie(values);
  const receipts = await Promise.all(
    webhook.proofs.receipts.map(async (each) => ({
      ...each,
      nodes: (await createMerkleProof(theirs, RLP.encode(Number(each.transactionIndex)))).map(
        toHex,
      ),
    })),
  );
  const proven = { ...webhook, proofs: { ...webhook.proofs, receipts } };
  expect(verifyLogProof(proven, { blockHash: webhook.block.hash }).isVerified).toBe(true);
});

test('verifyLogProof rejects malformed webhooks with the same error', () => {
  const nested = `0x${'c1'.repeat(60_000)}`;
  const hash = keccak256(Buffer.from(nested.slice(2), 'hex'));
  const malformed: unknown[] = [
    { ...webhook, logs: null },
    { ...webhook, block: { ...webhook.block, number: 'one' } },
    { ...webhook, proofs: { ...webhook.proofs, header: 7 } },
    { ...webhook, block: { ...webhook.block, hash }, proofs: { header: nested, receipts: [] } },
  ];
  for (const each of malformed) {
    expect(() => verifyLogProof(each as EvmWebhook)).toThrow(
      expect.objectContaining({ code: 'invalid_proof' }),
    );
  }
});

test('verifyLogProof rejects a webhook of a different block, or without proofs', () => {
  const blockHash = `0x${'12'.repeat(32)}`;
  expect(() => verifyLogProof(webhook, { blockHash })).toThrow(/is about block 0x.*, not 0x1212/);
  const { proofs: _proofs, ...bare } = webhook;
  expect(() => verifyLogProof(bare)).toThrow(/no proofs.*includeProofs/);
});

test('verifyLogProof rejects a webhook above its limit of 128 MiB', () => {
  const { block } = webhook;
  const [log] = webhook.logs;
  const [receipt] = webhook.proofs.receipts;
  const verify = (logs: unknown, proofs: unknown) => () =>
    verifyLogProof({ block, logs, proofs } as EvmWebhook);
  const tooLarge = expect.objectContaining({
    code: 'payload_too_large',
    hint: expect.stringContaining('maxWebhookBytes') as string,
  });
  // Each value other than a string counts as one character: the block, the lists and the proofs.
  const others = Object.values(block).join('').length + '{}[]'.length;
  const header = 'z'.repeat(128 * 1024 * 1024 - others);
  expect(verify([], { header, receipts: [] })).toThrow(
    expect.objectContaining({ code: 'invalid_proof' }),
  );
  expect(verify([], { header, receipts: [0] })).toThrow(tooLarge);

  const text = 'z'.repeat(2 ** 20);
  const logs = Array.from({ length: 64 }, () => ({ ...log, data: text }));
  const nodes = Array.from({ length: 64 }, () => text);
  expect(verify(logs, { header: '', receipts: [{ ...receipt, nodes }] })).toThrow(tooLarge);
});
