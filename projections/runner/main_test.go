package runner_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a test leaves a goroutine behind, except the one that waits for the PostgreSQL server of all
// tests.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/lastmile-isp/lastmile/internal/postgres.startProcess.func1"))
}
