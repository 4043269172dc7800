/**
 * Runs Lighthouse with its desktop settings on pages of the console, in a browser that is signed
 * in. The types of Lighthouse are declared here, because its packages are not installed when the
 * project is type-checked.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { CHROMIUM_OPTIONS } from '../browser/chromium.ts';
import { installLocked } from '../installLocked.ts';
import type { SeededDay } from './seededDay.ts';

const FOLDER = new URL('./', import.meta.url);
/**
 * Maximum time for a page to load. The live feed never ends, so without this limit Lighthouse would
 * wait for 45 s.
 */
const LOADED_MS = 8_000;

type Category = 'accessibility' | 'best-practices' | 'performance';

interface Report {
  /** Scores are from 0 to 1. */
  categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<
    string,
    { title: string; score: number | null; numericValue?: number; details?: { items?: unknown } }
  >;
  runtimeError?: { message: string };
}

interface Lighthouse {
  default(
    url: string,
    flags: { port: number; onlyCategories: readonly Category[]; maxWaitForLoad: number },
    config: unknown,
  ): Promise<{ lhr: Report }>;
  desktopConfig: unknown;
}

export interface Auditor {
  /** @param path in the console, such as `/deliveries`. */
  audit(path: string, categories: readonly Category[]): Promise<Report>;
  stop(): Promise<void>;
}

export async function startAuditor(day: SeededDay): Promise<Auditor> {
  installLocked(FOLDER, 'Lighthouse');
  const entry = createRequire(new URL('package.json', FOLDER)).resolve('lighthouse');
  const { default: lighthouse, desktopConfig } = (await import(
    pathToFileURL(entry).href
  )) as Lighthouse;
  const profile = await mkdtemp(join(tmpdir(), 'sluice-lighthouse-'));
  // Lighthouse opens its own tab over the debugging port. With a persistent profile, that tab is
  // also signed in.
  const context = await chromium.launchPersistentContext(profile, {
    ...CHROMIUM_OPTIONS,
    args: [...CHROMIUM_OPTIONS.args, '--remote-debugging-port=0'],
  });
  const page = await context.newPage();
  await page.goto(`${day.url}/console/#key=${day.apiKey}`);
  await page.getByText('live', { exact: true }).first().waitFor();
  await page.close();
  const port = Number.parseInt(await readFile(join(profile, 'DevToolsActivePort'), 'utf8'), 10);
  return {
    async audit(path, onlyCategories) {
      const { lhr } = await lighthouse(
        `${day.url}/console${path}`,
        { port, onlyCategories, maxWaitForLoad: LOADED_MS },
        desktopConfig,
      );
      if (lhr.runtimeError !== undefined) throw new Error(lhr.runtimeError.message);
      return lhr;
    },
    async stop() {
      await context.close();
      await rm(profile, { recursive: true });
    },
  };
}

/** Lists the audits that lower the scores of a page, each with the affected elements. */
export const findingsOf = ({ categories, audits }: Report): string[] =>
  Object.values(categories)
    .flatMap(({ auditRefs }) => auditRefs)
    .flatMap(({ id, weight }) => {
      const { title, score, details } = audits[id]!;
      if (weight === 0 || score === null || score === 1) return [];
      return [`${id}: ${title} ${JSON.stringify(details?.items ?? '')}`];
    });

/** Returns the paths of the console's main pages, by name. */
export const listMainPages = async (day: SeededDay): Promise<Record<string, string>> => ({
  streams: '/',
  stream: `/streams/${day.idOf('deposits')}`,
  delivery: `/deliveries/${await day.newestOf('deposits')}`,
  'new stream': '/streams/new',
});
