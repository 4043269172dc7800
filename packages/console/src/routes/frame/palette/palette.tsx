import { lazy, Suspense, useId, useLayoutEffect, useRef, useState } from 'react';
import type { PaletteKey } from './paletteCommands.tsx';

/** Loads the code of the list. The frame calls this function to prefetch the code. */
export const loadPaletteCommands = async () => ({
  default: (await import('./paletteCommands.tsx')).PaletteCommands,
});
const PaletteCommands = lazy(loadPaletteCommands);

const isPaletteKey = (key: string): key is PaletteKey => /^(ArrowDown|ArrowUp|Enter)$/.test(key);

/**
 * The command palette. Its field appears at once and accepts keys; the code of its list may load
 * later.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [text, setText] = useState('');
  /** Keys that the list has not handled yet, in order. */
  const waiting = useRef<PaletteKey[]>([]);
  const take = useRef<(key: PaletteKey) => boolean>(() => false);
  const [active, setActive] = useState<string>();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  /**
   * Passes only one key to the list, because the key may change the list. The next key follows once
   * the list has rendered.
   */
  const takeNext = (): void => {
    const [key] = waiting.current;
    if (key !== undefined && take.current(key)) waiting.current.shift();
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    // While an input method is composing, Enter confirms its text.
    if (!isPaletteKey(event.key) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    waiting.current.push(event.key);
    takeNext();
  };

  return (
    <dialog
      ref={dialog}
      aria-label="Search and commands"
      onClose={onClose}
      // In browsers that support `closedby`, a click outside closes the palette.
      {...{ closedby: 'any' }}
      className="mx-auto mt-[12dvh] mb-auto w-140 max-w-[calc(100vw-24px)] animate-overlay overflow-hidden rounded-overlay border border-line bg-surface p-0 text-text shadow-overlay backdrop:bg-bg/60"
    >
      <input
        role="combobox"
        aria-label="Search, or paste an address, hash, ID, event or ABI"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={active}
        placeholder="Search, or paste an address, hash, ID, event…"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="h-11 w-full border-b border-line bg-transparent px-4 text-14 outline-none placeholder:text-faint"
      />
      <Suspense>
        <PaletteCommands
          id={id}
          text={text}
          onKeyDown={onKeyDown}
          onDrawn={(next, drawn) => {
            take.current = next;
            setActive(drawn);
            takeNext();
          }}
          onRun={() => dialog.current?.close()}
        />
      </Suspense>
    </dialog>
  );
}
