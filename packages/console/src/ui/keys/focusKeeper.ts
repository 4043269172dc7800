/**
 * Keeps the keyboard focus on the page. A browser moves the focus to the body if the focused element
 * is removed, hidden or disabled; the next Tab would then start at the top of the page.
 */
import { useEffect } from 'react';

/** Returns the focused element and its ancestors, innermost first. */
function pathOf(element: Element): HTMLElement[] {
  const path: HTMLElement[] = [];
  for (let each: Element | null = element; each !== null; each = each.parentElement) {
    if (each instanceof HTMLElement && each !== document.body && each.id !== 'root')
      path.push(each);
  }
  return path;
}

const isShown = (element: HTMLElement): boolean => element.isConnected && element.checkVisibility();

const isDisabled = (element: HTMLElement): boolean => element.matches(':disabled');

/** Focuses an element that may not be focusable by itself. Returns whether it is now focused. */
export function focusAny(element: HTMLElement): boolean {
  const isFocusable = element.tabIndex >= 0 || element.hasAttribute('tabindex');
  if (!isFocusable) {
    element.tabIndex = -1;
    element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
  }
  element.focus({ preventScroll: true });
  return document.activeElement === element;
}

/**
 * If the focused element disappears, focuses the closest ancestor that is still shown, at last the
 * content of the page. An element that was only disabled gets the focus back when it is enabled.
 */
export function useFocusKeeper(): void {
  useEffect(() => {
    let path: HTMLElement[] = [];
    /** The disabled element, and the ancestor that has the focus meanwhile. */
    let waiting: { element: HTMLElement; at: HTMLElement } | undefined;

    const onFocusIn = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLElement)) return;
      if (waiting !== undefined && target !== waiting.at) waiting = undefined;
      if (waiting === undefined) path = pathOf(target);
    };
    const keep = (): void => {
      if (waiting !== undefined) {
        const { element, at } = waiting;
        if (document.activeElement !== at && at.isConnected) waiting = undefined;
        else if (isShown(element) && !isDisabled(element)) {
          waiting = undefined;
          element.focus({ preventScroll: true });
          return;
        }
      }
      const [focused, ...ancestors] = path;
      if (focused === undefined || document.activeElement !== document.body) return;
      // A click next to the element takes the focus away on purpose.
      if (isShown(focused) && !isDisabled(focused)) return;
      const content = document.getElementById('content');
      for (const each of [...ancestors, ...(content === null ? [] : [content])]) {
        if (!isShown(each) || each.closest('[inert]') !== null || !focusAny(each)) continue;
        if (focused.isConnected) waiting = { element: focused, at: each };
        return;
      }
    };
    let frame = 0;
    // Waits for the next frame, because an effect of the same change may move the focus itself.
    const onChange = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        keep();
      });
    };
    const changes = new MutationObserver(onChange);
    changes.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ['disabled', 'hidden', 'inert', 'open'],
    });
    document.addEventListener('focusin', onFocusIn);
    return () => {
      cancelAnimationFrame(frame);
      changes.disconnect();
      document.removeEventListener('focusin', onFocusIn);
    };
  }, []);
}
