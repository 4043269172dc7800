/** How the command line speaks: data on standard output, everything else on standard error. */
import { styleText } from 'node:util';
import { isSluiceError } from '@sluice/kit';
import { ConfigError } from '@sluice/service';

export const EXIT = { success: 0, unexpected: 1, usage: 2 } as const;

type Tone = 'ok' | 'warn' | 'bad' | 'faint' | 'strong';

const STYLES = {
  ok: 'green',
  warn: 'yellow',
  bad: 'red',
  faint: 'dim',
  strong: 'bold',
} as const;

/** Coloured where the terminal shows colour; honours NO_COLOR, FORCE_COLOR and TERM=dumb. */
export const tint = (tone: Tone, text: string): string =>
  styleText(STYLES[tone], text, { stream: process.stdout });

export const say = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Prints what went wrong and answers with the exit code it stands for. */
export function reportError(error: unknown): number {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`sluice: ${message}\n`);
  if (isSluiceError(error)) {
    for (const [field, detail] of Object.entries(error.details ?? {})) {
      process.stderr.write(`  ${field}: ${JSON.stringify(detail)}\n`);
    }
    process.stderr.write(`  ${error.hint}\n`);
  }
  return error instanceof ConfigError ? EXIT.usage : EXIT.unexpected;
}
