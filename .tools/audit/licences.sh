#!/usr/bin/env bash
# Lists the licences of what the released modules are compiled with on Linux, macOS and Windows, by go-licenses.
#
#   licences.sh table          prints LICENCES.md
#   licences.sh texts          prints the licences of what the binary is linked with, and the notices that go with them
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CGO_ENABLED=0
program=$(cd "$root/.tools/audit" && GOWORK=off go tool -n go-licenses)

licences() { # WORKSPACE GOOS ARGUMENTS...
	# It warns of assembly, and of addresses that it cannot reach.
	GOWORK="$root/.tools/release/$1.work" GOOS=$2 "$program" "${@:3}" --ignore github.com/lockscope/lockscope 2>"$folder/log" ||
		{ cat "$folder/log" >&2; exit 1; }
}

# A row for each file with a licence, by the module and the folder that it is in. The file of redislock is only the notice that belongs
# to its licence, which go-licenses does not recognise.
rows() { # WORKSPACE
	local system
	printf '{{range .}}{{if eq .LicensePath "Unknown"}}{{.Name}}/{{else}}{{.LicensePath}}{{end}} {{.LicenseName}}\n{{end}}' >"$folder/template"
	for system in linux darwin windows; do
		(cd "$root" && licences "$1" "$system" report --template "$folder/template" \
			$(sed -n "s,^	\.\./\.\.\(.*\),.\1/...,p" ".tools/release/$1.work"))
	done | sed -E "s,^$(go env GOMODCACHE)/,,; s,@[^/]+,,; s,/[^/]* , | ,; s,redislock . Unknown,redislock | Apache-2.0,; s,.*,| & |," | LC_ALL=C sort -u
}

table() {
	cat <<'END'
# Licences of dependencies

`make licences` writes this page; `make proof` compares it with what the modules are compiled with on Linux, macOS and
Windows. Versions are in each go.mod. What only tests need is not listed.

## The library, the exporter and the binary

| module | licence |
|---|---|
END
	rows release
	printf '\n## Adapters in lock/contrib\n\n| module | licence |\n|---|---|\n'
	rows contrib
}

texts() {
	local system name
	for system in linux darwin windows; do
		(cd "$root/exporter/cmd/lockscope" && licences release "$system" save . --save_path "$folder/$system")
		mkdir -p "$folder/all" && cp -R "$folder/$system/." "$folder/all"
	done
	# The second licence of its folder, which go-licenses leaves out.
	cp "$(cd "$root/exporter" && GOWORK=off go list -m -f '{{.Dir}}' go.yaml.in/yaml/v2)/LICENSE.libyaml" "$folder/all/go.yaml.in/yaml/v2"
	cd "$folder/all"
	find . -type f | LC_ALL=C sort | while read -r name; do
		printf '== %s\n\n' "${name#./}"
		cat "$name"
		printf '\n\n'
	done
}

case ${1:-} in
table | texts) "$1" ;;
*) echo "usage: licences.sh table | texts" >&2 && exit 1 ;;
esac
