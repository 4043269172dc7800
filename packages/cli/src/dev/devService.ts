/** The service of `sluice dev`: it says so, its keys are kept in the data folder, and its port gives way. */
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

/** What this file of the data folder says, made once: keys and links stay good across starts. */
export function keep(path: string, make: () => string): string {
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const text = make();
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return text;
}

export const newKey = (prefix: string): string => prefix + randomBytes(16).toString('hex');

/** Only what needs attention reaches the terminal: the webhooks are what one is here to see. */
export async function startOnFreePort(
  config: ServiceConfig,
  { notice, newEachTime }: { notice(text: string): void; newEachTime: readonly string[] },
  { stderr }: Terminal,
): Promise<Service> {
  const log = createLog((line) => {
    // A scripted chain is another each time, as the first lines say.
    const isExpected =
      / (chain was replaced,|reorg) /.test(line) &&
      newEachTime.some((chain) => line.includes(chain));
    if (!line.includes(' info ') && !isExpected) stderr.write(`  ${line}`);
  });
  const ofDev: ServiceConfig = { ...config, environment: 'dev' };
  try {
    return await startService(ofDev, log);
  } catch (error) {
    if (!(error instanceof CallerError) || error.code !== 'port_in_use') throw error;
    notice(`port ${config.port} is in use, listening on another`);
    return startService({ ...ofDev, port: 0 }, log);
  }
}
