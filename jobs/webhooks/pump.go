package webhooksjobs

import (
	"context"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/gateways/webhooks"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// lastRecord bounds the record of attempts that a stop has interrupted.
const lastRecord = time.Second

// gatePause is the wait at a shut gate.
const gatePause = 20 * time.Millisecond

// Codes of the API for deliveries that no attempt ended, and for attempts whose outcome is not known.
const (
	codeDisabled = "webhook_disabled" // the endpoint is disabled or was removed
	codeUnknown  = "unknown"          // the program died before there was an answer
	codeUnsigned = "unsigned"         // the secret cannot be read, so nothing was sent
)

// pump claims due deliveries, has them tried, and records the outcomes. Its goroutine alone uses it.
type pump struct {
	*Deliverer
	lanes   *lanes
	secrets *signers
	calls   *loop.Group

	leave   func() // the gate; nil while nothing is under way
	waiting []outcome
	changes map[id.Webhook]bool // endpoints whose health is not recorded
	ends    bool                // something may wait for an endpoint that is not enabled
	looked  time.Time           // by the steady clock: when everything was looked at last

	// known has when those were begun that are under way or not recorded.
	known map[id.Delivery]time.Time
	// lost has the end of lostKept for each claim whose answer was lost, by when it began its deliveries.
	lost map[time.Time]time.Time
}

// lostKept is how long it is looked for what a lost answer may have begun: the database may still be at it.
const lostKept = time.Minute

// finished is an attempt that was made.
type finished struct {
	claimed
	at      time.Time // by the product's clock
	outcome webhooks.Outcome
}

// takeOver begins the work of a program that led before.
func (p *pump) takeOver(ctx context.Context) error {
	if err := p.cfg.Store.recover(ctx, codeUnknown, p.now()); err != nil {
		return err
	}
	known, err := p.cfg.Store.failing(ctx)
	if err != nil {
		return err
	}
	p.ends = true
	for which, h := range known {
		p.lanes.of[which] = &lane{ready: true, health: h, troubled: true}
	}
	return nil
}

// run makes rounds until ctx ends, then records what was interrupted.
func (p *pump) run(ctx context.Context) {
	machine := clock.Steady(clock.System())
	pause := loop.Backoff{Min: 100 * time.Millisecond, Max: 5 * time.Second}
	p.changes, p.known, p.lost = map[id.Webhook]bool{}, map[id.Delivery]time.Time{}, map[time.Time]time.Time{}
	defer p.finish(ctx)
	moved, look := clock.Moved(p.cfg.Clock), true
	for ctx.Err() == nil {
		touched, all, over := p.told()
		p.askAgain()
		p.take(over)
		if now := clock.Moved(p.cfg.Clock); now != moved {
			moved, look = now, true
		}
		look = look || all || machine.Now().Sub(p.looked) >= lookEvery
		err := p.look(ctx, touched, look)
		more := false
		if err == nil {
			if look {
				p.looked, look = machine.Now(), false
			}
			more, err = p.round(ctx)
		}
		switch {
		case err != nil:
			p.warn(ctx, "deliveries wait", err)
			look = true
			pause.Wait(ctx)
		case more:
			pause.Reset()
		default:
			pause.Reset()
			loop.WaitUntil(ctx, p.wake, p.cfg.Clock, p.cfg.Clock.Now().Add(lookEvery))
		}
	}
}

// finish records the attempts that ended with the work.
func (p *pump) finish(ctx context.Context) {
	p.calls.Stop()
	_, _, over := p.told()
	p.take(over)
	if len(p.waiting) > 0 {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRecord)
		defer cancel()
		if err := p.record(last, nil); err != nil {
			p.cfg.Logger.WarnContext(last, "interrupted deliveries were not recorded", "error", err)
		}
	}
	if p.leave != nil {
		p.leave()
	}
}

// look learns which endpoints there are and which of them have something due: those that were touched, and when
// everything is looked at, those that the database names.
func (p *pump) look(ctx context.Context, touched map[id.Webhook]bool, everything bool) error {
	if !everything && len(touched) == 0 {
		return nil
	}
	read := p.now()
	rows, err := webhooksviews.EndpointsQuery{Views: p.cfg.Views}.Every(ctx)
	if err != nil {
		return err
	}
	p.ends = p.lanes.adopt(rows) || p.ends
	for which := range touched {
		one := p.lanes.of[which]
		if one == nil || !one.enabled() {
			p.ends = true
			continue
		}
		one.ready = true
	}
	if p.ends {
		enabled, known := []uuid.UUID{}, []uuid.UUID{}
		for _, row := range rows {
			if known = append(known, row.ID.UUID()); row.State == webhooksviews.Enabled {
				enabled = append(enabled, row.ID.UUID())
			}
		}
		if err := p.cfg.Store.end(ctx, enabled, known, codeDisabled, read); err != nil {
			return err
		}
		p.ends = false
	}
	if err := p.secrets.learn(ctx, rows); err != nil {
		return err
	}
	if !everything {
		return nil
	}
	if err := p.takeBack(ctx); err != nil {
		return err
	}
	return p.lookDue(ctx, rows)
}

