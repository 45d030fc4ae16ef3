package subscribersviews

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// NameRow names a subscriber in lists of other things.
type NameRow struct {
	ID            id.Subscriber `db:"subscriber_id"`
	AccountNumber string        `db:"account_number"`
	FirstName     *string       `db:"first_name"` // nil when forgotten
	LastName      *string       `db:"last_name"`  // nil when forgotten
}

// Name joins both names, nil when the person was forgotten.
func (r NameRow) Name() *string {
	if r.FirstName == nil {
		return nil
	}
	name := *r.FirstName
	if r.LastName != nil {
		name += " " + *r.LastName
	}
	return new(strings.TrimSpace(name))
}

// Names gives the names of some subscribers of an organization with one statement. One that is not known there is left
// out.
func (q SubscribersQuery) Names(
	ctx context.Context, org id.Organization, subscribers []id.Subscriber,
) ([]NameRow, error) {
	var rows []NameRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[NameRow], q.Views.SQL(SubscribersName, `
			select subscriber_id, account_number, first_name, last_name from {schema}.subscribers
			where org_id = $1 and subscriber_id = any($2)`), org, subscribers)
	})
	return rows, err
}
