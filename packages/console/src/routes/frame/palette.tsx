import type { ResolvedName } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useEffect, useId, useRef, useState } from 'react';
import { nameQuery, streamsQuery } from '../../api.ts';
import { DENSITY_NAMES } from '../../density.ts';
import { formatHash, formatQuantity } from '../../format.ts';
import { PAGES } from '../../pages.ts';
import { PASTED_WORDS, recognise, type Pasted } from '../../paste.ts';
import { useRested } from '../../rested.ts';
import { setDensity, setTheme, THEMES } from '../../settings.ts';
import { nameOfStream } from '../../streamName.ts';

interface Command {
  id: string;
  label: string;
  /** What it is about, in faint. */
  detail: string;
  run: () => void;
}

const MAX_SHOWN = 12;

/** Go anywhere, do anything; and whatever is pasted is told what it is and what can be done with it. */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);

  const pasted = recognise(text);
  const name = useRested(pasted?.kind === 'ens-name' ? pasted.name : '');
  const resolved = useQuery({ ...nameQuery(name), enabled: name !== '' });
  const isLookedUp = pasted?.kind === 'ens-name' && pasted.name === name;
  const forPasted = usePastedCommands(pasted, isLookedUp ? resolved.data : undefined);
  const all = useCommands();
  const words = text.toLowerCase().split(/\s+/);
  const matching = all.filter(({ label, detail }) => {
    const where = `${label} ${detail}`.toLowerCase();
    return words.every((word) => where.includes(word));
  });
  // A stream may be called as a block is, or a name.
  const shown = [...forPasted, ...matching].slice(0, MAX_SHOWN);
  const active = shown[Math.min(at, shown.length - 1)];

  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    dialog.current?.close();
    command.run();
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = (Math.min(at, shown.length - 1) + step + shown.length) % shown.length;
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(active);
    }
  };

  return (
    <dialog
      ref={dialog}
      aria-label="Search and commands"
      onClose={onClose}
      // A press beside it closes it, where the browser knows how.
      {...{ closedby: 'any' }}
      className="mx-auto mt-[12dvh] mb-auto w-140 max-w-[calc(100vw-24px)] animate-overlay overflow-hidden rounded-overlay border border-line bg-surface p-0 text-text shadow-overlay backdrop:bg-bg/60"
    >
      <input
        role="combobox"
        aria-label="Search, or paste an address, hash, id, event or ABI"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={active === undefined ? undefined : `${id}-${active.id}`}
        placeholder="Search, or paste an address, hash, id, event…"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="h-11 w-full border-b border-line bg-transparent px-4 text-14 outline-none placeholder:text-faint"
      />
      {pasted !== undefined && (
        <p className="px-4 pt-2 text-12 text-info">
          Recognised: {PASTED_WORDS[pasted.kind]}
          {pasted.kind === 'ens-name' && (
            <output>
              {!isLookedUp || resolved.isPending
                ? ', looking it up'
                : resolved.isError
                  ? `. ${resolved.error.message}`
                  : `, ${formatHash(resolved.data.address)}`}
            </output>
          )}
        </p>
      )}
      <div
        ref={list}
        id={id}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a select cannot hold commands
        role="listbox"
        aria-label="Commands"
        className="max-h-[50dvh] overflow-y-auto py-1"
      >
        {shown.map((command) => (
          <div
            key={command.id}
            id={`${id}-${command.id}`}
            // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- see the list
            role="option"
            tabIndex={-1}
            aria-selected={command === active}
            onClick={() => run(command)}
            onKeyDown={onKeyDown}
            onMouseMove={() => setAt(shown.indexOf(command))}
            className={clsx(
              'flex min-h-8 cursor-pointer items-center gap-3 px-4 pointer-coarse:min-h-11',
              command === active && 'bg-raised shadow-[inset_2px_0_var(--color-accent)]',
            )}
          >
            <span className="min-w-0 truncate">{command.label}</span>
            <span className="data ml-auto max-w-1/2 truncate text-faint">{command.detail}</span>
          </div>
        ))}
      </div>
      {shown.length === 0 && (
        <p className="px-4 pb-3 text-muted">
          {pasted?.kind === 'aptos-name'
            ? 'Names of Aptos are not looked up: paste the address that it stands for.'
            : pasted === undefined &&
              'Nothing is called that. Addresses, hashes, block numbers, ids, names of ENS, events and ABIs are recognised when pasted whole.'}
        </p>
      )}
    </dialog>
  );
}

