/**
 * Failures of this process or its machine that keep an attempt from its receiver. They say nothing of the
 * receiver: it is not backed off, and its delivery loses no attempt of its schedule.
 */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** What ran out, and what to do, for people. */
export const LOCAL_FAILURES = {
  EMFILE:
    'this process has no file descriptors left: raise its limit (ulimit -n, LimitNOFILE) or lower the number of streams it serves',
  ENFILE: 'this machine has no file descriptors left: raise fs.file-max or find what holds them',
  ENOMEM: 'this machine has no memory left for connections',
  ENOBUFS: 'this machine has no network buffers left',
} as const;
export type ExhaustedResource = keyof typeof LOCAL_FAILURES;

/** `STALLED`: this process did not run while the deadline passed. */
export type LocalFailure = ExhaustedResource | 'STALLED';

/** The resource whose lack made this error; undefined for an error of anybody else. */
export function readLocalFailure(error: Error): ExhaustedResource | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (isExhausted(code)) return code;
  // Without a descriptor the resolver cannot read its settings, and reports that there is no such name.
  return syscall === 'getaddrinfo' ? probeDescriptors() : undefined;
}

function probeDescriptors(): ExhaustedResource | undefined {
  try {
    closeSync(openSync(devNull, 'r'));
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return isExhausted(code) ? code : undefined;
  }
}

const isExhausted = (code: string | undefined): code is ExhaustedResource =>
  code !== undefined && Object.hasOwn(LOCAL_FAILURES, code);
