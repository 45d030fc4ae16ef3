package auditviews

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestLog_EntriesOfRequestsAreOneStatement: every command has one, and they wait for nothing that is stored.
func TestLog_EntriesOfRequestsAreOneStatement(t *testing.T) {
	t.Parallel()
	pgtest.MergedInserts(t, map[string]string{"entry": askedSQL})
}
