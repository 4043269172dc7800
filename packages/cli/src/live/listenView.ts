/**
 * The interactive view of `sluice listen`: a list of forwarded deliveries, with keys to inspect a
 * delivery, send it again or copy it as a curl command.
 */
import { emitKeypressEvents } from 'node:readline';
import { toCurl } from '@sluice/kit/contract';
import { cutText } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { deliveryLine } from './deliveryLine.ts';
import type { ForwardedDelivery, Forwarder } from './forward.ts';

const KEPT = 500;
const CLEAR = '\u001b[2J\u001b[H';
const OTHER_SCREEN = ['\u001b[?1049h\u001b[?25l', '\u001b[?1049l\u001b[?25h'] as const;
const HELP = 'j/k move   ↵ inspect   r replay   c copy as curl   q quit';

export function startListenView(
  terminal: Terminal,
  { url, forwarder }: { url: string; forwarder: Forwarder },
): { show(forwarded: ForwardedDelivery): void; close(): void } {
  const { print, stdout, stdin, tint } = terminal;
  const rows: { forwarded: ForwardedDelivery; atMs: number }[] = [];
  /** Index of the selected row; 0 is the newest. */
  let selected = 0;
  let inspecting = false;
  /** First visible line of the inspected delivery. */
  let scrolled = 0;
  let said = '';

  const fit = (text: string): string => cutText(text, terminal.width);
  const height = (): number => Math.max(5, stdout.rows) - 3;
  const paint = (): void => {
    stdout.control(CLEAR);
    print(tint('strong', fit(`sluice listen → ${url}`)));
    for (const line of inspecting ? inspect() : list()) print(line);
    stdout.write(tint('faint', fit(said === '' ? HELP : said)));
  };
  const list = (): string[] => {
    if (rows.length === 0) return ['', '  waiting for the first delivery'];
    const first = Math.max(0, selected - height() + 1);
    return rows
      .toReversed()
      .slice(first, first + height())
      .map(({ forwarded, atMs }, at) => {
        const line = deliveryLine(terminal, forwarded.delivery, forwarded, { atMs, indent: 2 });
        return `${first + at === selected ? tint('strong', '▸') : ' '} ${line}`;
      });
  };
  const inspect = (): string[] => {
    const found = rows.at(-1 - selected)?.forwarded;
    if (found === undefined) return [];
    const { delivery, headers, responseBody, status, error } = found;
    const field = (name: string, value: string): string =>
      tint('faint', `${name}:`) + fit(`${name}: ${value}`).slice(name.length + 1);
    return [
      deliveryLine(terminal, delivery, found, { atMs: Date.now() }),
      field('response', `${error ?? status} ${responseBody}`),
      ...Object.entries(headers).map(([name, value]) => field(name, value)),
      ...JSON.stringify(JSON.parse(delivery.body), undefined, 2).split('\n').map(fit),
    ].slice(scrolled, scrolled + height());
  };

  const replay = async (): Promise<void> => {
    const found = rows.at(-1 - selected)?.forwarded;
    if (found === undefined) return;
    const again = await forwarder.forward(found.delivery.id);
    if (again === undefined) throw new Error('the delivery no longer exists');
    rows.push({ forwarded: again, atMs: Date.now() });
    selected = 0;
    said = `replayed: ${again.error ?? again.status}`;
    paint();
  };
  const copy = (): void => {
    const found = rows.at(-1 - selected)?.forwarded;
    if (found === undefined) return;
    const command = toCurl({
      method: 'POST',
      url,
      headers: found.headers,
      body: found.delivery.body,
    });
    // OSC 52 copies to the terminal's clipboard, which also works over SSH.
    stdout.control(`\u001b]52;c;${Buffer.from(command).toString('base64')}\u0007`);
    said = `copied a curl command (${command.length} characters)`;
    paint();
  };

  const move = (by: 1 | -1): void => {
    if (inspecting) scrolled = Math.max(0, scrolled + by);
    else selected = Math.max(0, Math.min(selected + by, rows.length - 1));
  };
  const onKey = (_: string, { name, ctrl }: { name?: string; ctrl?: boolean }): void => {
    said = '';
    if (name === 'q' || (ctrl && name === 'c')) return terminal.stop();
    if (name === 'j' || name === 'down') move(1);
    else if (name === 'k' || name === 'up') move(-1);
    else if (name === 'return') [inspecting, scrolled] = [!inspecting, 0];
    else if (name === 'escape') inspecting = false;
    else if (name === 'c') return copy();
    else if (name === 'r') {
      void replay().catch((error: Error) => {
        said = `not sent: ${error.message}`;
        paint();
      });
      return;
    }
    paint();
  };
  stdout.control(OTHER_SCREEN[0]);
  emitKeypressEvents(stdin);
  stdin.setRawMode?.(true);
  stdin.on('keypress', onKey);
  stdin.resume();
  paint();

  return {
    show(forwarded) {
      rows.push({ forwarded, atMs: Date.now() });
      if (rows.length > KEPT) rows.shift();
      // Keeps the selection on the same delivery, unless the newest one is selected in the list.
      if (selected > 0 || inspecting) selected = Math.min(selected + 1, rows.length - 1);
      paint();
    },
    close() {
      stdin.off('keypress', onKey);
      stdin.setRawMode?.(false);
      stdin.pause();
      stdout.control(OTHER_SCREEN[1]);
    },
  };
}
