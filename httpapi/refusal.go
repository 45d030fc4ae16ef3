package httpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Refusal is a write that did not happen.
type Refusal struct {
	Method string
	Route  string // pattern
	Target string // value of the pattern's parameter id, else of its first, "" without one
	Status int
	Code   string
	Count  int // number of refusals that it stands for
}

// Refusals records refused and failed writes as events, so that the audit log shows them.
type Refusals interface {
	Note(ctx context.Context, r Refusal, meta commands.Meta) error
}

// noteLimit bounds the recording of a refusal: the answer waits for it.
const noteLimit = time.Second

// noteRefusal records a write of somebody signed in that was denied, refused or failed, or a reading that counts as one
// (Route.Recorded), and every request of an API key that is right and may not enter any more, or not from there.
// Mistakes of form and rate limits are not recorded: they say nothing about the business and would let a client fill
// the log.
func (s *Server) noteRefusal(ctx context.Context, c *Call, err error) {
	if s.cfg.Refusals == nil || c.route == nil {
		return
	}
	who := c.Caller
	if who.UserID.IsZero() {
		who = c.refusedKey
	} else if !c.route.mutates() && !c.route.Recorded {
		return
	}
	if who.UserID.IsZero() {
		return
	}
	f := asFailure(ctx, err)
	switch f.Kind {
	case failure.Denied, failure.Conflict, failure.Refused, failure.Unavailable, failure.Internal:
	case failure.Unauthenticated:
		if !c.Caller.UserID.IsZero() {
			return
		}
	default:
		return
	}
	refusal := Refusal{Method: c.route.Method, Route: c.route.Path, Status: statusOf(f), Code: f.Code, Count: 1}
	if refusal.Target = c.Param("id"); refusal.Target == "" && len(c.params) > 0 {
		refusal.Target = c.params[0].Value
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	meta := c.Asked().Step("refusal " + c.RequestID)
	meta.Actor = who.actor()
	if err := s.cfg.Refusals.Note(ctx, refusal, meta); err != nil {
		s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "refusal not recorded", slog.String("request_id", c.RequestID),
			slog.String("error", err.Error()))
	}
}

// BusRefusals records refusals through the bus, like every other write.
type BusRefusals struct{ Bus *bus.Bus }

// Note derives the id of the refusal from the command id in meta, so a repeat records nothing more.
func (b BusRefusals) Note(ctx context.Context, r Refusal, meta commands.Meta) error {
	cmd := commands.NoteRefusal{
		RefusalID: id.Derive[id.Request]("refusal", meta.CommandID.String()), OrgID: meta.OrgID, Method: r.Method,
		Route: r.Route, Status: r.Status, Code: r.Code, Count: r.Count,
	}
	if target, err := id.Parse[id.Any](r.Target); err == nil {
		cmd.TargetID = target
	}
	_, err := b.Bus.Execute(ctx, cmd, meta)
	return err
}
