package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/access"
	"github.com/lastmile-isp/lastmile/usecases/books"
	"github.com/lastmile-isp/lastmile/usecases/history"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// explainCommands has the sub-commands of `lastmile explain`: why something is as it is, each cause by its event.
type explainCommands struct {
	Subscriber explainSubscriber `cmd:"" help:"Why a customer is on or off, and what happened to them."`
	Receipt    explainReceipt    `cmd:"" help:"How money is known, where it is and was, and why."`
	Device     explainDevice     `cmd:"" help:"Why a router is as it is."`
}

// explainAt is the instant of an explanation.
type explainAt struct {
	At *time.Time `help:"An instant in RFC 3339, such as 2026-03-02T09:00:00Z; now by default."`
}

// explainSubscriber is `lastmile explain subscriber ID`.
type explainSubscriber struct {
	ID string `arg:"" help:"Id of the customer."`
	explainAt
	Limit int `default:"20" help:"What happened last, at most 100 lines."`
}

// explainReceipt is `lastmile explain receipt NUMBER`.
type explainReceipt struct {
	Number string `arg:"" help:"Receipt number of the provider, reference of cash, or id of the receipt."`
	explainAt
}

// explainDevice is `lastmile explain device ID`.
type explainDevice struct {
	ID string `arg:"" help:"Id of the router."`
	explainAt
}

// follow starts to read the read models that a running program fills, or that one has filled last.
func (r *past) follow(ctx context.Context) (*runner.Views, error) {
	f, err := startFeed(ctx, r.s, r.life)
	if err != nil {
		return nil, err
	}
	models := newProjections(r.s, f, r.clock, r.life.logger, true)
	if err := r.life.start(ctx, "projections", stopEngines, models); err != nil {
		return nil, fmt.Errorf("start projections: %w", err)
	}
	return models.Views(), nil
}

// explained opens an aggregate for an explanation.
func (r *past) explained(ctx context.Context, stream string, at *time.Time) (*historycases.History, error) {
	look := historycases.Look{Kind: events.LookExplanation}
	if at != nil {
		look.Until = *at
	}
	return r.open(ctx, stream, look)
}

// state prints each field of an aggregate with its cause. Users are named as their organization knows them.
func (r *past) state(ctx context.Context, views *runner.Views, h *historycases.History, at time.Time) error {
	was, causes, err := h.Causes(ctx, at)
	if err != nil {
		return err
	}
	var users []id.User
	for _, c := range causes {
		if user, err := id.Parse[id.User](c.By.Meta.Actor.ID); err == nil {
			users = append(users, user)
		}
	}
	names, err := identityviews.UsersQuery{Views: views}.Names(ctx, h.Org, users)
	if err != nil {
		return err
	}
	if err := r.print.line("%s %s, after event %d, recorded at %s", h.Kind.Name, h.ID, was.Number,
		stamp(was.LastAt)); err != nil {
		return err
	}
	return r.print.causes(causes, names)
}

// Run prints the state of the router and its causes.
func (c explainDevice) Run(ctx context.Context, p program) error {
	return withPast(ctx, p, "explain device", func(r *past) error {
		at, err := r.instant(c.At)
		if err != nil {
			return err
		}
		h, err := r.explained(ctx, commands.DeviceCategory+"-"+c.ID, c.At)
		if err != nil {
			return err
		}
		views, err := r.follow(ctx)
		if err != nil {
			return err
		}
		return r.state(ctx, views, h, at)
	})
}

