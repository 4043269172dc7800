/**
 * The service of `sluice dev`. It keeps its keys in the data folder and uses a free port if the
 * configured one is in use.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  createLog,
  type Service,
  type ServiceConfig,
  CallerError,
  startService,
} from '@sluice/service';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * Reads a value from a file, or creates the file with a new value, so that keys and links stay
 * valid across restarts.
 */
export function readOrCreate(path: string, make: () => string): string {
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const text = make();
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return text;
}

export const newKey = (prefix: string): string => prefix + randomBytes(16).toString('hex');

/**
 * Starts the service, on a free port if the configured one is in use. Does not print info lines of
 * the log, because they would hide the webhooks.
 */
export async function startOnFreePort(
  config: ServiceConfig,
  { warn, freshChains }: { warn(text: string): void; freshChains: readonly string[] },
  { stderr }: Terminal,
): Promise<Service> {
  const log = createLog((line) => {
    // A scripted chain starts over with each run, so log lines about its replacement and its reorgs
    // are expected.
    const isExpected =
      / (chain was replaced,|reorg) /.test(line) &&
      freshChains.some((chain) => line.includes(chain));
    if (!line.includes(' info ') && !isExpected) stderr.write(`  ${line}`);
  });
  const ofDev: ServiceConfig = { ...config, environment: 'dev' };
  try {
    return await startService(ofDev, log);
  } catch (error) {
    if (!(error instanceof CallerError) || error.code !== 'port_in_use') throw error;
    warn(`port ${config.port} is in use, using a free one`);
    return startService({ ...ofDev, port: 0 }, log);
  }
}
