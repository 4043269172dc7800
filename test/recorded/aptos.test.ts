/**
 * Tests how recorded Aptos transactions and blocks are read. A handwritten table lists the touched
 * addresses of each transaction, its movements, and the payments in its payload.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toMovePath } from '@sluice/kit/contract';
import { encodeAptosMessage } from '@sluice/testkit';
import { describe, expect, test } from 'vitest';
import { decodeResponse } from '../../packages/service/src/families/aptos/ingest/proto.ts';
import type { AptosPage } from '../../packages/service/src/families/aptos/ingest/provider.ts';
import { createAptosRun } from '../../packages/service/src/families/aptos/ingest/run.ts';
import { primaryStoreOf } from '../../packages/service/src/families/aptos/ingest/stores.ts';
import { toAptosTransaction } from '../../packages/service/src/families/aptos/ingest/transaction.ts';
import type {
  AptosBlock,
  AptosJson,
} from '../../packages/service/src/families/aptos/match/block.ts';
import { createAptosIndex } from '../../packages/service/src/families/aptos/match/streamIndex.ts';
import {
  readMovements,
  readTouchedAccounts,
  readTransfers,
} from '../../packages/service/src/families/aptos/match/movements.ts';
import { countObservedPaths } from '../../packages/service/src/families/aptos/match/observed.ts';
import {
  type AptosStreamRecord,
  DEFAULT_APTOS_OPTIONS,
} from '../../packages/service/src/store/streams/contract.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(process.env['SLUICE_FIXTURES'] ?? join(root, '../shared/fixtures'), 'aptos');
const isThere = existsSync(folder);

const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

/** Finds all user transactions with a hash in a response, at any depth. */
function userTransactionsOf(value: unknown): AptosJson[] {
  if (Array.isArray(value)) return value.flatMap(userTransactionsOf);
  if (typeof value !== 'object' || value === null) return [];
  const raw = value as AptosJson;
  if (raw['type'] === 'user_transaction') return raw['hash'] === '' ? [] : [raw];
  return Object.values(raw).flatMap(userTransactionsOf);
}

const pad = (digits: string): string => `0x${digits.padStart(64, '0')}`;
const A = pad('a');
const RELAYER = pad('c20ea5a196c81d8d7aff814aa37f8a5823acffbc4193efd3b2aafc9ef2803255');
const ORACLE = pad('54ad3d30af77b60d939ae356e6606de9a4da67583f02b962d2d3f2e481484e90');
const BRIDGE = pad('f22bede237a07e121b56d91a491eb7bcdfd1f5907926a9e58338f964a01b17fa');
const KCASH = pad('7217ddb8006d44e945286edb847ef3c75c3c9ea5fb855f576baacac5c0edc239');
const STAR = pad('43782fca70e1416fc0c75954942dadd4af8d305a608b6153397ad5801b71e72d');
const GAME_PAYER = pad('34b74d880555e3972e1e95c4e215f7d8a2653797d4bd949c8890b5f5e4a97040');
const GAME_PAYER_APT = pad('40791ec1c4b713b898aa6758377937d245ac2a856c24e9d035f75180477d876f');
const TEVI = pad('541e28fb12aa661a30358f2bebcd44460187ec918cb9cee075c2db86ee6aed93');
const TEVI_STAR = pad('3da9e9308cfbd894e19bfefff44e20bec40ef772d0bbd0cde66973690a206cd1');
const APC = `${pad('777821c78442e17d82c3d7a371f42de7189e4248e529fe6eee6bca40ddbb')}::apcoin::ApCoin`;
const APT = `${pad('1')}::aptos_coin::AptosCoin`;

interface Expected {
  touched: string[];
  /**
   * Deposits as `account value asset`, in the order of the events. Withdrawals have the same
   * format.
   */
  deposits?: string[];
  withdrawals?: string[];
  transfers?: { from: string; to: string; value: string; asset: string }[];
}

const relay: Expected = { touched: [RELAYER, ORACLE] };

