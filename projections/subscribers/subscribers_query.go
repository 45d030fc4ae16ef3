package subscribersviews

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SubscriberRow is one customer. Personal columns are nil when the person was forgotten; a detail that was never given
// is an empty text.
type SubscriberRow struct {
	ID            id.Subscriber   `db:"subscriber_id"`
	OrgID         id.Organization `db:"org_id"`
	AccountNumber string          `db:"account_number"`
	FirstName     *string         `db:"first_name"`
	LastName      *string         `db:"last_name"`
	Phone         *string         `db:"phone"`
	Email         *string         `db:"email"`
	Address       *string         `db:"address"`
	Notes         *string         `db:"notes"`
	Latitude      *float64        `db:"latitude"`
	Longitude     *float64        `db:"longitude"`
	Tags          []string        `db:"tags"`
	ExternalRef   string          `db:"external_ref"`
	Status        string          `db:"status"` // "active", "blocked", "forgotten"
	Currency      money.Currency  `db:"currency"`
	// minor units owed after credit; negative when money lies on the account
	BalanceMinor int64     `db:"balance_minor"`
	CreatedAt    time.Time `db:"created_at"`
	Revision     int64     `db:"revision"` // of the subscriber's stream
}

// Balance is the amount owed after credit; negative when money lies on the account.
func (r SubscriberRow) Balance() money.Amount { return money.Of(r.BalanceMinor, r.Currency) }

// Credit is the money that lies on the account; zero when the subscriber owes something.
func (r SubscriberRow) Credit() money.Amount { return money.Of(max(0, -r.BalanceMinor), r.Currency) }

// SubscriberKey is a row's place in the list, newest first. The zero value starts at the newest row.
type SubscriberKey struct {
	CreatedAt time.Time     `json:"c"`
	ID        id.Subscriber `json:"i"`
}

// Key makes the next page begin after this row.
func (r SubscriberRow) Key() SubscriberKey { return SubscriberKey{CreatedAt: r.CreatedAt, ID: r.ID} }

// SubscriberFilter narrows a list. A zero field does not restrict it; several fields must all fit.
type SubscriberFilter struct {
	Search string // each word must begin a name, phone, e-mail address or account number
	Status string
	Tag    string
}

// SubscribersQuery serves and searches an organization's customers.
type SubscribersQuery struct{ Views *runner.Views }

// subscriberColumns fit SubscriberRow; the table subscribers has the alias s.
const subscriberColumns = `s.subscriber_id, s.org_id, s.account_number, s.first_name, s.last_name, s.phone, s.email,
	s.address, s.notes, s.latitude, s.longitude, s.tags, s.external_ref, s.status, s.currency, s.balance_minor,
	s.created_at, s.revision`

// Get returns one customer of an organization, nil when it has none with this id.
func (q SubscribersQuery) Get(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) (*SubscriberRow, error) {
	var row *SubscriberRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[SubscriberRow],
			q.Views.SQL(SubscribersName, `select `+subscriberColumns+
				` from {schema}.subscribers s where s.subscriber_id = $1`), subscriber)
	})
	return row, err
}

// List returns up to max customers of an organization after a key, newest first.
func (q SubscribersQuery) List(
	ctx context.Context, org id.Organization, f SubscriberFilter, after SubscriberKey, max int,
) ([]SubscriberRow, error) {
	sql, args := listSQL(org, f, after, max)
	var rows []SubscriberRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[SubscriberRow], q.Views.SQL(SubscribersName, sql), args...)
	})
	return rows, err
}

// listSQL builds the statement of List. Every value is a parameter, none is part of the text.
func listSQL(org id.Organization, f SubscriberFilter, after SubscriberKey, max int) (string, []any) {
	args := []any{org, max}
	where := []string{`s.org_id = $1`}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if !after.CreatedAt.IsZero() {
		where = append(where, fmt.Sprintf(`(s.created_at, s.subscriber_id) < (%s, %s)`, arg(after.CreatedAt),
			arg(after.ID)))
	}
	if f.Status != "" {
		where = append(where, `s.status = `+arg(f.Status))
	}
	if f.Tag != "" {
		where = append(where, `exists (select from {schema}.tags g where g.org_id = $1 and g.tag = `+arg(f.Tag)+
			` and g.subscriber_id = s.subscriber_id)`)
	}
	words := searchWords(f.Search)
	if len(words) == 0 && f.Search != "" { // the search has no letter and no digit: nothing matches
		where = append(where, `false`)
	}
	for _, word := range words {
		where = append(where, fmt.Sprintf(`s.subscriber_id in (select t.subscriber_id from {schema}.terms t
			where t.org_id = $1 and t.term >= %s and t.term < %s)`, arg(word), arg(searchterm.End(word))))
	}
	return `select ` + subscriberColumns + ` from {schema}.subscribers s where ` + strings.Join(where, " and ") +
		` order by s.created_at desc, s.subscriber_id desc limit $2`, args
}

// CountOf counts the customers of some organizations, for the platform. One without any has no entry.
func (q SubscribersQuery) CountOf(ctx context.Context, orgs []id.Organization) (map[id.Organization]int, error) {
	type counted struct {
		OrgID id.Organization `db:"org_id"`
		Count int             `db:"count"`
	}
	var rows []counted
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[counted], q.Views.SQL(SubscribersName, `
			select org_id, count(*)::int as count from {schema}.subscribers
			where org_id = any($1) group by org_id`), orgs)
	})
	out := make(map[id.Organization]int, len(rows))
	for _, row := range rows {
		out[row.OrgID] = row.Count
	}
	return out, err
}

// Counted counts the customers of an organization.
type Counted struct {
	Total int `db:"total"`
	New   int `db:"new"` // registered since an instant
}

// Count counts an organization's customers, forgotten ones included, as the list does.
func (q SubscribersQuery) Count(ctx context.Context, org id.Organization, since time.Time) (c Counted, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &c, pgx.RowToStructByName[Counted], q.Views.SQL(SubscribersName, `
			select count(*)::int as total, count(*) filter (where created_at >= $2)::int as new
			from {schema}.subscribers where org_id = $1`), org, since)
	})
	return c, err
}
