/**
 * Compares responses of the test kit's scripted Aptos node with recorded responses of fullnodes.
 * Each object must have the same fields, and each value the same kind, as one in the recordings.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  type RunningScriptedAptos,
  aptosEffects,
  namedObjectOf,
  namedTokenOf,
  primaryStoreOf,
  scriptedAptos,
  startScriptedAptos,
  toLongAddress,
} from '../../packages/testkit/src/index.ts';

const folder = join(
  process.env['SLUICE_FIXTURES'] ??
    fileURLToPath(new URL('../../../shared/fixtures', import.meta.url)),
  'aptos',
);

type Json = string | number | boolean | null | Json[] | { [field: string]: Json };

/** One place in the responses: the kinds of its values, and the field names of its objects. */
interface Place {
  kinds: Set<string>;
  fieldSets: Set<string>;
}

type Shape = Map<string, Place>;

/**
 * Adds a value, and all that it contains, to the shape. An object with a `type` belongs to the
 * place named by its type without generic arguments; other values belong to the place named by
 * their path.
 */
function addTo(shape: Shape, value: Json, path: string): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const type = isObject ? value['type'] : undefined;
  const name = typeof type === 'string' ? (type.split('<')[0] as string) : path;
  const place = shape.get(name) ?? { kinds: new Set(), fieldSets: new Set() };
  shape.set(name, place);
  place.kinds.add(kindOf(value));
  if (Array.isArray(value)) {
    for (const item of value) addTo(shape, item, `${name}[]`);
  } else if (isObject) {
    place.fieldSets.add(Object.keys(value).sort().join(' '));
    for (const [field, inner] of Object.entries(value)) addTo(shape, inner, `${name}.${field}`);
  }
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value !== 'string') return typeof value;
  if (value === '') return 'empty text';
  if (/^\d+$/.test(value)) return 'decimal';
  return /^0x[0-9a-f]*$/.test(value) ? 'hex' : 'text';
}

const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Json;

/** Returns whether a place is in the arguments of a call, which have no fixed shape. */
const isArgument = (path: string) => /_payload\.(?:type_)?arguments/.test(path);

/** Places that do not occur in the recordings. */
const unrecorded = [
  '0x1::coin::CoinDeposit',
  '0x1::coin::CoinWithdraw',
  '0x1::fungible_asset::FungibleStoreDeletion',
  '0x1::multisig_account::TransactionExecutionSucceeded',
  '0x1::object::Transfer',
  '0x4::collection::Burn',
  '0x4::collection::Mint',
  '0x4::token::TokenIdentifiers',
  'delete_resource',
  'multi_agent_signature',
  'multisig_payload',
];

const alice = toLongAddress('0xa11ce');
const bob = toLongAddress('0xb0b');

/** Mines transactions of every kind that the test kit can make. */
function mineAll(node: RunningScriptedAptos) {
  const parties = { from: alice, to: bob, amount: 5n };
  const pay = scriptedAptos.transfer(parties);
  const metadata = namedObjectOf(alice, 'GLD');
  const object = namedTokenOf(alice, 'Cats', 'Tom');
  const store = { address: toLongAddress('0x5703e'), owner: alice, metadata };
  const asset = { creator: alice, name: 'Gold', symbol: 'GLD', decimals: 6 };
  node.mine({
    transactions: [
      pay,
      scriptedAptos.coinTransfer(parties),
      scriptedAptos.coinTransfer({ ...parties, events: 'both' }),
      scriptedAptos.createFungibleAsset(asset),
      scriptedAptos.fungibleTransfer({ ...parties, metadata }),
      scriptedAptos.call({
        sender: alice,
        function: '0xc0::vault::close',
        effects: [...aptosEffects.fungibleWithdraw(store, 5n), ...aptosEffects.deleteStore(store)],
      }),
      scriptedAptos.tokenMint({ creator: alice, collection: 'Cats', name: 'Tom', to: bob }),
      scriptedAptos.tokenTransfer({ from: bob, to: alice, object }),
      scriptedAptos.objectTransfer({ from: alice, to: bob, object, events: 'legacy' }),
      scriptedAptos.tokenBurn({ owner: bob, object, collection: namedObjectOf(alice, 'Cats') }),
      scriptedAptos.call({
        sender: alice,
        function: '0xc0::game::play',
        effects: [{ kind: 'writeTableItem', handle: '0x1', key: '0x02', value: '0x03' }],
      }),
      scriptedAptos.script({ sender: alice }),
      { ...pay, failure: 'Move abort' },
      { ...pay, feePayer: toLongAddress('0xfee') },
      { ...pay, secondarySigners: [bob] },
      { ...pay, replayProtectionNonce: 77n },
      scriptedAptos.multisig(pay, { multisig: alice, executor: bob }),
    ],
  });
  node.mine({ end: 'state_checkpoint' });
}

