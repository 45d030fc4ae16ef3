package subscribersviews

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
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
	SecondPhone   string          `db:"second_phone"`   // "" also of a forgotten person
	MessageSecond bool            `db:"message_second"` // messages go to the second phone
	Email         *string         `db:"email"`
	Address       *string         `db:"address"`
	Notes         *string         `db:"notes"`
	Latitude      *float64        `db:"latitude"`
	Longitude     *float64        `db:"longitude"`
	Tags          []string        `db:"tags"`
	ExternalRef   string          `db:"external_ref"`
	TaxPIN        string          `db:"tax_pin"` // "" also of a forgotten person
	Aliases       []string        `db:"account_aliases"`
	Language      events.Language `db:"language"`    // of messages; "" = the organization's
	OnlyNeeded    bool            `db:"only_needed"` // wants no other messages
	WhatsApp      bool            `db:"whatsapp"`    // wants them there
	Status        string          `db:"status"`      // "active", "blocked", "forgotten"
	Currency      money.Currency  `db:"currency"`
	// minor units owed after credit; negative when money lies on the account
	BalanceMinor int64     `db:"balance_minor"`
	CreatedAt    time.Time `db:"created_at"`
	Revision     int64     `db:"revision"` // of the subscriber's stream
	// PaidUntil is the earliest of the running prepaid services; nil = none of them has paid time.
	PaidUntil *time.Time `db:"paid_until"`
	Online    bool       `db:"online"` // has an open session
	NameKey   string     `db:"name_key"`
	// Services are those that have not ended, the oldest first; where all have, the one that ended last.
	Services []ServiceRow `db:"services"`
}

// ServiceRow is one subscription of a subscriber as lists show it. Its access is that of the moment of the question.
type ServiceRow struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	PlanID         id.Plan         `json:"planId"`
	PlanName       string          `json:"planName"`
	Username       *string         `json:"username"`
	State          string          `json:"state"`
	PaidUntil      *time.Time      `json:"paidUntil"`
	Dunning        string          `json:"dunning"`
	Level          int             `json:"level"` // its place in SubscriberAccesses
	Online         bool            `json:"online"`
}

// Access is the word of the API for the access of the service.
func (r ServiceRow) Access() string { return SubscriberAccesses[r.Level] }

// Access is the best access that one of the services gives; nil without a service.
func (r SubscriberRow) Access() *string {
	if len(r.Services) == 0 {
		return nil
	}
	best := slices.MaxFunc(r.Services, func(a, b ServiceRow) int { return a.Level - b.Level }).Access()
	return &best
}

// Balance is the amount owed after credit; negative when money lies on the account.
func (r SubscriberRow) Balance() money.Amount { return money.Of(r.BalanceMinor, r.Currency) }

// Credit is the money that lies on the account; zero when the subscriber owes something.
func (r SubscriberRow) Credit() money.Amount { return money.Of(max(0, -r.BalanceMinor), r.Currency) }

// SubscriberKey is a row's place in a list, whatever the list is sorted by. The zero value stands before the first row.
type SubscriberKey struct {
	ID        id.Subscriber `json:"i"`
	CreatedAt time.Time     `json:"c"`
	Name      string        `json:"n"`
	PaidUntil *time.Time    `json:"p,omitempty"`
	Balance   int64         `json:"b"`
}

// Key makes the next page begin after this row.
func (r SubscriberRow) Key() SubscriberKey {
	return SubscriberKey{
		ID: r.ID, CreatedAt: r.CreatedAt, Name: r.NameKey, PaidUntil: r.PaidUntil, Balance: r.BalanceMinor,
	}
}

// SubscriberFilter narrows a list. A zero field does not restrict it; several fields must all fit.
type SubscriberFilter struct {
	Search string // each word must begin a name, phone, e-mail address or account number
	Status string
	Tag    string
	Access string          // one of SubscriberAccesses: the best access of the services, at the instant Now
	Online *bool           // has an open session, or has none
	Among  []id.Subscriber // one of these; nil = anybody
	Plan   id.Plan
	State  string // of a subscription; together with Plan of a subscription of this plan
	Owes   *bool  // the balance is above zero, or it is not
	// The end of the paid time is before, or not before, an instant; without paid time neither fits.
	PaidBefore time.Time
	PaidFrom   time.Time
	Sort       string    // one of SubscriberSorts; "" is the first
	Now        time.Time // at which access is decided
}

// SubscriberAccesses are the words for access, from the least to the most.
var SubscriberAccesses = []string{
	entitlement.None.String(), entitlement.WalledGarden.String(), entitlement.Throttled.String(),
	entitlement.Full.String(),
}

// SubscriberSorts are the orders of a list: the newest first, by name, by the end of the paid time with those without
// any at the end, and who owes most first.
var SubscriberSorts = []string{"newest", "name", "paidUntil", "balance"}

