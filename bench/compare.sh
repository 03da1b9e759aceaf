#!/bin/sh
# The benchmarks of the working tree beside those of another revision. The two take turns, so
# that what changes in the machine meanwhile changes both alike, and benchstat says what is
# left of the difference.
#
#	make compare BASE=main [PKG="snapshot/clone cow/bolt"] [BENCH=regexp] [COUNT=10] [BENCHTIME=200ms]
set -eu
cd "$(git rev-parse --show-toplevel)"
: "${BASE:?is missing: make compare BASE=main}"
root=$PWD
temp=$(mktemp -d)
trap 'git -C "$root" worktree remove --force "$temp/base" 2>/dev/null || true; rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM
git worktree add --quiet --detach "$temp/base" "$BASE"
ln -s "$root" "$temp/head"
sides='base head'
packages=${PKG:-bench}
for side in $sides; do
	for p in $packages; do
		mkdir -p "$temp/bin/$side/$p"
		(cd "$temp/$side/$p" && go test -c -o "$temp/bin/$side/$p/run" .)
	done
done
for round in $(seq "${COUNT:-10}"); do
	echo "round $round" >&2
	for side in $sides; do
		for p in $packages; do
			(cd "$temp/$side/$p" && "$temp/bin/$side/$p/run" -test.run '^$' -test.bench "${BENCH:-.}" -test.benchtime "${BENCHTIME:-200ms}") >>"$temp/$side.txt"
		done
	done
done
cd "$temp" # where no go.work is
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da base=base.txt head=head.txt
