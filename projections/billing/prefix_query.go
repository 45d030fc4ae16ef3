package billingviews

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// PrefixesQuery tells which invoice prefixes an organization still needs.
type PrefixesQuery struct {
	Views *runner.Views
	Head  func(ctx context.Context) (uint64, error) // gives the newest position of the log
}

// Open reports whether an invoice of the organization under the prefix still waits for money, or for its number. Such a
// prefix must stay the organization's: a customer may type the number at a paybill. Read models that do not show the
// whole log within 2 s, or have stopped, cannot tell that nothing is open, so the prefix counts as open.
func (q PrefixesQuery) Open(ctx context.Context, org id.Organization, prefix string) (bool, error) {
	head, err := q.Head(ctx)
	if err != nil {
		return false, err
	}
	for _, name := range []string{InvoicesName, NumberingName} {
		if err := q.Views.WaitFor(ctx, name, head); err != nil {
			return true, ctx.Err()
		}
	}
	var due, unnumbered bool
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &due, pgx.RowTo[bool], q.Views.SQL(InvoicesName, `select exists (
			select from {schema}.invoices where org_id = $1 and due_minor > 0 and starts_with(number, $2))`), org,
			prefix+"-")
		postgres.CollectOne(r, &unnumbered, pgx.RowTo[bool], q.Views.SQL(NumberingName, `
			select exists (select from {schema}.documents where series_id = $1 and seq is null)
				or exists (select from {schema}.documents where series_id = $1 and seq is not null and not final)`),
			seriesOf(org, invoiceKind, prefix))
	})
	return due || unnumbered, err
}
