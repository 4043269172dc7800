import { useCallback, useState, type RefCallback } from 'react';

/**
 * Returns whether an element is narrower than a number of pixels, and the ref of the element. For
 * layout that a container query cannot express.
 */
export function useNarrow(belowPx: number): [boolean, RefCallback<Element>] {
  const [isNarrow, setNarrow] = useState(false);
  const ref = useCallback(
    (element: Element | null) => {
      if (element === null) return undefined;
      const measure = (): void => setNarrow(element.getBoundingClientRect().width < belowPx);
      // Measures before the first paint; the observer reports after it.
      measure();
      const resizes = new ResizeObserver(measure);
      resizes.observe(element);
      return () => resizes.disconnect();
    },
    [belowPx],
  );
  return [isNarrow, ref];
}
