/** A benchmark's figures by name, each with its unit and what it means. */
export type Figures = Record<string, { value: number; unit: string; note: string }>;