// SubscribersQuery serves and searches an organization's customers.
type SubscribersQuery struct {
	Views *runner.Views
	// Open selects subscriber_id and subscription_id of the open sessions of the organization @org. Without it nobody
	// is seen online.
	Open string
}

// levelSQL is the access of a service x of a subscriber s at the instant @now.
var levelSQL = strings.ReplaceAll(levelAt, "i.at", "@now")

// subscriberColumns fit SubscriberRow, with servicesSQL; the table subscribers has the alias s.
const subscriberColumns = `s.subscriber_id, s.org_id, s.account_number, s.first_name, s.last_name, s.phone, s.email,
	s.second_phone, s.message_second,
	s.address, s.notes, s.latitude, s.longitude, s.tags, s.external_ref, s.tax_pin, s.account_aliases,
	coalesce(s.language, '') as language, s.only_needed, s.whatsapp, s.status,
	s.currency, s.balance_minor, s.created_at, s.revision, s.paid_until, s.name_key`

// withoutServices takes the place of servicesSQL where nobody asks for them.
const withoutServices = `false as online, '[]'::jsonb as services`

// servicesSQL adds the services of a subscriber s, and who is online; {open} stands for the open sessions.
var servicesSQL = `exists (select from ({open}) o where o.subscriber_id = s.subscriber_id) as online,
	(select coalesce(jsonb_agg(jsonb_build_object('subscriptionId', x.subscription_id, 'planId', x.plan_id,
			'planName', x.plan_name, 'username', x.username, 'state', x.state, 'paidUntil', x.paid_until,
			'dunning', x.step, 'level', ` + levelSQL + `, 'online', exists (select from ({open}) o
				where o.subscriber_id = s.subscriber_id and o.subscription_id = x.subscription_id))
			order by x.created_at, x.subscription_id), '[]')
		from {schema}.services x where x.subscriber_id = s.subscriber_id and x.shown) as services`

// nobodySQL stands for the open sessions where none are known.
const nobodySQL = `select null::uuid as subscriber_id, null::uuid as subscription_id where false`

// text puts the names of tables into a statement.
func (q SubscribersQuery) text(sql string) string {
	return strings.ReplaceAll(q.Views.SQL(SubscribersName, sql), "{open}", cmp.Or(q.Open, nobodySQL))
}

// Get returns one customer of an organization without the services, nil when it has none with this id.
func (q SubscribersQuery) Get(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) (*SubscriberRow, error) {
	var row *SubscriberRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[SubscriberRow], q.text(`select `+subscriberColumns+`, `+
			withoutServices+` from {schema}.subscribers s where s.subscriber_id = $1`), subscriber)
	})
	return row, err
}

// WholeOf names some customers of an organization, and an instant.
type WholeOf struct {
	Org         id.Organization
	Subscribers []id.Subscriber
	At          time.Time
}

// wholeSQL reads customers as whole as they are asked for after a write. Each is looked up by the key (ADR 0027): while
// the table grows the planner would rather go over all customers of the organization.
var wholeSQL = `select ` + subscriberColumns + `, ` + servicesSQL + `
	from unnest(@subscribers::uuid[]) as n (subscriber_id)
	cross join lateral (select * from {schema}.subscribers where subscriber_id = n.subscriber_id limit 1) s`

// Whole queues the reading of customers with their services, as they are at the instant, in no order.
func (q SubscribersQuery) Whole(r *postgres.Reads, into *[]SubscriberRow, of WholeOf) {
	postgres.Collect(r, into, pgx.RowToStructByName[SubscriberRow], q.text(wholeSQL),
		pgx.NamedArgs{"org": of.Org, "subscribers": of.Subscribers, "now": of.At})
}

// List returns up to max customers of an organization after a key, in the order that the filter asks for.
func (q SubscribersQuery) List(
	ctx context.Context, org id.Organization, f SubscriberFilter, after SubscriberKey, max int,
) ([]SubscriberRow, error) {
	sql, args := listSQL(org, f, after, max)
	var rows []SubscriberRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[SubscriberRow], q.text(sql), args)
	})
	return rows, err
}

// CountOf counts the customers of some organizations, for the platform. One without any has no entry.
func (q SubscribersQuery) CountOf(ctx context.Context, orgs []id.Organization) (map[id.Organization]int, error) {
	var out map[id.Organization]int
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMap(r, &out, q.Views.SQL(SubscribersName, `
			select org_id, count(*)::int as count from {schema}.subscribers
			where org_id = any($1) group by org_id`), orgs)
	})
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
			select (select count(*)::int from {schema}.subscribers where org_id = $1) as total,
				(select count(*)::int from {schema}.subscribers where org_id = $1 and created_at >= $2) as new`),
			org, since)
	})
	return c, err
}
