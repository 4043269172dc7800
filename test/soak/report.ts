/** Writes the report of a soak as Markdown and JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from '../faults/invariants.ts';

export interface SoakReport {
  /** Requested number of deliveries. */
  deliveries: number;
  kills: number;
  seed: string;
  store: string;
  destination: string;
  date: string;
  machine: { cpu: string; cores: number; memoryGib: number; node: string; database: string };
  seconds: { whole: number; untilLastDelivery: number };
  /** Number of kills (`kill -9`) of service processes and of the postmaster. */
  killed: { service: number; database: number };
  leasesLost: number;
  verdict: Verdict;
  /**
   * Peak resident memory of the service in each twentieth of the run, in MiB. Intervals without a
   * sample are omitted.
   */
  rssMib: number[];
  remark: string;
}

export function machineOf(database: string): SoakReport['machine'] {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    database,
  };
}

/**
 * Writes `soak-STORE-N.md` and `.json` to the folder, with the destination unless it is HTTP, and returns the path of the Markdown file.
 */
export function writeReport(folder: string, report: SoakReport): string {
  mkdirSync(folder, { recursive: true });
  const kind = report.destination === 'http' ? '' : `${report.destination}-`;
  const path = join(folder, `soak-${kind}${report.store}-${report.deliveries}`);
  writeFileSync(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(`${path}.md`, toMarkdown(report));
  return `${path}.md`;
}

const whole = (n: number): string => Math.round(n).toLocaleString('en');

function toMarkdown(report: SoakReport): string {
  const { verdict, killed, machine, seconds, destination } = report;
  const isFeed = destination === 'feed';
  const rows: [string, string][] = [
    ['deliveries in the ledger', whole(verdict.deliveries)],
    [
      'their states',
      Object.entries(verdict.states)
        .map(([state, n]) => `${state} ${whole(n)}`)
        .join(', '),
    ],
    ['`kill -9` of service processes', whole(killed.service)],
    ['`kill -9` of the postmaster', whole(killed.database)],
    ['leases held at the kills', whole(report.leasesLost)],
    ...(isFeed
      ? [['read again', whole(verdict.acceptedAgain)] as [string, string]]
      : [
          ['POSTs beyond the recorded attempts', whole(verdict.repeated)] as [string, string],
          ['accepted more than once', whole(verdict.acceptedAgain)] as [string, string],
        ]),
    ['invariants broken', whole(verdict.violations.length)],
    ['seconds to the last delivery', whole(seconds.untilLastDelivery)],
    [
      'deliveries per second, restarts included',
      whole(verdict.deliveries / seconds.untilLastDelivery),
    ],
    ['peak RSS of the service per twentieth of the run, MiB', report.rssMib.map(whole).join(' ')],
  ];
  const ofFeed = isFeed ? ' --destination feed' : '';
  return `# Soak${isFeed ? ' of feeds' : ''}: ${whole(report.deliveries)} deliveries, ${report.kills} kills, ${report.store}

\`npm run soak -- --deliveries ${report.deliveries} --kills ${report.kills} --seed ${report.seed} --store ${report.store}${ofFeed}\`

${report.date}, ${machine.cores} cores (${machine.cpu}), ${machine.memoryGib} GiB, Node ${machine.node}, ${machine.database}. ${report.remark}

| | |
|---|---|
${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}
${
  verdict.violations.length === 0
    ? ''
    : `\n${verdict.violations
        .slice(0, 50)
        .map((each) => `- ${each}`)
        .join('\n')}\n`
}`;
}
