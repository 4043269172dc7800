export { startService, VERSION } from './service.ts';
export type { Service } from './service.ts';
export {
  parseAptos,
  parseChains,
  parseLogFormat,
  parseRoles,
  parseAbiUrls,
  parseExplorers,
  readSpamLists,
} from './config.ts';
export type { ChainConfig, ServiceConfig } from './config.ts';
export { CallerError, configError } from './base/errors.ts';
export type { CallerCode } from './base/errors.ts';
export { createLog } from './base/log.ts';
export type { Log, LogFields } from './base/log.ts';
export { backUpSqlite, restoreSqlite } from './store/engine/sqlite/sqliteBackup.ts';
