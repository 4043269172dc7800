const [major = 0, minor = 0] = (process.versions['sqlite'] ?? '').split('.').map(Number);
/** Whether SQLite is version 3.51 or newer. Node 24 may include an older version. */
export const isSqliteFrom351 = major > 3 || (major === 3 && minor >= 51);