// takeBack has the deliveries wait again that claims have begun whose answers were lost: nobody has tried them.
func (p *pump) takeBack(ctx context.Context) error {
	if len(p.lost) == 0 {
		return nil
	}
	var rounds []time.Time
	for began := range p.lost {
		rounds = append(rounds, began)
	}
	known := []uuid.UUID{}
	for which, began := range p.known {
		if _, also := p.lost[began]; also {
			known = append(known, which.UUID())
		}
	}
	if err := p.cfg.Store.takeBack(ctx, rounds, known); err != nil {
		return err
	}
	now := clock.Steady(clock.System()).Now()
	maps.DeleteFunc(p.lost, func(_, until time.Time) bool { return now.After(until) })
	return nil
}

// lookDue asks the database which of the endpoints that seem to have nothing due have something.
func (p *pump) lookDue(ctx context.Context, rows []webhooksviews.EndpointRow) error {
	var quiet []uuid.UUID
	for _, row := range rows {
		if !p.lanes.of[row.ID].ready {
			quiet = append(quiet, row.ID.UUID())
		}
	}
	due, err := p.cfg.Store.due(ctx, quiet, p.now())
	for _, which := range due {
		p.lanes.of[which].ready = true
	}
	return err
}

// round records what is over, and has what may begin tried. It reports whether more can be done at once.
func (p *pump) round(ctx context.Context) (more bool, err error) {
	rooms := p.lanes.rooms()
	if len(rooms) > 0 && p.leave == nil {
		leave, ok := p.cfg.Gate.TryEnter()
		if !ok { // the clock is moved
			loop.Sleep(ctx, gatePause)
			return true, nil
		}
		p.leave = leave
	} else if probe, ok := p.cfg.Gate.TryEnter(); ok {
		probe()
	} else {
		rooms = nil // the clock waits for those that are under way
	}
	if len(p.waiting) == 0 && len(rooms) == 0 {
		p.rest()
		return false, nil
	}
	if err := p.record(ctx, rooms); err != nil {
		return false, err
	}
	p.rest()
	return false, nil
}

// rest leaves the gate when nothing is under way or unrecorded.
func (p *pump) rest() {
	if p.leave != nil && p.lanes.all == 0 && len(p.waiting) == 0 {
		p.leave()
		p.leave = nil
	}
}

// record writes what is over, claims what may begin, and begins it.
func (p *pump) record(ctx context.Context, rooms []room) error {
	var changes []health
	for which := range p.changes {
		if one := p.lanes.of[which]; one != nil {
			changes = append(changes, one.health)
		}
	}
	now := p.now()
	list, err := p.cfg.Store.round(ctx, now, p.waiting, changes, rooms)
	if err != nil {
		p.lost[now] = clock.Steady(clock.System()).Now().Add(lostKept)
		return err
	}
	for _, o := range p.waiting {
		delete(p.known, o.ID)
	}
	p.waiting = nil
	clear(p.changes)
	p.lanes.began(rooms, list)
	for _, d := range list {
		p.known[d.ID] = now
		p.begin(d)
	}
	if len(rooms) > 0 {
		loop.Wake(p.wake) // there may be more that is due
	}
	return nil
}

// begin has one delivery tried beside the others.
func (p *pump) begin(d claimed) {
	row := p.lanes.of[d.WebhookID].row
	call := webhooks.Call{
		URL: row.URL, ID: d.MessageID.String(), Body: []byte(d.Body), Secrets: p.secrets.of(row, p.cfg.Clock.Now()),
	}
	p.calls.Go("webhook delivery", func(ctx context.Context) {
		f := finished{claimed: d, at: p.cfg.Clock.Now(), outcome: webhooks.Outcome{Code: codeUnknown}}
		defer func() { // also after a panic, which would otherwise be called again
			p.mu.Lock()
			p.over = append(p.over, f)
			p.mu.Unlock()
			loop.Wake(p.wake)
		}()
		_ = loop.Try(func() error {
			if call.Secrets[0].IsZero() {
				f.outcome.Code = codeUnsigned
				return nil
			}
			f.outcome = p.cfg.Gateway.Send(ctx, call)
			return nil
		})
	})
}

