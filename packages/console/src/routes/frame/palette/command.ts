export interface Command {
  id: string;
  label: string;
  /** Secondary text, in a faint color. */
  detail: string;
  run: () => void;
}
