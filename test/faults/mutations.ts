/** Small changes to the code that guards against each fault in `docs/faults.md`. */

export interface Mutation {
  fault: number;
  /** Behavior of the changed program. */
  what: string;
  /** Path relative to the root of the repository. */
  file: string;
  /** Replacements. Each `text` must occur exactly once in the file. */
  edits: readonly (readonly [text: string, by: string])[];
  /** Name of a test file in this folder, without its extensions. */
  suite: string;
  /** Pattern of test names (`vitest -t`). At least one of these tests must fail. */
  tests: string;
}

/**
 * Returns the source with the mutation's edits.
 * @throws Error if a `text` does not occur exactly once.
 */
export function mutate(source: string, { fault, file, edits }: Mutation): string {
  let mutant = source;
  for (const [text, by] of edits) {
    const count = source.split(text).length - 1;
    if (count !== 1) {
      throw new Error(
        `the mutation of fault ${fault} no longer applies: ${file} has its text ${count} times: ${text}`,
      );
    }
    mutant = mutant.replace(text, () => by);
  }
  return mutant;
}

const SERVICE = 'packages/service/src';

export const MUTATIONS: readonly Mutation[] = [
  {
    fault: 1,
    what: 'succeeded deliveries are resent after a kill, too',
    file: `${SERVICE}/store/deliveries/deliveryWrites.ts`,
    edits: [["and state = 'leased'`", "and state in ('leased', 'succeeded')`"]],
    suite: 'processes',
    tests: 'on sqlite.*fault 1:',
  },
  {
    fault: 2,
    what: 'matches are written a second after the checkpoint',
    file: `${SERVICE}/store/blocks/blockWrites.ts`,
    edits: [
      [
        'const created = await insertMatches(trx, engine, {\n          chain,',
        'const created: never[] = []; setTimeout(() => void insertMatches(db, engine, {\n          chain,',
      ],
      [
        "state: 'frozen',\n        });\n        if (unverified",
        "state: 'frozen',\n        }), 1_000);\n        if (unverified",
      ],
    ],
    suite: 'processes',
    tests: 'on sqlite.*fault 2:',
  },
  {
    fault: 3,
    what: 'a shutdown does not wait for attempts in flight',
    file: `${SERVICE}/service.ts`,
    edits: [['const DRAIN_MS = 17_000;', 'const DRAIN_MS = 0;']],
    suite: 'processes',
    tests: 'on sqlite.*fault 3:',
  },
  {
    fault: 4,
    what: 'an attempt may take 20 s',
    file: `${SERVICE}/deliver/send/timeouts.ts`,
    edits: [['DEFAULT_TIMEOUT_MS = 15_000;', 'DEFAULT_TIMEOUT_MS = 20_000;']],
    suite: 'receivers',
    tests: 'on sqlite.*fault 4:',
  },
  {
    fault: 5,
    what: 'the deadline ends with the headers',
    file: `${SERVICE}/deliver/destinations/http/post.ts`,
    edits: [['status = statusCode;', 'status = statusCode; endDeadline();']],
    suite: 'receivers',
    tests: 'on sqlite.*fault 5:',
  },
  {
    fault: 6,
    what: 'a response is read and kept completely',
    file: `${SERVICE}/deliver/destinations/http/post.ts`,
    edits: [
      ['if (keptBytes < responseLimitBytes) {', 'if (keptBytes >= 0) {'],
      ['chunk.subarray(0, responseLimitBytes - keptBytes)', 'chunk'],
      ['Buffer.concat(kept)', 'Buffer.concat(kept).subarray(0, responseLimitBytes)'],
      ['if (readBytes > DRAIN_LIMIT_BYTES) giveUp(null);', ''],
    ],
    suite: 'receivers',
    tests: 'on sqlite.*fault 6:',
  },
  {
    fault: 7,
    what: 'a wait is only its jitter',
    file: `${SERVICE}/deliver/schedule.ts`,
    edits: [['wait * (1 + JITTER * random)', 'wait * (JITTER * random)']],
    suite: 'receivers',
    tests: 'on sqlite.*fault 7:',
  },
  {
    fault: 8,
    what: '410 is an ordinary failure',
    file: `${SERVICE}/deliver/receivers/receivers.ts`,
    edits: [['exhausted || result.urlProblem !== undefined', 'exhausted']],
    suite: 'receivers',
    tests: 'on sqlite.*fault 8:',
  },
  {
    fault: 9,
    what: 'Retry-After is obeyed however long it is',
    file: 'packages/kit/src/contract/rules/schedule.ts',
    edits: [['Math.min(wait, MAX_RETRY_AFTER_MS)', 'wait']],
    suite: 'receivers',
    tests: 'on sqlite.*fault 9:',
  },
  {
    fault: 10,
    what: 'a lookup has no deadline',
    file: `${SERVICE}/deliver/destinations/http/resolveName.ts`,
    edits: [['const LOOKUP_TIMEOUT_MS = 3_000;', 'const LOOKUP_TIMEOUT_MS = 300_000;']],
    suite: 'addresses',
    tests: 'on sqlite.*fault 10:',
  },
  {
    fault: 11,
    what: 'the peer of a connection is not checked',
    file: `${SERVICE}/deliver/destinations/http/guard.ts`,
    edits: [["judge(socket.remoteAddress ?? '', 'peer')", 'undefined']],
    suite: 'addresses',
    tests: 'on sqlite.*fault 11:',
  },
  {
    fault: 11,
    what: 'the addresses of a lookup are not checked',
    file: `${SERVICE}/deliver/destinations/http/guard.ts`,
    edits: [["judge(address, 'lookup')", 'undefined']],
    suite: 'addresses',
    tests: 'on sqlite.*fault 11:',
  },
  {
    fault: 12,
    what: 'redirects are followed',
    file: `${SERVICE}/deliver/destinations/http/origins.ts`,
    edits: [
      ['import { type Dispatcher, Pool,', 'import { interceptors, type Dispatcher, Pool,'],
      [
        'new Pool(origin, { ...LIMITS, connect: connections.noted(guard.connectWith(certificate)) })',
        'new Pool(origin, { ...LIMITS, connect: connections.noted(guard.connectWith(certificate)) }).compose(interceptors.redirect({ maxRedirections: 3 }))',
      ],
    ],
    suite: 'receivers',
    tests: 'on sqlite.*fault 12:',
  },
  {
    fault: 13,
    what: 'loopback is public',
    file: `${SERVICE}/deliver/destinations/http/guard.ts`,
    edits: [["  '127.0.0.0/8',\n", '']],
    suite: 'addresses',
    tests: 'on sqlite.*fault 13:',
  },
  {
    fault: 14,
    what: 'a full disk is an ordinary error',
    file: `${SERVICE}/store/engine/unavailable.ts`,
    edits: [['database or disk is full|', '']],
    suite: 'storage',
    tests: 'on sqlite.*fault 14:',
  },
  {
    fault: 15,
    what: 'a connection that breaks between queries is not handled',
    file: `${SERVICE}/store/engine/postgres/postgresServers.ts`,
    edits: [
      ["client.on('error', () => {});\n      void openSession", 'void openSession'],
      ["pool.on('error', () => {});", ''],
    ],
    suite: 'storage',
    tests: 'on postgres.*fault 15: the server stops \\(immediate\\)',
  },
  {
    fault: 16,
    what: 'the first server that accepts writes is the primary',
    file: `${SERVICE}/store/engine/postgres/postgresServers.ts`,
    edits: [['best !== undefined && each.timeline <= best.timeline', 'best !== undefined']],
    suite: 'failover',
    tests: 'fault 16: the primary is killed',
  },
  {
    fault: 17,
    what: 'a query has no timeout',
    file: `${SERVICE}/store/engine/postgres/postgresServers.ts`,
    edits: [['const QUERY_TIMEOUT_MS = 30_000;', 'const QUERY_TIMEOUT_MS = 3_000_000;']],
    suite: 'storage',
    tests: 'on postgres.*fault 17:',
  },
  {
    fault: 18,
    what: 'logs are not compared with the bloom of their block',
    file: `${SERVICE}/families/evm/ingest/normalize.ts`,
    edits: [['if (!covers(bloom, promised)) {', 'if (false) {']],
    suite: 'chains',
    tests: 'on sqlite.*fault 18: a node behind a load balancer has too few logs: emptyLogs',
  },
  {
    fault: 19,
    what: 'logs are not checked',
    file: `${SERVICE}/families/evm/ingest/normalize.ts`,
    edits: [["if (log['blockHash'] !== header.hash || log['removed'] === true) {", 'if (false) {']],
    suite: 'chains',
    tests: 'on sqlite.*fault 19: the only node lies about logs: foreignLogs',
  },
  {
    fault: 20,
    what: 'removed blocks are not announced',
    file: `${SERVICE}/store/blocks/blockWrites.ts`,
    edits: [
      [
        'const removals = await insertRemovals(trx, engine, orphaned, now);',
        'const removals = [];',
      ],
    ],
    suite: 'chains',
    tests: 'on sqlite.*fault 20: a reorg 12 blocks deep',
  },
  {
    fault: 21,
    what: 'a gap begins one block too late',
    file: `${SERVICE}/ingest/follow.ts`,
    edits: [
      ['const number = local.tip()!.number + 1;', 'const number = local.tip()!.number + 2;'],
      [
        "case 'gap':\n          throw",
        "case 'gap':\n          return committing.commit(branch[0]);\n          throw",
      ],
    ],
    suite: 'chains',
    tests: 'on sqlite.*fault 21: a gap',
  },
  {
    fault: 22,
    what: 'SQLite: leases expire by the process clock',
    file: `${SERVICE}/deliver/leases.ts`,
    edits: [
      ['if (!store.isShared && expired.length === 0) return;', ''],
      ["store.isShared ? 'expired' : expired.map(({ lease }) => lease)", "'expired'"],
      ['if (store.isShared) timers', 'timers'],
    ],
    suite: 'clocks',
    tests: 'on sqlite.*fault 22: the process clock is set 1 h ahead',
  },
  {
    fault: 22,
    what: 'PostgreSQL: the process clock decides',
    file: `${SERVICE}/store/engine/postgres/postgresClock.ts`,
    edits: [
      [
        'export const postgresNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;',
        "export const postgresNow = sql<number>`${sql.raw('0')} + ${Date.now()}::bigint`;",
      ],
    ],
    suite: 'clocks',
    tests: 'on postgres.*fault 22: the process clock is set 1 h ahead',
  },
  {
    fault: 23,
    what: 'a webhook is not split into parts',
    file: `${SERVICE}/match/parts.ts`,
    edits: [
      [
        '} else if (open !== undefined && open.weight + more <= limit) {',
        '} else if (open !== undefined) {',
      ],
    ],
    suite: 'payloads',
    tests: 'on sqlite.*fault 23:',
  },
  {
    fault: 24,
    what: 'a log that does not decode is omitted',
    file: `${SERVICE}/families/evm/match/selection.ts`,
    edits: [
      [
        "if (choices === undefined) return 'log';",
        "if (known !== undefined && subjectOf(known.get(indexed), log, context) === undefined) return 'no';\n      if (choices === undefined) return 'log';",
      ],
    ],
    suite: 'payloads',
    tests: 'on sqlite.*fault 24:',
  },
  {
    fault: 25,
    what: 'a delivery that kills its sender is retried forever',
    file: `${SERVICE}/deliver/outcomes.ts`,
    edits: [["result.senderDied ? 'quarantined'", "result.senderDied ? 'retry'"]],
    suite: 'payloads',
    tests: 'on sqlite.*fault 25:',
  },
  {
    fault: 26,
    what: 'a message without a confirmation counts as delivered',
    file: `${SERVICE}/deliver/destinations/queues/queue.ts`,
    edits: [
      [
        'return failed(await explainPublishing(error, open, message));',
        "return { error: null, responseBody: '' };",
      ],
    ],
    suite: 'queues',
    tests: 'fault 26:',
  },
  {
    fault: 26,
    what: 'a message that a queue rejects counts as delivered',
    file: `${SERVICE}/deliver/destinations/rabbitMq/channel.ts`,
    edits: [["settle(new PublishError('rejected'))", 'settle()']],
    suite: 'queues',
    tests: 'fault 26: RabbitMQ',
  },
];