// Run prints the state of each receipt of that number, and the proof of it.
func (c explainReceipt) Run(ctx context.Context, p program) error {
	return withPast(ctx, p, "explain receipt", func(r *past) error {
		at, err := r.instant(c.At)
		if err != nil {
			return err
		}
		views, err := r.follow(ctx)
		if err != nil {
			return err
		}
		receipts, err := r.receipts(ctx, views, strings.TrimSpace(c.Number))
		if err != nil {
			return err
		}
		for _, receipt := range receipts {
			h, err := r.explained(ctx, commands.ReceiptCategory+"-"+receipt.String(), c.At)
			if err == nil {
				err = r.state(ctx, views, h, at)
			}
			if err == nil {
				err = r.proof(ctx, views, h, at)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// receipts finds the receipts with a number, of any organization and of none. The id of money of the provider follows
// from its number; other money is found by the read model.
func (r *past) receipts(ctx context.Context, views *runner.Views, number string) ([]id.Receipt, error) {
	if receipt, err := id.Parse[id.Receipt](number); err == nil {
		return []id.Receipt{receipt}, nil
	}
	tenants, err := newDoctor(r.s, r.clock).Tenants(ctx, &bookscases.Register{})
	if err != nil {
		return nil, err
	}
	query := paymentsviews.ReceiptsQuery{Views: views}
	var found []paymentsviews.ReceiptRow
	for _, t := range tenants {
		err := views.Tenant(ctx, t.ID, func(q *postgres.Reads) { query.Find(q, &found, t.ID, number, mostShown) })
		if err != nil {
			return nil, err
		}
	}
	err = views.Platform(ctx, func(q *postgres.Reads) { query.FindUnowned(q, &found, number, mostShown) })
	if err != nil {
		return nil, err
	}
	var out []id.Receipt
	for _, row := range found {
		if strings.EqualFold(row.ReceiptNumber, number) {
			out = append(out, row.ID)
		}
	}
	for _, receipt := range commands.ReceiptIDs(strings.ToUpper(number)) { // also those that no list shows
		past, err := r.bus.OpenPast(ctx, commands.ReceiptCategory, id.Any(receipt))
		if err != nil {
			return nil, err
		}
		if past != nil && !slices.Contains(out, receipt) {
			out = append(out, receipt)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no receipt %q", number)
	}
	return out, nil
}

// proof prints the way of a receipt's money until an instant. Money of nobody has none yet.
func (r *past) proof(ctx context.Context, views *runner.Views, h *historycases.History, at time.Time) error {
	if h.Org.IsZero() {
		return r.print.line("it belongs to no organization yet")
	}
	proof, err := paymentscases.Proofs{
		Steps: paymentsviews.ProofQuery{Views: views}, Inbox: r.s.vault.Inbox,
	}.Of(ctx, h.Org, id.Receipt(h.ID))
	if err != nil {
		return err
	}
	var users []id.User
	for _, s := range proof.Steps {
		if user, err := id.Parse[id.User](s.ActorID); err == nil {
			users = append(users, user)
		}
	}
	names, err := identityviews.UsersQuery{Views: views}.Names(ctx, h.Org, users)
	if err != nil {
		return err
	}
	w := r.print.table()
	row(w, "AT", "THE MONEY WAS", "HOW", "CUSTOMER", "WHO", "WHY", "MESSAGE OF THE PROVIDER")
	for _, s := range proof.Steps {
		if s.At.After(at) {
			continue
		}
		customer, why, message := "", "", ""
		if !s.SubscriberID.IsZero() {
			customer = s.SubscriberID.String()
		}
		if s.Reason != nil {
			why = *s.Reason
		}
		if m, told := proof.Messages[s.Position]; told {
			message = strings.TrimSpace(m.Missing + " " + m.Kind + " " + m.ProvenBy)
		}
		actor := events.Actor{Kind: events.ActorKind(s.ActorKind), ID: s.ActorID}
		row(w, stamp(s.At), strings.ReplaceAll(s.Kind, "_", " "), strings.TrimSpace(s.Sighting+" "+s.Rule), customer,
			who(actor, names), why, message)
	}
	return w.Flush()
}

// Run prints the explanation of access, its causes, and what happened last.
func (c explainSubscriber) Run(ctx context.Context, p program) error {
	if c.Limit < 0 || c.Limit > 100 {
		return fmt.Errorf("--limit must be from 0 to 100")
	}
	return withPast(ctx, p, "explain subscriber", func(r *past) error {
		at, err := r.instant(c.At)
		if err != nil {
			return err
		}
		h, err := r.explained(ctx, commands.SubscriberCategory+"-"+c.ID, c.At)
		if err != nil {
			return err
		}
		views, err := r.follow(ctx)
		if err != nil {
			return err
		}
		told, err := r.timeline(ctx, views, h, at)
		if err != nil {
			return err
		}
		if err := r.access(ctx, views, h, c.At, told); err != nil {
			return err
		}
		return told.print(r.print, c.Limit)
	})
}

// access prints whether a customer is entitled to be on, and why. Cause by cause it says who led to it.
func (r *past) access(
	ctx context.Context, views *runner.Views, h *historycases.History, at *time.Time, told timelineOf,
) error {
	cfg := told.settings
	network, err := telemetry.Open(ctx, r.s.db)
	if err != nil {
		return err
	}
	var instant time.Time // zero = now
	if at != nil {
		instant = *at
	}
	x, err := accesscases.Explanations{
		Bus: r.bus, Settings: cfg, Subscribers: subscribersviews.SubscribersQuery{Views: views},
		Subscriptions: subscribersviews.SubscriptionsQuery{Views: views},
		Dunning:       accessviews.DunningQuery{Views: views}, Network: network, Clock: r.clock, Logger: r.life.logger,
	}.Of(ctx, h.Org, id.Subscriber(h.ID), instant)
	if err != nil {
		return err
	}
	if x == nil {
		return r.print.line("customer %s was forgotten: the history is left, see lastmile events show subscriber-%s",
			h.ID, h.ID)
	}
	if err := r.print.line("customer %s at %s: entitled to %s, seen %s", h.ID, stamp(x.At),
		strings.ReplaceAll(x.Entitlement.Access.String(), "_", " "), x.Observed); err != nil {
		return err
	}
	w := r.print.table()
	row(w, "SINCE", "BECAUSE", "SUBSCRIPTION", "CAUSE", "WHO", "WHY")
	for _, reason := range x.Entitlement.Reasons {
		of := ""
		if !reason.Of.IsZero() {
			of = reason.Of.String()
		}
		cause, actor, why := told.cause(reason.Cause.Type, reason.Cause.ID)
		row(w, stamp(reason.Since), string(reason.Code)+": "+reason.Code.Words(), of, cause, actor, why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w = r.print.table()
	row(w, "SUBSCRIPTION", "PLAN", "USERNAME", "SINCE", "STATE", "PAID UNTIL", "DUNNING", "GETS", "SEEN")
	for _, s := range x.Services {
		until, dunning := "", ""
		if !s.PaidUntil.IsZero() {
			until = stamp(s.PaidUntil)
		}
		if s.Dunning != nil {
			dunning = string(s.Dunning.State)
		}
		row(w, s.SubscriptionID.String(), s.PlanName, s.Username, stamp(s.CreatedAt), string(s.State), until, dunning,
			s.Access.String(), string(s.Observed))
	}
	return w.Flush()
}

// timelineOf has the events of a customer's timeline until an instant, the newest first.
type timelineOf struct {
	rows     []subscribersviews.TimelineRow
	names    map[id.User]string
	zone     *time.Location
	settings usecases.SettingsOf
}

// mostTold bounds what is read of a timeline for an explanation: its causes are among the latest events.
const mostTold = 2000

// timeline reads what happened to a customer.
func (r *past) timeline(
	ctx context.Context, views *runner.Views, h *historycases.History, at time.Time,
) (out timelineOf, err error) {
	out.settings = usecases.ShownSettings(views, r.bus)
	if out.zone, err = out.settings.Zone(ctx, h.Org); err != nil {
		return out, err
	}
	out.rows, err = subscribersviews.TimelineQuery{Views: views}.List(ctx, h.Org, id.Subscriber(h.ID),
		subscribersviews.TimelineFilter{To: at.Truncate(time.Microsecond).Add(time.Microsecond)},
		subscribersviews.TimelineKey{}, mostTold)
	if err != nil {
		return out, err
	}
	var users []id.User
	for _, row := range out.rows {
		if user, err := id.Parse[id.User](row.ActorID); err == nil {
			users = append(users, user)
		}
	}
	out.names, err = identityviews.UsersQuery{Views: views}.Names(ctx, h.Org, users)
	return out, err
}

// actor names who led to a row.
func (t timelineOf) actor(row subscribersviews.TimelineRow) string {
	return who(events.Actor{Kind: events.ActorKind(row.ActorKind), ID: row.ActorID, Role: row.ActorRole}, t.names)
}

// cause says what led to a reason: the sentence of its event, who did it and why; else what it is.
func (t timelineOf) cause(kind string, of id.Any) (cause, actor, why string) {
	for _, row := range t.rows {
		if kind == "event" && id.Any(row.EventID) == of {
			return row.Says().In(t.zone), t.actor(row), row.Reason
		}
	}
	return kind + " " + of.String(), "", ""
}

// print prints the newest rows.
func (t timelineOf) print(p printer, limit int) error {
	w := p.table()
	row(w, "AT", "WHAT HAPPENED", "WITH", "WHO", "WHY")
	for _, r := range t.rows[:min(limit, len(t.rows))] {
		row(w, stamp(r.At), r.Says().In(t.zone), r.CauseType+" "+r.CauseID.String(), t.actor(r), r.Reason)
	}
	return w.Flush()
}