/** Expected results by the first ten digits of the transaction hash. */
const TABLE: Record<string, Expected> = {
  '0x6319e20f45': relay,
  '0x4354f125d2': relay,
  '0x6041a16d05': relay,
  '0x0d85bde92b': {
    touched: [
      pad('e8411bec7c51685a79f8c3470377936d702928f3744ffbc52e55a83da61d3cb3'),
      GAME_PAYER,
      A,
      GAME_PAYER_APT,
      pad('90f1b7d6d9a032f5d65384cac9384b6c242ddee3028d3a74d1efe59dfb14875e'),
      pad('c059cadd44a2e785b165737564291a9973a1e165c5d092a063be99b628263e5b'),
      pad('5a96fab415f43721a44c5a761ecfcccc3dae9c21f34313f0e594b49d8d4564f4'),
    ],
    withdrawals: [
      `${pad('e8411bec7c51685a79f8c3470377936d702928f3744ffbc52e55a83da61d3cb3')} 15 ${KCASH}`,
    ],
    deposits: [
      `${pad('5a96fab415f43721a44c5a761ecfcccc3dae9c21f34313f0e594b49d8d4564f4')} 15 ${KCASH}`,
    ],
  },
  '0xa2cca93660': {
    touched: [
      pad('862aa75caa61cc4c2c7826916f7652e3f1b463b2f319824b536e11fa70144db0'),
      pad('ddc017824c2b944723a0e8fdc81714ddcfd11c94f7a6356466d50e8c4ee89a83'),
      A,
      pad('2fd25609fe5df5223d3c9360547af14b8bdd449185537f906d95cc2fcc5a10f1'),
      TEVI_STAR,
      pad('7b659ea50187d29274225119c31a007919168c647b2454ec43461a39491b367d'),
      TEVI,
    ],
    withdrawals: [
      `${pad('862aa75caa61cc4c2c7826916f7652e3f1b463b2f319824b536e11fa70144db0')} 100000000 ${STAR}`,
    ],
    deposits: [`${TEVI} 100000000 ${STAR}`],
  },
  '0xeafddb06c1': {
    touched: [
      pad('aad6ce2f69ae40e6ca1d24da0b866e7bade1870cc58d6e5676964221d9530fd0'),
      GAME_PAYER,
      A,
      GAME_PAYER_APT,
      pad('49100d528cb0c3d6e4a7f089772528948e02b0241fac159b8a28038386b6f36e'),
      pad('566a42c022f7266ec54488dcef481902ca886048132965e9af16c771ef85335d'),
      pad('a998c66cc45650e84324e142ff454c767beb3a94ab4b2a2f600cc6d44237e382'),
    ],
    withdrawals: [
      `${pad('aad6ce2f69ae40e6ca1d24da0b866e7bade1870cc58d6e5676964221d9530fd0')} 60 ${KCASH}`,
    ],
    deposits: [
      `${pad('a998c66cc45650e84324e142ff454c767beb3a94ab4b2a2f600cc6d44237e382')} 60 ${KCASH}`,
    ],
  },
  '0x434d4f991a': {
    touched: [pad('4c1b416e4e3793724dabd2d10909689bd534159a2d4d4b605ec22d9e593bbad3'), BRIDGE],
    deposits: [
      `${pad('4c1b416e4e3793724dabd2d10909689bd534159a2d4d4b605ec22d9e593bbad3')} 50000 ${BRIDGE}::asset::USDT`,
    ],
  },
  '0x70db890ab8': {
    touched: [pad('235d28281f2e0508fb2cba59e06b0f33d120473d7103548df417f351e191cba5')],
  },
  // A failed transaction, which only paid gas.
  '0x4c3248d4c2': {
    touched: [
      pad('95a0fd88b11286d4790c253b39c6678b798c54b54b63bfd2bfe042411ee2e3e8'),
      pad('31deb490728ae8e1a89675ee4c1877af8e5849c526d2c9a64238c49d8ece08a0'),
      A,
      pad('60d8ef2e962b1d1b4f602c72e23eed6fbba86eefb41853a7688073fc918d912'),
    ],
  },
  '0x82f114cf3f': {
    touched: [
      pad('979e9463b315e84e13b2971d6420641d611a92ab79ce78a87131e0c3e8191135'),
      pad('c7efb4076dbe143cbcd98cfaaa929ecfc8f299203dfff63b95ccb6bfe19850fa'),
    ],
    withdrawals: [
      `${pad('979e9463b315e84e13b2971d6420641d611a92ab79ce78a87131e0c3e8191135')} 10000 ${BRIDGE}::asset::USDC`,
    ],
    deposits: [
      `${pad('979e9463b315e84e13b2971d6420641d611a92ab79ce78a87131e0c3e8191135')} 141520 ${APT}`,
    ],
  },
  '0x011a1662cc': {
    touched: [
      pad('5f9f8c58245aa43b289da4662079a38eab09f4d2f838918337995ad6951fa452'),
      pad('cff3f102c7aaed500afa51d94d74f3b9f7e7b8e5a399fee14b60ac2211f97f1b'),
      A,
      pad('1f90b383d8731a29cd84d2cdbb1a6b5818e975fdd9f1bd6db35ff8c1f263306f'),
      TEVI_STAR,
      pad('aa2a14d25a92e322b40859320e6f4ee6ff90a96e1415bcd108df58184a5a658d'),
      TEVI,
    ],
    withdrawals: [
      `${pad('5f9f8c58245aa43b289da4662079a38eab09f4d2f838918337995ad6951fa452')} 300000000 ${STAR}`,
    ],
    deposits: [`${TEVI} 300000000 ${STAR}`],
  },
  '0xb07711bfb0': {
    touched: [
      pad('48af300f89da29d2a355913fd95d77bd9102025a558fd66541de4e20960764ee'),
      pad('b731146f64e49695f67ec7d7cd11b58a94194c897a5c2a1fea6e00d36e220926'),
      pad('111111988671bf90f28a06ece99f293677c35017e46c4f81a3e20f5b1d1cbdd6'),
    ],
    withdrawals: [
      `${pad('b731146f64e49695f67ec7d7cd11b58a94194c897a5c2a1fea6e00d36e220926')} 36000000 ${APC}`,
      `${pad('b731146f64e49695f67ec7d7cd11b58a94194c897a5c2a1fea6e00d36e220926')} 18000000 ${APC}`,
    ],
    deposits: [
      `${pad('48af300f89da29d2a355913fd95d77bd9102025a558fd66541de4e20960764ee')} 36000000 ${APC}`,
      `${pad('111111988671bf90f28a06ece99f293677c35017e46c4f81a3e20f5b1d1cbdd6')} 18000000 ${APC}`,
    ],
  },
  // A transfer of an object, which is neither a deposit nor a withdrawal.
  '0xae3f1f751c': {
    touched: [
      pad('a46c6c7a65d605685e23055a6a906fb7284ba87849cbeb579d5c07424938241e'),
      pad('2932a152328163661f0ae591911270d0edfe0a765beb48a270b9b8a70e766572'),
      pad('8038df5e61a19a5f86ad01f4389736b08250dad1b4aa864afc4fc639a2581ca8'),
    ],
  },
  '0x650da387b6': {
    touched: [
      pad('a5b2dd0b5fe37a06f151d424cc880f67458c6fe3d8dbf44a55c6021cd111c10d'),
      A,
      pad('4f8733c98d484ea506fcfd7ecdec17c4b27f7489fb0c8962975bf0cf213b6242'),
      pad('a66d5588e5e71987999dea776e5798be8926470f012e4a4f320e0737903ecba1'),
      pad('49ffe7968750a5ffea80af6fd7657bb246ff8ce6657cbf2c8ed13d9276096b3f'),
    ],
    withdrawals: [
      `${pad('a5b2dd0b5fe37a06f151d424cc880f67458c6fe3d8dbf44a55c6021cd111c10d')} 20000 ${APT}`,
    ],
    deposits: [
      `${pad('49ffe7968750a5ffea80af6fd7657bb246ff8ce6657cbf2c8ed13d9276096b3f')} 20000 ${APT}`,
    ],
    transfers: [
      {
        from: pad('a5b2dd0b5fe37a06f151d424cc880f67458c6fe3d8dbf44a55c6021cd111c10d'),
        to: pad('49ffe7968750a5ffea80af6fd7657bb246ff8ce6657cbf2c8ed13d9276096b3f'),
        value: '20000',
        asset: APT,
      },
    ],
  },
};

