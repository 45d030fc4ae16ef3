package identitycases

import (
	"context"
	"log/slog"
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Upgrade brings what older versions of the program recorded under the present rules (ADR 0016). All fields are
// required.
type Upgrade struct {
	Bus            *bus.Bus
	Directory      *identityviews.Directory
	DirectoryShows *runner.Memory
	Head           func(ctx context.Context) (uint64, error)
	Logger         *slog.Logger
}

// Run keeps the addresses of older users apart by organization, and counts the administrators of older organizations.
// It must have run before the first request. On a log without such events it does nothing; a repeat after a stop does
// what is left. A user whom the rules refuse, such as one of two users of one address, concerns nobody else: that is
// logged as an error, and only this user does not enter, here and at every later start. Run fails only when it cannot
// know, because the log or the database is away.
func (u Upgrade) Run(ctx context.Context) error {
	head, err := u.Head(ctx)
	if err != nil {
		return err
	}
	if err := u.DirectoryShows.WaitFor(ctx, head); err != nil {
		return err
	}
	users, seats := u.Directory.Unsettled()
	var refused []id.User // who does not enter does not count as an administrator either
	for _, user := range users {
		done, err := u.execute(ctx, user, commands.KeepAddressApart{UserID: user})
		if err != nil {
			return err
		}
		if !done {
			refused = append(refused, user)
		}
	}
	for _, seat := range seats {
		if slices.Contains(refused, seat.UserID) {
			continue
		}
		count := commands.SeatAdministrator{OrgID: seat.OrgID, UserID: seat.UserID}
		if _, err := u.execute(ctx, seat.UserID, count); err != nil {
			return err
		}
	}
	return nil
}

// execute runs one command about a user. It reports false, and logs why, when the rules refuse it.
func (u Upgrade) execute(ctx context.Context, user id.User, command commands.Command) (bool, error) {
	meta := commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "upgrade"},
	}
	_, err := u.Bus.Execute(ctx, command, meta)
	kind := failure.KindOf(err)
	if kind != failure.NotFound && kind != failure.Conflict || failure.CodeOf(err) == "concurrent_change" {
		return err == nil, err
	}
	u.Logger.ErrorContext(ctx, "a user of an older version cannot be upgraded and does not enter",
		"user_id", user, "command", command.CommandName(), "error", err)
	return false, nil
}
