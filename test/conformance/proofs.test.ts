/**
 * Compares tries and proofs with @ethereumjs/mpt. Each implementation verifies the other's proofs.
 */
import { createRequire } from 'node:module';
import { type EvmWebhook, isSluiceError, verifyLogProof } from '@sluice/kit';
import { createScriptedChain, startScriptedChain } from '@sluice/testkit';
import { keccak256 } from '@sluice/kit/contract';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createLog } from '../../packages/service/src/base/log.ts';
import { createEvmSource } from '../../packages/service/src/ingest/evm/evm.ts';
import { createListTrie } from '../../packages/service/src/ingest/evm/proof/trie.ts';
import type { EvmBlock } from '../../packages/service/src/match/evm/block.ts';
import {
  createStreamIndex,
  matchBlock,
  needsOf,
} from '../../packages/service/src/match/evm/match.ts';
import { toWebhookParts } from '../../packages/service/src/match/evm/webhook.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
} from '../../packages/service/src/store/streams/contract.ts';

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

test('roots and paths of any list equal theirs', { timeout: 120_000 }, async () => {
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
});

type Proven = EvmWebhook & { proofs: NonNullable<EvmWebhook['proofs']> };
let block: EvmBlock;
let webhook: Proven;

beforeAll(async () => {
  const chain = createScriptedChain({ chainId: 1 });
  const log = (n: number) => ({
    address: `0x${'70'.repeat(20)}` as const,
    topics: [`0x${'fa'.repeat(32)}` as const, `0x${n.toString(16).padStart(64, '0')}` as const],
    data: `0x${'cd'.repeat(n % 40)}` as const,
  });
  const to = `0x${'bb'.repeat(20)}` as const;
  chain.mine({
    transactions: Array.from({ length: 140 }, (_, n) => ({
      to,
      type: n % 2 === 0 ? ('legacy' as const) : ('eip1559' as const),
      logs: Array.from({ length: n % 4 }, (_each, at) => log(n + at)),
    })),
  });
  const node = await startScriptedChain({ chain });
  const source = createEvmSource({
    ...{ chain: '0x1', urls: [node.url], pollMs: 1_000 },
    log: createLog(() => {}),
  });
  const index = createStreamIndex();
  const options = { ...DEFAULT_OPTIONS, allAddresses: true, includeContractLogs: true };
  index.put({
    ...{ id: 's', family: 'evm', chainIds: ['0x1'], tag: '', ...DEFAULT_DELIVERY },
    options: { ...options, topic0: [`0x${'fa'.repeat(32)}`], includeProofs: true },
  } as unknown as EvmStreamRecord);
  block = await source.readBlock(await source.readHead(), needsOf(index, '0x1'));
  const [match] = matchBlock(index, '0x1', block);
  const { head, tail } = toWebhookParts('0x1', block, match!);
  // The webhook as a receiver parses it.
  webhook = JSON.parse(JSON.stringify({ confirmed: true, ...head, retries: 0, ...tail })) as Proven;
  await source.stop();
  await node.stop();
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

test('our verifier accepts their proofs, and their verifier accepts ours', async () => {
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

const flip = (text: string, pick: number): string => {
  const at = 2 + (pick % (text.length - 2));
  return (
    text.slice(0, at) +
    ((Number.parseInt(text[at]!, 16) + 1) % 16).toString(16) +
    text.slice(at + 1)
  );
};

const FORGERIES: Record<string, (forged: Proven, a: number, b: number) => void> = {
  'an altered address': ({ logs }, a, b) => {
    const log = logs[a % logs.length]!;
    log.address = flip(log.address, b);
  },
  'an altered topic': ({ logs }, a, b) => {
    const log = logs[a % logs.length]!;
    log.topic1 = flip(log.topic1!, b);
  },
  'a removed topic': ({ logs }, a) => {
    logs[a % logs.length]!.topic1 = null;
  },
  'altered data': ({ logs }, a) => {
    logs[a % logs.length]!.data += 'ff';
  },
  'an added log': ({ logs }, a, b) => {
    const log = logs[a % logs.length]!;
    logs.push({ ...log, logIndex: String(Number(log.logIndex) + 1 + (b % 9)), data: '0x1234' });
  },
  'a log of another transaction': ({ logs, proofs }, a, b) => {
    const log = logs[a % logs.length]!;
    const others = proofs.receipts.filter((each) => each.transactionHash !== log.transactionHash);
    log.transactionHash = others[b % others.length]!.transactionHash;
  },
  'another index of a transaction': ({ proofs }, a) => {
    const receipt = proofs.receipts[a % proofs.receipts.length]!;
    receipt.transactionIndex = String(Number(receipt.transactionIndex) + 1);
  },
  'an altered header': ({ proofs }, a) => {
    proofs.header = flip(proofs.header, a);
  },
  'an altered node': ({ proofs }, a, b) => {
    const { nodes } = proofs.receipts[a % proofs.receipts.length]!;
    nodes[b % nodes.length] = flip(nodes[b % nodes.length]!, a);
  },
  'a missing node': ({ proofs }, a) => {
    proofs.receipts[a % proofs.receipts.length]!.nodes.pop();
  },
  'a missing proof': ({ proofs }, a) => {
    proofs.receipts.splice(a % proofs.receipts.length, 1);
  },
  'another number': ({ block: of }) => {
    of.number = String(Number(of.number) + 1);
  },
  'another time': ({ block: of }, a) => {
    of.timestamp = String(Number(of.timestamp) - 1 - a);
  },
};

test.each(Object.keys(FORGERIES))('a webhook with %s is rejected', (kind) => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.nat(100_000), (a, b) => {
      const forged = structuredClone(webhook);
      FORGERIES[kind]!(forged, a, b);
      let thrown: unknown;
      try {
        verifyLogProof(forged, { blockHash: webhook.block.hash });
      } catch (error) {
        thrown = error;
      }
      expect(isSluiceError(thrown, 'invalid_proof')).toBe(true);
    }),
    { numRuns: 25 },
  );
});

test('rejects malformed webhooks with the same error', () => {
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

test('rejects a webhook of a different block, or without proofs', () => {
  const blockHash = `0x${'12'.repeat(32)}`;
  expect(() => verifyLogProof(webhook, { blockHash })).toThrow(/is about block 0x.*, not 0x1212/);
  const { proofs: _proofs, ...bare } = webhook;
  expect(() => verifyLogProof(bare)).toThrow(/no proofs.*includeProofs/);
});
