/**
 * Checks the size of the console's built files: code compressed with gzip, and fonts uncompressed.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(REPOSITORY, 'packages/console/dist');
const FIRST_LOAD_BYTES = 165_000;
const EVERYTHING_BYTES = 540_000;
const FONT_BYTES = 75_000;

const gzipped = async (file: string): Promise<number> =>
  gzipSync(await readFile(join(FOLDER, file))).length;

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

beforeAll(async () => {
  await promisify(execFile)(process.execPath, ['scripts/run.mjs', 'build'], { cwd: REPOSITORY });
});

test('the first load stays within its budget', async () => {
  const page = await readFile(join(FOLDER, 'index.html'), 'utf8');
  const files = [...page.matchAll(/(?:src|href)="\/console\/([^"]+\.(?:js|css))"/g)].map(
    ([, file = '']) => file,
  );
  expect(files.length).toBeGreaterThan(2);
  expect(sum(await Promise.all(files.map(gzipped)))).toBeLessThanOrEqual(FIRST_LOAD_BYTES);
});

test('all files, and the fonts, stay within their budgets', async () => {
  const assets = (await readdir(join(FOLDER, 'assets'))).map((file) => `assets/${file}`);
  const code = assets.filter((file) => /\.(js|css)$/.test(file));
  expect(sum(await Promise.all(code.map(gzipped)))).toBeLessThanOrEqual(EVERYTHING_BYTES);
  const fonts = assets.filter((file) => file.endsWith('.woff2'));
  const sizes = await Promise.all(
    fonts.map(async (file) => (await readFile(join(FOLDER, file))).length),
  );
  expect(sum(sizes)).toBeLessThanOrEqual(FONT_BYTES);
});
