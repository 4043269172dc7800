import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { CHROMIUM_OPTIONS } from './test/browser/chromium.ts';
import { LongestFirst } from './test/longestFirst.ts';

const source = {
  resolve: { conditions: ['@sluice/source'] },
  ssr: { resolve: { conditions: ['@sluice/source'] } },
};

// Hundreds of services are started, each in two threads or a process of its own: what these load is
// compiled once.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('node_modules/.cache/compiled', import.meta.url),
);

/** The suites of the kit that run in Node alone; all others run in Chromium as well. */
const KIT_IN_NODE_ALONE = [
  // What a socket does to a call: servers of `node:http` that fall silent or break off.
  'packages/kit/src/client/requestOverSockets.test.ts',
  'packages/kit/src/client/sluice.test.ts',
  'packages/kit/src/webhooks/testingOverSockets.test.ts',
  // Express, Fastify, `node:http`: Node itself is what is adapted.
  'packages/kit/src/webhooks/adapters/adapters.test.ts',
  // Holds the hashes of `node:crypto` against those in JavaScript.
  'packages/kit/src/contract/rules/hash.test.ts',
  // Generates the files again, with packages for Node.
  'packages/kit/src/contract/generated.test.ts',
  // Reads the kit's sources to see what they import.
  'packages/kit/src/index.test.ts',
];

/** What took too long, and nothing else, is tried once more: a machine under load is no finding. */
const retry = { count: 1, condition: /time(d )?out|not within \d+ ms/i };
/** What is waited for comes soon, or on such a machine after a while. */
const expect = { poll: { timeout: 15_000 } };

// `unit` runs beside the code; the others drive the whole program against real chains, databases,
// browsers and the official client, so they get time to start them.
export default defineConfig({
  test: {
    // Most of the time is waiting: for chains, servers and processes.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          retry,
          expect,
          include: ['packages/*/src/**/*.test.ts'],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'chromium',
          expect,
          include: ['packages/kit/src/**/*.test.ts'],
          exclude: KIT_IN_NODE_ALONE,
          testTimeout: 20_000,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: CHROMIUM_OPTIONS }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        ...source,
        test: {
          name: 'story',
          retry,
          expect,
          include: ['test/story/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        // Not part of `npm test`: `npm run test:faults`.
        test: {
          name: 'faults',
          expect,
          include: ['test/faults/**/*.test.ts'],
          testTimeout: 900_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'conformance',
          retry,
          expect,
          include: ['test/conformance/**/*.test.ts'],
          globalSetup: 'test/installPeers.ts',
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'runtimes',
          retry,
          expect,
          include: ['test/runtimes/**/*.test.ts'],
          globalSetup: 'test/installPeers.ts',
          testTimeout: 180_000,
        },
      },
      {
        ...source,
        test: {
          name: 'recorded',
          expect,
          include: ['test/recorded/**/*.test.ts'],
        },
      },
      {
        ...source,
        test: {
          name: 'packed',
          retry,
          expect,
          include: ['test/packed/**/*.test.ts'],
          globalSetup: 'test/installPeers.ts',
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'docs',
          retry,
          expect,
          include: ['test/docs/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        // Not part of `npm test`: `npm run test:browser`.
        test: {
          name: 'browser',
          retry,
          expect,
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        // Not part of `npm test`: `npm run test:looks`.
        test: {
          name: 'looks',
          include: ['test/looks/**/*.test.ts'],
          // One after the other: each starts a browser and the seeded day.
          fileParallelism: false,
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
