package paymentsviews

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// PaidBefore is a subscriber who got earlier money of a payer.
type PaidBefore struct {
	OrgID        id.Organization `db:"org_id"`
	SubscriberID id.Subscriber   `db:"subscriber_id"`
	Times        int             `db:"times"` // among the payer's newest payments
	LastAt       time.Time       `db:"last_at"`
}

// paidBeforeSQL counts to whom the newest payments of a payer went. The payer is known by the phone as the provider
// gives it: a hashed one is always the same for the same person. A masked one is that of many, so the name must be the
// same, too.
const paidBeforeSQL = `
select org_id, subscriber_id, count(*)::int as times, max(paid_at) as last_at from (
	select org_id, subscriber_id, paid_at from {schema}.receipts
	where payer_phone = @phone and subscriber_id is not null and (@org::uuid is null or org_id = @org)
		and org_id is not null and state in ('matched', 'allocated', 'attributed') and receipt_id <> @receipt
		and (not @masked or lower(payer_name) = lower(nullif(@name, '')))
	order by paid_at desc limit 100
) newest group by 1, 2 order by times desc, last_at desc limit @max`

// PaidBefore queues the question to whom earlier money of a receipt's payer went: among the subscribers of the
// receipt's organization, or of all for a receipt without one, which takes the platform's role.
func (q ReceiptsQuery) PaidBefore(r *postgres.Reads, into *[]PaidBefore, of ReceiptRow) {
	phone := null.Zero(of.PayerPhone)
	if phone == "" {
		return
	}
	sql, row := q.Views.SQL(ReceiptsName, paidBeforeSQL), pgx.RowToStructByName[PaidBefore]
	postgres.Collect(r, into, row, sql, pgx.NamedArgs{
		"phone": phone, "org": of.OrgID, "receipt": of.ID, "masked": strings.Contains(phone, "*"),
		"name": null.Zero(of.PayerName), "max": maxSuggestions,
	})
}
