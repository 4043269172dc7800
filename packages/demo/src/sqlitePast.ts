/**
 * Creates a SQLite ledger with sample data. Inserts most rows directly, because the service takes
 * the times of matches, deliveries and attempts from its clock: it needs a day to write a day, and
 * if it read the day's blocks faster, all deliveries would be of the same minute.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Insertable } from 'kysely';
import type {
  ChainGap,
  DeliveryFilter,
  DeliveryPhase,
  DeliveryState,
  StreamChangeKind,
} from '@sluice/kit/contract';
import { usageError } from '../../service/src/base/errors.ts';
import { splitBody, splitFinalBody } from '../../service/src/store/blocks/body.ts';
import { pastId } from '../../service/src/store/rows/ids.ts';
import { liveOrigin } from '../../service/src/store/blocks/matches.ts';
import { packAddresses } from '../../service/src/store/addresses/packedAddresses.ts';
import { toBlockDay } from '../../service/src/store/engine/days.ts';
import { LEDGER_FILE, openSqliteStore } from '../../service/src/store/engine/sqlite/sqlite.ts';
import {
  activityMetricsOf,
  MINUTE_MS,
  toAllStreams,
  toHours,
  TOTAL_MINUTE,
} from '../../service/src/store/stats/statWrites.ts';
import type { AttemptTransport } from '../../service/src/store/deliveries/contract.ts';
import { ADDRESSES_PER_PART } from '../../service/src/store/addresses/contract.ts';
import type { BlockHeader } from '../../service/src/store/blocks/contract.ts';
import type { Sealed, StreamDraft, StreamLife } from '../../service/src/store/streams/contract.ts';
import type { Token } from '../../service/src/store/enrichment/contract.ts';
import type { MatchState } from '../../service/src/store/tables/blocks.ts';
import type { Tables } from '../../service/src/store/tables/tables.ts';
import type { TotalMetric } from '../../service/src/store/tables/stats.ts';
import { packTransport } from '../../service/src/store/deliveries/transport.ts';

/** Id of the key from `--api-key`. All sample changes except failures are attributed to it. */
const FIRST_KEY = 'bootstrap';

/** The sample data. Times are in Unix milliseconds, but block timestamps are in seconds. */
export interface SampleData {
  chains: readonly PastChain[];
  streams: readonly PastStream[];
  /**
   * Generates the matches in any order. Windows and `replays` are read after the last match, so the
   * generator may still change them.
   */
  matches(): Iterable<PastMatch>;
  /** Finished replays. */
  replays: readonly PastReplay[];
}

export interface PastChain {
  id: string;
  /** Genesis hash; on Aptos, the chain id. */
  genesisHash: string;
  /** The newest blocks, oldest first, as on the chain. */
  window: readonly BlockHeader[];
  reorgs: readonly { blockNumber: number; depth: number; at: number }[];
  gaps: readonly Omit<ChainGap, 'chainId'>[];
  tokens: readonly Token[];
  /** Number of the first block that was matched against streams. */
  firstBlock: number;
}

export interface PastStream extends Pick<
  StreamLife,
  'id' | 'status' | 'statusMessage' | 'errorSince' | 'createdAt'
> {
  draft: StreamDraft;
  addresses: readonly { address: string; label?: string; addedAt: number }[];
  /**
   * Changes after the stream's creation. Changes of kind `failed` are recorded without an API key;
   * all others are attributed to the first API key.
   */
  changes: readonly {
    at: number;
    kind: StreamChangeKind;
    fields?: readonly string[];
  }[];
}

export interface PastMatch {
  streamId: string;
  tag: string;
  chain: string;
  block: BlockHeader;
  state: MatchState;
  logs: number;
  transactions: number;
  /** Number of records by type. */
  records: Readonly<Record<string, number>>;
  /** A one-line summary of the body. */
  about: string;
  transactionHashes: readonly string[];
  /**
   * `bodyHead` has the keys before `retries`, except `confirmed`. `bodyTail` has the keys after
   * `retries`.
   */
  bodyHead: object;
  bodyTail: object;
  /** True for Aptos, whose bodies have no `confirmed`. */
  isFinal: boolean;
  deliveries: readonly PastDelivery[];
}

export interface PastDelivery {
  phase: DeliveryPhase;
  state: Extract<DeliveryState, 'pending' | 'succeeded' | 'failed' | 'cancelled'>;
  createdAt: number;
  /** Time of the next attempt of a pending delivery. */
  dueAt?: number | undefined;
  attempts: readonly PastAttempt[];
  /** Reason for the permanent failure, if it differs from the error of the last attempt. */
  error?: string | undefined;
  replayId?: string | undefined;
}

