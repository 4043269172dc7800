import { clsx } from 'clsx';
import { ChevronDown, ChevronRight, ChevronUp } from 'lucide-react';
import { memo, useCallback, useDeferredValue, useEffect, useState } from 'react';
import { useAnswer, type Body } from './body.ts';
import { FIRST_LINES } from './bodyReader.ts';
import { formatCount } from '../ui/text/format.ts';
import { MAX_HITS, OPEN_AT_FIRST, withToggled, type JsonRow } from './jsonRows.ts';
import { Button, ROW_ICON } from '../ui/button.tsx';
import { CopyButton } from '../ui/text/copyButton.tsx';
import { useRowWindow } from '../ui/list/rowWindow.ts';

const ROW_HEIGHT = 24;
const INDENT_PX = 14;

const NOTHING_FOUND = { text: '', hits: [] };

/**
 * A JSON tree with a field to find keys and values. Only lines on screen are rendered, and all
 * content is plain text.
 */
export function JsonTree({
  body,
  label,
  children,
}: {
  body: Body;
  label: string;
  /** Content at the right end of the toolbar. */
  children?: React.ReactNode;
}) {
  const [openState, setOpenState] = useState(OPEN_AT_FIRST);
  // Until the count arrives, one screen of lines is assumed, so that the lines are requested
  // together with the count.
  const count = useAnswer(body, 'count', openState) ?? FIRST_LINES;
  const { scroller, list, first, end, style, scrollToRow } = useRowWindow<
    HTMLElement,
    HTMLDivElement
  >(count, ROW_HEIGHT);
  const lines = useAnswer(body, 'lines', openState, first, end);
  const [text, setText] = useState('');
  const wanted = useDeferredValue(text.trim());
  const { text: soughtText, hits } = useAnswer(body, 'find', wanted) ?? NOTHING_FOUND;
  const isSought = soughtText === text.trim();
  const [at, setAt] = useState(-1);
  const [pointedAt, setPointedAt] = useState('');
  const found = hits[at]?.path;
  const foundLine = useAnswer(body, 'lineOf', openState, found ?? '') ?? -1;
  useEffect(() => {
    if (foundLine >= 0) scrollToRow(foundLine, 'center');
    // oxlint-disable-next-line react/exhaustive-deps -- once per match, not on every scroll
  }, [found, foundLine]);

  const show = (index: number): void => {
    const hit = hits[(index + hits.length) % hits.length];
    if (hit === undefined) return;
    setOpenState({ ...openState, revealed: new Set([...openState.revealed, ...hit.within]) });
    setAt(hits.indexOf(hit));
  };
  // Whether Enter was pressed during a search. The first match is shown when the search ends.
  const [isAwaited, setAwaited] = useState(false);
  useEffect(() => {
    if (!isAwaited || !isSought) return;
    setAwaited(false);
    show(0);
    // oxlint-disable-next-line react/exhaustive-deps -- `show` changes on every render
  }, [isAwaited, isSought]);
  const toggle = useCallback(
    (row: JsonRow) => setOpenState((before) => withToggled(before, row)),
    [],
  );
  const openAll = (start: 'all' | 'none'): void => {
    setOpenState({ ...OPEN_AT_FIRST, start });
    scroller.current?.scrollTo({ top: 0 });
  };

  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-1 border-b border-line px-3 py-1">
        <input
          type="search"
          aria-label={`Find in ${label.toLowerCase()}`}
          placeholder="Find key or value"
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(-1);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
            if (isSought) show(at + (event.shiftKey ? -1 : 1));
            else setAwaited(true);
          }}
          className="control w-40 min-w-0 rounded-control border border-line bg-transparent px-2 text-12 placeholder:text-faint"
        />
        {wanted !== '' && (
          <output className="data px-1 text-muted">
            {at >= 0 && `${at + 1}/`}
            {formatCount(hits.length)}
            {hits.length === MAX_HITS && '+'}
          </output>
        )}
        {hits.length > 0 && (
          <>
            <Button variant="quiet" square aria-label="Previous match" onClick={() => show(at - 1)}>
              <ChevronUp size={14} strokeWidth={1.5} aria-hidden="true" />
            </Button>
            <Button variant="quiet" square aria-label="Next match" onClick={() => show(at + 1)}>
              <ChevronDown size={14} strokeWidth={1.5} aria-hidden="true" />
            </Button>
          </>
        )}
        <span className="ml-auto" />
        <Button variant="quiet" onClick={() => openAll('none')}>
          Collapse all
        </Button>
        <Button variant="quiet" onClick={() => openAll('all')}>
          Expand all
        </Button>
        {children}
      </div>
      <section ref={scroller} aria-label={label} className="min-h-0 flex-1 overflow-auto py-1">
        <div
          ref={list}
          className="min-w-full"
          // Lines from the worker may lag behind scrolling; this padding keeps them in place.
          style={{ ...style, paddingTop: `${(lines?.first ?? 0) * ROW_HEIGHT}px` }}
        >
          {lines?.rows.map((row) => (
            <JsonLine
              key={row.path}
              row={row}
              isFound={row.path === found}
              onToggle={toggle}
              onPoint={setPointedAt}
            />
          ))}
        </div>
      </section>
      <p
        aria-hidden="true"
        data-cut
        className="data h-7 shrink-0 truncate border-t border-line px-3 py-1 text-faint pointer-coarse:hidden"
      >
        {pointedAt}
      </p>
    </div>
  );
}

