#!/usr/bin/env bash
# Opens an issue, or updates the open one, if recent blocks of public test networks have fields,
# transaction types or rules that Sluice does not understand. Needs the GitHub command line.
set -euo pipefail
cd "$(dirname "$0")/../.."

title='A test network has blocks that Sluice does not understand'
code=0
npm run -s watch-forks -- --blocks 20 \
  --chain 0xaa36a7=https://ethereum-sepolia-rpc.publicnode.com \
  --chain 0x88bb0=https://ethereum-hoodi-rpc.publicnode.com \
  --chain 0x14a34=https://sepolia.base.org \
  --chain 0xaa37dc=https://sepolia.optimism.io \
  --chain 0x66eee=https://sepolia-rollup.arbitrum.io/rpc \
  --chain 0x13882=https://rpc-amoy.polygon.technology \
  --chain 0xa869=https://api.avax-test.network/ext/bc/C/rpc \
  --chain 0x61=https://bsc-testnet-rpc.publicnode.com \
  --chain 0xaa044c=https://forno.celo-sepolia.celo-testnet.org \
  --chain 0x8274f=https://sepolia-rpc.scroll.io \
  --chain 0x138c5=https://bepolia.rpc.berachain.com \
  --chain 0x27d8=https://rpc.chiadochain.net \
  > report.md || code=$?
cat report.md | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
# 1: something is not understood. 2: a node can't be read, which fails the job.
[ "$code" = 1 ] || exit "$code"
open=$(gh issue list --state open --search "in:title \"$title\"" --json number --jq '.[0].number // empty')
if [ -n "$open" ]; then
  gh issue edit "$open" --body-file report.md
else
  gh issue create --title "$title" --body-file report.md
fi
