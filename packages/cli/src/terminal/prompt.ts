/** Prompts on standard error, only when a user can answer. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/**
 * @throws CommandError `not_confirmed` when the command cannot prompt; `fix` names the flag to
 * pass.
 */
export async function ask(
  terminal: Terminal,
  question: string,
  { fix, hidden = false }: { fix: string; hidden?: boolean },
): Promise<string> {
  if (!terminal.canAsk)
    throw new CommandError(
      'not_confirmed',
      `Cannot prompt (standard input is not a terminal): ${question}`,
      fix,
    );
  terminal.stderr.write(`${question} `);
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      // Readline echoes the input and moves the cursor; a secret is not echoed.
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

/** Confirms an irreversible action: the user types `expected`, or passes `--yes`. */
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
