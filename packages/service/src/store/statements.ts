/** All statements of the ledger, on one connection or pool. */
import type { Kysely } from 'kysely';
import { createAccessReads } from './access/accessReads.ts';
import { createAccessWrites } from './access/accessWrites.ts';
import { createAddressReads } from './addresses/addressReads.ts';
import { createAddressWrites } from './addresses/addressWrites.ts';
import { createChildReads, createChildWrites } from './children/children.ts';
import { createBlockReads } from './blocks/blockReads.ts';
import { createBlockWrites } from './blocks/blockWrites.ts';
import { createChainHistoryReads } from './blocks/chainHistoryReads.ts';
import { createExplainReads } from './blocks/explainReads.ts';
import { createClaims } from './deliveries/claims.ts';
import { createDeliveryReads } from './deliveries/deliveryReads.ts';
import { createDeliveryWrites } from './deliveries/deliveryWrites.ts';
import { createCountReads } from './deliveries/countReads.ts';
import { createHistoryReads } from './deliveries/historyReads.ts';
import { createHistoryWrites } from './deliveries/historyWrites.ts';
import type { Engine } from './engine/engine.ts';
import type { Tables } from './tables/tables.ts';
import { createEnrichReads } from './enrichment/enrichReads.ts';
import { createEnrichWrites } from './enrichment/enrichWrites.ts';
import { createInboxReads, createInboxWrites } from './inbox/inbox.ts';
import { createFeedReads } from './feeds/feedReads.ts';
import { createFeedUpkeep } from './feeds/feedUpkeep.ts';
import { createFeedWrites } from './feeds/feedWrites.ts';
import { createJobReads } from './jobs/jobReads.ts';
import { createJobWrites } from './jobs/jobWrites.ts';
import { createUncertainReads, createUncertainWrites } from './uncertain/uncertain.ts';
import { createValueReads, createValueWrites } from './values/values.ts';
import type { Ledger } from './live/effects.ts';
import { createReplayReads } from './replays/replayReads.ts';
import { createReplayWrites } from './replays/replayWrites.ts';
import { createActivityReads } from './stats/activityReads.ts';
import { createStatWrites } from './stats/statWrites.ts';
import { createTotalReads } from './stats/totalReads.ts';
import type { Reads, Writes } from './store.ts';
import { createHealthWrites } from './streams/healthWrites.ts';
import { createStreamChangeReads } from './streams/streamChanges.ts';
import { createDestinationWrites } from './streams/destinations.ts';
import { createStreamReads } from './streams/streamReads.ts';
import { createStreamWrites } from './streams/streamWrites.ts';
import { createInvariantReads } from './integrity/invariantReads.ts';
import { createLeaseReads, createLeaseWrites } from './leases/leases.ts';
import { createAddedUrlReads, createAddedUrlWrites } from './settings/addedUrls.ts';
import { createAlertReads, createAlertWrites } from './alerts/alerts.ts';
import { createIncidentReads, createIncidentWrites } from './incidents/incidents.ts';
import { createRetentionReads } from './retention/retentionReads.ts';
import { createRetentionWrites } from './retention/retentionWrites.ts';
import { createSettingReads, createSettingWrites } from './settings/settings.ts';

export const createReads = (db: Kysely<Tables>, engine: Engine): Reads => ({
  ...createStreamReads(db, engine),
  ...createStreamChangeReads(db),
  ...createAddressReads(db),
  ...createChildReads(db, engine),
  ...createBlockReads(db, engine),
  ...createChainHistoryReads(db, engine),
  ...createExplainReads(db),
  ...createEnrichReads(db, engine),
  ...createDeliveryReads(db, engine),
  ...createHistoryReads(db, engine),
  ...createCountReads(db, engine),
  ...createReplayReads(db, engine),
  ...createJobReads(db),
  ...createActivityReads(db, engine),
  ...createTotalReads(db),
  ...createAccessReads(db, engine),
  ...createInboxReads(db),
  ...createFeedReads(db, engine),
  ...createLeaseReads(db, engine),
  ...createAddedUrlReads(db),
  ...createAlertReads(db, engine),
  ...createIncidentReads(db),
  ...createInvariantReads(db, engine),
  ...createRetentionReads(db),
  ...createSettingReads(db),
  ...engine.createServerReads(db),
  ...createUncertainReads(db, engine),
  ...createValueReads(db),
});

/** Returns all writes. Nearly every method runs in one transaction. */
export const createWrites = (ledger: Ledger): Writes => ({
  ...createStreamWrites(ledger),
  ...createDestinationWrites(ledger),
  ...createHealthWrites(ledger),
  ...createAddressWrites(ledger),
  ...createChildWrites(ledger),
  ...createBlockWrites(ledger),
  ...createEnrichWrites(ledger),
  ...createClaims(ledger.db, ledger.engine),
  ...createDeliveryWrites(ledger),
  ...createHistoryWrites(ledger),
  ...createReplayWrites(ledger),
  ...createJobWrites(ledger),
  ...createStatWrites(ledger.db, ledger.engine),
  ...createAccessWrites(ledger.db, ledger.engine),
  ...createInboxWrites(ledger),
  ...createFeedWrites(ledger),
  ...createFeedUpkeep(ledger),
  ...createLeaseWrites(ledger),
  ...createAddedUrlWrites(ledger),
  ...createAlertWrites(ledger.db),
  ...createIncidentWrites(ledger.db),
  ...createRetentionWrites(ledger.db, ledger.engine),
  ...ledger.engine.createDayWrites(ledger.db),
  ...createSettingWrites(ledger),
  ...createUncertainWrites(ledger),
  ...createValueWrites(ledger),
});
