/** Tests that every engine must pass. Run by `sqlite.test.ts` and `postgres.suite.ts`. */
import type { Store } from '../../src/store/store.ts';
import { testAddedUrls } from './addedUrls.suite.ts';
import { testAddresses } from './addresses.suite.ts';
import { testBlocks } from './blocks.suite.ts';
import { testChildren } from './children.suite.ts';
import { testConfirmations } from './confirmations.suite.ts';
import { testCoverage } from './coverage.suite.ts';
import { testDeliveries } from './deliveries.suite.ts';
import { testDestinations } from './destinations.suite.ts';
import { testEnrichment } from './enrichment.suite.ts';
import { testFeeds } from './feeds.suite.ts';
import { testLeases } from './leases.suite.ts';
import { testReads } from './reads.suite.ts';
import { testRemovedBlocks } from './removedBlocks.suite.ts';
import { testRetries } from './retries.suite.ts';
import { testRules } from './rules.suite.ts';
import { testStreams } from './streams.suite.ts';
import { testUnverified } from './unverified.suite.ts';
import { testUncertain } from './uncertain.suite.ts';
import { testValues } from './values.suite.ts';
import { useStore } from './storeTools.ts';

export function testStore(open: () => Promise<Store>): void {
  const tools = useStore(open);
  testStreams(tools);
  testAddresses(tools);
  testRules(tools);
  testLeases(tools);
  testAddedUrls(tools);
  testBlocks(tools);
  testConfirmations(tools);
  testRemovedBlocks(tools);
  testCoverage(tools);
  testChildren(tools);
  testReads(tools);
  testEnrichment(tools);
  testDeliveries(tools);
  testDestinations(tools);
  testRetries(tools);
  testUnverified(tools);
  testFeeds(tools);
  testUncertain(tools);
  testValues(tools);
}