// take judges attempts that are over.
func (p *pump) take(over []finished) {
	for _, f := range over {
		o := p.judge(f)
		interrupted := f.outcome.Code == webhooks.CodeInterrupted
		well := f.outcome.Code == "" && f.outcome.Took < slow
		if interrupted {
			well = !p.lanes.of[f.WebhookID].troubled
		} else if !f.Once {
			p.notice(f)
		}
		p.waiting = append(p.waiting, o)
		p.lanes.ended(f.claimed, well)
	}
}

// judge says what follows from an attempt.
func (p *pump) judge(f finished) outcome {
	now := p.now()
	o := outcome{
		claimed: f.claimed, state: webhooksviews.Pending, failures: f.Failures, attempt: webhooksviews.Attempt{
			At: f.at.UTC().Truncate(time.Microsecond), Error: f.outcome.Code, DurationMs: f.outcome.Took.Milliseconds(),
		},
	}
	if f.outcome.Status != 0 {
		o.attempt.Status = &f.outcome.Status
	}
	switch code := f.outcome.Code; {
	case code == "":
		o.state, o.endedAt = webhooksviews.Delivered, &now
	case code == webhooks.CodeInterrupted:
		o.nextAt = &now
	case !p.lanes.of[f.WebhookID].enabled() && !f.Once:
		o.state, o.error, o.endedAt = webhooksviews.Failed, codeDisabled, &now
	case f.Once || f.Failures >= len(waits):
		o.state, o.endedAt = webhooksviews.Failed, &now
	default:
		next := now.Add(waits[f.Failures])
		o.nextAt, o.failures = &next, f.Failures+1
	}
	return o
}

// notice counts failures of an endpoint, and has it disabled after too many for too long. A success forgets them.
func (p *pump) notice(f finished) {
	one, now := p.lanes.of[f.WebhookID], p.now()
	h := &one.health
	h.webhook, h.org, h.enabled = f.WebhookID, f.OrgID, one.row.EnabledPosition
	if f.outcome.Code == "" {
		if !h.since.IsZero() {
			h.since, h.failed = time.Time{}, 0
			p.changes[f.WebhookID] = true
		}
		return
	}
	if h.since.IsZero() {
		h.since = now
	}
	if f.Tries == 0 {
		h.failed++
	}
	p.changes[f.WebhookID] = true
	if h.failed < failsMany || now.Sub(h.since) < failsFor || one.disabling || !one.enabled() {
		return
	}
	one.disabling = true
	row, told := one.row, *h
	p.calls.Go("disabling a webhook", func(ctx context.Context) {
		if err := loop.Try(func() error { return p.disable(ctx, row, told) }); err != nil {
			p.warn(ctx, "a failing webhook was not disabled", err)
			p.mu.Lock()
			p.refused = append(p.refused, row.ID)
			p.mu.Unlock()
		}
		p.Wake()
	})
}

// askAgain lets the next failure of endpoints ask again that could not be disabled.
func (p *pump) askAgain() {
	p.mu.Lock()
	refused := p.refused
	p.refused = nil
	p.mu.Unlock()
	for _, which := range refused {
		if one := p.lanes.of[which]; one != nil {
			one.disabling = false
		}
	}
}

// signers keeps the secrets of endpoints in memory, by their references, which never get another value. Only the
// goroutine of the pump uses it.
type signers struct {
	vault Vault
	known map[id.Secret]secrets.Text
}

// newSigners makes one without secrets.
func newSigners(v Vault) *signers { return &signers{vault: v, known: map[id.Secret]secrets.Text{}} }

// learn reads the secrets that are not known yet, and forgets those that nobody has any more.
func (s *signers) learn(ctx context.Context, rows []webhooksviews.EndpointRow) error {
	used := make(map[id.Secret]bool, len(rows))
	var missing []id.Secret
	for _, row := range rows {
		for _, ref := range []id.Secret{row.SecretRef, row.FormerRef} {
			if ref.IsZero() || used[ref] {
				continue
			}
			used[ref] = true
			if _, known := s.known[ref]; !known {
				missing = append(missing, ref)
			}
		}
	}
	for ref := range s.known {
		if !used[ref] {
			delete(s.known, ref)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	found, err := s.vault.GetAll(ctx, missing)
	if found == nil {
		return err
	}
	for ref, value := range found {
		s.known[ref] = secrets.Text(value)
	}
	return nil
}

// of gives the secrets that sign the deliveries of an endpoint at an instant, the present one first.
func (s *signers) of(row webhooksviews.EndpointRow, now time.Time) []secrets.Text {
	list := []secrets.Text{s.known[row.SecretRef]}
	if !row.FormerRef.IsZero() && row.FormerUntil != nil && now.Before(*row.FormerUntil) {
		list = append(list, s.known[row.FormerRef])
	}
	return list
}
