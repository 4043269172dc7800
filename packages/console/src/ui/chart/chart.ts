/** Computes axes, SVG paths and label positions for charts over time. */

/** Rounds up to 1, 2 or 5 times a power of ten, but at least to 1. */
export function roundTop(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return factor * power;
}

/** The vertical axis of a chart, with 0 at the lower edge. */
export interface Axis {
  /** The value at the upper edge. */
  top: number;
  /**
   * A break in the axis, at which the scale changes. `value` is the value at the break; `at` is its
   * distance from the top, as a share of the height.
   */
  fold?: { value: number; at: number };
}

/** Minimum number of positive values for detecting outliers. */
const MIN_VALUES = 8;
/** An outlier exceeds this multiple of the 98th percentile. */
const OUTLIER_FACTOR = 4;
/** Share of the height for the values above the break. */
const OUTLIER_ROOM = 0.2;

/**
 * Returns an axis up to a round number. If a few values are far greater than the rest, compresses
 * them above a break, so that they do not flatten the rest of the chart.
 */
export function axisOf(values: readonly number[]): Axis {
  const sorted = values.filter((value) => value > 0).toSorted((a, b) => a - b);
  const top = roundTop(sorted.at(-1) ?? 0);
  if (sorted.length < MIN_VALUES) return { top };
  const outliers = Math.ceil(sorted.length * 0.02);
  const usual = sorted.at(-1 - outliers) ?? 0;
  const value = roundTop(usual);
  return sorted.at(-1)! > usual * OUTLIER_FACTOR && top > value
    ? { top, fold: { value, at: OUTLIER_ROOM } }
    : { top };
}

/** An axis for percentages close to 100, on which a loss of 0.1 % is visible. */
export const PERCENT_AXIS = { top: 100, fold: { value: 90, at: 0.75 } } satisfies Axis;

export interface Scale extends Axis {
  width: number;
  height: number;
  /** Number of values; the first is at the left edge, the last at the right edge. */
  count: number;
}

export const xOf = ({ width, count }: Scale, index: number): number =>
  count < 2 ? 0 : (index / (count - 1)) * width;

export function yOf({ height, top, fold = { value: 0, at: 1 } }: Scale, value: number): number {
  if (value < fold.value) return height * (1 - (value / fold.value) * (1 - fold.at));
  return height * fold.at * (1 - (Math.min(value, top) - fold.value) / (top - fold.value));
}

const point = (scale: Scale, index: number, value: number): string =>
  `${xOf(scale, index).toFixed(1)} ${yOf(scale, value).toFixed(1)}`;

/** Splits values into runs without gaps, because a line does not cross missing values. */
function runsOf(values: readonly (number | null)[]): { from: number; values: number[] }[] {
  const runs: { from: number; values: number[] }[] = [];
  let current: { from: number; values: number[] } | undefined;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      current = undefined;
    } else if (current === undefined) {
      current = { from: index, values: [value] };
      runs.push(current);
    } else {
      current.values.push(value);
    }
  }
  return runs;
}

/**
 * Returns the path of a line with gaps. A single value between gaps is a dot as wide as the line.
 */
export const linePath = (scale: Scale, values: readonly (number | null)[]): string =>
  runsOf(values)
    .map(({ from, values: run }) => {
      const points = run.map((value, index) => point(scale, from + index, value));
      return `M${points.join('L')}${run.length === 1 ? 'h0.1' : ''}`;
    })
    .join('');

/** Returns the path of the area between a line and zero, with gaps. */
export const areaPath = (scale: Scale, values: readonly (number | null)[]): string =>
  runsOf(values)
    .map(({ from, values: run }) => {
      const points = run.map((value, index) => point(scale, from + index, value));
      const left = xOf(scale, from).toFixed(1);
      const right = xOf(scale, from + run.length - 1).toFixed(1);
      return `M${left} ${scale.height}L${points.join('L')}L${right} ${scale.height}Z`;
    })
    .join('');

/** Returns the path of the area between two lines, where both have values. */
export function betweenPath(
  scale: Scale,
  values: readonly (number | null)[],
  others: readonly (number | null)[],
): string {
  const both = values.map((value, index) => (others[index] == null ? null : value));
  return runsOf(both)
    .map(({ from, values: run }) => {
      const there = run.map((value, index) => point(scale, from + index, value));
      const back = run.map((_, index) => point(scale, from + index, others[from + index] ?? 0));
      return `M${there.join('L')}L${back.toReversed().join('L')}Z`;
    })
    .join('');
}

export const lastValue = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null;

/**
 * Splits off the last value, which may be incomplete, so that the line to it can be drawn
 * differently.
 */
export function splitLast(values: readonly (number | null)[]): {
  complete: (number | null)[];
  last: (number | null)[];
} {
  const end = values.length - 1;
  return {
    complete: values.map((value, index) => (index === end ? null : value)),
    last: values.map((value, index) => (index < end - 1 ? null : value)),
  };
}

/**
 * Positions labels close to the given heights, but at least `step` apart and, if they fit, inside
 * the chart.
 */
export function spreadLabels(heights: readonly number[], height: number, step: number): number[] {
  const labels = heights.map((at, index) => ({ at, index })).toSorted((a, b) => a.at - b.at);
  let least = 0;
  for (const label of labels) {
    label.at = Math.max(label.at, least);
    least = label.at + step;
  }
  let most = height;
  for (const label of labels.toReversed()) {
    label.at = Math.min(label.at, most);
    most = label.at - step;
  }
  return labels.toSorted((a, b) => a.index - b.index).map(({ at }) => at);
}

/**
 * Returns the index of the value nearest to a position.
 * @param share the position as a share of the width, from 0 to 1.
 */
export const indexAt = (count: number, share: number): number =>
  Math.max(0, Math.min(count - 1, Math.round(share * (count - 1))));