export interface PastAttempt {
  webhookUrl: string;
  startedAt: number;
  durationMs: number;
  status: number | null;
  /** Error of the attempt; null for a 2xx response. */
  error: string | null;
  responseBody: string;
  /** Connection details; null for an immediate response on an open connection. */
  transport: AttemptTransport | null;
}

export interface PastReplay {
  id: string;
  name: string;
  filter: DeliveryFilter;
  perSecond: number;
  total: number;
  createdAt: number;
  endedAt: number;
}

/** Returns the number of each chain's last block in a ledger, by chain id. */
export async function readHeads(
  folder: string,
  chains: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const store = await openSqliteStore(folder);
  try {
    const checkpoints = await Promise.all(chains.map((chain) => store.readCheckpoint(chain)));
    return new Map(chains.map((chain, n) => [chain, checkpoints[n]!.number]));
  } finally {
    await store.close();
  }
}

/**
 * Writes the sample data.
 *
 * @returns the number of deliveries.
 * @throws CallerError if the folder already has a ledger.
 */
export async function fillSqlite(folder: string, past: SampleData): Promise<number> {
  const file = join(folder, LEDGER_FILE);
  if (existsSync(file)) {
    throw usageError(
      `${folder} has a ledger that --seed demo did not write. Pass an empty folder with --data DIR, or start over with --fresh`,
    );
  }
  const store = await openSqliteStore(folder);
  try {
    for (const { id, draft, addresses } of past.streams) {
      // The sample streams have no credentials to encrypt.
      await store.createStream(draft as Sealed<StreamDraft>, { id });
      for (let start = 0; start < addresses.length; start += ADDRESSES_PER_PART) {
        const part = addresses.slice(start, start + ADDRESSES_PER_PART);
        const addition = {
          kind: 'add' as const,
          addresses: packAddresses(
            part.map(({ address }) => address),
            draft.family === 'aptos' ? 32 : 20,
          ),
          labels: Object.fromEntries(
            part.flatMap(({ address, label }) => (label === undefined ? [] : [[address, label]])),
          ),
          clearLabels: false,
          keyId: FIRST_KEY,
        };
        await store.changeAddresses([{ streamId: id, parts: [addition] }]);
      }
    }
    for (const { id, tokens } of past.chains) await store.saveTokens(id, tokens);
  } finally {
    await store.close();
  }
  const database = new DatabaseSync(file);
  try {
    // Durability is not needed, because the data can be generated again.
    database.exec('pragma synchronous = off; pragma cache_size = -262144; begin');
    // Building the indexes at the end is several times faster than updating them for each row.
    const indexes = database
      .prepare("select name, sql from sqlite_master where type = 'index' and sql is not null")
      .all() as { name: string; sql: string }[];
    for (const { name } of indexes) database.exec(`drop index "${name}"`);
    const written = writePast(database, past);
    for (const index of indexes) database.exec(index.sql);
    database.exec(`
      update block set (matches, created_at) = (
        select count(*), coalesce(min(created_at), block.created_at) from "match"
        where chain = block.chain
          and block_number = block.number and block_hash = block.hash)`);
    database.exec('commit');
    return written;
  } finally {
    database.close();
  }
}

function writePast(database: DatabaseSync, past: SampleData): number {
  const insert = createInserts(database);
  const stats = createStats();
  let deliveries = 0;
  for (const match of past.matches()) {
    writeMatch(insert, match, stats);
    deliveries += match.deliveries.length;
  }
  for (const chain of past.chains) writeChain(database, insert, chain);
  const firstBlocks = new Map(past.chains.map(({ id, firstBlock }) => [id, firstBlock]));
  const cover = database.prepare(
    'update coverage set from_block = ? where stream_id = ? and chain = ?',
  );
  const age = database.prepare(
    'update stream set status = ?, status_message = ?, error_since = ?, created_at = ?, updated_at = ? where id = ?',
  );
  const date = database.prepare(
    'update stream_address set added_at = ? where stream_id = ? and address = ?',
  );
  for (const stream of past.streams) {
    const { id, status, statusMessage, errorSince, createdAt, draft } = stream;
    age.run(status, statusMessage, errorSince, createdAt, createdAt, id);
    for (const { address, addedAt } of stream.addresses) date.run(addedAt, id, address);
    for (const chain of draft.chainIds) cover.run(firstBlocks.get(chain) ?? null, id, chain);
    for (const { at, kind, fields = [] } of stream.changes) {
      insert('stream_change', {
        id: pastId(at),
        stream_id: id,
        kind,
        fields: JSON.stringify(fields),
        key_id: kind === 'failed' ? '' : FIRST_KEY,
        created_at: at,
      });
    }
  }
  for (const { id, name, filter, perSecond, total, createdAt, endedAt } of past.replays) {
    insert('replay', {
      id,
      name,
      filter: JSON.stringify(filter),
      per_second: perSecond,
      state: 'done',
      total,
      replayed: total,
      position: '',
      last_id: pastId(createdAt),
      next_at: endedAt,
      created_by: FIRST_KEY,
      created_at: createdAt,
      updated_at: endedAt,
    });
  }
  stats.write(insert);
  return deliveries;
}

