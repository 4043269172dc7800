export { startService, VERSION } from './service.ts';
export type { Service } from './service.ts';
export {
  ConfigError,
  parseAptos,
  parseChains,
  parseLogFormat,
  parseRoles,
  parseAbiUrls,
  readSpamLists,
} from './config.ts';
export type { ChainConfig, ServiceConfig } from './config.ts';
export { StartError } from './startError.ts';
export type { StartErrorCode } from './startError.ts';
export { createLog } from './observe.ts';
export type { Log, LogFields } from './observe.ts';
export { FileTakenError, backUpSqlite, restoreSqlite } from './store/sqliteBackup.ts';
export { fillSqlite } from './store/sqlitePast.ts';
export type {
  Past,
  PastAttempt,
  PastChain,
  PastDelivery,
  PastMatch,
  PastReplay,
  PastStream,
} from './store/sqlitePast.ts';
export type { AptosStreamDraft, EvmStreamDraft, StreamDraft } from './store/store.ts';
export { DEFAULT_APTOS_OPTIONS, DEFAULT_DELIVERY, DEFAULT_OPTIONS } from './store/store.ts';
