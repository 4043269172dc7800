/** Questions, on standard error, and only where somebody is there to answer. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** @throws CommandError `not_confirmed` where nobody can be asked; `fix` says what to pass instead. */
export async function ask(
  terminal: Terminal,
  question: string,
  { fix, hidden = false }: { fix: string; hidden?: boolean },
): Promise<string> {
  if (!terminal.canAsk) throw new CommandError('not_confirmed', `Nobody to ask: ${question}`, fix);
  terminal.stderr.write(`${question} `);
  // What is typed is shown by readline's own output: none for a secret.
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      // Readline moves the cursor, and shows what is typed here.
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

/** Before what cannot be undone: the count has to be typed, or `--yes` given. */
export async function confirm(
  terminal: Terminal,
  what: string,
  expected: string,
  { yes = false }: { yes?: boolean | undefined },
): Promise<void> {
  if (yes) return;
  const answer = await ask(terminal, `${what} Type ${expected} to go on:`, {
    fix: 'repeat the command with --yes',
  });
  if (answer !== expected) {
    throw new CommandError('not_confirmed', `Not done: ${JSON.stringify(answer)} was typed`);
  }
}
