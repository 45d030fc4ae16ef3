package identitycases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
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
}

// End ends a session everywhere. First its end is recorded: from then on it cannot be renewed, because Renew asks the
// directory. Next its refresh tokens are revoked. So a session whose end is not recorded is still listed as open, and a
// repeat after a stop finds it. Last, End waits until the directory refuses its access tokens. To end an ended session
// succeeds. The reason is one of those of events.SessionEnded. When nobody is signed in, the actor of the event is the
// process sessions. Fails: session_not_found.
func (s Sessions) End(ctx context.Context, asked usecases.Asked, session vault.Session, reason string) error {
	meta := asked.Step("end " + session.ID.String())
	meta.OrgID = session.OrgID
	meta.Reason = reason
	if meta.Actor.Kind == events.ActorPublic {
		meta.Actor = events.Actor{Kind: events.ActorProcess, ID: "sessions"}
	}
	end := commands.EndSession{SessionID: session.ID, UserID: session.UserID, Reason: reason}
	done, err := s.Bus.Execute(ctx, end, meta)
	if err != nil {
		return err
	}
	if err := s.Refresh.RevokeSession(ctx, session.ID); err != nil {
		return err
	}
	return s.DirectoryShows.WaitFor(ctx, done.Position)
}

// Revoke ends one open session of a user, at whichever host it was opened. Another user's session is answered like one
// that has ended. Fails: session_not_found.
func (s Sessions) Revoke(ctx context.Context, asked usecases.Asked, user id.User, session id.Session) error {
	open, err := s.Refresh.List(ctx, user)
	if err != nil {
		return err
	}
	for _, o := range open {
		if o.ID == session {
			return s.End(ctx, asked, o, "revoked")
		}
	}
	return commands.ErrNoSession()
}

// endUsers ends the open sessions of users; the session except stays open.
func (s Sessions) endUsers(
	ctx context.Context, asked usecases.Asked, users []identityviews.UserRow, except id.Session, reason string,
) error {
	var ending []vault.Session
	for _, user := range users {
		open, err := s.Refresh.List(ctx, user.ID)
		if err != nil {
			return err
		}
		for _, session := range open {
			if session.ID != except {
				ending = append(ending, session)
			}
		}
	}
	return s.endAll(ctx, asked, ending, reason)
}

// endAll ends sessions one after another and stops at the first failure; a repeat ends those that are left.
func (s Sessions) endAll(ctx context.Context, asked usecases.Asked, list []vault.Session, reason string) error {
	for _, session := range list {
		if err := s.End(ctx, asked, session, reason); err != nil {
			return err
		}
	}
	return nil
}
