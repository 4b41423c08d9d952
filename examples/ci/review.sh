#!/bin/sh
# What the checked-out commit does to the clusters, for a CI system of any kind.
#   examples/ci/review.sh BASE [OUT]      BASE is the branch that the change is for: origin/main
# Leaves comment.md, report.html and review.json in OUT. Ends with 0 where nothing changes, 2 where something does, and 1
# where something does not render any more.
set -eu
base=${1:?name the branch that the change is for, such as origin/main}
out=${2:-review}
mkdir -p "$out"
renderer diff --base "$base" --head HEAD --merge-base --exit-code \
  -o "markdown=$out/comment.md" -o "html=$out/report.html" -o "json=$out/review.json" -o terminal
