// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// An account that makes one call per operation, and reverts with the reason of a failed call.
contract SmartAccount {
    function execute(address target, uint256 value, bytes calldata callData) external payable {
        (bool success, bytes memory result) = target.call{value: value}(callData);
        if (!success) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
    }
}
