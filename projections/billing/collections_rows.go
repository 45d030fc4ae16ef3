package billingviews

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// noChannel finds the rows whose channel is not known.
const noChannel = "none"

// The sides of a sum.
const (
	SideReceived  = "received"
	SideTakenBack = "takenBack"
)

// Values of the filters of rows.
var (
	CollectedChannels = []string{
		"stk", "c2b", "cash", "cheque", "bank_transfer", "card", "other", "bill_manager", "voucher", noChannel,
	}
	CollectedSides = []string{SideReceived, SideTakenBack}
)

// CollectedRow is money of one receipt or voucher, as one of the rows that sums are made of.
type CollectedRow struct {
	Position     int64           `db:"position"`
	At           time.Time       `db:"at"`         // when it was credited to the account, or taken off it
	PaidAt       *time.Time      `db:"paid_at"`    // when the payer paid
	ReceiptID    id.Receipt      `db:"receipt_id"` // zero for a voucher, and without a channel
	VoucherID    id.Voucher      `db:"voucher_id"`
	BatchID      id.VoucherBatch `db:"batch_id"` // of the voucher
	SubscriberID id.Subscriber   `db:"subscriber_id"`
	Channel      string          `db:"channel"`     // "" when it is not known
	ReceivedOn   string          `db:"received_on"` // of cash, YYYY-MM-DD; "" = that of PaidAt
	TakenBy      id.User         `db:"taken_by"`
	AmountMinor  int64           `db:"amount_minor"` // negative when it was taken back
	Why          string          `db:"why"`          // one of CollectedWhys
	TakenBack    bool            `db:"taken_back"`   // its side
}

// CollectedKey is a row's place in the list, newest first. The zero value starts at the newest row.
type CollectedKey struct {
	At       time.Time `json:"a"`
	Position int64     `json:"p"`
}

// Key makes the next page begin after this row.
func (r CollectedRow) Key() CollectedKey { return CollectedKey{At: r.At, Position: r.Position} }

// CollectedFilter says which rows are read. A zero text or id does not restrict it.
type CollectedFilter struct {
	From, Until time.Time // Until is not in it
	Channel     string    // one of CollectedChannels
	TakenBy     id.User
	Side        string // one of CollectedSides
}

// collectedRowsSQL builds the statement of a list. Every value is a parameter.
func collectedRowsSQL(
	org id.Organization, f CollectedFilter, after CollectedKey, max int,
) (string, pgx.NamedArgs) {
	where := []string{`org_id = @org and at >= @from and at < @until`}
	args := pgx.NamedArgs{"org": org, "from": f.From, "until": f.Until, "max": max}
	if f.Channel != "" {
		where = append(where, `channel = @channel`)
		args["channel"] = strings.TrimPrefix(f.Channel, noChannel)
	}
	if !f.TakenBy.IsZero() {
		where = append(where, `taken_by = @taken_by`)
		args["taken_by"] = f.TakenBy
	}
	switch f.Side {
	case SideReceived:
		where = append(where, `not taken_back`)
	case SideTakenBack:
		where = append(where, `taken_back`)
	}
	if !after.At.IsZero() {
		where = append(where, `(at, position) < (@after, @position)`)
		args["after"], args["position"] = after.At, after.Position
	}
	return `
select position, at, paid_at, case when channel <> '' then receipt_id end as receipt_id, voucher_id, batch_id,
	subscriber_id, channel, coalesce(received_on::text, '') as received_on, taken_by, amount_minor, why, taken_back
from {schema}.collections where ` + strings.Join(where, " and ") + `
order by at desc, position desc limit @max`, args
}

// Rows lists the rows of a time, newest first. They sum up to the sums of ByDay and Sums.
func (q CollectionsQuery) Rows(
	ctx context.Context, org id.Organization, f CollectedFilter, after CollectedKey, max int,
) ([]CollectedRow, error) {
	sql, args := collectedRowsSQL(org, f, after, max)
	var rows []CollectedRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CollectedRow], q.Views.SQL(CollectionsName, sql), args)
	})
	return rows, err
}
