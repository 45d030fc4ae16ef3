package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Try counts refused sign-ins of one username from one device at a router, for one reason. It belongs to the
// organization of the router, whoever has that username elsewhere.
type Try struct {
	OrgID          id.Organization
	DeviceID       id.Device
	Code           string          // as in Refusal
	SubscriberID   id.Subscriber   // zero = the sign-in named nobody who is known
	SubscriptionID id.Subscription // zero likewise
	Username       string          // as it was typed
	Calling        string          // the MAC where there is one, else the calling station
	Port           string          // NAS-Port-Id of the latest one
	FirstAt        time.Time
	At             time.Time // the latest one
	Count          int64
}

// mostTries bounds the rows of one router, reason and day, so that a router which invents usernames fills no disk. The
// refusals beyond are counted all the same.
const mostTries = 200

// SQL of tries. A column count is no function of the rows that the statement itself adds, so a few more can come.
const (
	saveTriesSQL = `
insert into {schema}.tries as t (org_id, device_id, code, day, username, calling, subscriber_id, subscription_id, port,
	first_at, at, count)
select x.org, x.device, x.code, x.day, x.username, x.calling, x.subscriber, x.subscription, max(x.port),
	min(x.first_at), max(x.at), sum(x.count)
from (select *, (at at time zone 'UTC')::date as day
	from unnest(@orgs::uuid[], @devices::uuid[], @codes::text[], @usernames::text[], @callings::text[],
		@subscribers::uuid[], @subscriptions::uuid[], @ports::text[], @firsts::timestamptz[], @ats::timestamptz[],
		@counts::bigint[]) as u (org, device, code, username, calling, subscriber, subscription, port, first_at, at,
		count)) x
where (select count(*) from {schema}.tries o where o.org_id = x.org and o.device_id = x.device and o.code = x.code
		and o.day = x.day) < @most
	or exists (select from {schema}.tries o where o.org_id = x.org and o.device_id = x.device and o.code = x.code
		and o.day = x.day and o.username = x.username and o.calling = x.calling and o.subscriber_id = x.subscriber
		and o.subscription_id = x.subscription)
group by 1, 2, 3, 4, 5, 6, 7, 8
on conflict (org_id, device_id, code, day, username, calling, subscriber_id, subscription_id) do update set
	port = case when excluded.port = '' then t.port else excluded.port end,
	first_at = least(t.first_at, excluded.first_at), at = greatest(t.at, excluded.at), count = t.count + excluded.count`
	triesAtSQL = `
select org_id, device_id, code, subscriber_id, subscription_id, username, calling,
	(array_agg(port order by at desc))[1] as port, min(first_at) as first_at, max(at) as at, sum(count)::bigint as count
from {schema}.tries where org_id = @org and device_id = @device and first_at <= @until
group by org_id, device_id, code, subscriber_id, subscription_id, username, calling
order by max(at) desc, code, username, calling limit @max`
	purgeTriesSQL = `
delete from {schema}.tries where ctid in (select ctid from {schema}.tries
	where day < (@before::timestamptz at time zone 'UTC')::date order by day limit @max)`
	// A person's username can have been refused as that of nobody, as before it was set up.
	forgetTriesSQL = `delete from {schema}.tries where org_id = $1 and (subscriber_id = $2 or username in (
		select distinct x.username from {schema}.sessions x where x.org_id = $1 and x.subscriber_id = $2))`
)

// SaveTries adds refused sign-ins to what is kept, in one statement. A repetition of the call counts them twice.
func (s *Store) SaveTries(ctx context.Context, list []Try) error {
	if len(list) == 0 {
		return nil
	}
	_, err := s.db.Owner.Exec(ctx, s.text(saveTriesSQL), pgx.NamedArgs{
		"orgs":          triesColumn(list, func(t Try) uuid.UUID { return t.OrgID.UUID() }),
		"devices":       triesColumn(list, func(t Try) uuid.UUID { return t.DeviceID.UUID() }),
		"codes":         triesColumn(list, func(t Try) string { return t.Code }),
		"usernames":     triesColumn(list, func(t Try) string { return cleanText(t.Username) }),
		"callings":      triesColumn(list, func(t Try) string { return cleanText(t.Calling) }),
		"subscribers":   triesColumn(list, func(t Try) uuid.UUID { return t.SubscriberID.UUID() }),
		"subscriptions": triesColumn(list, func(t Try) uuid.UUID { return t.SubscriptionID.UUID() }),
		"ports":         triesColumn(list, func(t Try) string { return cleanText(t.Port) }),
		"firsts":        triesColumn(list, func(t Try) time.Time { return t.FirstAt }),
		"ats":           triesColumn(list, func(t Try) time.Time { return t.At }),
		"counts":        triesColumn(list, func(t Try) int64 { return t.Count }),
		"most":          mostTries,
	})
	if err != nil {
		return fmt.Errorf("save refused sign-ins: %w", err)
	}
	return nil
}

// triesColumn is one field of all tries.
func triesColumn[T any](list []Try, of func(Try) T) []T {
	out := make([]T, len(list))
	for i, t := range list {
		out[i] = of(t)
	}
	return out
}

// TriesAt gives the refused sign-ins at a router of an organization that are kept, the latest first.
func (s *Store) TriesAt(
	ctx context.Context, org id.Organization, device id.Device, until time.Time,
) ([]Try, error) {
	var list []Try
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[Try], s.text(triesAtSQL), pgx.NamedArgs{
			"org": org.UUID(), "device": device.UUID(), "until": until, "max": maxRefusals,
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list refused sign-ins: %w", err)
	}
	return list, nil
}
