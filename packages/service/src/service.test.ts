import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createLog } from './base/log.ts';
import { startService } from './service.ts';

test('a failed start leaves nothing behind that reads the closed ledger', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-start-'));
  const occupied = createServer();
  await new Promise<void>((resolve) => {
    occupied.listen(0, '127.0.0.1', resolve);
  });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const lines: string[] = [];
    const { port } = occupied.address() as AddressInfo;
    await expect(
      startService(
        {
          port,
          host: '127.0.0.1',
          data: folder,
          apiKey: 'a-key-of-16-or-more',
          chains: [],
          aptos: [],
          allowPrivateEndpoints: false,
        },
        createLog((line) => lines.push(line)),
      ),
    ).rejects.toThrow(`Port ${port} of 127.0.0.1 is already in use`);
    const before = [...lines];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines).toEqual(before);
  } finally {
    vi.useRealTimers();
    occupied.close();
    rmSync(folder, { recursive: true });
  }
});
