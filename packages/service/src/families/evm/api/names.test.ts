/**
 * Tests when a service unpacks the Unicode tables for ENS names, during which it cannot respond.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ens from 'viem/ens';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { createLog } from '../../../base/log.ts';
import type { Service } from '../../../service.ts';

const API_KEY = 'names-test-key-0123456789';
const normalize = vi.fn(ens.normalize);
const folder = mkdtempSync(join(tmpdir(), 'sluice-names-'));
let service: Service;

// Test files share modules, so only this file's service gets the mock.
vi.resetModules();
vi.doMock('viem/ens', () => ({ ...ens, normalize }));
const { startService } = await import('../../../service.ts');

afterAll(() => {
  vi.doUnmock('viem/ens');
  vi.resetModules();
});

afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
  normalize.mockClear();
});

async function start(...chains: string[]): Promise<void> {
  service = await startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: folder,
      apiKey: API_KEY,
      chains: chains.map((id) => ({
        id,
        // No node listens on this port.
        urls: ['http://127.0.0.1:9'],
        confirmations: 1,
        pollMs: 1_000,
      })),
      aptos: [],
      allowPrivateEndpoints: true,
    },
    createLog(() => {}),
  );
}

const ask = (name: string): Promise<Response> =>
  fetch(`${service.url}/sluice/names/${encodeURIComponent(name)}`, {
    headers: { 'x-api-key': API_KEY },
  });

test.each(['0x1', '0xaa36a7'])(
  'the tables are unpacked before the service listens if %s is read',
  async (chain) => {
    await start(chain, '0x7a69');
    expect(normalize).toHaveBeenCalledOnce();
    // A plain ASCII name would not unpack the tables.
    expect(normalize.mock.calls[0]![0]).toMatch(/[^\0-\x7f]/);
  },
);

test('the tables are never unpacked if no chain has names', async () => {
  await start('0x7a69');
  const { status } = await ask('é.eth');
  expect(status).toBe(400);
  expect(normalize).not.toHaveBeenCalled();
});
