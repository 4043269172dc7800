/**
 * Lists of addresses, short IDs, names of fixture files and merged dry runs, for the console and the
 * command line, and calls without feeds, whose code the console does not need. The published kit has
 * no such entry point.
 */
export { createSluiceCalls } from '../client/sluiceCalls.ts';
export * from '../families/dryRun.ts';
export * from './addressList.ts';
export * from './blockMatch.ts';
export * from './closeMatches.ts';
export * from './fixtureName.ts';
export * from './observed.ts';
export * from './shortIds.ts';
