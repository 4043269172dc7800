import type { Kysely } from 'kysely';
import { createAccessWrites } from './accessWrites.ts';
import { createAddressWrites } from './addressWrites.ts';
import { createBlockWrites } from './blockWrites.ts';
import { createDeliveryWrites } from './deliveryWrites.ts';
import { createEnrichWrites } from './enrichWrites.ts';
import type { Engine } from './engine.ts';
import { createFeedWrites } from './feedWrites.ts';
import { createHealthWrites } from './healthWrites.ts';
import { createHistoryWrites } from './historyWrites.ts';
import { createLeaseWrites } from './leaseWrites.ts';
import { createStatWrites } from './statWrites.ts';
import type { Writes } from './store.ts';
import { createInboxWrites } from './inbox.ts';
import { createJobWrites } from './jobWrites.ts';
import { createOperatorNoticeWrites } from './noticeWrites.ts';
import { createReplayWrites } from './replayWrites.ts';
import { createPartitionWrites } from './partitionWrites.ts';
import { createRetentionWrites } from './retentionWrites.ts';
import { createStreamWrites } from './streamWrites.ts';
import type { Tables } from './tables.ts';

/** The statements that change the ledger, each method one transaction. */
export const createWrites = (db: Kysely<Tables>, engine: Engine): Writes => ({
  ...createAccessWrites(db, engine),
  ...createStreamWrites(db, engine),
  ...createAddressWrites(db, engine),
  ...createHealthWrites(db, engine),
  ...createLeaseWrites(db, engine),
  ...createBlockWrites(db, engine),
  ...createDeliveryWrites(db, engine),
  ...createHistoryWrites(db, engine),
  ...createStatWrites(db, engine),
  ...createReplayWrites(db, engine),
  ...createOperatorNoticeWrites(db),
  ...createJobWrites(db, engine),
  ...createInboxWrites(db, engine),
  ...createRetentionWrites(db, engine),
  ...createPartitionWrites(db, engine),
  ...createEnrichWrites(db, engine),
  ...createFeedWrites(db, engine),
});
