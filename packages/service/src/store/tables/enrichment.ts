export interface EnrichmentTables {
  token: TokenTable;
}

/** Metadata of a token, stored so that it is rarely read from the chain. */
interface TokenTable {
  chain: string;
  address: string;
  /** Name of the token. Like `symbol`, empty if the token does not provide it. */
  name: string;
  symbol: string;
  decimals: number | null;
  /** `ERC721`, `ERC1155` or empty. */
  standard: string;
  /** The block at which the metadata was read. */
  block_number: number;
  updated_at: number;
}
