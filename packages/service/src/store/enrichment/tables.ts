/** Rows of tokens. */

export interface EnrichmentTables {
  token: TokenTable;
}

/** What a token contract says of itself, so that it is asked once. */
interface TokenTable {
  chain: string;
  address: string;
  /** Empty where the contract does not say. */
  name: string;
  symbol: string;
  decimals: number | null;
  /** `ERC721`, `ERC1155` or empty. */
  standard: string;
  /** Block it was read at. */
  block_number: number;
  updated_at: number;
}
