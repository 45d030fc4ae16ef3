package accessjobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
)

// Around the moment when a service was gone: a router ends its sessions within the first span before it, and reports
// them within the second one after it.
const (
	removalLasts = 5 * time.Minute
	reportsLast  = time.Minute
)

// TellServiceEnded records the ends of the sessions that a router ended when it removed a service, under the person who
// wanted that, so that their customers' timelines say why. The router is asked nothing: it has no such service. It goes
// on until the log and the database have worked.
func (e *Enforcer) TellServiceEnded(ctx context.Context, args commands.TellServiceEnded, cause jobs.Cause) error {
	return e.insist(ctx, e.tellService(ctx, args, cause), "the end of a service is not told yet",
		slog.String("service_id", args.ServiceID.String()))
}

// tellService is one attempt.
func (e *Enforcer) tellService(ctx context.Context, args commands.TellServiceEnded, cause jobs.Cause) error {
	list, err := e.Sessions.EndedBy(ctx, args.DeviceID, routerplan.ServerNames(args.ServiceID),
		args.At.Add(-removalLasts), args.At.Add(reportsLast))
	if err != nil || len(list) == 0 {
		return err
	}
	wanted, err := bus.HistoryUnchecked[network.Service](ctx, e.Bus, args.ServiceID)
	if err != nil {
		return err
	}
	var asked *commands.Meta
	for _, one := range wanted {
		switch one.Event.(type) {
		case events.ServiceRemovalRequested, events.ServiceRecreationConfirmed:
			asked = &commands.Meta{IP: one.Meta.IP.Reveal(), RequestID: one.Meta.RequestID, Reason: one.Meta.Reason}
			cause.Actor, cause.CorrelationID = one.Meta.Actor, one.Meta.CorrelationID
		}
	}
	for _, s := range list {
		if s.StartedAt.After(args.At) {
			continue
		}
		c := ending(s, ReasonService)
		c.asked = asked
		if err := e.tellEnded(ctx, &deed{e: e, s: s, c: c, cause: cause}); err != nil {
			return err
		}
	}
	return nil
}

// tellEnded records the end of one session, once. One whose end was recorded already has another reason.
func (e *Enforcer) tellEnded(ctx context.Context, d *deed) error {
	lock, err := e.Locks.Lock(ctx, lockName(d.s.SubscriberID))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	state, _, err := bus.LoadUnchecked[access.Enforcement](ctx, e.Bus, d.s.ID)
	if err != nil || state.EndsOf(id.As[id.Online](d.s.ID)) > 0 {
		return err
	}
	if err := d.announce(ctx); err != nil {
		return err
	}
	return d.execute(ctx, commands.RecordSessionChange{Session: d.subject(), Via: events.ViaRouter})
}
