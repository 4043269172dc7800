// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// The function of ENS's Universal Resolver that Sluice calls. Tests install it at the resolver's
/// address.
contract Names {
    error ResolverNotFound(bytes name);
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extraData);

    mapping(bytes32 => address) private known;
    mapping(bytes32 => bool) private isElsewhere;

    /// `name` is in DNS wire format: length-prefixed labels, then a zero.
    function set(bytes calldata name, address what) external {
        known[keccak256(name)] = what;
    }

    /// Lets a server outside the chain resolve the name.
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
