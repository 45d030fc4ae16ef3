package accessjobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// leaveAttempts is how often a router that was decommissioned, and is silent or refuses, is asked to end its sessions:
// for nearly an hour. An attempt after which something was ended does not count.
const leaveAttempts = 18

// leavePass is how much of an attempt's two minutes the sessions have. What follows has the rest.
const leavePass = 100 * time.Second

// errKeeps says that a router answers, and keeps sessions that it should have ended.
var errKeeps = errors.New("the router refuses")

// LeaveRouter ends the sessions of a router that was decommissioned, in passes like those of EnforceRouter, until all
// have ended or the attempts are over. Then it deletes the secrets of RADIUS. A router that does not answer until then,
// or refuses, keeps its sessions. Attempts in which something else fails do not count.
func (e *Enforcer) LeaveRouter(ctx context.Context, args commands.LeaveRouter, cause jobs.Cause) error {
	err := e.leave(ctx, args, cause)
	if ofRouter(err) {
		return err
	}
	return e.insist(ctx, err, "a router that was decommissioned is not left yet",
		slog.String("device_id", args.DeviceID.String()))
}

// leave is one attempt.
func (e *Enforcer) leave(ctx context.Context, args commands.LeaveRouter, cause jobs.Cause) error {
	if err := e.Entitled.Reached(ctx, args.Position); err != nil {
		return err
	}
	state, _, err := bus.LoadUnchecked[network.Device](ctx, e.Bus, args.DeviceID)
	if err != nil {
		return err
	}
	if e.Entitled.Directory.Incomplete(state.Org) {
		return errIncomplete
	}
	refs := radiusSecrets(state)
	door, err := e.formerDoor(ctx, state, refs)
	if err != nil {
		return err
	}
	err = e.endOn(ctx, state, door, cause)
	switch {
	case err == nil:
	case !cause.Last, !ofRouter(err):
		return err
	default:
		e.Logger.WarnContext(ctx, "a router that was decommissioned keeps its sessions",
			slog.String("device_id", state.ID.String()), slog.String("error", err.Error()))
	}
	for _, ref := range refs {
		if err := e.Secrets.Delete(ctx, ref); err != nil {
			return err
		}
	}
	e.Breakers.Forget(BreakerKind, state.ID.String())
	return nil
}

// ofRouter reports whether an error says that a router is silent or refuses. What else can fail is not its word: while
// the log takes no event, nobody knows what the router would do.
func ofRouter(err error) bool {
	return errors.Is(err, errKeeps) || failure.CodeOf(err) == "device_unreachable"
}

// endOn is one pass over the sessions of a router that is not ours any more. Nobody else looks at those that it leaves,
// because they rest or the router refuses: it fails then. Fails: errKeeps, device_unreachable.
func (e *Enforcer) endOn(ctx context.Context, of network.Device, door directory.Door, cause jobs.Cause) error {
	defer e.seats.take(of.ID, e.paced())()
	p := &pass{e: e, cause: cause, needs: func(s telemetry.Session, _ time.Time) (change, bool) {
		c := ending(s, ReasonDevice)
		c.door = &door
		return c, s.EndedAt == nil
	}}
	limited, cancel := context.WithTimeout(ctx, leavePass)
	defer cancel()
	over := p.run(limited, of.ID)
	if over != nil && !ofRouter(over) {
		return over
	}
	left, err := e.Sessions.OpenOn(ctx, of.ID)
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(left, func(s telemetry.Session) bool { return e.pauses.ours(s.ID) }):
		return fmt.Errorf("not all of %d sessions can be ended, and that is not the router's fault", len(left))
	case over == nil && len(left) > 0:
		return fmt.Errorf("%w to end %d sessions", errKeeps, len(left))
	}
	return over
}

// radiusSecrets lists the secrets that a router may use: first the one that it is known to have.
func radiusSecrets(of network.Device) []id.Secret {
	if given := of.Setup.RadiusGiven; !given.IsZero() && given != of.RadiusRef {
		return []id.Secret{given, of.RadiusRef}
	}
	return []id.Secret{of.RadiusRef}
}

// formerDoor is where a router that was decommissioned takes requests. The directory of sign-ins does not know it any
// more.
func (e *Enforcer) formerDoor(ctx context.Context, of network.Device, refs []id.Secret) (directory.Door, error) {
	door := directory.Door{Org: of.Org, Address: of.TunnelAddress, Port: of.Details.CoAPort}
	if own := of.Details.ManagementAddress; e.Anywhere && own != "" {
		door.Address = own
		if withPort, err := netip.ParseAddrPort(own); err == nil {
			door.Address = withPort.Addr().String()
		}
	}
	plain, err := e.Secrets.GetAll(ctx, refs)
	if plain == nil && err != nil {
		return door, err
	}
	for _, ref := range refs {
		if secret := plain[ref]; len(secret) > 0 {
			door.Secrets = append(door.Secrets, secret)
		}
	}
	return door, nil
}
