/**
 * Tests that every screen looks like its golden, an earlier screenshot. If the browser or fonts
 * differ from the ones that drew the goldens, compares element positions instead of pixels, and
 * reports that.
 */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countOtherPixels, listGoldens, listMoves, readLayout } from './goldens.ts';
import { startStudio, type Studio } from './studio.ts';

/**
 * Maximum number of pixels that may differ per picture: ten times the rendering noise, but less
 * than one changed word.
 */
const MAX_PIXELS = 40;
const DIFFERENCES = new URL('differences/', import.meta.url);
const RENEW = 'If the change is intended: npm run pictures -- --goldens';

let studio: Studio;

beforeAll(async () => {
  await rm(DIFFERENCES, { recursive: true, force: true });
  studio = await startStudio();
});

afterAll(() => studio?.stop());

test('every screen looks like its golden', async () => {
  const goldens = await listGoldens();
  const layout = await readLayout();
  const isSameHand = layout.drawnBy === studio.drawnBy;
  if (!isSameHand) {
    process.stderr.write(
      `Comparing boxes, not pixels: the goldens were drawn by ${layout.drawnBy}, this is ${studio.drawnBy}.\n`,
    );
  }
  const seen: string[] = [];
  for await (const shot of studio.shots()) {
    const { name } = shot;
    seen.push(name);
    if (!goldens.includes(name)) continue;
    if (isSameHand) {
      const message = `${name}: too many pixels differ; see ${fileURLToPath(DIFFERENCES)}. ${RENEW}`;
      const count = await countOtherPixels(shot, MAX_PIXELS, DIFFERENCES);
      expect.soft(count, message).toBeLessThanOrEqual(MAX_PIXELS);
    } else {
      const moves = listMoves(shot, layout.boxes.get(name) ?? []);
      expect.soft(moves, `${name}: elements moved. ${RENEW}`).toEqual([]);
    }
  }
  expect(seen.toSorted(), RENEW).toEqual(goldens.toSorted());
});
