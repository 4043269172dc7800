// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Runs operations of accounts in one transaction, like ERC-4337's entry point: an operation that
/// fails is undone alone, and the transaction succeeds.
contract EntryPoint {
    struct Operation {
        address account;
        bytes callData;
    }

    function handleOps(Operation[] calldata operations) external {
        for (uint256 i = 0; i < operations.length; i++) {
            (bool success, ) = operations[i].account.call(operations[i].callData);
            success;
        }
    }
}
