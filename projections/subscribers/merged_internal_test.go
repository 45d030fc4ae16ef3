package subscribersviews

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestRegistered_ManyAreOneStatement: an import brings thousands, and a front desk waits for the page that has its own.
func TestRegistered_ManyAreOneStatement(t *testing.T) {
	t.Parallel()
	pgtest.MergedInserts(t, map[string]string{
		"customer": registerSQL, "term": termSQL, "tag": tagSQL, "row of the timeline": knownSQL,
	})
}
