export { startService } from './service.ts';
export type { Service } from './service.ts';
export {
  ROLES,
  findConfigErrors,
  parseAptos,
  parseChains,
  parseLogFormat,
  parseRoles,
  parseAbiUrls,
  parseExplorers,
  readSpamLists,
  splitNodeOptions,
} from './config.ts';
export type { ChainConfig, ServiceConfig } from './config.ts';
export { hideSecrets } from './base/hideSecrets.ts';
export { CallerError, configError } from './base/errors.ts';
export type { CallerCode } from './base/errors.ts';
export { LOG_FORMATS, createLog } from './base/log.ts';
export type { Log, LogFields } from './base/log.ts';
export { backUpSqlite, restoreSqlite } from './store/engine/sqlite/sqliteBackup.ts';
