/** Lines and bands over time as SVG paths. Pure; `ui/chart/timeChart.tsx` draws them. */

/** The least round number that is not below: 1, 2 or 5 times a power of ten. */
export function roundTop(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return factor * power;
}

/** What values go up to; 0 is at the lower edge. */
export interface Axis {
  /** The value at the upper edge. */
  top: number;
  /**
   * Where the axis is broken: values below `value` are pressed into what is left under `at`, a share of the
   * height from above.
   */
  fold?: { value: number; at: number };
}

/** Of shares that are nearly all there is: what is lost is seen from a tenth of a percent on. */
export const PERCENT = { top: 100, fold: { value: 90, at: 0.75 } } satisfies Axis;

export interface Scale extends Axis {
  width: number;
  height: number;
  /** Of values; the first is at the left edge, the last at the right one. */
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

/** Runs of values that are there: a line does not cross what is not known. */
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

/** A line with gaps; a value between two gaps is a dot, as wide as the line. */
export const linePath = (scale: Scale, values: readonly (number | null)[]): string =>
  runsOf(values)
    .map(({ from, values: run }) => {
      const points = run.map((value, index) => point(scale, from + index, value));
      return `M${points.join('L')}${run.length === 1 ? 'h0.1' : ''}`;
    })
    .join('');

/** The area from the line down to zero. */
export const areaPath = (scale: Scale, values: readonly (number | null)[]): string =>
  runsOf(values)
    .map(({ from, values: run }) => {
      const points = run.map((value, index) => point(scale, from + index, value));
      const left = xOf(scale, from).toFixed(1);
      const right = xOf(scale, from + run.length - 1).toFixed(1);
      return `M${left} ${scale.height}L${points.join('L')}L${right} ${scale.height}Z`;
    })
    .join('');

export const lastValue = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null;

/**
 * Where names go that would stand at these heights: each as near to its own as it can, none nearer than
 * `step` to another, all within the drawing as long as they fit.
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

/** Which value is nearest to a place, given as a share of the width. */
export const indexAt = (count: number, share: number): number =>
  Math.max(0, Math.min(count - 1, Math.round(share * (count - 1))));
