import { useVirtualizer } from '@tanstack/react-virtual';
import { clsx } from 'clsx';
import { ChevronRight } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { toJsonRows, type JsonRow } from '../jsonRows.ts';
import { CopyButton } from './copyButton.tsx';

const ROW_HEIGHT = 24;
const INDENT_PX = 14;

/** A JSON value, line by line; only the lines on screen are drawn, and everything is text. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => toJsonRows(value, toggled), [value, toggled]);
  const scroller = useRef<HTMLElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- no compiler memoizes this leaf
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => rows[index]?.path ?? index,
    overscan: 10,
  });
  const toggle = (path: string): void => {
    setToggled((before) => {
      const after = new Set(before);
      if (!after.delete(path)) after.add(path);
      return after;
    });
  };
  return (
    <section ref={scroller} aria-label={label} className="min-h-0 flex-1 overflow-auto py-1">
      <div className="relative min-w-full" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return (
            row !== undefined && (
              <div
                key={row.path}
                style={{
                  transform: `translateY(${start}px)`,
                  paddingLeft: `${8 + (row.depth - 1) * INDENT_PX}px`,
                  height: `${ROW_HEIGHT}px`,
                }}
                className="data group absolute inset-x-0 top-0 flex items-center gap-1.5 pr-2 hover:bg-raised"
              >
                <JsonLine row={row} onToggle={() => toggle(row.path)} />
              </div>
            )
          );
        })}
      </div>
    </section>
  );
}

function JsonLine({ row, onToggle }: { row: JsonRow; onToggle: () => void }) {
  const { kind, key, size, open, text, note, path } = row;
  const brackets = kind === 'array' ? `[${size}]` : `{${size}}`;
  if (kind === 'array' || kind === 'object') {
    return (
      <>
        <button
          type="button"
          disabled={size === 0}
          aria-expanded={size === 0 ? undefined : open}
          onClick={onToggle}
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
        <Note text={note} />
      </>
    );
  }
  return (
    <>
      <span className="w-3 shrink-0" />
      <span className="shrink-0 text-muted">{key}</span>
      <span title={text} className={clsx('min-w-0 truncate', kind === 'null' && 'text-faint')}>
        {text}
      </span>
      <Note text={note} />
      <span className="ml-auto opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
        <CopyButton
          text={kind === 'string' ? (JSON.parse(text) as string) : text}
          label={`Copy ${path}`}
          iconOnly
          className="min-h-6 min-w-6"
        />
      </span>
    </>
  );
}

/** Ours, not the body's: set apart from the values. */
function Note({ text }: { text: string }) {
  if (text === '') return null;
  return (
    <span title={text} className="max-w-1/2 shrink-0 truncate font-sans text-12 text-info">
      {text}
    </span>
  );
}
