#!/usr/bin/env bash
# Builds the files of a release, by goreleaser.yaml and Dockerfile. Two builds of one commit are equal, byte for byte.
#
#   .tools/dist/dist.sh v0.1.0 [FOLDER]          writes to FOLDER, which is emptied first (default: dist in the root)
set -euo pipefail

cd "$(dirname "$0")/../.."
here=.tools/dist
out=$here/out
to=${2:-dist}
export ROOT=$PWD VERSION=$1 CGO_ENABLED=0
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
WHEN=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)
export WHEN
rm -rf "$out" "$to"
mkdir -p "$out"/{man,completion,units,image/amd64,image/arm64} "$to"

tool() { (cd "$1" && GOWORK=off go tool -n "$2"); }
materials=$(tool .tools/audit cyclonedx-gomod)
goreleaser=$(tool $here goreleaser)
# A test builds with an empty cache, for which the tools need not be compiled anew.
export GOCACHE=${LOCKSCOPE_DIST_GOCACHE:-$(go env GOCACHE)}

# The binary of this machine writes its manual pages and completions.
GOWORK="$ROOT/.tools/release/release.work" go build -trimpath -o "$out/lockscope" ./exporter/cmd/lockscope
"$out/lockscope" man --dir "$out/man"
cp -R "$out/man" "$out/man.gz"
gzip -9n "$out"/man.gz/*
"$out/lockscope" completion bash >"$out/completion/lockscope"
"$out/lockscope" completion zsh >"$out/completion/_lockscope"
"$out/lockscope" completion fish >"$out/completion/lockscope.fish"

# The units are for hosts that are set up by hand: packages have the binary elsewhere.
for unit in lockscope-scan.service lockscope-scan.timer lockscope-serve.service; do
	sed 's,/usr/local/bin/,/usr/bin/,g' "examples/cron/systemd/$unit" >"$out/units/$unit"
done

# Most licences of what is linked into the binary ask for their text beside every copy.
bash .tools/audit/licences.sh texts >"$out/THIRD_PARTY_LICENCES"

PATH="$(dirname "$materials"):$PATH" "$goreleaser" release --snapshot --clean --config $here/goreleaser.yaml
find "$out/release" -maxdepth 1 -type f -name 'lockscope[-_]*' -exec cp {} "$to" \;
# A workspace has no versions: what the materials name (devel) is of this commit.
sed -i "s/(devel)/$VERSION/g" "$to"/*.cdx.json

# Storage is within the build, so that nothing is left, and no image of another build is taken.
image() {
	local containers=(buildah --storage-driver vfs --root "$ROOT/$out/storage" --runroot "$ROOT/$out/run") name=lockscope:${VERSION#v}
	cp LICENSE "$out/THIRD_PARTY_LICENCES" /etc/ssl/certs/ca-certificates.crt "$out/image"
	for arch in amd64 arm64; do # one after another: the order in the index has to be the same
		cp "$out"/release/*_linux_$arch*/lockscope "$out/image/$arch"
		"${containers[@]}" build --quiet --isolation chroot --identity-label=false --platform "linux/$arch" --timestamp "$SOURCE_DATE_EPOCH" \
			--label "org.opencontainers.image.version=${VERSION#v}" --manifest "$name" --file $here/Dockerfile "$out/image"
	done
	"${containers[@]}" manifest push --quiet --all "$name" "oci:$out/oci:${VERSION#v}"
	tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out/oci" -cf "$to/lockscope_${VERSION#v}_image.oci.tar" .
}
if command -v buildah >/dev/null; then
	image
else
	echo "There is no image: install buildah, which builds one without docker."
fi

(cd "$to" && sha256sum -- * >SHA256SUMS && ls -lh)
bash $here/sign.sh "$to"
rm -rf "$out"
