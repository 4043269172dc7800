import { defineConfig } from 'vitest/config';

const source = {
  resolve: { conditions: ['@sluice/source'] },
  ssr: { resolve: { conditions: ['@sluice/source'] } },
};

// `unit` runs beside the code; the others drive the whole program against real chains, databases,
// browsers and the official client, so they get time to start them.
export default defineConfig({
  test: {
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts'],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'story',
          include: ['test/story/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        ...source,
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          globalSetup: 'test/installPeers.ts',
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        ...source,
        test: {
          name: 'runtimes',
          include: ['test/runtimes/**/*.test.ts'],
          globalSetup: 'test/installPeers.ts',
          testTimeout: 180_000,
          fileParallelism: false,
        },
      },
      {
        ...source,
        test: {
          name: 'recorded',
          include: ['test/recorded/**/*.test.ts'],
        },
      },
      {
        ...source,
        test: {
          name: 'packed',
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
          include: ['test/docs/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