// The recordings are not in the repository. Without them, these tests are skipped.
describe.skipIf(!existsSync(folder))('the scripted Aptos node responds like a fullnode', () => {
  test('transactions, with their payloads, signatures, events and changes; blocks; resources', async () => {
    const recorded: Shape = new Map();
    for (const name of globSync('*/*.json', { cwd: folder })) {
      // These files have synthetic blocks, which test the errors of another client.
      if (/UnparsableTransaction|UnknownTransaction/.test(name)) continue;
      addTo(recorded, read(name), /blocks_?by|TestBlock/i.test(name) ? 'block' : 'answer');
    }
    addTo(recorded, read('rest-mainnet/nodit-getLedgerInfo.json'), 'ledger');

    const ours: Shape = new Map();
    await using node = await startForShapes();
    mineAll(node);
    for (const [path, place] of [
      ['', 'ledger'],
      ['/transactions?start=0&limit=100', 'answer'],
      ['/blocks/by_height/1?with_transactions=true', 'block'],
      ['/blocks/by_version/1', 'block'],
      [`/accounts/${alice}/resource/0x1::account::Account`, 'answer'],
    ] as const) {
      addTo(ours, await node.read(path), place);
    }

    const differences: string[] = [];
    const seen = new Set<string>();
    for (const [path, place] of ours) {
      if (isArgument(path)) continue;
      const known = recorded.get(path);
      const name = unrecorded.find((each) => path === each || path.startsWith(`${each}.`));
      if (name) {
        seen.add(name);
        if (known) differences.push(`${path} is recorded after all`);
        continue;
      }
      for (const kind of place.kinds) {
        if (!known?.kinds.has(kind)) {
          differences.push(
            `${path} is ${kind}, not ${[...(known?.kinds ?? ['there'])].join(' or ')}`,
          );
        }
      }
      for (const fields of place.fieldSets) {
        if (known && !known.fieldSets.has(fields)) differences.push(`${path} has ${fields}`);
      }
    }
    expect(differences).toEqual([]);
    expect([...seen].sort()).toEqual(unrecorded);
    expect(ours.size).toBeGreaterThan(200);
  });

  test('a refusal', async () => {
    await using node = await startForShapes();
    const golden =
      'rest-goldens/transactions_test__test_get_transactions_with_start_version_is_too_large.json';
    expect(await node.read('/transactions?start=1000000')).toEqual(read(golden));
  });

  test('primary stores have the same addresses as on mainnet', () => {
    const stores = new Map<string, { owner?: string; metadata?: string }>();
    const collect = (value: Json): void => {
      if (Array.isArray(value)) value.forEach(collect);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
      const { address, data } = value as { address?: string; data?: { type: string; data: Json } };
      const fields = data?.data as { owner?: string; metadata?: { inner: string } } | undefined;
      if (address && data?.type === '0x1::object::ObjectCore' && fields?.owner) {
        stores.set(address, { ...stores.get(address), owner: fields.owner });
      }
      if (address && data?.type === '0x1::fungible_asset::FungibleStore' && fields?.metadata) {
        stores.set(address, { ...stores.get(address), metadata: fields.metadata.inner });
      }
      Object.values(value).forEach(collect);
    };
    for (const name of globSync('rest-{mainnet,gosdk}/*.json', { cwd: folder }))
      collect(read(name));
    const places = [...stores].flatMap(([address, { owner, metadata }]) =>
      owner && metadata ? [[toLongAddress(address), primaryStoreOf(owner, metadata)]] : [],
    );
    const primary = places.filter(([address, computed]) => address === computed);
    expect(places.length).toBeGreaterThan(10);
    expect(primary.length).toBeGreaterThan(places.length / 2);
  });
});

async function startForShapes() {
  const node = await startScriptedAptos();
  return Object.assign(node, {
    read: async (path: string) => (await (await fetch(`${node.url}${path}`)).json()) as Json,
    [Symbol.asyncDispose]: () => node.stop(),
  });
}
