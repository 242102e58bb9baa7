#!/usr/bin/env bash
# Signs SHA256SUMS in FOLDER with an SSH key, so that users need nothing but OpenSSH to verify it, verifies the signature as they will,
# and prints how. The private key is in the file LOCKSCOPE_RELEASE_KEY_FILE or the variable LOCKSCOPE_RELEASE_KEY. The public one has to be
# in LOCKSCOPE_RELEASE_SIGNERS (.github/release_signers), in the format ALLOWED SIGNERS of ssh-keygen(1).
#
#   sign.sh FOLDER
set -euo pipefail

signers=${LOCKSCOPE_RELEASE_SIGNERS:-$(cd "$(dirname "$0")/../.." && pwd)/.github/release_signers}
key=${LOCKSCOPE_RELEASE_KEY_FILE:-}
cd "$1"
if [ -z "$key" ]; then
	if [ -z "${LOCKSCOPE_RELEASE_KEY:-}" ]; then
		echo "SHA256SUMS is not signed: there is no key in LOCKSCOPE_RELEASE_KEY."
		exit
	fi
	folder=$(mktemp -d) # only this user may enter it
	trap 'rm -rf "$folder"' EXIT
	key=$folder/key
	(umask 077 && printf '%s\n' "$LOCKSCOPE_RELEASE_KEY" >"$key")
fi
rm -f SHA256SUMS.sig
ssh-keygen -Y sign -q -f "$key" -n lockscope SHA256SUMS
verify="ssh-keygen -Y verify -f '$signers' -I release@lockscope -n lockscope -s SHA256SUMS.sig <SHA256SUMS &&
sha256sum --check --ignore-missing SHA256SUMS"
if ! bash -c "$verify"; then
	rm SHA256SUMS.sig
	echo "The signature does not verify: does $signers name the public key?" >&2
	exit 1
fi
printf 'To verify, in the folder with the files:\n\n%s\n' "$verify"
