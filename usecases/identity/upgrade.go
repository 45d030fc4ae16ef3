package identitycases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
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
}

// Run keeps the addresses of older users apart by organization, and counts the administrators of older organizations.
// It must have run before the first request. On a log without such events it does nothing; a repeat after a stop does
// what is left.
func (u Upgrade) Run(ctx context.Context) error {
	head, err := u.Head(ctx)
	if err != nil {
		return err
	}
	if err := u.DirectoryShows.WaitFor(ctx, head); err != nil {
		return err
	}
	users, seats := u.Directory.Unsettled()
	var list []commands.Command
	for _, user := range users {
		list = append(list, commands.KeepAddressApart{UserID: user})
	}
	for _, seat := range seats {
		list = append(list, commands.SeatAdministrator{OrgID: seat.OrgID, UserID: seat.UserID})
	}
	for _, command := range list {
		meta := commands.Meta{
			CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "upgrade"},
		}
		if _, err := u.Bus.Execute(ctx, command, meta); err != nil {
			return err
		}
	}
	return nil
}
