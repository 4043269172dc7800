// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Emits any log, even one that does not fit an event. Its name is not valid UTF-8.
contract Crier {
    event Transfer(address indexed from, address indexed to, uint256 value);

    /// `bytes` have the encoding of a `string`, but need not be text.
    function name() external pure returns (bytes memory) {
        return hex"c3284372696572ff";
    }

    function symbol() external pure returns (bytes memory) {
        return hex"fffe";
    }

    /// Emits several logs in one transaction.
    function cryAll(bytes32[][] calldata topics, bytes[] calldata data) external {
        for (uint256 n = 0; n < topics.length; n++) cry(topics[n], data[n]);
    }

    /// Emits one log with up to four topics.
    function cry(bytes32[] calldata topics, bytes calldata data) public {
        bytes memory text = data;
        assembly {
            let at := add(text, 32)
            let size := mload(text)
            let first := topics.offset
            switch topics.length
            case 0 { log0(at, size) }
            case 1 { log1(at, size, calldataload(first)) }
            case 2 { log2(at, size, calldataload(first), calldataload(add(first, 32))) }
            case 3 {
                log3(at, size, calldataload(first), calldataload(add(first, 32)), calldataload(add(first, 64)))
            }
            case 4 {
                log4(
                    at,
                    size,
                    calldataload(first),
                    calldataload(add(first, 32)),
                    calldataload(add(first, 64)),
                    calldataload(add(first, 96))
                )
            }
            default { revert(0, 0) }
        }
    }

    /// Emits `count` transfers of 0, 1, 2, … from the caller to `to`.
    function cryTransfers(address to, uint256 count) external {
        for (uint256 n = 0; n < count; n++) emit Transfer(msg.sender, to, n);
    }
}
