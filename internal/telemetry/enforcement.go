package telemetry

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SQL of enforcement. Writes take the lock of the commits, which fold sessions in memory.
const (
	openSQL = `select ` + columns + ` from {schema}.sessions x where x.ended_at is null and `
	allSQL  = `select id, org_id, device_id, subscription_id, mac, access, stamp from {schema}.sessions
		where ended_at is null and subscription_id is not null`
	regrantSQL = `update {schema}.sessions set access = $2, rate_down = $3, rate_up = $4, stamp = $5
		where id = $1 and ended_at is null`
	goneSQL = `update {schema}.sessions
		set ended_at = updated_at, ` + concludedSQL + `, end_reason = '` + ReasonGone + `'
		where id = $1 and ended_at is null
		returning org_id, id as session_id, subscriber_id, true as ended, ended_at as at`
)

// OpenOf lists a subscriber's open sessions, in any organization and in no order.
func (s *Store) OpenOf(ctx context.Context, subscriber id.Subscriber) ([]Session, error) {
	return s.open(ctx, `x.subscriber_id = $1`, subscriber.UUID())
}

// OpenOn lists the open sessions of a router that belong to a known subscription, the oldest first.
func (s *Store) OpenOn(ctx context.Context, device id.Device) ([]Session, error) {
	return s.open(ctx, `x.device_id = $1 and x.subscription_id is not null order by x.started_at, x.id`, device.UUID())
}

// OpenAll calls visit with each open session that belongs to a known subscription. Such a session has only what allSQL
// reads, because there are many of them.
func (s *Store) OpenAll(ctx context.Context, visit func(Session)) error {
	rows, err := s.db.Owner.Query(ctx, s.text(allSQL))
	if err == nil {
		var one Session
		_, err = pgx.ForEachRow(rows, []any{
			&one.ID, &one.OrgID, &one.DeviceID, &one.SubscriptionID, &one.MAC, &one.Access, &one.Stamp,
		}, func() error {
			visit(one)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("read open sessions: %w", err)
	}
	return nil
}

// open lists open sessions of all organizations.
func (s *Store) open(ctx context.Context, where string, args ...any) ([]Session, error) {
	rows, err := s.db.Owner.Query(ctx, s.text(openSQL+where), args...)
	if err != nil {
		return nil, fmt.Errorf("read open sessions: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Session])
	if err != nil {
		return nil, fmt.Errorf("read open sessions: %w", err)
	}
	return list, nil
}

// Regrant records that the router of a session has acknowledged another grant.
func (s *Store) Regrant(ctx context.Context, session SessionID, g Given) error {
	return s.enforced(ctx, regrantSQL, session.UUID(), g.Access, g.RateDown, g.RateUp, g.Stamp)
}

// Gone ends a session of which its router says that it does not exist. It ends with its last report; a newer one opens
// it again.
func (s *Store) Gone(ctx context.Context, session SessionID) error {
	var ended []Turn
	err := s.locked(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, s.text(goneSQL), session.UUID())
		if err != nil {
			return err
		}
		ended, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Turn])
		return err
	})
	if err != nil {
		return fmt.Errorf("change a session: %w", err)
	}
	if len(ended) > 0 && s.told != nil {
		s.told(ended)
	}
	return nil
}

// enforced changes one session while no group of reports is being folded.
func (s *Store) enforced(ctx context.Context, sql string, args ...any) error {
	err := s.locked(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, s.text(sql), args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("change a session: %w", err)
	}
	return nil
}
