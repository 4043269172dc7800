/** Tests that a failed request can be found in the log by the id in its response. */
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import { type Service, startService } from '../service.ts';
import { LEDGER_FILE } from '../store/engine/sqlite/sqlite.ts';
import { createFailureHandler } from './failures.ts';

const API_KEY = 'request-log-test-key-0123456789';
const dataFolder = mkdtempSync(join(tmpdir(), 'sluice-request-log-'));
const lines: Record<string, unknown>[] = [];
let service: Service;

beforeAll(async () => {
  service = await startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: dataFolder,
      apiKey: API_KEY,
      chains: [],
      aptos: [],
      allowPrivateEndpoints: true,
    },
    createLog((line) => lines.push(JSON.parse(line) as Record<string, unknown>), 'json'),
  );
});

afterAll(async () => {
  await service.stop();
  rmSync(dataFolder, { recursive: true });
});

test('a failed request is logged with its cause and the request id of its response', async () => {
  const ledger = new DatabaseSync(join(dataFolder, LEDGER_FILE), { timeout: 10_000 });
  ledger.exec('ALTER TABLE audit RENAME TO audit_away');
  const response = await fetch(`${service.url}/sluice/audit`, {
    headers: { 'x-api-key': API_KEY },
  });
  ledger.exec('ALTER TABLE audit_away RENAME TO audit');
  ledger.close();
  const { requestId } = (await response.json()) as { requestId: string };
  expect(response.status).toBe(500);
  expect(requestId).toBe(response.headers.get('x-request-id'));
  expect(lines.filter((line) => line['requestId'] === requestId)).toEqual([
    expect.objectContaining({
      level: 'error',
      event: 'request failed',
      method: 'GET',
      path: '/sluice/audit',
      error: expect.stringContaining('no such table: audit') as string,
    }),
  ]);
});

test('a request that fails while the ledger is unavailable is logged in the same way', async () => {
  const logged: Record<string, unknown>[] = [];
  const log = createLog((line) => logged.push(JSON.parse(line) as Record<string, unknown>), 'json');
  const app = new Hono<{ Variables: { requestId: string } }>()
    .use(async (context, next) => {
      context.set('requestId', 'request-1');
      await next();
    })
    .get('/', () => {
      throw new Error('cannot write', { cause: new Error('database or disk is full') });
    })
    .onError(createFailureHandler(log));
  const response = await app.request('/');
  expect([response.status, await response.json()]).toMatchObject([503, { requestId: 'request-1' }]);
  expect(logged).toMatchObject([
    {
      level: 'warn',
      requestId: 'request-1',
      error: expect.stringContaining('database or disk is full') as string,
    },
  ]);
});
