#!/usr/bin/env bash
# Prepares, checks and tags a release of the modules in release.work and contrib.work. It runs in the root of the repository.
# README.md has the steps.
set -euo pipefail
IFS=$'\n'

here=$(cd "$(dirname "$0")" && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
failed=0
problem() {
	echo "release: $*" >&2
	failed=1
}

# The path and the folder of each module in the tree of the current folder; the root is first.
modules() {
	local folder
	sed -nE 's,^(use )?[[:space:]]*\.\./\.\.,,p' .tools/release/{release,contrib}.work | awk '!seen[$0]++' | while read -r folder; do
		echo "$(sed -n 's/^module //p' "$PWD$folder/go.mod") $PWD$folder"
	done
}

# Runs a command in the folder of a module, with the versions that somebody gets who requires it alone. What it requires of the others
# comes from the tree, because it may not be tagged yet.
alone() { # FOLDER COMMAND...
	local folder=$1 work="$temporary/go.work"
	shift
	{
		sed -n '/^go /p' .tools/release/release.work
		echo "use $folder"
		modules | awk -v own="$folder" '$2 != own { print "replace " $1 " => " $2 }'
	} >"$work"
	cat .tools/release/*.work.sum >"$work.sum" 2>/dev/null || : # a tree without dependencies has none
	(cd "$folder" && GOWORK="$work" "$@")
}

# Runs it for each module, and fails at the end if it failed for one.
each() { # COMMAND...
	local path folder
	while IFS=' ' read -r path folder; do
		echo "== $path"
		alone "$folder" "$@" || failed=1
	done < <(modules)
}

# go mod tidy does not look at workspaces: it finds the others by replaces in a copy of go.mod.
tidy() {
	local path folder
	while IFS=' ' read -r path folder; do
		cp "$folder/go.mod" "$folder/go.sum" "$temporary"
		go mod edit $(modules | sed 's/^\([^ ]*\) /-replace=\1=/') "$temporary/go.mod"
		(cd "$folder" && GOWORK=off go mod tidy -modfile="$temporary/go.mod")
		go mod edit $(modules | sed 's/^\([^ ]*\) .*/-dropreplace=\1/') "$temporary/go.mod"
		cat "$temporary/go.mod" >"$folder/go.mod"
		cat "$temporary/go.sum" >"$folder/go.sum"
	done < <(modules)
}

is_version() {
	[[ $1 =~ ^v[01]\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] && return
	echo "release: \"$1\" is no version of these modules: like v0.2.0, for their paths end in no major version" >&2
	exit 1
}

# Makes all modules require a version of each other, and all workspaces take it from the tree.
version() {
	local base file
	is_version "$1"
	base=$(GOWORK=off go list -m)
	for file in go.work .tools/release/{release,contrib}.work $(modules | sed 's,.* \(.*\),\1/go.mod,'); do
		sed -E "s,(^|[[:space:]])($base(/[^[:space:]]+)?) v[^[:space:]]+,\1\2 $1," "$file" >"$temporary/file"
		cat "$temporary/file" >"$file"
	done
	echo "All modules require $1 of each other. Run the tests, put the date into CHANGELOG.md, commit, and run"
	echo ".tools/release/release.sh tag $1"
}

# The version and the date of the first heading in CHANGELOG.md: the version that is being prepared, or the last one.
heading() { sed -nE 's/^## ([0-9]+\.[0-9]+\.[0-9]+) \((.+)\)$/v\1 \2/p' CHANGELOG.md | sed -n 1p; }

# A tag of a nested module begins with its folder.
prefix() { sed "s,^$PWD/*,,; s,..*,&/," <<<"$1"; }

# Tags HEAD for every module: git takes all lines of its input as one transaction.
tag() {
	local path folder tags=() base
	is_version "$1"
	base=$(GOWORK=off go list -m)
	[ -z "$(git status --porcelain)" ] || problem "the tree differs from HEAD: commit or remove $(git status --porcelain)"
	while IFS=' ' read -r path folder; do
		tags+=("$(prefix "$folder")$1")
		! git rev-parse --quiet --verify "refs/tags/${tags[${#tags[@]} - 1]}" >/dev/null ||
			problem "the tag ${tags[${#tags[@]} - 1]} exists: a version never changes, so take the next one"
		sed -nE "s,^.*[[:space:]]($base(/[^[:space:]]+)?) (v[^[:space:]]+).*,\1@\3,p" "$folder/go.mod" | grep -v "@$1\$" >"$temporary/old" &&
			problem "$path requires $(cat "$temporary/old"): run \".tools/release/release.sh version $1\" and commit"
	done < <(modules)
	[[ $(heading) =~ ^$1\ [0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || problem "the first heading of CHANGELOG.md is not \"## ${1#v} (YYYY-MM-DD)\""
	[ "$failed" = 0 ] || exit 1
	printf 'create refs/tags/%s HEAD\n' "${tags[@]}" | git update-ref --stdin || { problem "no tag was made"; exit 1; }
	echo "Push all tags at once, because the modules require each other:"
	(IFS=' '; echo "git push --atomic origin ${tags[*]}")
}

# The highest release of a module on an earlier commit. A tag of HEAD itself is not compared: the workflow of a tag checks it.
last() { # PREFIX
	git tag --sort=-version:refname --merged HEAD --no-contains HEAD --list "$1v*" | sed "s,^$1,," | grep -xE 'v[0-9]+\.[0-9]+\.[0-9]+' | sed -n 1p
}

# Whether a version may break users of another one: the next major one may, and before v1 the next minor one.
may_break() { # LAST NEXT
	local level='s,\..*,,'
	[[ $1 != v0.* ]] || level='s,\.[^.]*$,,'
	[ "$(sed "$level" <<<"$1")" != "$(sed "$level" <<<"$2")" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | sed -n 1p)" = "$1" ]
}

# Compares what every module exports with its last tag. A break needs a version that allows it, and an entry for it.
check() {
	local path folder before tree was compared=0 next apidiff
	next=$(heading | cut -d' ' -f1)
	apidiff=$(cd "$here" && GOWORK=off go tool -n apidiff)
	echo "The first version in CHANGELOG.md is $next."
	while IFS=' ' read -r path folder; do
		before=$(last "$(prefix "$folder")") || { echo "$path: no tag yet, nothing to compare with"; continue; }
		tree="$temporary/$before"
		if [ ! -d "$tree" ]; then
			mkdir "$tree"
			git archive "$(prefix "$folder")$before" | tar -x -C "$tree"
		fi
		was="$tree${folder#"$PWD"}"
		(cd "$tree" && alone "$was" "$apidiff" -m -w "$temporary/old" "$path")
		alone "$folder" "$apidiff" -m -w "$temporary/new" "$path"
		echo "$path since $before:"
		"$apidiff" -m "$temporary/old" "$temporary/new" 2>&1 | sed '/^Ignoring internal package/d' | tee "$temporary/changes"
		! grep -q '^Incompatible changes:' "$temporary/changes" || broken "$path" "$before" "$next"
		compared=1
	done < <(modules)
	[ "$compared" = 1 ] || echo "No module has a tag before this commit: no API was compared."
	removed "$next"
}

broken() { # PATH LAST NEXT
	if ! may_break "$2" "$3"; then
		problem "$1 breaks users of $2, which $3 may not: undo the change, or begin an entry for the next $([[ $2 == v0.* ]] && echo minor || echo major) version"
	elif ! awk '/^## /{n++; next} n == 1 && NF{found = 1} END{exit !found}' CHANGELOG.md; then
		problem "$1 breaks users of $2, and the entry $3 of CHANGELOG.md is empty: say what they have to change"
	fi
}

# Modules that were released and are no longer.
removed() { # NEXT
	local before path
	before=$(last "") || return 0
	modules | cut -d' ' -f1 | sort >"$temporary/is"
	(cd "$temporary/$before" && modules | cut -d' ' -f1 | sort) >"$temporary/was"
	for path in $(comm -23 "$temporary/was" "$temporary/is"); do
		may_break "$before" "$1" || problem "the module $path of $before is gone"
	done
}

case ${1:-} in
version | tag | check | tidy | each) "$@" ;;
*) problem "usage: release.sh check | tidy | version vX.Y.Z | tag vX.Y.Z | each COMMAND..." ;;
esac
exit "$failed"
