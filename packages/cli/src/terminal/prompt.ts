/** Prompts on standard error, only when a user can answer. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks a question and returns the answer without surrounding spaces.
 *
 * @throws CommandError `not_confirmed` if the command cannot prompt; `fix` names the flag to pass.
 */
export async function ask(
  terminal: Terminal,
  question: string,
  { fix, hidden = false }: { fix: string; hidden?: boolean },
): Promise<string> {
  if (!terminal.canAsk)
    throw new CommandError(
      'not_confirmed',
      `Cannot prompt (no terminal, CI, or --no-input): ${question}`,
      fix,
    );
  terminal.stderr.write(`${question} `);
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      // Readline writes the echo of the input and cursor movements, which are dropped for a secret.
      if (!hidden) terminal.stderr.control(chunk.toString());
      done();
    },
  });
  const reader = createInterface({ input: terminal.stdin, output, terminal: true });
  try {
    const answer = await reader.question('', { signal: terminal.signal });
    if (hidden) terminal.stderr.write('\n');
    return answer.trim();
  } finally {
    reader.close();
  }
}

/**
 * Confirms an irreversible action: the user types `expected`, or passes `--yes`.
 *
 * @throws CommandError `not_confirmed` for any other answer, or if the command cannot prompt.
 */
export async function confirm(
  terminal: Terminal,
  what: string,
  expected: string,
  { yes = false }: { yes?: boolean | undefined },
): Promise<void> {
  if (yes) return;
  const answer = await ask(terminal, `${what} Type ${expected} to confirm:`, {
    fix: 'repeat the command with --yes',
  });
  if (answer !== expected) {
    throw new CommandError(
      'not_confirmed',
      `Canceled: expected ${JSON.stringify(expected)}, got ${JSON.stringify(answer)}`,
    );
  }
}