/** Time from a block without matches to its commit. */
const COMMIT_MS = 600;

function writeChain(
  database: DatabaseSync,
  insert: Insert,
  { id, genesisHash, window, reorgs, gaps }: PastChain,
): void {
  const head = window.at(-1);
  if (head !== undefined) {
    insert('checkpoint', {
      chain: id,
      number: head.number,
      hash: head.hash,
      genesis_hash: genesisHash,
      version: head.lastVersion ?? null,
      updated_at: head.timestamp * 1000,
    });
  }
  for (const { number, hash, parentHash, timestamp } of window) {
    insert('block', {
      chain: id,
      number,
      hash,
      parent_hash: parentHash,
      timestamp,
      matches: 0,
      created_at: timestamp * 1000 + COMMIT_MS,
    });
  }
  for (const { blockNumber, depth, at } of reorgs) {
    insert('reorg', {
      id: pastId(at),
      chain: id,
      block_number: blockNumber,
      depth,
      created_at: at,
    });
  }
  for (const { kind, from, to, reason, at, endedAt } of gaps) {
    insert('gap', {
      id: pastId(at),
      chain: id,
      kind,
      from_block: from,
      to_block: to,
      reason,
      created_at: at,
      ended_at: endedAt,
    });
  }
  database
    .prepare('update token set updated_at = ? where chain = ?')
    .run((window[0]?.timestamp ?? 0) * 1000, id);
}

function writeMatch(insert: Insert, match: PastMatch, stats: Stats): void {
  const { streamId, tag, chain, block, state, isFinal } = match;
  const createdAt = Math.min(...match.deliveries.map((delivery) => delivery.createdAt));
  const matchId = pastId(createdAt);
  const blockDay = toBlockDay(block.timestamp);
  const body = (isFinal ? splitFinalBody : splitBody)(match.bodyHead, match.bodyTail);
  const bodyBytes = body.bodyHead.length + body.bodyTail.length;
  const records = match.logs + match.transactions;
  insert('match', {
    id: matchId,
    stream_id: streamId,
    chain,
    block_number: block.number,
    block_hash: block.hash,
    block_day: blockDay,
    part: 0,
    parts: 1,
    origin: liveOrigin(0),
    state,
    tag,
    logs: match.logs,
    transactions: match.transactions,
    internal_transactions: 0,
    about: match.about,
    enrichment: null,
    set_aside: null,
    unverified: null,
    witnesses: null,
    held: 0,
    confirm_by: 'chain',
    confirm_depth: 0,
    body_head: body.bodyHead,
    body_tail: body.bodyTail,
    body_bytes: bodyBytes,
    created_at: createdAt,
  });
  for (const hash of match.transactionHashes) {
    insert('match_transaction', { transaction_hash: hash, match_id: matchId, block_day: blockDay });
  }
  for (const delivery of match.deliveries) {
    const id = pastId(delivery.createdAt);
    const last = delivery.attempts.at(-1);
    const endedAt = last === undefined ? delivery.createdAt : last.startedAt + last.durationMs;
    insert('delivery', {
      id,
      match_id: matchId,
      stream_id: streamId,
      phase: delivery.phase,
      chain,
      block_number: block.number,
      block_day: blockDay,
      tag,
      records,
      about: match.about,
      state: delivery.state,
      attempts: delivery.attempts.length,
      claims: delivery.attempts.length,
      lost: 0,
      ordered: 0,
      fast_retried: delivery.attempts.length > 1 ? 1 : 0,
      body_bytes: bodyBytes,
      run_at: delivery.dueAt ?? endedAt,
      replay_id: delivery.replayId ?? null,
      lease_token: null,
      lease_until: null,
      last_status: last?.status ?? null,
      last_error: delivery.error ?? last?.error ?? null,
      last_duration_ms: last?.durationMs ?? null,
      created_at: delivery.createdAt,
      updated_at: endedAt,
    });
    for (const [index, attempt] of delivery.attempts.entries()) {
      insert('attempt', {
        delivery_id: id,
        number: index + 1,
        block_day: blockDay,
        webhook_url: attempt.webhookUrl,
        started_at: attempt.startedAt,
        duration_ms: attempt.durationMs,
        status: attempt.status,
        error: attempt.error,
        response_body: attempt.responseBody,
        transport: attempt.transport && packTransport(attempt.transport),
      });
    }
    stats.countDelivery(match, delivery);
  }
  stats.countMatch(match, createdAt);
}

