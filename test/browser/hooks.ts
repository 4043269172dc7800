import { afterAll, afterEach, beforeAll } from 'vitest';
import { startVisitor, type Visitor } from './visitor.ts';
import type { World } from './world.ts';

const START_MS = 120_000;

/**
 * Starts something before the tests of a file, and stops it after them. Returns an object that has
 * its fields once the next `beforeAll` hook runs.
 */
export function useRunning<Running extends { stop(): Promise<void> }>(
  start: () => Promise<Running>,
): Running {
  const running: Partial<Running> = {};
  beforeAll(async () => {
    Object.assign(running, await start());
  }, START_MS);
  afterAll(() => running.stop?.());
  return running as Running;
}

/** Starts a visitor of the world's console. After each test, its pages are closed and checked. */
export function useVisitor(world: Pick<World, 'url' | 'apiKey'>): Visitor {
  const visitor = useRunning(() => startVisitor(world));
  afterEach(() => visitor.leave());
  return visitor;
}
