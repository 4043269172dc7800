import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Terminal } from '../terminal/terminal.ts';
import { type ConnectionOptions, findTarget } from './connection.ts';
import { saveContexts } from './contexts.ts';

const PROD = { apiUrl: 'https://prod.example', apiKey: 'prod-key' };
const folder = mkdtempSync(join(tmpdir(), 'sluice-contexts-'));

beforeAll(() =>
  saveContexts(
    { env: { XDG_CONFIG_HOME: folder }, cwd: folder },
    { current: 'prod', contexts: { prod: PROD } },
  ),
);
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the URL and the key that a command uses. */
const find = (options: ConnectionOptions, more: Record<string, string> = {}): string[] => {
  const env = { XDG_CONFIG_HOME: folder, ...more };
  const { url, apiKey = 'none' } = findTarget(options, { env, cwd: folder } as unknown as Terminal);
  return [url, apiKey];
};

test('a named context uses its own key, unless a flag has another one', () => {
  const env = { SLUICE_API_KEY: 'other-key' };
  expect(find({ context: 'prod' }, env)).toEqual([PROD.apiUrl, 'prod-key']);
  expect(find({ context: 'prod', apiKey: 'flag-key' }, env)).toEqual([PROD.apiUrl, 'flag-key']);
  // A variable overrides the context in use, as it overrides other defaults.
  expect(find({}, env)).toEqual([PROD.apiUrl, 'other-key']);
});

test('a saved key is never sent to another URL', () => {
  const apiUrl = 'http://127.0.0.1:4400';
  expect(find({ context: 'prod', apiUrl })).toEqual([apiUrl, 'none']);
  expect(find({ context: 'prod' }, { SLUICE_API_URL: apiUrl })).toEqual([apiUrl, 'none']);
  expect(find({ context: 'prod', apiUrl: PROD.apiUrl })).toEqual([PROD.apiUrl, 'prod-key']);
  expect(find({ apiUrl })).toEqual([apiUrl, 'none']);
});
