package identitycases

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Sessions ends sign-ins. All fields are required. Safe for concurrent use.
type Sessions struct {
	Bus     *bus.Bus
	Refresh *vault.RefreshTokens
	// DirectoryShows waits until the directory has a position of the log. Every request asks the directory, so access
	// begins and ends before the answer, not some time after it.
	DirectoryShows *runner.Memory
	Logger         *slog.Logger
}

// End ends a session everywhere. First the vault revokes it: from then on it cannot be renewed, whatever happens next.
// Then its end is recorded, and last End waits until the directory refuses its access tokens. After a stop in between,
// a repeat records the end, and so does RecordEnds. To end an ended session succeeds. The reason is one of those of
// events.SessionEnded. When nobody is signed in, the actor of the event is the process sessions. Fails:
// session_not_found.
func (s Sessions) End(ctx context.Context, asked usecases.Asked, session vault.Session, reason string) error {
	ended, err := s.Refresh.Revoke(ctx, vault.Revocation{
		Users: []id.User{session.UserID}, Only: session.ID, Reason: reason,
	})
	if err != nil {
		return err
	}
	if len(ended) == 0 { // its end is recorded, or its tokens have expired, or it is somebody else's: the log decides
		ended = []vault.Ended{{Session: session, Reason: reason}}
	}
	return s.record(ctx, asked, ended)
}

// Revoke ends one session of a user, at whichever host it was opened. A repeat after a stop finds a session whose end
// is not recorded. Another user's session is answered like one that has ended. Fails: session_not_found.
func (s Sessions) Revoke(ctx context.Context, asked usecases.Asked, user id.User, session id.Session) error {
	ended, err := s.Refresh.Revoke(ctx, vault.Revocation{Users: []id.User{user}, Only: session, Reason: "revoked"})
	if err != nil {
		return err
	}
	if len(ended) == 0 {
		return commands.ErrNoSession()
	}
	return s.record(ctx, asked, ended)
}

// endAll ends the sessions of a revocation like End, in the vault all at once. It also records the end of those that
// were revoked before, together with a password or by a try that was cut off.
func (s Sessions) endAll(ctx context.Context, asked usecases.Asked, which vault.Revocation) error {
	ended, err := s.Refresh.Revoke(ctx, which)
	if err != nil {
		return err
	}
	return s.record(ctx, asked, ended)
}

// record records the ends of sessions that the vault has revoked, and waits until the directory knows of them. It stops
// at the first failure; the vault keeps which are left.
func (s Sessions) record(ctx context.Context, asked usecases.Asked, ended []vault.Ended) error {
	var last uint64
	for _, e := range ended {
		done, err := s.recordOne(ctx, asked, e)
		if err != nil {
			return err
		}
		last = max(last, done.Position)
	}
	return s.DirectoryShows.WaitFor(ctx, last)
}

// recordOne records the end of a session, and tells the vault. Fails: session_not_found.
func (s Sessions) recordOne(ctx context.Context, asked usecases.Asked, e vault.Ended) (bus.Result, error) {
	meta := asked.Step("end " + e.ID.String())
	meta.OrgID = e.OrgID
	meta.Reason = e.Reason
	if meta.Actor.Kind == events.ActorPublic {
		meta.Actor = sessionsProcess()
	}
	end := commands.EndSession{SessionID: e.ID, UserID: e.UserID, Reason: e.Reason}
	done, err := s.Bus.Execute(ctx, end, meta)
	if err != nil {
		return bus.Result{}, err
	}
	return done, s.Refresh.EndRecorded(ctx, e.ID)
}

// RecordEnds finishes what a stop or a failure cut off: it records the ends of sessions that were revoked an interval
// ago or longer, so that it meets no request that is about to record them itself. A session that the log does not know
// has no end to be recorded. A session that fails is logged and concerns no other; the next call takes it up again.
func (s Sessions) RecordEnds(ctx context.Context, now time.Time) error {
	list, err := s.Refresh.Unrecorded(ctx, now.Add(-endsAfter), endsAtOnce)
	if err != nil {
		return err
	}
	for _, e := range list {
		asked := usecases.Asked{Meta: commands.Meta{CommandID: id.New[id.Command](), Actor: sessionsProcess()}}
		_, err := s.recordOne(ctx, asked, e)
		if failure.KindOf(err) == failure.NotFound {
			err = s.Refresh.EndRecorded(ctx, e.ID)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.Logger.ErrorContext(ctx, "the end of a session cannot be recorded", "session_id", e.ID, "error", err)
		}
	}
	return nil
}

// How old a revocation is before RecordEnds takes it up, and how many it takes up in one call.
const (
	endsAfter  = time.Minute
	endsAtOnce = 1000
)

// sessionsProcess is the actor of an end that nobody who is signed in asked for.
func sessionsProcess() events.Actor { return events.Actor{Kind: events.ActorProcess, ID: "sessions"} }
