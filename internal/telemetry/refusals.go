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

// Refusal counts refused sign-ins of one kind at one router.
type Refusal struct {
	OrgID          id.Organization
	SubscriberID   id.Subscriber   // zero = the sign-in named nobody who is known
	SubscriptionID id.Subscription // zero likewise
	DeviceID       id.Device       // zero = a router that is not known
	Code           string          // part of the API; docs/rules/access-radius.md#refusals lists them
	FirstAt        time.Time
	At             time.Time // the latest one
	Count          int64
}

// Accepted is the code of rows of nobody, which tell when accepted sign-ins proved that a router has a line. They are
// no refusals, and only Lines reads them.
const Accepted = "accepted"

// RefusalCodes are all codes that Refusal.Code can have, as docs/rules/access-radius.md#refusals lists those of
// customers and routers, and docs/rules/access-vouchers.md#moves and #voiding those of vouchers.
func RefusalCodes() []string {
	return []string{
		"wrong_password", "no_proof", "bad_request", "wrong_mac", "session_limit", "too_many_codes", "unpaid",
		"blocked", "paused", "not_started", "ended", "cap_reached", "voucher_used", "voucher_void", "voucher_moves",
		"voucher_moved", "no_session", "unknown_user", "wrong_secret", "unproven", "unknown_nas", "secret_doubtful",
		"malformed", "over_limit",
	}
}

// maxRefusals is the largest number of kinds that one question is answered with.
const maxRefusals = 100

// runPause is the pause after which refusals of one row are another run: what goes on beside reports comes as often as
// they do, and an outage that is over is not the beginning of the next one.
const runPause = reportsWithin

// SQL of refusals. Instants of a row are of its day. Refusals of a row are saved in order: the latest one that is
// later by more than Slack is from before the clock was put back. run_at is when the present run began.
const (
	saveRefusalsSQL = `
insert into {schema}.refusals as r
	(org_id, subscriber_id, subscription_id, device_id, code, day, first_at, run_at, at, count)
select org, subscriber, subscription, device, code, (at at time zone 'UTC')::date, min(first_at), min(first_at),
	max(at), sum(count)
from unnest(@orgs::uuid[], @subscribers::uuid[], @subscriptions::uuid[], @devices::uuid[], @codes::text[],
	@firsts::timestamptz[], @ats::timestamptz[], @counts::bigint[])
	as x (org, subscriber, subscription, device, code, first_at, at, count)
group by 1, 2, 3, 4, 5, 6
on conflict (org_id, subscriber_id, subscription_id, device_id, code, day) do update set
	first_at = least(r.first_at, excluded.first_at),
	run_at = case when excluded.first_at > r.at + @pause::interval or r.at > excluded.at + @slack::interval
		then excluded.run_at else least(coalesce(r.run_at, r.first_at), excluded.run_at) end,
	at = case when r.at > excluded.at + @slack::interval then excluded.at else greatest(r.at, excluded.at) end,
	count = r.count + excluded.count`
	refusalsSQL = `
select org_id, subscriber_id, subscription_id, device_id, code, min(first_at) as first_at, max(at) as at,
	sum(count)::bigint as count
from {schema}.refusals
where org_id = @org and subscriber_id = @subscriber and first_at <= @until and code <> '` + Accepted + `'`
	atDeviceSQL      = ` and subscription_id = @subscription and device_id = @device`
	refusalsOrderSQL = ` group by org_id, subscriber_id, subscription_id, device_id, code
order by max(at) desc, code, device_id limit @max`
	purgeRefusalsSQL = `
delete from {schema}.refusals where (org_id, subscriber_id, subscription_id, device_id, code, day) in
	(select org_id, subscriber_id, subscription_id, device_id, code, day from {schema}.refusals
	where day < (@before::timestamptz at time zone 'UTC')::date order by day limit @max)`
	forgetRefusalsSQL = `delete from {schema}.refusals where org_id = $1 and subscriber_id = $2`
)

// SaveRefusals adds refused sign-ins to what is kept, in one statement. A repetition of the call counts them twice.
func (s *Store) SaveRefusals(ctx context.Context, list []Refusal) error {
	orgs, subscribers, subscriptions := make([]uuid.UUID, len(list)), make([]uuid.UUID, len(list)),
		make([]uuid.UUID, len(list))
	devices, codes, counts := make([]uuid.UUID, len(list)), make([]string, len(list)), make([]int64, len(list))
	firsts, ats := make([]time.Time, len(list)), make([]time.Time, len(list))
	for i, r := range list {
		orgs[i], subscribers[i], subscriptions[i] = r.OrgID.UUID(), r.SubscriberID.UUID(), r.SubscriptionID.UUID()
		devices[i], codes[i], counts[i], firsts[i], ats[i] = r.DeviceID.UUID(), r.Code, r.Count, r.FirstAt, r.At
	}
	_, err := s.db.Owner.Exec(ctx, s.text(saveRefusalsSQL), pgx.NamedArgs{
		"orgs": orgs, "subscribers": subscribers, "subscriptions": subscriptions, "devices": devices, "codes": codes,
		"firsts": firsts, "ats": ats, "counts": counts, "slack": Slack, "pause": runPause,
	})
	if err != nil {
		return fmt.Errorf("save refusals: %w", err)
	}
	return nil
}

// RefusalsOf gives the kinds of refused sign-ins of a subscriber that are kept, the latest first. Days that begin after
// an instant do not count; its own day counts whole.
func (s *Store) RefusalsOf(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, until time.Time,
) ([]Refusal, error) {
	return s.refusals(ctx, org, refusalsSQL+refusalsOrderSQL, pgx.NamedArgs{
		"org": org.UUID(), "subscriber": subscriber.UUID(), "until": until, "max": maxRefusals,
	})
}

// RefusalsAt gives the kinds of refused sign-ins and dropped packets at a router that named no subscriber, the latest
// first.
func (s *Store) RefusalsAt(
	ctx context.Context, org id.Organization, device id.Device, until time.Time,
) ([]Refusal, error) {
	return s.refusals(ctx, org, refusalsSQL+atDeviceSQL+refusalsOrderSQL, pgx.NamedArgs{
		"org": org.UUID(), "subscriber": uuid.Nil, "subscription": uuid.Nil, "device": device.UUID(), "until": until,
		"max": maxRefusals,
	})
}

// refusals reads with one of the two statements, under the policy of an organization.
func (s *Store) refusals(
	ctx context.Context, org id.Organization, sql string, args pgx.NamedArgs,
) ([]Refusal, error) {
	var list []Refusal
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[Refusal], s.text(sql), args)
	})
	if err != nil {
		return nil, fmt.Errorf("list refusals: %w", err)
	}
	return list, nil
}

// OpenAt gives the sessions of a subscriber that were open at an instant, the newest first, at most a hundred.
func (s *Store) OpenAt(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, at time.Time,
) ([]Session, error) {
	var list []Session
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[Session], s.text(`select `+columns+`
			from {schema}.sessions x where x.org_id = $1 and x.subscriber_id = $2 and x.started_at <= $3
				and not x.address_only
				and (x.ended_at is null or x.ended_at > $3)
			order by x.started_at desc, x.id desc limit 100`), org.UUID(), subscriber.UUID(), at)
	})
	if err != nil {
		return nil, fmt.Errorf("list open sessions: %w", err)
	}
	return list, nil
}
