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
 * Writes `soak-STORE-N.md` and `.json` to the folder, and returns the path of the Markdown file.
 */
export function writeReport(folder: string, report: SoakReport): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `soak-${report.store}-${report.deliveries}`);
  writeFileSync(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(`${path}.md`, toMarkdown(report));
  return `${path}.md`;
}

const whole = (n: number): string => Math.round(n).toLocaleString('en');

function toMarkdown(report: SoakReport): string {
  const { verdict, killed, machine, seconds } = report;
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
    ['POSTs beyond the recorded attempts', whole(verdict.repeated)],
    ['accepted more than once', whole(verdict.acceptedAgain)],
    ['invariants broken', whole(verdict.violations.length)],
    ['seconds to the last delivery', whole(seconds.untilLastDelivery)],
    [
      'deliveries per second, restarts included',
      whole(verdict.deliveries / seconds.untilLastDelivery),
    ],
    ['peak RSS of the service per twentieth of the run, MiB', report.rssMib.map(whole).join(' ')],
  ];
  return `# Soak: ${whole(report.deliveries)} deliveries, ${report.kills} kills, ${report.store}

\`npm run soak -- --deliveries ${report.deliveries} --kills ${report.kills} --seed ${report.seed} --store ${report.store}\`

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
