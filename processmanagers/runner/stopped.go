package processrunner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// shownError bounds the stored text of an error, in bytes.
const shownError = 1000

// shown gives the text of an error for a row: PostgreSQL stores no NUL and no broken UTF-8.
func shown(err error) string {
	text := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "")
	return strings.ToValidUTF8(text[:min(len(text), shownError)], "")
}

// Statements on stopped instances.
const (
	stopInstanceSQL = `
insert into {schema}.instances (process, key, last_position, ended, error, stopped_at) values ($1, $2, 0, true, $3, $4)
on conflict (process, key) do update set error = excluded.error, stopped_at = excluded.stopped_at`
	holdSQL = `
insert into {schema}.held (process, key, position, after, quiet) values ($1, $2, $3, $4, $5) on conflict do nothing`
	deleteHeldSQL = `delete from {schema}.held where process = $1 and key = $2 and position = $3 returning quiet`
	selectHeldSQL = `
select position, after from {schema}.held where process = $1 and key = $2 order by position limit 1`
	goOnSQL        = `update {schema}.instances set error = '', stopped_at = null where process = $1 and key = $2`
	stoppedKeysSQL = `select key from {schema}.instances where process = $1 and error <> '' order by key`
)

// stopInstance stops an instance at an input that it cannot take. Its later events are held, its timers wait, and its
// commands go on. Everything else of the process goes on.
func (d *round) stopInstance(ctx context.Context, in input, bad *poison) error {
	err := postgres.Transaction(ctx, d.r.cfg.DB.Owner, func(tx pgx.Tx) error {
		instances, err := d.instances(ctx, tx, []input{in})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, d.r.sql(stopInstanceSQL), d.name, in.key, shown(bad), d.r.cfg.Clock.Now())
		if err != nil || in.Event == nil {
			return err
		}
		return d.hold(ctx, tx, in, instances[in.key])
	})
	if err != nil {
		return fmt.Errorf("stop instance %s of %s: %w", in.key, d.name, err)
	}
	d.r.logger.ErrorContext(ctx, "process instance stopped", "process", d.name, "key", in.key, "position", in.position,
		"error", bad, "stack", stackOf(bad))
	if in.Refusal != nil {
		return errHeld
	}
	return nil
}

// hold keeps an input of a stopped instance for later: an event in a row of its own. A timer and a refused command have
// their rows already.
func (d *round) hold(ctx context.Context, tx pgx.Tx, in input, inst instance) error {
	switch {
	case in.Refusal != nil:
		return errHeld
	case in.Event == nil:
		return nil
	}
	quiet := in.position <= max(d.liveFrom, inst.quiet)
	_, err := tx.Exec(ctx, d.r.sql(holdSQL), d.name, in.key, in.position, in.after, quiet)
	return err
}

// release deletes the row of an event if it was held. suppressed says whether its outputs were to be suppressed when it
// came: they were never executed, so a rebuild must not suppress them.
func (d *round) release(ctx context.Context, tx pgx.Tx, in input) (suppressed bool, err error) {
	suppressed = in.position <= d.liveFrom
	err = tx.QueryRow(ctx, d.r.sql(deleteHeldSQL), d.name, in.key, in.position).Scan(&suppressed)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return suppressed, err
}

// note notes that an instance, or with "" all instances that have stopped, shall be tried again.
func (p *process) note(key string) {
	p.mu.Lock()
	p.asks[key] = true
	p.mu.Unlock()
	loop.Wake(p.asked)
}

// ask is note, and with "" the process shall be tried again, too, if it has stopped.
func (p *process) ask(key string) {
	p.note(key)
	if key == "" {
		loop.Wake(p.retry)
	}
}

// takeRequests tries stopped instances and commands again when that was asked for, until ctx ends.
func (d *round) takeRequests(ctx context.Context) error {
	pause := loop.Backoff{Min: time.Second, Max: 15 * time.Second}
	for {
		d.mu.Lock()
		asks := d.asks
		d.asks = map[string]bool{}
		d.mu.Unlock()
		failed := false
		for key := range asks {
			if err := d.retryAll(ctx, key); err != nil && ctx.Err() == nil {
				if errors.Is(err, errFenced) {
					return err
				}
				d.r.logger.WarnContext(ctx, "retry of a process failed", "process", d.name, "key", key, "error", err,
					"retry_in", pause.Pause())
				d.note(key)
				failed = true
			}
		}
		if failed {
			pause.Wait(ctx)
			continue
		}
		pause.Reset()
		if !loop.Wait(ctx, d.asked) {
			return ctx.Err()
		}
	}
}

