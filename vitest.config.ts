import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { CHROMIUM_OPTIONS } from './test/browser/chromium.ts';
import { LongestFirst } from './test/longestFirst.ts';

const source = {
  resolve: { conditions: ['@sluice/source'] },
  ssr: { resolve: { conditions: ['@sluice/source'] } },
};

// Caches compiled code, because the tests start hundreds of services in threads and processes.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('node_modules/.cache/compiled', import.meta.url),
);

/** Suites of the kit that run only in Node; all others also run in Chromium. */
const KIT_IN_NODE_ALONE = [
  // These tests make sockets fail, with `node:http` servers that go silent or disconnect.
  'packages/kit/src/client/requestOverSockets.test.ts',
  'packages/kit/src/client/sluice.test.ts',
  'packages/kit/src/webhooks/testingOverSockets.test.ts',
  // Tests adapters that run only in Node: Express, Fastify, `node:http`.
  'packages/kit/src/webhooks/adapters/adapters.test.ts',
  // Compares the kit's JavaScript hashes with `node:crypto`.
  'packages/kit/src/contract/rules/hash.test.ts',
  // Generates the files again, with packages that run only in Node.
  'packages/kit/src/contract/generated.test.ts',
  // Reads the source files and the `package.json` of the kit.
  'packages/kit/src/index.test.ts',
];

/** Number of retries, only after a timeout, because the machine may be under load. */
const retry = { count: 1, condition: /time(d )?out|not within \d+ ms/i };
/** Timeout for polled conditions, which are usually met soon, but later on a machine under load. */
const expect = { poll: { timeout: 15_000 } };

// Property tests draw new inputs in each run, except in CI, where a change should fail only for what
// it changed.
const setupFiles = [
  'test/propertySizes.ts',
  ...(process.env['CI'] === 'true' ? ['test/propertySeed.ts'] : []),
];

/** The files share their workers and modules, which saves processor time. */
const shared = {
  isolate: false,
  execArgv: ['--import', new URL('test/packedThreads.mjs', import.meta.url).href],
};

// The tests of `unit`, `service` and `chromium` are next to the code. Most other tests start programs with
// real chains, databases or browsers, so their timeouts are long.
export default defineConfig({
  test: {
    // Tests mostly wait for chains, servers and processes, so there may be more workers than cores.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          retry,
          expect,
          setupFiles,
          include: ['packages/*/src/**/*.test.ts'],
          exclude: ['packages/service/**'],
          ...shared,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'service',
          retry,
          expect,
          setupFiles,
          include: ['packages/service/{src,test}/**/*.test.ts'],
          ...shared,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'chromium',
          expect,
          setupFiles,
          include: ['packages/kit/src/**/*.test.ts'],
          exclude: KIT_IN_NODE_ALONE,
          testTimeout: 60_000,
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
          setupFiles,
          include: ['test/story/**/*.test.ts'],
          ...shared,
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        // Not part of `npm test`; run `npm run test:faults`.
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
          setupFiles,
          include: ['test/conformance/**/*.test.ts'],
          globalSetup: 'test/installPeers.ts',
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        // Not part of `npm test`; run `npm run test:packages`.
        test: {
          name: 'runtimes',
          retry,
          expect,
          setupFiles,
          include: ['test/runtimes/**/*.test.ts'],
          globalSetup: 'test/runtimes/installRuntimes.ts',
          testTimeout: 180_000,
        },
      },
      {
        ...source,
        test: {
          name: 'recorded',
          expect,
          setupFiles,
          include: ['test/recorded/**/*.test.ts'],
          ...shared,
          testTimeout: 60_000,
        },
      },
      {
        ...source,
        // Not part of `npm test`; run `npm run test:packages`.
        test: {
          name: 'packed',
          retry,
          expect,
          include: ['test/packed/**/*.test.ts'],
          globalSetup: 'test/runtimes/installRuntimes.ts',
          testTimeout: 60_000,
          hookTimeout: 300_000,
        },
      },
      {
        ...source,
        test: {
          name: 'docs',
          retry,
          expect,
          include: ['test/docs/**/*.test.ts'],
          ...shared,
          // `npm test` reports a missing kubectl, and fails without it in CI.
          exclude: process.env['TESTS_WITHOUT']?.includes('kubectl')
            ? ['test/docs/kubernetes.test.ts']
            : [],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        // Not part of `npm test`; run `npm run test:browser`.
        test: {
          name: 'browser',
          retry,
          expect,
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        // Not part of `npm test`; run `npm run test:looks`.
        test: {
          name: 'looks',
          include: ['test/looks/**/*.test.ts'],
          // The files run one after another, because each of them starts a browser and the sample
          // day.
          fileParallelism: false,
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
