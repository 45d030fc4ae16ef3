package subscribersviews

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// TakenValues are values that only one customer of an organization may have, in the form in which they are kept.
type TakenValues struct {
	Usernames []string
	StaticIPs []string
	MACs      []string
	Aliases   []string
}

// TakenRow is the customer who has a value.
type TakenRow struct {
	Key          string        `db:"key"` // column of an import and value, such as "username=amina"
	SubscriberID id.Subscriber `db:"subscriber_id"`
	Phone        string        `db:"phone"` // "" of a forgotten person
}

// Statements of Taken. The terms are an index of usernames, addresses and old account numbers; what is found by them is
// compared as it is. A subscription that has ended has nothing any more. The offsets have each value looked up by
// itself: while the planner knows nothing of new tables, it would compare each one with all that an organization has.
const (
	takenServicesSQL = `
with wanted as (
	select 'username=' || v as key, t as term, k as name
		from unnest(@usernames::text[], @terms::text[], @keys::text[]) as n (v, t, k)
	union all select 'staticIp=' || v, lower(v), null from unnest(@ips::text[]) as v
	union all select 'macAddresses=' || v, v, null from unnest(@macs::text[]) as v
)
select distinct on (w.key) w.key, s.subscriber_id, '' as phone
from wanted w
cross join lateral (select subscription_id from {schema}.terms where org_id = @org and term = w.term offset 0) t
cross join lateral (
	select * from {schema}.subscriptions where subscription_id = t.subscription_id and state <> 'ended' offset 0
) s
where w.name = s.username_key or w.key = 'staticIp=' || s.static_ip
	or substr(w.key, length('macAddresses=') + 1) = any(s.mac_addresses) and w.key like 'macAddresses=%'
order by w.key, s.created_at`
	takenAliasesSQL = `
select 'accountAliases=' || w.alias as key, s.subscriber_id, coalesce(s.phone, '') as phone
from unnest($2::text[]) as w (alias)
cross join lateral (select subscriber_id from {schema}.terms where org_id = $1 and term = lower(w.alias) offset 0) t
cross join lateral (select * from {schema}.subscribers where subscriber_id = t.subscriber_id offset 0) s
where w.alias = any(s.account_aliases)`
	takenPhonesSQL = `
select subscriber_id, coalesce(phone, '') from {schema}.subscribers
where org_id = $1 and subscriber_id = any($2::uuid[])`
)

// Taken finds out which values customers of an organization have already, by their keys.
func (q SubscriptionsQuery) Taken(
	ctx context.Context, org id.Organization, v TakenValues,
) (map[string]TakenRow, error) {
	var services, people []TakenRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &services, pgx.RowToStructByName[TakenRow],
			q.Views.SQL(SubscriptionsName, takenServicesSQL), pgx.NamedArgs{
				"org": org, "usernames": v.Usernames, "terms": usernameTerms(v.Usernames),
				"keys": folded(v.Usernames), "ips": v.StaticIPs, "macs": v.MACs,
			})
		postgres.Collect(r, &people, pgx.RowToStructByName[TakenRow], q.Views.SQL(SubscribersName, takenAliasesSQL),
			org, v.Aliases)
	})
	if err != nil || len(services)+len(people) == 0 {
		return nil, err
	}
	owners := make([]id.Subscriber, len(services))
	for i, s := range services {
		owners[i] = s.SubscriberID
	}
	var phones map[id.Subscriber]string
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &phones, q.Views.SQL(SubscribersName, takenPhonesSQL), org, owners)
	})
	taken := make(map[string]TakenRow, len(services)+len(people))
	for _, row := range services {
		row.Phone = phones[row.SubscriberID]
		taken[row.Key] = row
	}
	for _, row := range people {
		taken[row.Key] = row
	}
	return taken, err
}

// servedSQL reads which of the customers $2 of $1 have a service, or had one.
const servedSQL = `
select distinct subscriber_id, true from {schema}.subscriptions where org_id = $1 and subscriber_id = any($2::uuid[])`

// Served tells which of some customers of an organization have a service, or had one.
func (q SubscriptionsQuery) Served(
	ctx context.Context, org id.Organization, customers []id.Subscriber,
) (map[id.Subscriber]bool, error) {
	var served map[id.Subscriber]bool
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &served, q.Views.SQL(SubscriptionsName, servedSQL), org, customers)
	})
	return served, err
}

// PhoneRow is a customer who has a phone, and so one who is not forgotten.
type PhoneRow struct {
	SubscriberID id.Subscriber `db:"subscriber_id"`
	Phone        string        `db:"phone"`
	FirstName    string        `db:"first_name"`
	LastName     string        `db:"last_name"`
	ImportRow    string        `db:"import_row"` // the key of the row of an import that made the customer; "" = none
}

// ByPhonesSQL reads the customers of $1 who have one of the phones $2, which are reversed as the index has them.
const ByPhonesSQL = `
select subscriber_id, phone, first_name, last_name, import_row from {schema}.subscribers
where org_id = $1 and phone_reversed <> '' and phone_reversed = any($2::text[])`

// ByPhones returns the customers of an organization who have one of the phones, in the form in which they are kept.
func (q SubscribersQuery) ByPhones(ctx context.Context, org id.Organization, phones []string) ([]PhoneRow, error) {
	turned := make([]string, len(phones))
	for i, phone := range phones {
		turned[i] = reversed(phone)
	}
	var rows []PhoneRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[PhoneRow], q.Views.SQL(SubscribersName, ByPhonesSQL), org,
			turned)
	})
	return rows, err
}
