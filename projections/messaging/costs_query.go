package messagingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// CostRow is a number of messages of one way that ended alike, and what the provider asks for those whose price it told
// in one currency.
type CostRow struct {
	OrgID    id.Organization `db:"org_id"`
	Channel  string          `db:"channel"`
	State    string          `db:"state"`
	Currency *string         `db:"currency"` // nil = it told no price
	Amount   string          `db:"amount"`   // decimal, in major units, as exact as the provider's
	Count    int64           `db:"count"`
}

// costsSQL sums up messages that were handed to a gateway. A price has the form "KES 0.8000"; another one is not known.
const costsSQL = `
select org_id, channel, state, currency, coalesce(sum(price), 0)::text as amount, count(*) as count from (
	select org_id, channel, state, parts[1] as currency, parts[2]::numeric as price
	from {schema}.messages left join lateral regexp_match(cost, '^([A-Z]{3}) ([0-9]{1,9}(?:[.][0-9]{1,9})?)$') as parts
		on true
	where (@org::uuid is null or org_id = @org) and at >= @from and at < @to and channel is not null
) priced group by org_id, channel, state, currency order by org_id, channel, state, currency`

// Costs sums up the messages of an organization that were asked for in a time, by way, state and currency.
func (q MessagesQuery) Costs(
	ctx context.Context, org id.Organization, from, to time.Time,
) (rows []CostRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CostRow], q.Views.SQL(MessagesName, costsSQL),
			pgx.NamedArgs{"org": org, "from": from, "to": to})
	})
	return rows, err
}

// CostsOfAll is Costs for all organizations, for the platform, which pays the providers.
func (q MessagesQuery) CostsOfAll(ctx context.Context, from, to time.Time) (rows []CostRow, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CostRow], q.Views.SQL(MessagesName, costsSQL),
			pgx.NamedArgs{"org": id.Organization{}, "from": from, "to": to})
	})
	return rows, err
}