const files = isThere
  ? ['rest-mainnet', 'rest-gosdk'].flatMap((each) =>
      readdirSync(join(folder, each)).map((file) => join(each, file)),
    )
  : [];
const recorded = files.flatMap((file) => userTransactionsOf(read(file)));

describe.skipIf(!isThere)('recorded user transactions', () => {
  test('cover the table', () => {
    expect(recorded).toHaveLength(16);
    expect(new Set(recorded.map((raw) => String(raw['hash']).slice(0, 12)))).toEqual(
      new Set(Object.keys(TABLE)),
    );
  });

  test.each(recorded.map((raw, n) => [n, String(raw['hash']).slice(0, 12), raw] as const))(
    '%i, %s, matches the table',
    (_, hash, raw) => {
      const expected = TABLE[hash]!;
      const transaction = toAptosTransaction(raw, 'a recording');
      const movements = readMovements(transaction);
      const shown = (kind: string): string[] =>
        movements
          .filter((each) => each.kind === kind)
          .map(({ account, value, asset }) => `${account} ${value} ${asset}`);
      expect([...readTouchedAccounts(transaction)].toSorted()).toEqual(expected.touched.toSorted());
      expect(shown('deposit')).toEqual(expected.deposits ?? []);
      expect(shown('withdrawal')).toEqual(expected.withdrawals ?? []);
      expect(readTransfers(transaction)).toEqual(expected.transfers ?? []);
      expect(transaction.unknownStores).toEqual([]);
    },
  );

  test('are the same from the transaction stream', async () => {
    const { transactions } = decodeResponse(await encodeAptosMessage(recorded));
    for (const [n, raw] of transactions.entries()) {
      const streamed = toAptosTransaction(raw, 'a stream');
      const answered = toAptosTransaction(recorded[n]!, 'a recording');
      const { raw: _, payload, changes, ...rest } = streamed;
      expect(answered).toMatchObject(rest);
      expect([...readTouchedAccounts(streamed)]).toEqual([...readTouchedAccounts(answered)]);
      expect(readMovements(streamed)).toEqual(readMovements(answered));
      expect(readTransfers(streamed)).toEqual(readTransfers(answered));
      expect(payload).toEqual(answered.payload);
      // Table items are only counted: the transaction stream decodes them, but the recordings
      // contain their bytes.
      const isSaid = ({ type }: AptosJson): boolean => !String(type).endsWith('_table_item');
      expect(changes.filter(isSaid)).toEqual(answered.changes.filter(isSaid));
      expect(changes).toHaveLength(answered.changes.length);
    }
  });

  test('have primary stores at the derived addresses', () => {
    const found = recorded.flatMap((raw) => [...toAptosTransaction(raw, '').stores]);
    expect(found.length).toBeGreaterThan(10);
    for (const [address, store] of found) expect(primaryStoreOf(store)).toBe(address);
  });
});

