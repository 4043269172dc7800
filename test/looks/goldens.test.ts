/**
 * Every screen looks as it did when it was last looked at. With another browser, or other fonts, than
 * drew the goldens it is held against where things stood, and the test says so.
 */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countOtherPixels, listGoldens, listMoves, readLayout } from './goldens.ts';
import { startStudio, type Studio } from './studio.ts';

/** Of a picture: noise of drawing is a tenth of it, one changed word is more. */
const MOST_PIXELS = 40;
const DIFFERENCES = new URL('differences/', import.meta.url);
const RENEW = 'If it is to look like this: npm run pictures -- --goldens';

let studio: Studio;

beforeAll(async () => {
  await rm(DIFFERENCES, { recursive: true, force: true });
  studio = await startStudio();
});

afterAll(() => studio?.stop());

test('every screen looks as its golden', async () => {
  const goldens = await listGoldens();
  const layout = await readLayout();
  const isSameHand = layout.drawnBy === studio.drawnBy;
  if (!isSameHand) {
    process.stderr.write(
      `The goldens were drawn by ${layout.drawnBy}, here draws ${studio.drawnBy}: boxes are compared, not pixels.\n`,
    );
  }
  const seen: string[] = [];
  for await (const shot of studio.shots()) {
    const { name } = shot;
    seen.push(name);
    if (!goldens.includes(name)) continue;
    if (isSameHand) {
      const message = `${name}: pixels that differ; see ${fileURLToPath(DIFFERENCES)}. ${RENEW}`;
      const count = await countOtherPixels(shot, MOST_PIXELS, DIFFERENCES);
      expect.soft(count, message).toBeLessThanOrEqual(MOST_PIXELS);
    } else {
      const moves = listMoves(shot, layout.boxes.get(name) ?? []);
      expect.soft(moves, `${name}: what moved. ${RENEW}`).toEqual([]);
    }
  }
  expect(seen.toSorted(), RENEW).toEqual(goldens.toSorted());
});
