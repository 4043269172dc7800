import type { ResolvedName } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useLayoutEffect, useRef, useState } from 'react';
import { nameQuery } from '../../../data/queries/chains.ts';
import { streamsQuery } from '../../../data/queries/streams.ts';
import { DENSITY_NAMES } from '../../../ui/list/density.ts';
import { formatHash, formatQuantity } from '../../../ui/text/format.ts';
import { PAGES } from '../pages.ts';
import { describePasted, recognize } from '../../../words/paste.ts';
import type { Pasted } from '../../../words/pasted.ts';
import { useDebounced } from '../../../ui/form/debounced.ts';
import { setDensity, setTheme, THEMES } from '../../../ui/preferences.ts';
import { nameOfStream } from '../../../words/names.ts';
import type { Command } from './command.ts';
import { useDocsCommands } from './docsCommands.ts';
import { useFoundCommands } from './foundCommands.ts';
import { useStreamActions } from './streamActions.ts';

/** Keys that the palette's field passes to its list. */
export type PaletteKey = 'ArrowDown' | 'ArrowUp' | 'Enter';

const MAX_SHOWN = 12;
/** Minimum length of the text for a search of the deliveries. */
const MIN_SEARCH = 3;

/**
 * Lists commands that match the text, and actions for recognized text such as an address, a hash or
 * an id.
 */
export function PaletteCommands({
  id,
  text,
  onKeyDown,
  onDrawn,
  onRun,
}: {
  /** Element id of the list. */
  id: string;
  text: string;
  onKeyDown: (event: React.KeyboardEvent) => void;
  /**
   * Called after each render of the list.
   * @param take handles a key; returns false while the list is loading.
   * @param active the element id of the command that Enter runs.
   */
  onDrawn: (take: (key: PaletteKey) => boolean, active: string | undefined) => void;
  /** Closes the palette before a command runs. */
  onRun: () => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState({ text, at: 0 });
  // New text starts a new list, with its first command active.
  const at = chosen.text === text ? chosen.at : 0;
  const streams = useQuery(streamsQuery);

  const pasted = recognize(text);
  const name = useDebounced(pasted?.kind === 'name' && pasted.isResolved ? pasted.name : '');
  const resolved = useQuery({ ...nameQuery(name), enabled: name !== '' });
  const isLookedUp = pasted?.kind === 'name' && pasted.name === name;
  const forPasted = usePastedCommands(pasted, isLookedUp ? resolved.data : undefined);
  const found = useFoundCommands(text, pasted);
  const commands = useCommands();
  const all = [...commands, ...useStreamActions(), ...useDocsCommands()];
  const words = text.toLowerCase().split(/\s+/);
  const matching = all.filter(({ label, detail }) => {
    const where = `${label} ${detail}`.toLowerCase();
    return words.every((word) => where.includes(word));
  });
  const search = useSearchCommand(pasted === undefined ? text.trim() : '');
  const shown = [...found.commands, ...forPasted, ...matching, ...search].slice(0, MAX_SHOWN);
  const active = shown[Math.min(at, shown.length - 1)];
  const activeId = active && `${id}-${active.id}`;

  const run = (command: Command): void => {
    onRun();
    command.run();
  };
  const take = (key: PaletteKey): boolean => {
    if (found.isPending) return false;
    // Keeps the key while the streams load, because one of them may match.
    if (active === undefined) return !streams.isPending;
    if (key === 'Enter') run(active);
    else {
      const step = key === 'ArrowDown' ? 1 : -1;
      const next = (shown.indexOf(active) + step + shown.length) % shown.length;
      setChosen({ text, at: next });
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    }
    return true;
  };
  useLayoutEffect(() => onDrawn(take, activeId));

  return (
    <>
      {pasted !== undefined && (
        <p className="px-4 pt-2 text-12 text-info">
          Recognized: {describePasted(pasted)}
          {pasted.kind === 'name' && pasted.isResolved && (
            <output>
              {!isLookedUp || resolved.isPending
                ? ', resolving'
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
            onMouseMove={() => setChosen({ text, at: shown.indexOf(command) })}
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
          {pasted?.kind === 'name' && !pasted.isResolved
            ? `${pasted.what}s are not resolved. Paste the address instead.`
            : pasted === undefined &&
              'No results. You can also paste a complete address, hash, block number, ID, ENS name, event or ABI.'}
        </p>
      )}
    </>
  );
}

/**
 * Returns a command that searches the deliveries for the text, which may be a label or part of a
 * summary.
 */
function useSearchCommand(text: string): Command[] {
  const navigate = useNavigate();
  if (text.length < MIN_SEARCH) return [];
  return [
    {
      id: 'search',
      label: `Search deliveries for “${text}”`,
      detail: 'label or summary',
      run: () => void navigate({ to: '/deliveries', search: { q: text } }),
    },
  ];
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
      label: `Row height: ${density}`,
      detail: 'appearance',
      run: () => setDensity(density),
    })),
  ];
}

/** @param resolved the pasted ENS name with its address; undefined until it is known. */
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
    command('watch', 'Create a stream for this address', detail, () => {
      void navigate({ to: '/streams/new', search: { address } });
    });
  const explain = (q: string, label: string, detail = formatHash(q)): Command =>
    command('explain', label, detail, () => void navigate({ to: '/explain', search: { q } }));
  const activity = (address: string): Command =>
    command('activity', 'Streams and deliveries of this address', formatHash(address), () => {
      void navigate({ to: '/addresses/$address', params: { address } });
    });
  switch (pasted?.kind) {
    case undefined:
      return [];
    case 'address':
      return [
        watch(pasted.address),
        activity(pasted.address),
        explain(pasted.address, 'Find streams that watch this address'),
      ];
    case 'hash':
      return [explain(pasted.hash, 'Explain this hash'), watch(pasted.hash), activity(pasted.hash)];
    case 'block':
      return [explain(String(pasted.number), 'Explain this block')];
    case 'addresses':
      return [
        command(
          'watch',
          'Create a stream for these addresses',
          formatQuantity(pasted.count, 'address', 'addresses'),
          () => void navigate({ to: '/streams/new', search: { address: pasted.text } }),
        ),
      ];
    case 'event':
      return [
        command(
          'event',
          pasted.command,
          pasted.detail,
          () => void navigate({ to: '/streams/new', search: { event: pasted.event } }),
        ),
      ];
    case 'id': {
      const stream = streams?.find(({ id }) => id === pasted.id);
      return stream === undefined
        ? [
            command('delivery', 'Open delivery', pasted.id, () => {
              void navigate({ to: '/deliveries/$deliveryId', params: { deliveryId: pasted.id } });
            }),
            explain(pasted.id, 'Explain delivery'),
          ]
        : [
            command('stream', `Open ${nameOfStream(stream)}`, pasted.id, () => {
              void navigate({ to: '/streams/$streamId', params: { streamId: pasted.id } });
            }),
          ];
    }
    case 'name':
      return resolved === undefined
        ? []
        : [
            watch(`${resolved.address}, ${resolved.name}`, resolved.name),
            explain(resolved.name, 'Find streams that watch this address', resolved.name),
            activity(resolved.address),
          ];
  }
}
