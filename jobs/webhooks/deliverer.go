package webhooksjobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/webhooks"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// Kept is how long a delivery is kept after its end.
const Kept = 30 * 24 * time.Hour

// How often the deliverer tries to lead, looks for what is due that nobody has told it of, and purges.
const (
	leadEvery  = time.Second
	lookEvery  = time.Second
	purgeEvery = 10 * time.Minute
)

// Gateway makes one call of an endpoint; package gateways/webhooks implements it.
type Gateway interface {
	Send(ctx context.Context, call webhooks.Call) webhooks.Outcome
}

// Vault has the secrets that sign deliveries; package vault implements it.
type Vault interface {
	// GetAll leaves out those that do not exist or cannot be read.
	GetAll(ctx context.Context, refs []id.Secret) (map[id.Secret][]byte, error)
}

// Bus executes commands; package bus implements it.
type Bus interface {
	Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error)
}

// Config is read by New once. Every field is required, except Gate.
type Config struct {
	Store   *Store
	DB      *postgres.DB
	Views   *runner.Views
	Bus     Bus
	Secrets Vault
	Gateway Gateway
	Clock   clock.Clock
	Gate    *clock.Gate // keeps attempts from beginning while the clock is moved; nil is always open
	Logger  *slog.Logger
}

// Deliverer makes deliveries and tries them, while this program leads. Safe for concurrent use.
type Deliverer struct {
	cfg   Config
	loops *loop.Group
	wake  chan struct{}

	mu      sync.Mutex
	touched map[id.Webhook]bool // endpoints that have something new
	all     bool                // every one may have
	over    []finished          // attempts whose outcome is not recorded
	refused []id.Webhook        // endpoints that should be disabled, and could not be
}

// New makes a deliverer; Start begins its work.
func New(cfg Config) *Deliverer {
	return &Deliverer{
		cfg: cfg, loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1), touched: map[id.Webhook]bool{},
	}
}

// Start begins to deliver as soon as no other program does (internal/loop has the contract).
func (d *Deliverer) Start(ctx context.Context) error {
	return d.loops.Start(ctx, func(context.Context) error {
		d.loops.Go("webhook deliveries", d.lead)
		return nil
	})
}

// Stop ends attempts under way, records that they were interrupted, and returns when nothing runs any more.
func (d *Deliverer) Stop() { d.loops.Stop() }

// Wake has the deliverer look for deliveries that somebody has made or wants again. A program that does not lead finds
// nobody to wake: the one that leads looks by itself within a second.
func (d *Deliverer) Wake() {
	d.mu.Lock()
	d.all = true
	d.mu.Unlock()
	loop.Wake(d.wake)
}

// touch notes endpoints for which deliveries were made.
func (d *Deliverer) touch(list []Delivery) {
	if len(list) == 0 {
		return
	}
	d.mu.Lock()
	for _, one := range list {
		d.touched[one.WebhookID] = true
	}
	d.mu.Unlock()
	loop.Wake(d.wake)
}

// told takes what was noted since the last time.
func (d *Deliverer) told() (touched map[id.Webhook]bool, all bool, over []finished) {
	d.mu.Lock()
	defer d.mu.Unlock()
	touched, all, over = d.touched, d.all, d.over
	d.touched, d.all, d.over = map[id.Webhook]bool{}, false, nil
	return touched, all, over
}

// lead delivers while this program holds the advisory lock, which is free as soon as its holder dies.
func (d *Deliverer) lead(ctx context.Context) {
	for ctx.Err() == nil {
		lock, got, err := d.cfg.DB.TryLock(ctx, "webhook deliveries")
		if err != nil || !got {
			loop.Sleep(ctx, leadEvery)
			continue
		}
		d.deliver(ctx, lock)
		lock.Unlock()
	}
}

// deliver works until the lock is lost or ctx ends. After an error of the database it begins anew.
func (d *Deliverer) deliver(ctx context.Context, lock *postgres.Lock) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := loop.Within(ctx, d.cfg.Logger)
	defer work.Stop()
	pause := loop.Backoff{Min: 100 * time.Millisecond, Max: 5 * time.Second}
	p := &pump{Deliverer: d, lanes: newLanes(), secrets: newSigners(d.cfg.Secrets), calls: work}
	for ctx.Err() == nil {
		if err := p.takeOver(ctx); err != nil {
			d.warn(ctx, "deliveries were not taken over", err)
			pause.Wait(ctx)
			continue
		}
		break
	}
	work.Go("outbox to deliveries", d.fanOut)
	work.Go("changes of webhook endpoints", d.watchEndpoints)
	work.Go("old deliveries", d.purge)
	work.Go("lock of deliveries", func(ctx context.Context) {
		for loop.Sleep(ctx, leadEvery) {
			if lock.Ping(ctx) != nil {
				cancel()
				return
			}
		}
	})
	p.run(ctx)
}

// watchEndpoints has the deliverer look whenever an endpoint may have changed, until ctx ends.
func (d *Deliverer) watchEndpoints(ctx context.Context) {
	for ctx.Err() == nil {
		looked := false
		_, err := d.cfg.Views.Watch(ctx, webhooksviews.EndpointsName, func(context.Context) (bool, error) {
			d.Wake() // also at once: a change may have come just before
			known := looked
			looked = true
			return known, nil
		})
		if err != nil {
			loop.Sleep(ctx, lookEvery)
		}
	}
}

// warn logs an error, unless the work is ending.
func (d *Deliverer) warn(ctx context.Context, message string, err error) {
	if ctx.Err() == nil {
		d.cfg.Logger.WarnContext(ctx, message, "error", err)
	}
}

// purge deletes old deliveries from time to time.
func (d *Deliverer) purge(ctx context.Context) {
	for ctx.Err() == nil {
		if err := d.cfg.Store.Purge(ctx, d.cfg.Clock.Now().Add(-Kept)); err != nil {
			d.warn(ctx, "deliveries were not purged", err)
		}
		loop.SleepFor(ctx, d.cfg.Clock, purgeEvery)
	}
}

// disable reports that nothing can be delivered to an endpoint.
func (d *Deliverer) disable(ctx context.Context, row webhooksviews.EndpointRow, h health) error {
	enabled := time.Time{}
	if row.EnabledAt != nil {
		enabled = *row.EnabledAt
	}
	_, err := d.cfg.Bus.Execute(ctx, commands.DisableWebhook{
		WebhookID: row.ID, Reason: events.WebhookOffFailing, Since: h.since, Failed: h.failed, Enabled: enabled,
	}, commands.Meta{
		CommandID: id.Derive[id.Command]("webhook fails", row.ID.String(), h.since.UTC().Format(time.RFC3339Nano)),
		OrgID:     row.OrgID, Actor: events.Actor{Kind: events.ActorProcess, ID: "webhooks"},
		Reason: events.WebhookOffFailing,
	})
	return err
}
