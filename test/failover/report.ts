/** Formats the results of `npm run test:failover` as Markdown. */
import type { SoakReport } from '../soak/report.ts';
import type { Fault } from './faults.ts';

export interface Failover {
  fault: string;
  /** Longest time without webhooks since the fault. */
  silenceMs: number;
  /** Number of deliveries that were recorded as successful before the fault, but not after it. */
  lost: number;
}

export interface FailoverReport {
  failovers: readonly Failover[];
  roundTripMs: number;
  deliveriesPerSecond: number;
  /** Time between blocks, which the times without webhooks include. */
  blockMs: number;
  date: string;
  machine: SoakReport['machine'];
  deliveries: number;
  /** Number of blocks, per stream and phase, whose webhooks had two IDs. */
  secondIds: number;
  /** Number of POSTs in addition to the recorded attempts. */
  repeated: number;
  problems: readonly string[];
  remark: string;
}

export function toMarkdown(report: FailoverReport, faults: readonly Fault[]): string {
  const { failovers, machine, problems, roundTripMs } = report;
  const rows = faults.flatMap(({ name, goalMs }) => {
    const times = failovers
      .filter(({ fault }) => fault === name)
      .map(({ silenceMs }) => silenceMs)
      .toSorted((a, b) => a - b);
    if (times.length === 0) return [];
    const cells = [
      name,
      times.length,
      ...[0.5, 0.95, 1].map((part) => seconds(percentile(times, part))),
      seconds(goalMs),
    ];
    return [`| ${cells.join(' | ')} |`];
  });
  const lost = failovers.reduce((sum, each) => sum + each.lost, 0);
  return `# Failover: ${failovers.length} faults, ${roundTripMs} ms between servers

\`npm run test:failover -- --failovers ${failovers.length} --round-trip ${roundTripMs}\`

${report.date}, ${machine.cores} cores (${machine.cpu}), ${machine.memoryGib} GiB, Node ${machine.node}, ${machine.database}. ${report.deliveriesPerSecond} deliveries per second, a block every ${report.blockMs} ms. ${report.remark}

| fault | times | seconds without webhooks, median | 95th percentile | maximum | goal for the 95th percentile |
|---|---|---|---|---|---|
${rows.join('\n')}

| | |
|---|---|
| deliveries | ${report.deliveries.toLocaleString('en')} |
| recorded deliveries lost | ${lost} |
| webhooks with a second ID | ${report.secondIds} |
| POSTs beyond the recorded attempts | ${report.repeated.toLocaleString('en')} |
| problems | ${problems.length} |
${problems.map((each) => `\n- ${each}`).join('')}
`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** Returns the smallest value that at least this part of the sorted values do not exceed. */
function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)]!;
}
