/** Settings that the ledger stores, and the URLs that were added while the service ran. */

/** The URL of a node or an alert receiver that was added while the service ran. */
export interface AddedUrl {
  id: string;
  /** The chain of the node; null for an alert receiver. */
  chain: string | null;
  /** The URL, encrypted by `vault.ts`. */
  sealed: string;
  createdAt: number;
}

export interface AddedUrlReads {
  /** Lists all added URLs, oldest first. */
  listAddedUrls(): Promise<AddedUrl[]>;
}

export interface AddedUrlWrites {
  /**
   * Adds a URL if the ids of all added URLs still equal `existing`; otherwise returns undefined.
   * The caller can thus check the existing URLs first.
   */
  addUrl(
    added: Omit<AddedUrl, 'createdAt'>,
    existing: readonly string[],
  ): Promise<AddedUrl | undefined>;
  /** Removes a URL and the alerts to it; returns false if it is unknown. */
  removeUrl(id: string): Promise<boolean>;
  /** Replaces the encrypted text of a URL, if it still exists. */
  resealUrl(added: Pick<AddedUrl, 'id' | 'sealed'>): Promise<void>;
}

export interface SettingReads {
  readSetting(key: string): Promise<string | undefined>;
}

export interface SettingWrites {
  saveSetting(key: string, value: string): Promise<void>;
  /** Stores the value unless the setting already has one. Returns the stored value. */
  keepSetting(key: string, value: string): Promise<string>;
  /**
   * Replaces a setting if its value still equals `before`, which is undefined if the setting must
   * not exist yet. Returns whether it was replaced.
   */
  replaceSetting(key: string, before: string | undefined, value: string): Promise<boolean>;
  /** Writes an unused setting, as a check. Rejects if the ledger cannot be written to. */
  checkWritable(): Promise<void>;
}
