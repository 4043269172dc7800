export { startService, VERSION } from './service.ts';
export type { Service } from './service.ts';
export {
  ConfigError,
  parseAptos,
  parseChains,
  parseLogFormat,
  parseRoles,
  readSpamLists,
} from './config.ts';
export type { ChainConfig, ServiceConfig } from './config.ts';
export { createLog } from './observe.ts';
export type { Log, LogFields } from './observe.ts';
export { FileTakenError, backUpSqlite, restoreSqlite } from './store/sqliteBackup.ts';
