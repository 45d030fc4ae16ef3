package cpecases

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Informs notes when CPEs call. Implementations are safe for concurrent use.
type Informs interface {
	// Heard notes a call at this moment, and never blocks.
	Heard(cpe id.CPE, org id.Organization)
	// Move counts a CPE among those of another organization; zero = of nobody.
	Move(ctx context.Context, cpe id.CPE, org id.Organization) error
	// Admit notes that a CPE waits to be claimed, or calls and cannot be claimed for a reason. False: there is no room.
	Admit(ctx context.Context, of commands.CpeCaller, refused string) (bool, error)
	// RemovePending takes a CPE off the list of those that wait. False: it is not on it.
	RemovePending(ctx context.Context, cpe id.CPE) (bool, error)
}

// CPEs identifies, claims, assigns and releases CPEs. All fields but SignIns are required. Safe for concurrent use.
type CPEs struct {
	Bus *bus.Bus
	// Told gives what is known of a CPE without a reading; false when the log has to be asked.
	Told      func(id.CPE) (cpeviews.Told, bool)
	Passwords *Passwords
	Services  subscribersviews.SubscriptionsQuery
	Secrets   *vault.Secrets
	Informs   Informs
	SignIns   *SignIns // nil = CPEs get no passwords, and are let in
	Onus      Onus
	Logger    *slog.Logger
}

// Claim has what an administrator says about a CPE; all but the CPE can be zero. A subscription is one of the
// subscriber's.
type Claim struct {
	CpeID          id.CPE
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	Label          string
	Location       string
}

// Claim takes a pending CPE for the organization. Fails: cpe_not_found, already_claimed whoever has it, invalid_input,
// subscriber_not_found.
func (u CPEs) Claim(ctx context.Context, asked usecases.Asked, in Claim) (bus.Result, error) {
	to, err := u.use(ctx, asked.Org(), use{subscriber: in.SubscriberID, subscription: in.SubscriptionID})
	if err != nil {
		return bus.Result{}, err
	}
	return u.take(ctx, asked, in.CpeID, asked.Org(), commands.ClaimCpe{
		CpeID: in.CpeID, OrgID: asked.Org(), SubscriberID: to.subscriber, SubscriptionID: to.subscription,
		Label: personal.Of(strings.TrimSpace(in.Label)), Location: personal.Of(strings.TrimSpace(in.Location)),
	})
}

// Assign gives a pending CPE to an organization: for the operator of the platform. whose is a subscriber, or a user of
// the portal who sees one subscriber there; zero = only the organization is known. Fails: cpe_not_found,
// already_claimed, organization_not_found, invalid_input.
func (u CPEs) Assign(
	ctx context.Context, asked usecases.Asked, of id.CPE, org id.Organization, whose id.Any,
) (bus.Result, error) {
	if _, _, err := bus.LoadOwned[identity.Organization](ctx, u.Bus, org, org); err != nil {
		return bus.Result{}, err
	}
	subscriber, err := u.customer(ctx, org, whose)
	if err != nil {
		return bus.Result{}, err
	}
	to, err := u.use(ctx, org, use{subscriber: subscriber})
	if err != nil {
		return bus.Result{}, err
	}
	return u.take(ctx, asked, of, org, commands.AssignCpe{
		CpeID: of, OrgID: org, SubscriberID: to.subscriber, SubscriptionID: to.subscription,
	})
}

// take executes a claim or an assignment. The bus answers for what another organization has as for what does not exist;
// but this CPE was on the list of all a moment ago, so its claim says that somebody was faster.
func (u CPEs) take(
	ctx context.Context, asked usecases.Asked, of id.CPE, org id.Organization, command commands.Command,
) (bus.Result, error) {
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	if failure.KindOf(err) == failure.NotFound {
		present, _, readErr := bus.LoadUnchecked[cpe.CPE](ctx, u.Bus, of) // only whether somebody has it is told
		if readErr == nil && !present.Org.IsZero() {
			err = commands.ErrCpeClaimed()
		}
	}
	if err == nil {
		u.moved(ctx, of, org)
	}
	return done, err
}

// moved counts a CPE among those of another organization at once. When it fails, the process of the CPE does it.
func (u CPEs) moved(ctx context.Context, of id.CPE, org id.Organization) {
	if err := u.Informs.Move(ctx, of, org); err != nil {
		u.Logger.LogAttrs(ctx, slog.LevelWarn, "calls of a cpe not moved", slog.String("cpe_id", of.String()),
			slog.String("error", err.Error()))
	}
}

