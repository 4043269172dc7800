/** A ledger that this program cannot or must not work on. The CLI prints both parts. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly what: string;
  /** What to do, for people. */
  readonly fix: string;

  constructor(what: string, fix: string, cause?: unknown) {
    super(`${what}. ${fix}.`, { cause });
    this.what = what;
    this.fix = fix;
  }
}
