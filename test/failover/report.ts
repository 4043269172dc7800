/** Formats the results of `npm run test:failover` as Markdown. */
import type { SoakReport } from '../soak/report.ts';
import type { Fault } from './faults.ts';

export interface Failover {
  fault: string;
  /** Time from the fault to the end of the longest time without webhooks. */
  webhooksAfterMs: number;
  /** Longest time without webhooks. */
  silenceMs: number;
  /** Number of deliveries that were recorded as successful before the fault, but not after it. */
  lost: number;
}

export interface FailoverReport {
  failovers: readonly Failover[];
  roundTripMs: number;
  deliveriesPerSecond: number;
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

/** Silence below which webhooks count as uninterrupted. */
const UNINTERRUPTED_MS = 1_000;

export function toMarkdown(report: FailoverReport, faults: readonly Fault[]): string {
  const { failovers, machine, problems, roundTripMs } = report;
  const rows = faults.flatMap(({ name, goalMs }) => {
    const times = failovers
      .filter(({ fault }) => fault === name)
      .map(({ webhooksAfterMs, silenceMs }) => (silenceMs < UNINTERRUPTED_MS ? 0 : webhooksAfterMs))
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

${report.date}, ${machine.cores} cores (${machine.cpu}), ${machine.memoryGib} GiB, Node ${machine.node}, ${machine.database}. ${report.deliveriesPerSecond} deliveries per second. ${report.remark}

| fault | times | webhooks again after, median (s) | 95th percentile | maximum | goal for the 95th percentile |
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
