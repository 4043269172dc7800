/**
 * Measures the Lighthouse performance score, LCP, CLS and TBT of the main pages with a day of
 * sample data, on a desktop with an empty cache.
 */
import { listMainPages, startAuditor, type Auditor } from '../../test/looks/lighthouse.ts';
import { startSeededDay } from '../../test/looks/seededDay.ts';
import { toFigure, type Figures } from '../figures.ts';

const RUNS = 3;

const METRICS = [
  ['LCP', 'largest-contentful-paint', 'ms', 'goal 1,000'],
  ['CLS', 'cumulative-layout-shift', '', 'goal 0.02'],
  ['TBT', 'total-blocking-time', 'ms', 'goal 100'],
] as const;

export async function measureFirstLoads(): Promise<Figures> {
  const day = await startSeededDay();
  const auditor = await startAuditor(day);
  try {
    const figures: Figures = {};
    for (const [name, path] of Object.entries(await listMainPages(day))) {
      Object.assign(figures, await measurePage(auditor, name, path));
    }
    return figures;
  } finally {
    await auditor.stop();
    await day.stop();
  }
}

async function measurePage(auditor: Auditor, name: string, path: string): Promise<Figures> {
  const runs: { score: number; values: number[] }[] = [];
  while (runs.length < RUNS) {
    const { categories, audits } = await auditor.audit(path, ['performance']);
    runs.push({
      score: (categories['performance']?.score ?? 0) * 100,
      values: METRICS.map(([, audit]) => audits[audit]?.numericValue ?? Number.NaN),
    });
  }
  const { score, values } = runs.toSorted((a, b) => a.score - b.score)[Math.floor(RUNS / 2)]!;
  return {
    [`${name}, performance`]: toFigure(score, '', `Lighthouse, median of ${RUNS}; goal 95`),
    ...Object.fromEntries(
      METRICS.map(([metric, , unit, goal], index) => [
        `${name}, ${metric}`,
        toFigure(values[index]!, unit, goal),
      ]),
    ),
  };
}
