/** Roles of a process: reading chains, sending webhooks, serving the API. */
import { InvalidValue } from './setting.ts';

export const ROLES = ['ingest', 'deliver', 'api'] as const;
export type Role = (typeof ROLES)[number];

/** Reads roles, of which `all` stands for every one. Default: all. */
export function readRoles(texts: readonly string[]): readonly Role[] {
  const roles = texts.flatMap((text) => {
    if (text === 'all') return ROLES;
    const role = ROLES.find((each) => each === text);
    if (role !== undefined) return role;
    throw new InvalidValue(text, `should be one of ${ROLES.join(', ')}, all`);
  });
  return ROLES.filter((role) => roles.length === 0 || roles.includes(role));
}
