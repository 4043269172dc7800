// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// The one function of the Universal Resolver of ENS that Sluice calls, and its answers; a test puts it
/// where the Universal Resolver stands elsewhere.
contract Names {
    error ResolverNotFound(bytes name);
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extraData);

    mapping(bytes32 => address) private known;
    mapping(bytes32 => bool) private isElsewhere;

    /// `name` as DNS packets have it: each label after its length, and a zero.
    function set(bytes calldata name, address what) external {
        known[keccak256(name)] = what;
    }

    /// From now on the name is asked of a server.
    function move(bytes calldata name) external {
        isElsewhere[keccak256(name)] = true;
    }

    function resolve(bytes calldata name, bytes calldata)
        external
        view
        returns (bytes memory result, address resolver)
    {
        bytes32 key = keccak256(name);
        if (isElsewhere[key]) revert OffchainLookup(address(this), new string[](0), "", bytes4(0), "");
        if (known[key] == address(0)) revert ResolverNotFound(name);
        return (abi.encode(known[key]), address(this));
    }
}
