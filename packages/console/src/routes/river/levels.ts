/** Zoom levels of the river: the newest blocks, or steps of time that end now. */

interface BlockLevel {
  value: string;
  label: string;
  unit: 'block';
  blocks: number;
}

interface StepLevel {
  value: string;
  label: string;
  unit: 'step';
  /** Minutes per step. */
  step: 5 | 60;
  points: number;
}

export type Level = BlockLevel | StepLevel;

export const LEVELS = [
  { value: 'blocks', label: '60 blocks', unit: 'block', blocks: 60 },
  { value: 'more', label: '200 blocks', unit: 'block', blocks: 200 },
  { value: '6h', label: '6 h', unit: 'step', step: 5, points: 72 },
  { value: '24h', label: '24 h', unit: 'step', step: 5, points: 288 },
  { value: '7d', label: '7 d', unit: 'step', step: 60, points: 168 },
  { value: '30d', label: '30 d', unit: 'step', step: 60, points: 720 },
] as const satisfies readonly Level[];

export type LevelName = (typeof LEVELS)[number]['value'];
