package pgtest

import (
	"testing"

	"go.uber.org/goleak"
)

// VerifyTestMain runs the tests of a program and fails when one of them has left a goroutine behind. The one that waits
// for the server that all of them share stays until the program ends.
func VerifyTestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/lastmile-isp/lastmile/internal/postgres.startProcess.func1"))
}
