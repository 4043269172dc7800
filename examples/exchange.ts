/**
 * Deposits of an exchange, with an address per customer. A deposit is pending when its block
 * appears, credited when the block is confirmed, and deleted when the block leaves the chain.
 *
 * The webhooks are read from a feed. A transaction stores the deposits of each one together with its
 * position, so a crash neither loses nor repeats one, and the exchange needs no open port.
 */
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@sluice/kit';
import { type RecordSource, toRecords, toRemovedIds } from '@sluice/kit/records';
import { createSluiceClient } from '@sluice/kit/sluice';

const {
  SLUICE_URL: baseUrl = 'http://127.0.0.1:4400',
  SLUICE_API_KEY: apiKey = '',
  SLUICE_SECRET: secret = '',
  DATABASE: path = 'deposits.sqlite',
} = process.env;

/** Customers by address, in lowercase as in webhooks. These are two accounts of the local chain. */
const customers = new Map([
  ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8', 'Alice'],
  ['0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc', 'Bob'],
]);
/** Accepted tokens by contract, because names are not unique. */
const tokens = new Map([['0x700b6a60ce7eaaea56f065753d8dcb9653dbad35', 'SLD']]);

// Amounts are strings, because they can exceed any integer type of a database.
const database = new DatabaseSync(path);
database.exec(`CREATE TABLE IF NOT EXISTS deposits (
  id text PRIMARY KEY, customer text, asset text, amount text, blockHash text, state text);
  CREATE TABLE IF NOT EXISTS feed (one integer PRIMARY KEY CHECK (one = 1), position integer)`);
const upsert = database.prepare(`INSERT INTO deposits VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, blockHash = excluded.blockHash
  WHERE deposits.state = 'pending'`);
const remove = database.prepare(
  'DELETE FROM deposits WHERE id = ? AND blockHash = ? RETURNING customer, asset, amount, state',
);

const savePosition = database.prepare(`INSERT INTO feed VALUES (1, ?)
  ON CONFLICT DO UPDATE SET position = excluded.position`);
/** Returns the position of the last webhook that was processed; 0 before the first. */
const readPosition = (): number => {
  const row = database.prepare('SELECT position FROM feed').get();
  return row === undefined ? 0 : Number(row['position']);
};

interface Deposit {
  id: string;
  to: string | null;
  asset: string | undefined;
  amount: string | null;
}

/** Yields all kinds of deposits: ERC-20 tokens, ETH, and ETH that a contract pays. */
function* depositsOf(webhook: RecordSource): Generator<Deposit> {
  const { erc20Transfers, txs, internalTxs } = toRecords(webhook);
  for (const { id, to, contract, value } of erc20Transfers) {
    yield { id, to, asset: tokens.get(contract), amount: value };
  }
  for (const { id, toAddress: to, value, receiptStatus } of txs) {
    if (receiptStatus === 1) yield { id, to, asset: 'ETH', amount: value };
  }
  for (const { id, to, value } of internalTxs) yield { id, to, asset: 'ETH', amount: value };
}

/** Stores the deposits of a webhook, and yields what changed. */
function* record(webhook: RecordSource): Generator<string> {
  const state = webhook.confirmed ? 'credited' : 'pending';
  for (const { id, to, asset, amount } of depositsOf(webhook)) {
    const customer = customers.get(to ?? '');
    if (customer === undefined || asset === undefined || amount === null || amount === '0') continue;
    const { changes } = upsert.run(id, customer, asset, amount, webhook.block.hash, state);
    // If no row changed, an earlier delivery has already credited the deposit.
    if (changes > 0) yield `${state} ${customer} ${amount} ${asset}`;
  }
}

/**
 * Deletes only the deposits of the removed block, because its replacement may contain the same
 * transactions. Yields what changed.
 */
function* takeBack(webhook: RecordSource): Generator<string> {
  const { blockHash, erc20Transfers, txs, internalTxs } = toRemovedIds(webhook);
  for (const id of [...erc20Transfers, ...txs, ...internalTxs]) {
    for (const { customer, asset, amount, state } of remove.all(id, blockHash)) {
      // If a credited deposit is removed, the reorg was deeper than the number of confirmations.
      // Check the customer's account manually.
      const late = state === 'credited' ? ['AFTER IT WAS CREDITED'] : [];
      yield ['gone', customer, amount, asset, ...late].join(' ');
    }
  }
}

const client = createClient({ baseUrl, apiKey });
const stream = {
  webhookUrl: 'sluice://feed',
  description: 'deposits of our customers',
  tag: 'deposits',
  chainIds: ['0x7a69'],
  includeContractLogs: true,
  includeNativeTxs: true,
  includeInternalTxs: true,
  notifyRemoved: true,
  strictOrder: true,
};
/** Updates the stream of an earlier start, or creates the stream. Returns its id. */
async function ensureStream(): Promise<string> {
  for await (const { id, tag } of client.streams.list()) {
    if (tag === stream.tag) return (await client.streams.update(id, stream)).id;
  }
  return (await client.streams.create(stream)).id;
}
const streamId = await ensureStream();
await client.streams.addAddress(streamId, [...customers.keys()]);

const feed = createSluiceClient({ baseUrl, apiKey }).feed(streamId, {
  mode: 'each',
  after: readPosition(),
  secret,
});
for await (const { webhook, position } of feed) {
  database.exec('BEGIN');
  const news = [...(webhook.removed === true ? takeBack(webhook) : record(webhook))];
  savePosition.run(position);
  database.exec('COMMIT');
  // Prints after the commit, so that a crash does not print a deposit twice.
  for (const line of news) console.log(line);
}