describe.skipIf(!isThere)('recorded blocks', () => {
  const blocks = files
    .map((file) => [file, read(file) as AptosJson] as const)
    .filter(
      ([file, value]) =>
        file.startsWith('rest-mainnet') && 'block_height' in value && 'transactions' in value,
    );

  test('exist', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(4);
  });

  test.each(blocks)('%s: all functions and events are counted', (_, recordedBlock) => {
    const raw = recordedBlock['transactions'] as AptosJson[];
    const block = { transactions: raw.map((each) => toAptosTransaction(each, 'a recording')) };
    const index = createAptosIndex();
    const options = { ...DEFAULT_APTOS_OPTIONS, allAddresses: true };
    index.put({ id: 's', chainIds: ['aptos:mainnet'], options } as unknown as AptosStreamRecord);
    const counts: Record<string, number> = {};
    const count = (key: string): void => void (counts[key] = (counts[key] ?? 0) + 1);
    for (const { payload, events = [] } of raw as {
      payload?: { function?: string };
      events?: { type: string }[];
    }[]) {
      if (payload?.function !== undefined) count(`function ${toMovePath(payload.function)}`);
      for (const { type } of events) count(`event ${toMovePath(type.replace(/<.*/, ''))}`);
    }
    const seen = countObservedPaths(index, 'aptos:mainnet', block as unknown as AptosBlock);
    expect(
      Object.fromEntries(
        seen.map(({ kind, path, count: found }) => [`${kind} ${toMovePath(path)}`, found]),
      ),
    ).toEqual(counts);
    expect(seen.length).toBeGreaterThan(0);
  });

  test.each(blocks)('%s: is rebuilt from its page of transactions', async (_, block) => {
    const transactions = (block['transactions'] as AptosJson[]).map((raw) =>
      toAptosTransaction(raw, 'a recording'),
    );
    const number = Number(block['block_height']);
    const run = createAptosRun(
      {
        number,
        hash: String(block['block_hash']),
        parentHash: pad('0'),
        timestamp: 0,
        firstVersion: Number(block['first_version']),
        lastVersion: Number(block['last_version']),
      },
      {
        readPage: async () => ({ transactions, sizeBytes: 1 }) as AptosPage,
        hashAt: () => undefined,
        ledgerVersion: () => Number(block['last_version']),
      },
    );
    expect(await run.read(number)).toMatchObject({
      number,
      hash: block['block_hash'],
      timestampMicros: block['block_timestamp'],
      firstVersion: Number(block['first_version']),
      lastVersion: Number(block['last_version']),
      transactions,
    });
  });
});
