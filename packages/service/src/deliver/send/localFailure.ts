/**
 * Detects failures of this process or its machine, so that the receiver is not backed off for them
 * and a delivery that was not sent does not use up an attempt.
 */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** Messages that name the exhausted resource and, where possible, a fix. */
export const LOCAL_FAILURES = {
  EMFILE:
    'this process has no file descriptors left: raise its limit (ulimit -n, LimitNOFILE) or serve fewer streams',
  ENFILE:
    'this machine has no file descriptors left: raise fs.file-max or find the process that uses them',
  ENOMEM: 'this machine has no memory left for connections',
  ENOBUFS: 'this machine has no network buffers left',
  LEDGER: 'the ledger, which keeps the requests of inboxes, is full, busy or unreachable',
} as const;
export type ExhaustedResource = keyof typeof LOCAL_FAILURES;

/**
 * Cause of a failure in this process: an exhausted resource, or `STALLED` if this process did not
 * run while the deadline passed.
 */
export type LocalFailure = ExhaustedResource | 'STALLED';

/** Returns the exhausted resource that caused this error; undefined for any other cause. */
export function readLocalFailure(error: Error): ExhaustedResource | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (isExhausted(code)) return code;
  // Without a file descriptor the resolver cannot read its configuration, and reports an unknown
  // name.
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
