package identitycases

import (
	"cmp"
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Portal says who sees what is a subscriber's (docs/rules/identity.md#portal-users). Safe for concurrent use.
type Portal struct {
	SignIns SignIns
}

// PortalAddresses are those with which somebody is to sign in; both empty = the subscriber's own contact.
type PortalAddresses struct {
	Email personal.Text // in any spelling
	Phone personal.Text // in any spelling

	second personal.Text // of the subscriber, where no address is named
}

// own fills in the contact of a subscriber where no address is named.
func (in PortalAddresses) own(details events.SubscriberDetails) PortalAddresses {
	if in.Email.IsZero() && in.Phone.IsZero() {
		return PortalAddresses{Email: details.Email, Phone: details.Phone, second: details.SecondPhone}
	}
	return in
}

// commands makes the command for each address, without the user. Fails: invalid_input.
func (in PortalAddresses) commands(
	org id.Organization, subscriber subscribers.Subscriber,
) ([]commands.GivePortalAccess, error) {
	in = in.own(subscriber.Details)
	each := commands.GivePortalAccess{
		OrgID: org, SubscriberID: subscriber.ID, FirstName: subscriber.Details.FirstName,
		LastName: subscriber.Details.LastName,
	}
	var list []commands.GivePortalAccess
	var invalid error
	for _, phone := range []personal.Text{in.Phone, in.second} {
		text := inputtext.Code(phone.Reveal())
		if text == "" {
			continue
		}
		give := each
		give.Phone = personal.Of(commands.NormalizeContactPhone(text))
		list, invalid = append(list, give), failure.JoinFaults(invalid, give.Validate())
	}
	if text := inputtext.Code(in.Email.Reveal()); text != "" {
		give := each
		give.Email = personal.Of(commands.NormalizeEmail(text))
		list, invalid = append(list, give), failure.JoinFaults(invalid, give.Validate())
	}
	return list, invalid
}

// Give lets whoever reads the codes that are sent to the addresses see what is a subscriber's. Each address is a
// sign-in of its own: one that the organization does not know gets a user of the role subscriber, which no password
// opens, and one that signs in a customer already sees this subscriber, too. All addresses are looked at before the
// first one is written. When Give returns, the next request of the person sees the subscriber; a session of before the
// person had lost the last one does not come back. A repeat under the same key does what is left.
//
// Fails: invalid_input, subscriber_not_found, staff_address, user_disabled, too_many_subscribers.
func (p Portal) Give(
	ctx context.Context, asked usecases.Asked, of id.Subscriber, in PortalAddresses,
) (done bus.Result, err error) {
	subscriber, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, p.SignIns.Sessions.Bus, asked.Org(), of)
	if err != nil {
		return bus.Result{}, err
	}
	list, err := in.commands(asked.Org(), subscriber)
	if err != nil {
		return bus.Result{}, err
	}
	for i := range list {
		list[i].UserID = newUserID(asked, "portal user "+list[i].Email.Reveal()+list[i].Phone.Reveal())
		if _, err := p.find(ctx, &list[i]); err != nil {
			return bus.Result{}, err
		}
	}
	for _, give := range list {
		one, err := p.give(ctx, asked, give)
		if err != nil {
			return bus.Result{}, err
		}
		done.Position = max(done.Position, one.Position)
	}
	return done, p.SignIns.Sessions.DirectoryShows.WaitFor(ctx, done.Position)
}

// find sets the user who signs in with an address, when there is one, and asks the log whether the user may have the
// access. Fails: staff_address, user_disabled, too_many_subscribers.
func (p Portal) find(ctx context.Context, give *commands.GivePortalAccess) (found bool, err error) {
	if err := p.SignIns.catchUp(ctx); err != nil {
		return false, err
	}
	known, err := p.known(ctx, *give)
	if err != nil {
		return false, err
	}
	for _, row := range known {
		state, _, err := bus.LoadUnchecked[identity.User](ctx, p.SignIns.Sessions.Bus, row.ID) // of the organization
		if err != nil {
			return false, err
		}
		byPhone := give.Email.IsZero() && row.Email != ""
		m, member := state.MemberAt(give.OrgID)
		switch {
		case byPhone && member && m.Role != events.RoleSubscriber && state.Person.IsZero():
			return false, commands.ErrStaffAddress() // the phone opens what the person does as staff
		case byPhone:
			continue
		}
		give.UserID, found = row.ID, true
		if _, err := identity.Users().Decide(state, *give, p.SignIns.Clock.Now()); err != nil {
			return true, err
		}
	}
	return found, nil
}

// known lists the users whom the organization has registered under an address.
func (p Portal) known(ctx context.Context, give commands.GivePortalAccess) ([]identityviews.UserRow, error) {
	if give.Email.IsZero() {
		return p.SignIns.Users.OfPhone(ctx, give.OrgID, give.Phone.Reveal())
	}
	row, err := p.SignIns.Users.RegisteredBy(ctx, give.OrgID, give.Email.Reveal())
	if err != nil || row == nil {
		return nil, err
	}
	return []identityviews.UserRow{*row}, nil
}

// give gives one address access. When somebody else has registered the address meanwhile, that user gets it.
func (p Portal) give(
	ctx context.Context, asked usecases.Asked, give commands.GivePortalAccess,
) (bus.Result, error) {
	sessions := p.SignIns.Sessions
	state, _, err := bus.LoadUnchecked[identity.User](ctx, sessions.Bus, give.UserID) // of the organization, or new
	if err != nil {
		return bus.Result{}, err
	}
	if state.SeesNothing(give.OrgID) {
		if err := sessions.endAll(ctx, asked, lapsing(give.UserID, give.OrgID)); err != nil {
			return bus.Result{}, err
		}
	}
	done, err := sessions.Bus.Execute(ctx, give, asked.Step("portal "+give.UserID.String()))
	if failure.CodeOf(err) != "already_member" {
		return done, err
	}
	if found, findErr := p.find(ctx, &give); findErr != nil || !found {
		return bus.Result{}, cmp.Or(findErr, err)
	}
	return sessions.Bus.Execute(ctx, give, asked.Step("portal "+give.UserID.String()))
}

// lapsing names the sessions that end with the last subscriber.
func lapsing(user id.User, org id.Organization) vault.Revocation {
	return vault.Revocation{Users: []id.User{user}, Org: org, Reason: "portal_access_ended"}
}

// End takes a subscriber away from a user at once: when it returns, no request of the person sees it. The sessions of
// one who has no other subscriber end, and no code is sent any more. A repeat ends what is left; somebody who does
// not see the subscriber may be taken away, too. Fails: subscriber_not_found, user_not_found.
func (p Portal) End(
	ctx context.Context, asked usecases.Asked, of id.Subscriber, user id.User,
) (bus.Result, error) {
	sessions := p.SignIns.Sessions
	if _, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, sessions.Bus, asked.Org(), of); err != nil {
		return bus.Result{}, err
	}
	done, err := sessions.Bus.Execute(ctx, commands.EndPortalAccess{
		UserID: user, OrgID: asked.Org(), SubscriberID: of,
	}, asked.Meta)
	if err != nil {
		return bus.Result{}, err
	}
	state, _, err := bus.LoadUnchecked[identity.User](ctx, sessions.Bus, user) // the command was accepted
	if err != nil {
		return bus.Result{}, err
	}
	if state.SeesNothing(asked.Org()) {
		if err := sessions.endAll(ctx, asked, lapsing(user, asked.Org())); err != nil {
			return bus.Result{}, err
		}
	}
	return done, sessions.DirectoryShows.WaitFor(ctx, done.Position)
}
