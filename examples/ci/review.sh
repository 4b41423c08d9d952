#!/bin/sh
# Renders what the checked-out commit changes in the clusters, for a CI system of any kind.
#   examples/ci/review.sh BASE [OUT]      BASE is the target branch of the change: origin/main
# Writes comment.md, report.html and review.json to OUT. Exit code: 0 if nothing changes, 10 if something does, 1 if
# something no longer renders.
set -eu
base=${1:?missing target branch, such as origin/main}
out=${2:-review}
mkdir -p "$out"
renderer diff --base "$base" --head HEAD --merge-base --exit-code \
  -o "markdown=$out/comment.md" -o "html=$out/report.html" -o "json=$out/review.json" -o terminal
