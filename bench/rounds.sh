#!/bin/sh
# Rounds of benchmarks, into a file of lines for benchstat and ./report. They are compiled
# once, and each round is a run of its own in which the stores take turns, so that what
# changes in the machine meanwhile changes all alike; go test -count repeats one in a row.
#
#	./rounds.sh lines.txt 'Get|Commit' [rounds] [benchtime] [benchmarks to leave out]
set -eu
file=$1 benchmarks=$2 rounds=${3:-5} benchtime=${4:-300ms} leave=${5:-^$}
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM
case $file in /*) ;; *) file=$PWD/$file ;; esac
cd "$(dirname "$0")"
go test -c -o "$temp/run" .
{
	echo "commit: $(git rev-parse HEAD)$(git diff --quiet HEAD -- .. || echo ' with changes')"
	echo "go: $(go env GOVERSION)"
} >"$temp/lines"
for round in $(seq "$rounds"); do
	echo "round $round of $rounds" >&2
	"$temp/run" -test.run '^$' -test.bench "$benchmarks" -test.skip "$leave" -test.benchtime "$benchtime" >>"$temp/lines" || {
		tail "$temp/lines" >&2
		exit 1
	}
done
grep -q ^Benchmark "$temp/lines" || {
	echo "no benchmark is $benchmarks: a pattern is matched part by part, between slashes" >&2
	exit 1
}
cp "$temp/lines" "$file"
