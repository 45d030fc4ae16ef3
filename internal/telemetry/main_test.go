package telemetry_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds goroutines that were left behind. The one that waits for the server that all tests share stays.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/lastmile-isp/lastmile/internal/postgres.startProcess.func1"))
}
