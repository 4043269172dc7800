/** What was measured. */
export interface Figure {
  value: number;
  unit: string;
  note: string;
}

/** A benchmark's figures by name, each with its unit and what it means. */
export type Figures = Record<string, Figure>;

export const toFigure = (value: number, unit: string, note: string): Figure => ({
  value,
  unit,
  note,
});