interface Stats {
  countMatch(match: PastMatch, at: number): void;
  countDelivery(match: PastMatch, delivery: PastDelivery): void;
  write(insert: Insert): void;
}

/** Counts matches and attempts as the service does (`statWrites.ts`). */
function createStats(): Stats {
  const counts = new Map<string, Insertable<Tables['stat']>>();
  const count = (
    { streamId, chain }: PastMatch,
    minute: number,
    metric: Tables['stat']['metric'],
    n = 1,
  ): void => {
    if (n === 0) return;
    const key = `${streamId} ${minute} ${chain} ${metric}`;
    const row = counts.get(key);
    if (row === undefined) counts.set(key, { stream_id: streamId, minute, chain, metric, n });
    else row.n += n;
  };
  return {
    countMatch(match, at) {
      for (const [what, n] of Object.entries(match.records)) {
        count(match, Math.floor(at / MINUTE_MS), `matched_${what}`, n);
      }
    },
    countDelivery(match, { state, phase, attempts }) {
      const { streamId, chain: chainId, logs, transactions } = match;
      for (const [index, attempt] of attempts.entries()) {
        const isLast = index === attempts.length - 1;
        const metrics = activityMetricsOf({
          outcome: { ...attempt, result: attempt.error === null ? 'succeeded' : 'retry' },
          delivery: { streamId, chainId, attempts: index + 1, state: isLast ? state : 'pending' },
          wasDelivered: attempts.slice(0, index).some(({ error }) => error === null),
        });
        const minute = Math.floor((attempt.startedAt + attempt.durationMs) / MINUTE_MS);
        for (const metric of metrics) count(match, minute, metric);
      }
      if (state !== 'succeeded' && state !== 'failed') return;
      const total = (metric: TotalMetric, n: number) => count(match, TOTAL_MINUTE, metric, n);
      total(state === 'succeeded' ? 'webhooks_delivered' : 'webhooks_failed', 1);
      if (phase !== 'confirmed') return;
      total('logs', logs);
      total('transactions', transactions);
    },
    write(insert) {
      const rows = addedUp([...counts.values(), ...toAllStreams([...counts.values()])]);
      for (const row of rows) insert('stat', row);
      for (const row of addedUp(toHours(rows))) insert('stat_hour', row);
    },
  };
}

/** Adds up the counts with the same stream, minute, chain and metric. */
function addedUp(rows: readonly Insertable<Tables['stat']>[]): Insertable<Tables['stat']>[] {
  const sums = new Map<string, Insertable<Tables['stat']>>();
  for (const row of rows) {
    const key = `${row.stream_id} ${row.minute} ${row.chain} ${row.metric}`;
    sums.set(key, { ...row, n: row.n + (sums.get(key)?.n ?? 0) });
  }
  return [...sums.values()];
}

type Insert = <Name extends keyof Tables>(name: Name, row: Insertable<Tables[Name]>) => void;

/**
 * Returns a function that inserts a row. It prepares one statement per table, so all rows of a
 * table must have the same columns.
 */
function createInserts(database: DatabaseSync): Insert {
  const statements = new Map<string, StatementSync>();
  return (name, row) => {
    const columns = Object.keys(row);
    let statement = statements.get(name);
    if (statement === undefined) {
      const places = columns.map(() => '?').join();
      statement = database.prepare(`insert into "${name}" (${columns.join()}) values (${places})`);
      statements.set(name, statement);
    }
    statement.run(...Object.values<SQLInputValue>(row));
  };
}
