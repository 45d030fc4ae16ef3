package handset_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds goroutines that were left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
