package feed_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestMain fails when a test leaves a goroutine behind.
func TestMain(m *testing.M) { pgtest.VerifyTestMain(m) }
