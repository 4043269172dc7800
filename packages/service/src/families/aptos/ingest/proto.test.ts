/**
 * Tests that transactions are equal, whether they come from a fullnode or the transaction stream.
 */
import {
  type ScriptedAptosTransaction,
  aptMetadata,
  aptosEffects,
  createScriptedAptosLedger,
  encodeAptosMessage,
  namedObjectOf,
  namedTokenOf,
  scriptedAptos,
} from '@sluice/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AptosJson, AptosTransaction } from '../match/block.ts';
import { decodeResponse } from './proto.ts';
import { toAptosTransaction } from './transaction.ts';

const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;
const WHO = [account(0xa11ce), account(0xb0b), account(0xca401)] as const;
const CREATOR = account(0xc4ea704);
const GOLD = namedObjectOf(CREATOR, 'GOLD');
const TOKEN = namedTokenOf(CREATOR, 'Birds', 'Wren');
const MOON = `${account(0xc01)}::moon::Moon`;

const who = fc.constantFrom(...WHO);
const amount = fc.bigInt({ min: 1n, max: 1_000n });
const pair = fc.record({ from: who, to: who, amount });
const transaction: fc.Arbitrary<ScriptedAptosTransaction> = fc.oneof(
  pair.map((each) => scriptedAptos.transfer(each)),
  fc
    .record({
      pair,
      events: fc.constantFrom('legacy' as const, 'module' as const, 'both' as const),
    })
    .map(({ pair: each, events }) =>
      scriptedAptos.coinTransfer({ ...each, coinType: MOON, events }),
    ),
  fc.record({ to: who, amount }).map((each) => ({
    sender: CREATOR,
    payload: { kind: 'entryFunction' as const, function: '0x5::gold::mint' },
    effects: aptosEffects.fungibleDeposit({ owner: each.to, metadata: GOLD }, each.amount),
  })),
  pair.map((each) => ({ ...scriptedAptos.transfer(each), failure: 'Move abort: too little' })),
  pair.map((each) => ({ ...scriptedAptos.transfer(each), replayProtectionNonce: 7n })),
  pair.map((each) => ({ ...scriptedAptos.transfer(each), showsStoreOwners: false })),
  fc.record({ pair, payer: who }).map(({ pair: each, payer }) => ({
    ...scriptedAptos.transfer(each),
    feePayer: payer,
    secondarySigners: [CREATOR],
  })),
  fc
    .record({ pair, form: fc.constantFrom('plain', 'stored', 'orderless') })
    .map(({ pair: each, form }) => ({
      ...scriptedAptos.multisig(scriptedAptos.transfer(each), {
        multisig: each.from,
        executor: CREATOR,
        stored: form === 'stored',
      }),
      ...(form === 'orderless' && { replayProtectionNonce: 8n }),
    })),
  fc.record({ sender: who, to: who, amount }).map(({ sender, to, amount: deposit }) => ({
    sender,
    payload: {
      kind: 'script' as const,
      bytecode: '0xa11ceb0b' as const,
      typeArguments: [MOON],
      arguments: ['1', true, ['0x1']],
    },
    effects: aptosEffects.fungibleDeposit({ owner: to, metadata: aptMetadata }, deposit),
  })),
  fc.record({ sender: who, owner: who }).map(({ sender, owner }) => ({
    sender,
    payload: {
      kind: 'entryFunction' as const,
      function: '0x5::game::play',
      typeArguments: ['vector<u8>', `0x1::pair::Pair<${MOON}, vector<0x1::option::Option<u64>>>`],
      arguments: ['1', ['0x1', true], { inner: '0x2' }, 7],
    },
    effects: [
      {
        kind: 'event' as const,
        type: '0x5::game::Played<0x1::aptos_coin::AptosCoin>',
        data: { score: '3' },
        handle: { account: owner, creationNumber: 9n },
      },
    ],
  })),
);

/** Omits the fields of a REST response that the stream does not contain. */
function withoutUnsaid(raw: unknown): unknown {
  return JSON.parse(
    JSON.stringify(raw, (key, value: unknown) => {
      if (typeof value !== 'object' || value === null) return value;
      if (value instanceof Map) return [...value];
      const each = value as Record<string, unknown>;
      if (/^(write|delete)_table_item$/.test(String(each['type']))) {
        const { value: _, data: __, ...rest } = each;
        return rest;
      }
      if (key !== 'code' && each['type'] !== 'write_module') return value;
      const { abi: _, ...rest } = (each['data'] ?? each) as Record<string, unknown>;
      return each['data'] === undefined ? rest : { ...each, data: rest };
    }),
  );
}

const read = (raw: AptosJson): Omit<AptosTransaction, 'raw'> => {
  const { raw: _, ...rest } = toAptosTransaction(raw, 'a test');
  return rest;
};

describe('a message of the stream', () => {
  test('property: is parsed like the response of a fullnode, with the same raw parts to the byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(transaction, { minLength: 1, maxLength: 12 }), async (script) => {
        const ledger = createScriptedAptosLedger();
        const { transactions } = ledger.mine({
          transactions: [
            scriptedAptos.tokenMint({
              creator: CREATOR,
              collection: 'Birds',
              name: 'Wren',
              to: WHO[0],
            }),
            scriptedAptos.tokenTransfer({ from: WHO[0], to: WHO[1], object: TOKEN }),
            ...script,
          ],
        });
        const batch = decodeResponse(await encodeAptosMessage(transactions));
        expect(batch.chainId).toBe('4');
        const streamed = batch.transactions.map(read).map(withoutUnsaid);
        const answered = (transactions as unknown as AptosJson[]).map(read).map(withoutUnsaid);
        expect(JSON.stringify(streamed)).toBe(JSON.stringify(answered));
      }),
      { numRuns: 60 },
    );
  });

  test('that lacks an encrypted payload leads to a transaction without payload', async () => {
    const plain = scriptedAptos.transfer({ from: WHO[0], to: WHO[1], amount: 1n });
    const { transactions } = createScriptedAptosLedger().mine({
      transactions: [
        scriptedAptos.encrypted(plain),
        // The multisig account is not encrypted, but its call is.
        scriptedAptos.encrypted(
          scriptedAptos.multisig(plain, { multisig: WHO[0], executor: CREATOR }),
        ),
      ],
    });
    const batch = decodeResponse(await encodeAptosMessage(transactions));
    const streamed = batch.transactions.map(read).slice(1, 3);
    const answered = (transactions as unknown as AptosJson[]).map(read).slice(1, 3);
    const pay = `${account(1)}::aptos_account::transfer`;
    expect(answered.map((each) => each.function)).toEqual([pay, pay]);
    expect(streamed.map((each) => each.function)).toEqual([null, null]);
    expect(streamed.map(({ payload }) => payload)).toEqual([undefined, undefined]);
    expect(streamed.map(({ hash }) => hash)).toEqual(answered.map(({ hash }) => hash));
  });
});
