/**
 * Messages of the gRPC transaction stream (packages `aptos.indexer.v1` and `aptos.transaction.v1`),
 * with only the fields that tests need. Declared separately from the service's messages, so that a
 * wrong field number in either declaration fails a test.
 */
export const APTOS_STREAM_PROTO = `
syntax = "proto3";

message TransactionsRequest {
  optional uint64 starting_version = 1;
  optional uint64 transactions_count = 2;
  optional uint64 batch_size = 3;
}
message Batch {
  repeated Transaction transactions = 1;
  optional uint64 chain_id = 2;
}

message Time { int64 seconds = 1; int32 nanos = 2; }

message Transaction {
  Time timestamp = 1;
  uint64 version = 2;
  Info info = 3;
  TransactionType type = 6;
  oneof data {
    BlockMetadata block_metadata = 7;
    Genesis genesis = 8;
    User user = 10;
    Validator validator = 21;
  }
}
enum TransactionType {
  unspecified_transaction = 0;
  genesis_transaction = 1;
  block_metadata_transaction = 2;
  state_checkpoint_transaction = 3;
  user_transaction = 4;
  validator_transaction = 20;
  block_epilogue_transaction = 21;
}

message Info {
  bytes hash = 1;
  bytes state_change_hash = 2;
  bytes event_root_hash = 3;
  uint64 gas_used = 5;
  bool success = 6;
  repeated Change changes = 9;
}

message BlockMetadata { string id = 1; repeated Event events = 3; }
message Genesis { repeated Event events = 2; }
message Validator { repeated Event events = 3; }
message User { Request request = 1; repeated Event events = 2; }

message Event {
  EventKey key = 1;
  uint64 sequence_number = 2;
  string data = 4;
  string type_str = 5;
}
message EventKey { uint64 creation_number = 1; string account_address = 2; }

message Request {
  string sender = 1;
  uint64 max_gas_amount = 3;
  uint64 gas_unit_price = 4;
  Payload payload = 6;
  Signature signature = 7;
}
message Payload {
  PayloadType type = 1;
  oneof payload {
    EntryFunction entry_function_payload = 2;
    Script script_payload = 3;
    Multisig multisig_payload = 6;
  }
  ExtraConfig extra_config = 7;
}
message ExtraConfig { optional string multisig_address = 1; }
enum PayloadType {
  unspecified_payload = 0;
  entry_function_payload = 1;
  script_payload = 2;
  write_set_payload = 4;
  multisig_payload = 5;
}
message ModuleId { string address = 1; string name = 2; }
message EntryFunction {
  repeated MoveType type_arguments = 2;
  repeated string arguments = 3;
  string entry_function_id_str = 4;
}
message Script {
  ScriptCode code = 1;
  repeated MoveType type_arguments = 2;
  repeated string arguments = 3;
}
message ScriptCode { bytes bytecode = 1; }
message Multisig { string multisig_address = 1; optional MultisigInner transaction_payload = 2; }
message MultisigInner { PayloadType type = 1; EntryFunction entry_function_payload = 2; }

message Signature {
  oneof signature {
    MultiAgent multi_agent = 4;
    FeePayer fee_payer = 5;
  }
}
message MultiAgent { repeated string secondary_signer_addresses = 2; }
message FeePayer { repeated string secondary_signer_addresses = 2; string fee_payer_address = 4; }

message Change {
  ChangeType type = 1;
  oneof change {
    DeleteModule delete_module = 2;
    DeleteResource delete_resource = 3;
    DeleteTableItem delete_table_item = 4;
    WriteModule write_module = 5;
    WriteResource write_resource = 6;
    WriteTableItem write_table_item = 7;
  }
}
enum ChangeType {
  unspecified_change = 0;
  delete_module = 1;
  delete_resource = 2;
  delete_table_item = 3;
  write_module = 4;
  write_resource = 5;
  write_table_item = 6;
}
message DeleteModule { string address = 1; bytes state_key_hash = 2; ModuleId module = 3; }
message DeleteResource {
  string address = 1;
  bytes state_key_hash = 2;
  string type_str = 4;
}
message DeleteTableItem {
  bytes state_key_hash = 1;
  string handle = 2;
  string key = 3;
  DeletedItem data = 4;
}
message DeletedItem { string key = 1; string key_type = 2; }
message WriteModule { string address = 1; bytes state_key_hash = 2; ModuleCode data = 3; }
message ModuleCode { bytes bytecode = 1; }
message WriteResource {
  string address = 1;
  bytes state_key_hash = 2;
  string type_str = 4;
  string data = 5;
}
message WriteTableItem {
  bytes state_key_hash = 1;
  string handle = 2;
  string key = 3;
  WrittenItem data = 4;
}
message WrittenItem { string key = 1; string key_type = 2; string value = 3; string value_type = 4; }

message MoveType {
  MoveTypes type = 1;
  oneof content {
    MoveType vector = 3;
    StructTag struct = 4;
    uint32 generic_type_param_index = 5;
    ReferenceType reference = 6;
    string unparsable = 7;
  }
}
enum MoveTypes {
  unspecified_type = 0;
  bool = 1;
  u8 = 2;
  u64 = 3;
  u128 = 4;
  address = 5;
  signer = 6;
  vector = 7;
  struct = 8;
  generic_type_param = 9;
  reference = 10;
  unparsable = 11;
  u16 = 12;
  u32 = 13;
  u256 = 14;
}
message ReferenceType { bool mutable = 1; MoveType to = 2; }
message StructTag {
  string address = 1;
  string module = 2;
  string name = 3;
  repeated MoveType generic_type_params = 4;
}
`;
