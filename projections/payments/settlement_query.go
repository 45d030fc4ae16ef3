package paymentsviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SettlementSum is the money of one organization that came over one shortcode in a time, in minor units.
type SettlementSum struct {
	OrgID       id.Organization `db:"org_id"`
	Shortcode   string          `db:"shortcode"`
	Environment string          `db:"environment"` // "" in receipts of old
	CameMinor   int64           `db:"came_minor"`
	LeftMinor   int64           `db:"left_minor"` // taken back, positive
	Count       int64           `db:"count"`      // receipts, less those of which nothing is left
}

// Till is a shortcode in an environment.
type Till struct{ Shortcode, Environment string }

// SettlementRow is money of a receipt that came to an account, or left it when the amount is negative.
type SettlementRow struct {
	Position      int64           `db:"position"`
	OrgID         id.Organization `db:"org_id"`
	At            time.Time       `db:"at"`
	ReceiptID     id.Receipt      `db:"receipt_id"`
	ReceiptNumber string          `db:"receipt_number"`
	AmountMinor   int64           `db:"amount_minor"`
	Currency      money.Currency  `db:"currency"`
}

// SettlementKey is a row's place in the list, newest first. The zero value starts at the newest row.
type SettlementKey struct {
	Position int64 `json:"p"`
}

// Key makes the next page begin after this row.
func (r SettlementRow) Key() SettlementKey { return SettlementKey{Position: r.Position} }

// SettlementQuery reads the money of one organization within its rows, or of all organizations for the root host.
type SettlementQuery struct{ Views *runner.Views }

// settlementSumsSQL reads each row of a time once.
const settlementSumsSQL = `
select org_id, shortcode, environment,
	coalesce(sum(amount_minor) filter (where amount_minor > 0), 0)::bigint as came_minor,
	coalesce(-sum(amount_minor) filter (where amount_minor < 0), 0)::bigint as left_minor,
	sum(receipts)::bigint as count
from {schema}.movements
where ($1::uuid is null or org_id = $1) and at >= $2 and at < $3 and currency = $4
group by 1, 2, 3 order by 1, 2, 3`

// settlementRowsSQL lists the rows of one organization, or of all.
const settlementRowsSQL = `
select position, org_id, at, receipt_id, receipt_number, amount_minor, currency from {schema}.movements
where (@org::uuid is null or org_id = @org) and at >= @from and at < @until and currency = @currency
	and (shortcode, environment) in (select * from unnest(@shortcodes::text[], @environments::text[]))
	and (@after::bigint = 0 or position < @after)
order by position desc limit @max`

// SettlementTime is the money of one currency in the time [From, Until).
type SettlementTime struct {
	From, Until time.Time
	Currency    money.Currency
}

// Sums sums up the money of a time by organization and shortcode, of one organization or of all for the zero one.
func (q SettlementQuery) Sums(ctx context.Context, org id.Organization, of SettlementTime) ([]SettlementSum, error) {
	var rows []SettlementSum
	err := q.read(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[SettlementSum], q.Views.SQL(SettlementName, settlementSumsSQL),
			org, of.From, of.Until, of.Currency)
	})
	return rows, err
}

// read runs queries within the rows of one organization, or as the platform for the zero one.
func (q SettlementQuery) read(ctx context.Context, org id.Organization, queue func(*postgres.Reads)) error {
	if org.IsZero() {
		return q.Views.Platform(ctx, queue)
	}
	return q.Views.Tenant(ctx, org, queue)
}

// SettlementPart is the money whose rows are read.
type SettlementPart struct {
	OrgID id.Organization // zero = all
	SettlementTime
	Tills []Till
}

// Rows lists the rows of some shortcodes, newest first.
func (q SettlementQuery) Rows(
	ctx context.Context, of SettlementPart, after SettlementKey, max int,
) ([]SettlementRow, error) {
	shortcodes, environments := make([]string, len(of.Tills)), make([]string, len(of.Tills))
	for i, t := range of.Tills {
		shortcodes[i], environments[i] = t.Shortcode, t.Environment
	}
	var rows []SettlementRow
	err := q.read(ctx, of.OrgID, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[SettlementRow], q.Views.SQL(SettlementName, settlementRowsSQL),
			pgx.NamedArgs{
				"org": of.OrgID, "from": of.From, "until": of.Until, "currency": of.Currency, "shortcodes": shortcodes,
				"environments": environments, "after": after.Position, "max": max,
			})
	})
	return rows, err
}
