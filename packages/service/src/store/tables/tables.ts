/**
 * The tables of the ledger. Times are Unix milliseconds unless a name or a comment states another
 * unit.
 */
import type { Kysely, Transaction } from 'kysely';
import type { StreamTables } from './streams.ts';
import type { AddressTables } from './addresses.ts';
import type { ChildTables } from './children.ts';
import type { BlockTables } from './blocks.ts';
import type { JobTables } from './jobs.ts';
import type { DeliveryTables } from './deliveries.ts';
import type { EnrichmentTables } from './enrichment.ts';
import type { StatTables } from './stats.ts';
import type { ReplayTables } from './replays.ts';
import type { UpkeepTables } from './upkeep.ts';
import type { AccessTables } from './access.ts';
import type { FeedTables } from './feeds.ts';
import type { InboxTables } from './inbox.ts';
import type { UncertainTables } from './uncertain.ts';
import type { ValueTables } from './values.ts';

export interface Tables
  extends
    StreamTables,
    AddressTables,
    ChildTables,
    BlockTables,
    JobTables,
    DeliveryTables,
    EnrichmentTables,
    StatTables,
    ReplayTables,
    UpkeepTables,
    AccessTables,
    InboxTables,
    FeedTables,
    UncertainTables,
    ValueTables {}

/** The ledger's database, or a transaction in it. */
export type Db = Kysely<Tables> | Transaction<Tables>;