// releaseCommandsSQL gives stopped commands new attempts, and lets held ones be refused again.
const releaseCommandsSQL = `
update {schema}.commands set attempts = 0, error = '', stopped_at = null, held = false
where process = $1 and ($2 = '' or key = $2) and (stopped_at is not null or held)`

// retryAll does what a request asks for and deletes it, for one instance or with "" for all. An instance that fails
// keeps no other one from going on, and no stopped command; the request stays then.
func (d *round) retryAll(ctx context.Context, key string) error {
	keys := []string{key}
	if key == "" {
		rows, err := d.r.cfg.DB.Owner.Query(ctx, d.r.sql(stoppedKeysSQL), d.name)
		if err == nil {
			keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return err
		}
	}
	var failed error // the first one
	for _, k := range keys {
		err := d.resume(ctx, k)
		if errors.Is(err, errFenced) || ctx.Err() != nil {
			return err
		}
		failed = cmp.Or(failed, err)
	}
	_, err := d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(releaseCommandsSQL), d.name, key)
	if err = cmp.Or(failed, err); err == nil {
		_, err = d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(`delete from {schema}.requests where process = $1 and key = $2`),
			d.name, key)
	}
	loop.Wake(d.outbox.look)
	loop.Wake(d.timers)
	return err
}

// resume takes the held events of an instance, in order, and lets it go on. It stays stopped when one of them cannot be
// taken. The lane makes newer events wait meanwhile.
func (d *round) resume(ctx context.Context, key string) error {
	turn := d.lanes.enter(key)
	defer turn.leave()
	if err := turn.wait(ctx); err != nil {
		return err
	}
	for {
		var position, after uint64
		err := d.r.cfg.DB.Owner.QueryRow(ctx, d.r.sql(selectHeldSQL), d.name, key).Scan(&position, &after)
		if errors.Is(err, pgx.ErrNoRows) {
			_, err := d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(goOnSQL), d.name, key)
			return err
		}
		if err != nil {
			return err
		}
		if goesOn, err := d.resumeEvent(ctx, key, position, after); err != nil || !goesOn {
			return err
		}
	}
}

// resumeEvent takes one held event. goesOn is false when the event stopped the instance again, or cannot be read: then
// the instance stays stopped, for that reason.
func (d *round) resumeEvent(ctx context.Context, key string, position, after uint64) (goesOn bool, err error) {
	e, err := d.eventAt(ctx, position, after)
	var unread *poison
	if errors.As(err, &unread) {
		d.r.logger.ErrorContext(ctx, "process instance stopped", "process", d.name, "key", key, "position", position,
			"error", err)
		_, err = d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(stopInstanceSQL), d.name, key, shown(unread), d.r.cfg.Clock.Now())
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("event of instance %s: %w", key, err)
	}
	in := d.inputOf(e, key, after)
	in.resumed = true
	err = d.inSlot(ctx, in.cause.OrgID, func() error { return d.try(ctx, in) })
	if bad := poisonOf(err); bad != nil && ctx.Err() == nil {
		return false, d.stopInstance(ctx, in, bad)
	}
	return err == nil, err
}

// eventAt reads one event of the log, searching from an earlier position on. It is poison when the log has no readable
// event there.
func (d *round) eventAt(ctx context.Context, position, after uint64) (*events.Envelope, error) {
	for after < position {
		page, err := d.r.cfg.Feed.Read(ctx, after, d.want, pageLimit)
		if isOther(err) {
			return nil, &poison{error: err}
		}
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			if e.Position != position {
				continue
			}
			if u, unread := e.Event.(feed.Undecodable); unread {
				return nil, &poison{error: fmt.Errorf("%s at position %d: %w", e.Type, position, u.Cause)}
			}
			return e, nil
		}
		if page.UpTo <= after {
			break
		}
		after = page.UpTo
	}
	return nil, &poison{error: fmt.Errorf("the log has no event at position %d", position)}
}
