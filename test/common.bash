# common.bash - what every test file loads
REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BIN=${BIN:-$REPO/bin}
PATH=$BIN:$PATH
PYTHON=/usr/bin/python3
export REPO BIN PATH PYTHON

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }
