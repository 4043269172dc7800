/** Logs the start and the shutdown of this process, with its version, URL and roles. */
import { hostname } from 'node:os';
import { VERSION, readCommit } from '../base/build.ts';
import { hideSecrets } from '../base/hideSecrets.ts';
import type { Log } from '../base/log.ts';

export function createLifecycleLog(
  {
    url,
    roles,
    ledger,
  }: {
    url: string;
    roles: readonly string[];
    /** URL of the database, or path of its file. */
    ledger: string;
  },
  log: Log,
) {
  const place = { version: VERSION, pid: process.pid, url, roles: roles.join(' ') };
  return {
    /** @param chains ids of the known chains, including those that other processes read */
    started(chains: readonly string[]): void {
      log.info('started', {
        ...place,
        commit: readCommit(),
        node: process.versions.node,
        machine: hostname(),
        ledger: hideSecrets(ledger),
        chains: chains.join(' '),
      });
    },
    /**
     * Logs that the process is stopping. Returns a function to call at the end of the shutdown.
     *
     * @param inFlight number of running attempts
     */
    stopping(inFlight: number): () => void {
      const begun = performance.now();
      log.info('stopping', { ...place, inFlight });
      return () => log.info('stopped', { ...place, ms: Math.round(performance.now() - begun) });
    },
  };
}
