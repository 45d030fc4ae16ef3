package cpecases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Onus sets ONUs up at optical line terminals. All fields are required. Safe for concurrent use.
type Onus struct {
	Bus *bus.Bus
	// Ready fails when the program knows no terminals, or no CPE server.
	Ready func() error
}

// SetUp sets up the ONU of a CPE of the organization, or does so once more. Fails: olt_not_set_up,
// cpe_server_not_set_up, cpe_not_found, invalid_input, onu_in_use, onu_busy, onu_elsewhere.
func (u Onus) SetUp(
	ctx context.Context, asked usecases.Asked, of id.CPE, place events.CpeOnuPlace,
) (id.CPEOperation, bus.Result, error) {
	device, _, err := bus.LoadOwned[cpe.CPE](ctx, u.Bus, asked.Org(), of)
	if err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	command, err := u.request(ctx, asked, of, place)
	if err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	command.SubscriberID, command.Login = device.Subscriber, !device.Subscription.IsZero()
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	return command.OperationID, done, err
}

// request makes the command of a set-up. Fails: olt_not_set_up, cpe_server_not_set_up.
func (u Onus) request(
	ctx context.Context, asked usecases.Asked, of id.CPE, place events.CpeOnuPlace,
) (commands.SetUpCpeOnu, error) {
	if err := u.Ready(); err != nil {
		return commands.SetUpCpeOnu{}, err
	}
	org, _, err := bus.LoadOwned[identity.Organization](ctx, u.Bus, asked.Org(), asked.Org())
	if err != nil {
		return commands.SetUpCpeOnu{}, err
	}
	place.OrgSlug = org.Slug
	return commands.SetUpCpeOnu{
		OnuID: commands.CpeOnuID(asked.Org(), place.Serial), OrgID: asked.Org(), CpeID: of, Place: place,
		OperationID: usecases.NewID[id.CPEOperation](asked, "cpe onu"),
	}, nil
}

// ClaimWithOnu is Claim, and sets up the ONU of the CPE. The ONU is taken first, and given back when the claim is
// refused; one whose claim never comes is given back by itself. Fails: as Claim, and onu_in_use, onu_busy,
// olt_not_set_up, cpe_server_not_set_up.
func (u CPEs) ClaimWithOnu(
	ctx context.Context, asked usecases.Asked, in Claim, place events.CpeOnuPlace,
) (id.CPEOperation, bus.Result, error) {
	to, err := u.use(ctx, asked.Org(), use{subscriber: in.SubscriberID, subscription: in.SubscriptionID})
	if err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	command, err := u.Onus.request(ctx, asked, in.CpeID, place)
	if err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	command.SubscriberID, command.Login, command.First = to.subscriber, !to.subscription.IsZero(), true
	if err := command.Validate(); err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	if err := u.pending(ctx, asked, command); err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	taken, err := u.Bus.Execute(ctx, command, asked.Meta)
	if err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	done, err := u.Claim(ctx, asked, in)
	if err != nil && taken.Changed && failure.KindOf(err) != failure.Unavailable {
		back := asked.Meta
		back.CommandID = id.Derive[id.Command]("give back an ONU", back.CommandID.String())
		_, gaveBack := u.Bus.Execute(ctx, commands.RemoveCpeOnu{OnuID: command.OnuID, CpeID: in.CpeID}, back)
		if gaveBack != nil {
			u.Logger.WarnContext(ctx, "onu of a refused claim not given back yet", "error", gaveBack.Error())
		}
	}
	return command.OperationID, done, err
}

// pending refuses a CPE that somebody has already: nothing is set up for it. Only the request that claimed it may come
// once more. Fails: cpe_not_found, already_claimed.
func (u CPEs) pending(ctx context.Context, asked usecases.Asked, c commands.SetUpCpeOnu) error {
	present, _, err := bus.LoadUnchecked[cpe.CPE](ctx, u.Bus, c.CpeID) // only whether somebody has it is told
	switch {
	case err != nil:
		return err
	case present.ID.IsZero():
		return commands.ErrNoCpe()
	case present.Org.IsZero():
		return nil
	case present.Org != asked.Org():
		return commands.ErrCpeClaimed()
	}
	onu, _, err := bus.LoadUnchecked[cpe.Onu](ctx, u.Bus, c.OnuID) // the id is of the organization
	if err == nil && onu.Operation != c.OperationID {
		err = commands.ErrCpeClaimed()
	}
	return err
}
