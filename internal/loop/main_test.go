package loop_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a test has left goroutines.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