// customer finds the subscriber behind an id of a subscriber or of a user of the portal. Fails: invalid_input, when
// there is none of the organization, or not one alone.
func (u CPEs) customer(ctx context.Context, org id.Organization, whose id.Any) (id.Subscriber, error) {
	if whose.IsZero() {
		return id.Subscriber{}, nil
	}
	as := id.As[id.Subscriber](whose)
	_, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, org, as)
	if err == nil || failure.KindOf(err) != failure.NotFound {
		return as, err
	}
	user, _, err := bus.LoadUnchecked[identity.User](ctx, u.Bus, whose) // what it sees is looked at below
	if err != nil {
		return id.Subscriber{}, err
	}
	var sees []id.Subscriber
	for subscriber, of := range user.Portal {
		if of == org {
			sees = append(sees, subscriber)
		}
	}
	if len(sees) != 1 {
		var f failure.Faults
		f.Add("userId", "must be a customer of the organization, or a sign-in that sees one")
		return id.Subscriber{}, f.Err()
	}
	return sees[0], nil
}

// Assignment says whose a CPE is, and which login it uses.
type Assignment struct {
	CpeID          id.CPE
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription // zero = the only one that has not ended
	PushNow        bool
}

// AssignSubscriber gives a CPE of the organization to a customer, and takes it from the one before. Fails:
// cpe_not_found, subscriber_not_found, subscription_not_found, invalid_input.
func (u CPEs) AssignSubscriber(ctx context.Context, asked usecases.Asked, in Assignment) (bus.Result, error) {
	if _, _, err := bus.LoadOwned[cpe.CPE](ctx, u.Bus, asked.Org(), in.CpeID); err != nil {
		return bus.Result{}, err
	}
	to, err := u.use(ctx, asked.Org(), use{in.SubscriberID, in.SubscriptionID})
	if err != nil {
		return bus.Result{}, err
	}
	return u.Bus.Execute(ctx, commands.AssignSubscriberToCpe{
		CpeID: in.CpeID, SubscriberID: to.subscriber, SubscriptionID: to.subscription, PushNow: in.PushNow,
	}, asked.Meta)
}

// Release gives a CPE of the organization up. Fails: cpe_not_found.
func (u CPEs) Release(ctx context.Context, asked usecases.Asked, of id.CPE) (bus.Result, error) {
	done, err := u.Bus.Execute(ctx, commands.ReleaseCpe{CpeID: of}, asked.Meta)
	if err == nil {
		u.moved(ctx, of, id.Organization{})
	}
	return done, err
}

// RemovePending takes a CPE off the list of those that wait to be claimed. It is there again when it says once more who
// it is. Fails: cpe_not_found.
func (u CPEs) RemovePending(ctx context.Context, of id.CPE) error {
	there, err := u.Informs.RemovePending(ctx, of)
	if err == nil && !there {
		err = commands.ErrNoCpe()
	}
	return err
}

// use is who uses a CPE with which login; both can be zero.
type use struct {
	subscriber   id.Subscriber
	subscription id.Subscription
}

// use checks that the organization has both, and finds the login when it is not named. Fails: subscriber_not_found,
// subscription_not_found, invalid_input when several logins are possible.
func (u CPEs) use(ctx context.Context, org id.Organization, to use) (use, error) {
	if to.subscriber.IsZero() {
		var f failure.Faults
		f.Check(to.subscription.IsZero(), "subscriberId", "is required")
		return use{}, f.Err()
	}
	if _, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, org, to.subscriber); err != nil {
		return use{}, err
	}
	if to.subscription.IsZero() {
		var err error
		if to.subscription, err = u.onlyLogin(ctx, org, to.subscriber); err != nil || to.subscription.IsZero() {
			return to, err
		}
	}
	line, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, org, to.subscription)
	if err != nil {
		return use{}, err
	}
	if line.SubscriberID != to.subscriber || line.State == subscribers.Ended {
		return use{}, commands.ErrNoSubscription()
	}
	return to, nil
}

// onlyLogin is the login of a customer who has one; zero for one without any. Logins at a hotspot are for phones and
// count only where there is no other.
func (u CPEs) onlyLogin(
	ctx context.Context, org id.Organization, of id.Subscriber,
) (id.Subscription, error) {
	rows, _, err := u.Services.OfSubscriber(ctx, org, of)
	if err != nil || len(rows) == 0 {
		return id.Subscription{}, err
	}
	if len(rows) > 1 {
		rows = slices.DeleteFunc(rows, func(r subscribersviews.SubscriptionRow) bool {
			return r.Terms.Kind == "hotspot"
		})
	}
	if len(rows) != 1 {
		var f failure.Faults
		f.Add("subscriptionId", "must be named: the customer has several services")
		return id.Subscription{}, f.Err()
	}
	return rows[0].ID, nil
}
