/** Requirements of every store engine. Run by `sqlite.test.ts` and `postgres.test.ts`. */
import type { Store } from '../store.ts';
import { testAddresses } from './addresses.suite.ts';
import { testBlocks } from './blocks.suite.ts';
import { testCoverage } from './coverage.suite.ts';
import { testDeliveries } from './deliveries.suite.ts';
import { testEnrichment } from './enrichment.suite.ts';
import { testLeases } from './leases.suite.ts';
import { testReads } from './reads.suite.ts';
import { testRules } from './rules.suite.ts';
import { testStreams } from './streams.suite.ts';
import { useStore } from './storeTools.test-only.ts';

export function testStore(open: () => Promise<Store>): void {
  const tools = useStore(open);
  testStreams(tools);
  testAddresses(tools);
  testRules(tools);
  testLeases(tools);
  testBlocks(tools);
  testCoverage(tools);
  testReads(tools);
  testEnrichment(tools);
  testDeliveries(tools);
}