function useCommands(): Command[] {
  const navigate = useNavigate();
  const { data: streams } = useQuery(streamsQuery);
  return [
    ...PAGES.map(({ to, title, key }) => ({
      id: `page-${key}`,
      label: title,
      detail: `g ${key}`,
      run: () => void navigate({ to }),
    })),
    {
      id: 'new',
      label: 'New stream',
      detail: 'n',
      run: () => void navigate({ to: '/streams/new' }),
    },
    ...(streams ?? []).map(({ id, tag, description }) => ({
      id,
      label: tag || description || id,
      detail: 'stream',
      run: () => void navigate({ to: '/streams/$streamId', params: { streamId: id } }),
    })),
    ...THEMES.map((theme) => ({
      id: `theme-${theme}`,
      label: `Theme: ${theme}`,
      detail: 'appearance',
      run: () => setTheme(theme),
    })),
    ...DENSITY_NAMES.map((density) => ({
      id: `rows-${density}`,
      label: `Rows: ${density}`,
      detail: 'appearance',
      run: () => setDensity(density),
    })),
  ];
}

/** Functions would make the link long for nothing. */
function eventsOf(abi: string): string {
  type Item = { type: string } | string;
  const value = JSON.parse(abi) as Item[] | { abi: Item[] };
  const items = Array.isArray(value) ? value : value.abi;
  return JSON.stringify(
    items.filter((item) =>
      typeof item === 'string' ? item.includes('event') : item.type === 'event',
    ),
  );
}

/** @param resolved what the pasted name stands for, once that is known */
function usePastedCommands(
  pasted: Pasted | undefined,
  resolved: ResolvedName | undefined,
): Command[] {
  const navigate = useNavigate();
  const { data: streams } = useQuery(streamsQuery);
  const command = (id: string, label: string, detail: string, run: () => void): Command => ({
    id,
    label,
    detail,
    run,
  });
  const watch = (address: string, detail = formatHash(address)): Command =>
    command('watch', 'New stream that watches it', detail, () => {
      void navigate({ to: '/streams/new', search: { address } });
    });
  const explain = (q: string, label: string, detail = formatHash(q)): Command =>
    command('explain', label, detail, () => void navigate({ to: '/explain', search: { q } }));
  switch (pasted?.kind) {
    case undefined:
      return [];
    case 'evm-address':
    case 'aptos-address':
      return [watch(pasted.address), explain(pasted.address, 'Which streams watch it')];
    case 'hash':
      return [explain(pasted.hash, 'Explain what became of it'), watch(pasted.hash)];
    case 'block':
      return [explain(String(pasted.number), 'Explain what became of the block')];
    case 'addresses':
      return [
        command(
          'watch',
          'New stream that watches them',
          formatQuantity(pasted.count, 'address', 'addresses'),
          () => void navigate({ to: '/streams/new', search: { address: pasted.text } }),
        ),
      ];
    case 'event':
      return [
        command(
          'event',
          'New stream of this event',
          pasted.signature,
          () => void navigate({ to: '/streams/new', search: { event: pasted.signature } }),
        ),
      ];
    case 'move-path':
      return [
        command(
          'event',
          'New Aptos stream of this function',
          pasted.path,
          () => void navigate({ to: '/streams/new', search: { event: pasted.path } }),
        ),
      ];
    case 'id': {
      const stream = streams?.find(({ id }) => id === pasted.id);
      return stream === undefined
        ? [
            command('delivery', 'Open the delivery', pasted.id, () => {
              void navigate({ to: '/deliveries/$deliveryId', params: { deliveryId: pasted.id } });
            }),
            explain(pasted.id, 'Explain the delivery'),
          ]
        : [
            command('stream', `Open ${nameOfStream(stream)}`, pasted.id, () => {
              void navigate({ to: '/streams/$streamId', params: { streamId: pasted.id } });
            }),
          ];
    }
    case 'abi':
      return [
        command(
          'event',
          'New stream of its events',
          'ABI',
          () => void navigate({ to: '/streams/new', search: { event: eventsOf(pasted.json) } }),
        ),
      ];
    case 'ens-name':
      return resolved === undefined
        ? []
        : [
            watch(`${resolved.address}, ${resolved.name}`, resolved.name),
            explain(resolved.name, 'Which streams watch it', resolved.name),
          ];
    case 'aptos-name':
      return [];
  }
}
