/** Tests the Lighthouse scores of the console's main pages on a desktop. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findingsOf, listMainPages, startAuditor, type Auditor } from './lighthouse.ts';
import { startSeededDay, type RunningDay } from './seededDay.ts';

let day: RunningDay;
let auditor: Auditor;

beforeAll(async () => {
  day = await startSeededDay();
  auditor = await startAuditor(day);
});

afterAll(async () => {
  await auditor?.stop();
  await day?.stop();
});

test('accessibility and best practices have full scores', async () => {
  for (const [name, path] of Object.entries(await listMainPages(day))) {
    const report = await auditor.audit(path, ['accessibility', 'best-practices']);
    expect.soft(findingsOf(report), name).toEqual([]);
    const scores = Object.values(report.categories).map(({ score }) => score);
    expect.soft(scores, name).toEqual([1, 1]);
  }
});