/**
 * Renders one line. Memoized, so that typing in the search field does not render all lines again.
 */
const JsonLine = memo(function JsonLine({
  row,
  isFound,
  onToggle,
  onPoint,
}: {
  row: JsonRow;
  isFound: boolean;
  onToggle: (row: JsonRow) => void;
  onPoint: (path: string) => void;
}) {
  const { kind, key, size, open, text, note, path, depth } = row;
  const brackets = kind === 'array' ? `[${size}]` : `{${size}}`;
  const isContainer = kind === 'array' || kind === 'object';
  return (
    <div
      onPointerEnter={() => onPoint(path)}
      onFocus={() => onPoint(path)}
      style={{ paddingLeft: `${8 + (depth - 1) * INDENT_PX}px`, height: `${ROW_HEIGHT}px` }}
      className={clsx(
        'data group flex items-center gap-1.5 pr-2 hover:bg-raised',
        isFound && 'bg-raised shadow-[inset_2px_0_var(--color-accent)]',
      )}
    >
      {isContainer ? (
        <button
          type="button"
          disabled={size === 0}
          aria-expanded={size === 0 ? undefined : open}
          onClick={() => onToggle(row)}
          className="flex h-6 min-w-0 items-center gap-1.5 text-left"
        >
          <ChevronRight
            size={12}
            strokeWidth={1.5}
            aria-hidden="true"
            className={clsx('shrink-0 text-faint', open && 'rotate-90', size === 0 && 'invisible')}
          />
          <span className="text-muted">{key}</span>
          <span className="text-faint">{brackets}</span>
        </button>
      ) : (
        <>
          <span className="w-3 shrink-0" />
          <span className="shrink-0 text-muted">{key}</span>
          <span data-cut className={clsx('min-w-0 truncate', kind === 'null' && 'text-faint')}>
            {text}
          </span>
        </>
      )}
      <Note text={note} />
      <span className={`ml-auto flex ${ROW_ICON}`}>
        {!isContainer && (
          <CopyButton
            text={kind === 'string' ? (JSON.parse(text) as string) : text}
            label={`Copy value of ${path}`}
            iconOnly
            className="min-h-6 min-w-6"
          />
        )}
        <CopyButton
          text={path}
          label={`Copy path ${path}`}
          icon="path"
          iconOnly
          className="min-h-6 min-w-6"
        />
      </span>
    </div>
  );
});

/**
 * Shows a note. Its style differs from that of the body, because the note is not part of the body.
 */
function Note({ text }: { text: string }) {
  if (text === '') return null;
  return (
    <span data-cut className="max-w-1/2 shrink-0 truncate font-sans text-12 text-info">
      {text}
    </span>
  );
}
