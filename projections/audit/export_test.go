package auditviews

import (
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// AllSQL is the statement of LogQuery.OfAll with its arguments.
func AllSQL(org id.Organization, f Filter, after Key, max int) (string, pgx.NamedArgs) {
	return f.ofAll(org, after, max)
}
