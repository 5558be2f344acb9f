#!/usr/bin/env bash
# Downloads Debian packages of a newer suite, with what they depend on, and unpacks them into FOLDER/root; nothing is
# installed:
#     bash test/newer_packages.sh FOLDER "SUITE ..." PACKAGE ...
# The last suite is preferred. SKIP, a regular expression, names packages that stay packed. Needs apt-get, whose source
# of packages it takes, and dpkg.
set -euo pipefail
mkdir -p "${1:?a folder}" && folder="$(cd "$1" && pwd)" suites="${2:?suites}"
shift 2
keys="${KEYS:-/usr/share/keyrings/debian-archive-keyring.gpg}"
mkdir -p "$folder"/{lists/partial,cache/archives/partial,root}
: >"$folder/status"
mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' | grep -v security | head -1)"
for each in $suites; do
    echo "deb [signed-by=$keys] ${mirror:?no source of packages} $each main"
done >"$folder/sources"
cat >"$folder/apt.conf" <<CONF
Dir::Etc::sourcelist "$folder/sources";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
CONF
export APT_CONFIG="$folder/apt.conf"
apt-get update -qq
apt-get install -y -qq --download-only --no-install-recommends -t "${suites##* }" "$@"
for package in "$folder"/cache/archives/*.deb; do
    [[ "${package##*/}" =~ ${SKIP:-^$} ]] || dpkg -x "$package" "$folder/root"
done
