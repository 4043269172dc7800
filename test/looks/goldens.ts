/**
 * Records screenshots as goldens, and compares later ones with them. Colors are reduced to five
 * bits per channel, which halves the size of the files. `layout.txt` contains the position of every
 * visible named element, and identifies the browser and fonts.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import type { Box, Shot, Studio } from './studio.ts';

const FOLDER = new URL('goldens/', import.meta.url);
const LAYOUT = 'layout.txt';
const KEPT_BITS = 0b1111_1000;
/**
 * Threshold of `pixelmatch`, from 0 to 1. Tolerates a difference of one step of a reduced color,
 * but not of two.
 */
const COLOR_TOLERANCE = 0.05;
/** Maximum number of pixels by which different fonts or browsers may move or stretch an element. */
const BOX_TOLERANCE_PX = 6;

export interface Layout {
  drawnBy: string;
  /** Elements of each golden, by the name of the shot. */
  boxes: Map<string, Box[]>;
}

/** Replaces all goldens with the studio's current shots. */
export async function recordGoldens(studio: Studio): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER);
  const lines = [studio.drawnBy];
  for await (const { name, png, boxes } of studio.shots()) {
    await writeFile(new URL(`${name}.png`, FOLDER), toFile(reduce(PNG.sync.read(png))));
    lines.push('', name, ...boxes.map(({ what, at }) => [...at, what].join(' ')));
  }
  await writeFile(new URL(LAYOUT, FOLDER), `${lines.join('\n')}\n`);
}

export const listGoldens = async (): Promise<string[]> =>
  (await readdir(FOLDER))
    .filter((file) => file.endsWith('.png'))
    .map((file) => file.slice(0, -'.png'.length));

export async function readLayout(): Promise<Layout> {
  const [drawnBy = '', ...sections] = (await readFile(new URL(LAYOUT, FOLDER), 'utf8'))
    .trimEnd()
    .split('\n\n');
  return { drawnBy, boxes: new Map(sections.map(parseSection)) };
}

function parseSection(section: string): [string, Box[]] {
  const [name = '', ...lines] = section.split('\n');
  const boxes = lines.map((line): Box => {
    const [x, y, width, height, ...what] = line.split(' ');
    return { what: what.join(' '), at: [Number(x), Number(y), Number(width), Number(height)] };
  });
  return [name, boxes];
}

/**
 * Counts the pixels that differ from the golden. If there are more than `most`, writes both
 * pictures and their difference to the folder.
 * @returns the count, or the number of all pixels if the sizes differ.
 */
export async function countOtherPixels(
  { name, png }: Shot,
  most: number,
  folder: URL,
): Promise<number> {
  const actual = reduce(PNG.sync.read(png));
  const expected = PNG.sync.read(await readFile(new URL(`${name}.png`, FOLDER)));
  const { width, height } = actual;
  const difference = new PNG({ width, height });
  const count =
    width === expected.width && height === expected.height
      ? pixelmatch(actual.data, expected.data, difference.data, width, height, {
          threshold: COLOR_TOLERANCE,
          includeAA: true,
        })
      : width * height;
  if (count > most) {
    await mkdir(folder, { recursive: true });
    for (const [kind, picture] of Object.entries({ actual, expected, difference })) {
      await writeFile(new URL(`${name}-${kind}.png`, folder), toFile(picture));
    }
  }
  return count;
}

/** Describes the elements that moved, disappeared or are new. */
export function listMoves({ boxes }: Shot, expected: readonly Box[]): string[] {
  const left = [...boxes];
  const moves: string[] = [];
  for (const { what, at } of expected) {
    const index = left.findIndex(
      (each) =>
        each.what === what &&
        each.at.every((value, side) => Math.abs(value - at[side]!) <= BOX_TOLERANCE_PX),
    );
    if (index === -1) moves.push(`not at ${at.join(' ')}: ${what}`);
    else left.splice(index, 1);
  }
  return [...moves, ...left.map(({ what, at }) => `new at ${at.join(' ')}: ${what}`)];
}

function reduce(picture: PNG): PNG {
  for (let at = 0; at < picture.data.length; at += 4) {
    for (const color of [at, at + 1, at + 2]) picture.data[color]! &= KEPT_BITS;
  }
  return picture;
}

const toFile = (picture: PNG): Buffer =>
  PNG.sync.write(picture, { colorType: 2, deflateLevel: 9, deflateStrategy: 0, filterType: 0 });
