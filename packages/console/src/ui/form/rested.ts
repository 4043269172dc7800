import { useEffect, useState } from 'react';

/** Typing rests for so long before anything is asked for. */
const REST_MS = 200;

/** A value once it has stayed the same for a moment. */
export function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
