/** Shows progress on standard error: a live line on a terminal, otherwise a line every 10%. */
import type { Terminal } from './terminal.ts';

export interface Progress {
  /** Sets the number of completed items. */
  update(done: number): void;
  /** Clears the live line, if there is one. */
  end(): void;
}

const PAINT_EVERY_MS = 200;
const BAR = 20;
const CLEAR_LINE = '\r\u001b[K';

export function createProgress(
  terminal: Terminal,
  { what, total, from = 0 }: { what: string; total: number; from?: number },
): Progress {
  const started = performance.now();
  let painted = 0;
  let printedTenth = Math.floor((10 * from) / Math.max(1, total));
  if (terminal.options.quiet) return { update() {}, end() {} };

  const describe = (done: number): string => {
    const seconds = (performance.now() - started) / 1_000;
    const perSecond = seconds > 0 ? (done - from) / seconds : 0;
    const left = perSecond > 0 ? Math.ceil((total - done) / perSecond) : undefined;
    return (
      `${formatCount(done)} of ${formatCount(total)} ${what}  ${formatCount(Math.round(perSecond))}/s` +
      (left === undefined || done >= total ? '' : `  ${describeSeconds(left)} left`)
    );
  };
  return {
    update(done) {
      if (terminal.stderr.isTTY) {
        if (performance.now() - painted < PAINT_EVERY_MS && done < total) return;
        painted = performance.now();
        const full = Math.round((BAR * done) / Math.max(1, total));
        terminal.stderr.control(CLEAR_LINE);
        terminal.stderr.write(`${'█'.repeat(full)}${'░'.repeat(BAR - full)}  ${describe(done)}`);
        return;
      }
      const tenth = Math.floor((10 * done) / Math.max(1, total));
      if (tenth <= printedTenth) return;
      printedTenth = tenth;
      terminal.stderr.write(`${describe(done)}\n`);
    },
    end() {
      if (terminal.stderr.isTTY) terminal.stderr.control(CLEAR_LINE);
    },
  };
}

/** Formats a number with thousands separators, such as `64,001`. */
export const formatCount = (number: number): string => number.toLocaleString('en-US');

/** Formats a number and its noun, such as `1 address` or `64,001 addresses`. */
export const formatQuantity = (number: number, one: string, many = `${one}s`): string =>
  `${formatCount(number)} ${number === 1 ? one : many}`;

const describeSeconds = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
