export interface Figure {
  value: number;
  unit: string;
  note: string;
}

/** Results of a benchmark, by name. */
export type Figures = Record<string, Figure>;

export const toFigure = (value: number, unit: string, note: string): Figure => ({
  value,
  unit,
  note,
});
