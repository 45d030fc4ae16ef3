package billingviews

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// PrefixOpen reports whether an invoice of the organization whose number begins with the prefix still waits for money.
func (q InvoicesQuery) PrefixOpen(ctx context.Context, org id.Organization, prefix string) (bool, error) {
	var open bool
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &open, pgx.RowTo[bool], q.Views.SQL(InvoicesName, `select exists (
			select from {schema}.invoices where org_id = $1 and due_minor > 0 and starts_with(number, $2))`), org,
			prefix+"-")
	})
	return open, err
}
