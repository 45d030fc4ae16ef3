package usecases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Act is something that a person wants to do and that gives money away (docs/rules/approvals.md#the-limit).
type Act struct {
	Kind         string        // one of events.ActKinds, or events.ActLimit
	SubscriberID id.Subscriber // whose money it is about; zero = several, or nobody known
	Amount       money.Amount  // that is given away; one that is not above zero gives nothing away
	What         events.ApprovalAct
	Reason       string
	// Command does it, under the id of who asks: what it refuses is neither counted nor approved.
	Command commands.Command
	// ID counts against the limit once, however often the act is tried; zero = the command of who asks.
	ID id.Command
	// ApprovalID is that of the approval; zero = a new one for each act that is asked for.
	ApprovalID id.Approval
}

// WaitsForApproval is the outcome of an act that is not done, because a second person has to agree first.
type WaitsForApproval struct{ ApprovalID id.Approval }

// Error implements error, for callers that do not look for it.
func (w *WaitsForApproval) Error() string { return "waits for approval " + w.ApprovalID.String() }

// Staff is a person who acts, and who answers for the API key that acts.
type Staff struct {
	UserID id.User
	// Person is the record that stands for all records of the same person, whatever the organization.
	Person id.User
	Role   events.Role
	// Opened is when somebody else last let the person in (identity.User).
	Opened time.Time
}

// StaffOf finds who answers for an actor, false for a program. Fails: api_key_not_found.
func StaffOf(ctx context.Context, b *bus.Bus, org id.Organization, actor events.Actor) (Staff, bool, error) {
	staff := Staff{Role: events.Role(actor.Role)}
	switch actor.Kind {
	case events.ActorUser:
		user, err := id.Parse[id.User](actor.ID)
		if err != nil {
			return staff, false, fmt.Errorf("actor %q: %w", actor.ID, err)
		}
		staff.UserID = user
	case events.ActorAPIKey:
		key, err := id.Parse[id.APIKey](actor.ID)
		if err != nil {
			return staff, false, fmt.Errorf("actor %q: %w", actor.ID, err)
		}
		state, _, err := bus.LoadOwned[identity.APIKey](ctx, b, org, key)
		if err != nil {
			return staff, false, err
		}
		staff.UserID = state.AnswersFor()
	default: // programs, the provider, and who sits at the server
		return staff, false, nil
	}
	user, _, err := bus.LoadUnchecked[identity.User](ctx, b, staff.UserID)
	staff.Opened = user.Opened
	if staff.Person = user.Person; staff.Person.IsZero() {
		staff.Person = staff.UserID
	}
	return staff, true, err
}

// Alone does an act when one person may do it: when all that this person has given away on the local day stays within
// the limit of the organization. Else it does nothing, records that the act waits for a second person, and fails with a
// *WaitsForApproval. What programs do is done at once. An act that is refused for good gives back what it took from the
// limit; one whose outcome is unknown does not. One that a second person has granted must be what was approved. Fails:
// approval_outdated, and as the command and do.
func Alone(ctx context.Context, b *bus.Bus, asked Asked, act Act, do func() error) error {
	org, _, err := bus.LoadUnchecked[identity.Organization](ctx, b, asked.Org())
	if err != nil {
		return err
	}
	granted := !asked.Approval.IsZero()
	if !granted && (org.ApprovalLimit == nil || !act.Amount.Positive()) {
		return do()
	}
	foreseen, err := b.Would(ctx, act.Command, asked.Meta)
	switch {
	case err != nil:
		return err
	case foreseen.Acted: // a repeat, which finds what the first try did
		return do()
	case granted:
		if err := bound(ctx, b, asked, act); err != nil || !foreseen.Changes {
			return cmp.Or(err, commands.ErrApprovalOutdated())
		}
		return do()
	case !foreseen.Changes:
		return do()
	}
	staff, person, err := StaffOf(ctx, b, asked.Org(), asked.Meta.Actor)
	if err != nil {
		return err
	}
	if !person {
		return do()
	}
	return count(ctx, b, asked, act, inOrg{org, staff}, do)
}

// inOrg is who acts, and in which organization.
type inOrg struct {
	org   identity.Organization
	staff Staff
}

// count does an act within the limit, and asks for a second person above it.
func count(ctx context.Context, b *bus.Bus, asked Asked, act Act, by inOrg, do func() error) error {
	if act.ApprovalID.IsZero() {
		act.ApprovalID = NewID[id.Approval](asked, "approval")
	}
	before, _, err := bus.LoadUnchecked[billing.Approval](ctx, b, act.ApprovalID)
	if err != nil {
		return err
	}
	if before.State != "" { // the first try under the same key has asked
		return &WaitsForApproval{ApprovalID: act.ApprovalID}
	}
	use, err := allowance(b, by.org, by.staff, asked, act)
	if err != nil {
		return err
	}
	used, err := b.Execute(ctx, use, oneStep(asked))
	if failure.CodeOf(err) == failure.CodeOf(commands.ErrSecondPerson()) {
		return Ask(ctx, b, asked, by.staff, act)
	}
	if err != nil {
		return err
	}
	// What another try of the same act may have done stays counted.
	if err = do(); used.Changed && act.ID.IsZero() && refusedForGood(ctx, err) {
		back := commands.ReturnAllowance{AllowanceID: use.AllowanceID, ActID: use.ActID}
		if _, failed := b.Execute(ctx, back, oneStep(asked)); failed != nil {
			return errors.Join(err, failed)
		}
	}
	return err
}

// Needs reports whether an act of an amount would wait for a second person now, as Alone decides.
func Needs(ctx context.Context, b *bus.Bus, asked Asked, kind string, amount money.Amount) (bool, error) {
	org, _, err := bus.LoadUnchecked[identity.Organization](ctx, b, asked.Org())
	if err != nil || org.ApprovalLimit == nil || !amount.Positive() {
		return false, err
	}
	staff, person, err := StaffOf(ctx, b, asked.Org(), asked.Meta.Actor)
	if err != nil || !person {
		return false, err
	}
	use, err := allowance(b, org, staff, asked, Act{Kind: kind, Amount: amount})
	if err != nil {
		return false, err
	}
	_, err = b.Would(ctx, use, oneStep(asked))
	if failure.CodeOf(err) == failure.CodeOf(commands.ErrSecondPerson()) {
		return true, nil
	}
	return false, err
}

// WaitingOrNext finds the approval that something waits for; without one it gives the id of the next, since one that
// was refused or has expired can be asked for again. of derives the ids.
func WaitingOrNext(
	ctx context.Context, b *bus.Bus, of func(round int) id.Approval,
) (approval id.Approval, waits bool, err error) {
	for round := 0; ; round++ {
		approval = of(round)
		state, _, err := bus.LoadUnchecked[billing.Approval](ctx, b, approval)
		switch {
		case err != nil || state.State == "":
			return approval, false, err
		case state.State == billing.ApprovalWaiting && b.Now().Before(state.ExpiresAt):
			return approval, true, nil
		}
	}
}

// bound refuses an act that is not what was approved: another amount, another customer's money, other lines; and one
// whose people are no administrators any more.
func bound(ctx context.Context, b *bus.Bus, asked Asked, act Act) error {
	state, _, err := bus.LoadOwned[billing.Approval](ctx, b, asked.Org(), asked.Approval)
	if err != nil {
		return err
	}
	of := state.Subject
	same := state.State == billing.ApprovalApproved && of.Kind == act.Kind && of.SubscriberID == act.SubscriberID &&
		of.Amount == act.Amount && sameAct(state.Act, act.What)
	if !same {
		return commands.ErrApprovalOutdated()
	}
	return MayStill(ctx, b, state)
}

// sameAct compares what exactly is done.
func sameAct(a, b events.ApprovalAct) bool {
	sameLine := func(l, m events.ApprovalLine) bool {
		return l.Description.Equal(m.Description) && l.Quantity == m.Quantity && l.UnitPrice == m.UnitPrice &&
			l.Once == m.Once
	}
	lines := slices.EqualFunc(a.Lines, b.Lines, sameLine)
	a.Lines, b.Lines = nil, nil
	return lines && reflect.DeepEqual(a, b)
}

// allowance is the command by which an act counts against the limit of its person.
func allowance(
	b *bus.Bus, org identity.Organization, staff Staff, asked Asked, act Act,
) (commands.UseAllowance, error) {
	zone, err := Zone(org.Billing)
	if err != nil {
		return commands.UseAllowance{}, err
	}
	today := calendar.On(b.Now(), zone)
	// The record at the organization stays the same when its address is proven in the course of the day.
	use := commands.UseAllowance{
		AllowanceID: commands.AllowanceOf(org.ID, staff.UserID, today), OrgID: org.ID, PersonID: staff.UserID,
		Date: today, ActID: act.ID, Kind: act.Kind, Amount: act.Amount, Limit: *org.ApprovalLimit,
	}
	if use.ActID.IsZero() {
		use.ActID = asked.Meta.CommandID
	}
	return use, nil
}

// oneStep is the metadata of a command beside the main one. Its id is new: the states decide what is to be done again.
func oneStep(asked Asked) commands.Meta {
	meta := asked.Step("second person")
	meta.CommandID = id.New[id.Command]()
	return meta
}

// refusedForGood reports whether an act has certainly done nothing.
func refusedForGood(ctx context.Context, err error) bool {
	return err != nil && !Away(ctx, err) && failure.KindOf(err) != failure.Internal
}

// Ask records that an act waits for a second person, and fails with a *WaitsForApproval that names it.
func Ask(ctx context.Context, b *bus.Bus, asked Asked, staff Staff, act Act) error {
	if act.ApprovalID.IsZero() {
		act.ApprovalID = NewID[id.Approval](asked, "approval")
	}
	meta := asked.Step("approval " + act.ApprovalID.String())
	meta.CorrelationID, meta.Reason = act.ApprovalID.String(), act.Reason
	_, err := b.Execute(ctx, commands.RequestApproval{
		Subject: events.ApprovalSubject{
			ApprovalID: act.ApprovalID, OrgID: asked.Org(), SubscriberID: act.SubscriberID, Kind: act.Kind,
			Amount: act.Amount,
		},
		Act: act.What, By: staff.UserID, Person: staff.Person, Role: staff.Role, Reason: act.Reason,
	}, meta)
	if err != nil {
		return err
	}
	return &WaitsForApproval{ApprovalID: act.ApprovalID}
}

// Grant is the word of a second person that an act may be done; a job then does it. Fails: approval_not_found,
// approval_own, approver_too_new, approval_decided, approval_expired, api_key_not_allowed.
func Grant(ctx context.Context, b *bus.Bus, asked Asked, approval id.Approval) (bus.Result, error) {
	staff, err := decider(ctx, b, asked, approval)
	if err != nil {
		return bus.Result{}, err
	}
	asked.Meta.CorrelationID = approval.String()
	return b.Execute(ctx, commands.GrantApproval{
		ApprovalID: approval, By: staff.UserID, Person: staff.Person, Role: staff.Role, Opened: staff.Opened,
	}, asked.Meta)
}

// decider finds who decides about an approval. Records with the same address count as those of one person, also while
// nobody has proven the address. Fails: approval_not_found, api_key_not_allowed.
func decider(ctx context.Context, b *bus.Bus, asked Asked, approval id.Approval) (Staff, error) {
	state, _, err := bus.LoadOwned[billing.Approval](ctx, b, asked.Org(), approval)
	if err != nil {
		return Staff{}, err
	}
	if asked.Meta.Actor.Kind != events.ActorUser {
		return Staff{}, ErrPeopleOnly()
	}
	staff, _, err := StaffOf(ctx, b, asked.Org(), asked.Meta.Actor)
	if err != nil {
		return staff, err
	}
	same, err := SamePerson(ctx, b, staff, Staff{UserID: state.By, Person: state.Person})
	if same {
		staff.Person = state.Person
	}
	return staff, err
}

// SamePerson reports whether two records are those of one person: by what was proven, or by the same login address.
func SamePerson(ctx context.Context, b *bus.Bus, one, other Staff) (bool, error) {
	if one.UserID == other.UserID || one.Person == other.Person {
		return true, nil
	}
	a, _, err := bus.LoadUnchecked[identity.User](ctx, b, one.UserID)
	if err != nil {
		return false, err
	}
	c, _, err := bus.LoadUnchecked[identity.User](ctx, b, other.UserID)
	return !a.Email.IsZero() && !a.Email.Erased() && a.Email.Equal(c.Email), err
}

// Refuse ends an approval by the word of a second person. Fails: approval_not_found, approval_own, approval_decided,
// approval_expired, api_key_not_allowed, invalid_input.
func Refuse(
	ctx context.Context, b *bus.Bus, asked Asked, approval id.Approval, reason string,
) (bus.Result, error) {
	staff, err := decider(ctx, b, asked, approval)
	if err != nil {
		return bus.Result{}, err
	}
	asked.Meta.CorrelationID, asked.Meta.Reason = approval.String(), reason
	return b.Execute(ctx, commands.RefuseApproval{
		ApprovalID: approval, By: staff.UserID, Person: staff.Person, Reason: reason,
	}, asked.Meta)
}

// Withdraw ends an approval by the word of who asked, or of a key of that person. Fails: approval_not_found,
// approval_of_another, approval_decided, approval_expired.
func Withdraw(ctx context.Context, b *bus.Bus, asked Asked, approval id.Approval) (bus.Result, error) {
	if _, _, err := bus.LoadOwned[billing.Approval](ctx, b, asked.Org(), approval); err != nil {
		return bus.Result{}, err
	}
	staff, _, err := StaffOf(ctx, b, asked.Org(), asked.Meta.Actor)
	if err != nil {
		return bus.Result{}, err
	}
	asked.Meta.CorrelationID = approval.String()
	return b.Execute(ctx, commands.WithdrawApproval{
		ApprovalID: approval, By: staff.UserID, Person: staff.Person,
	}, asked.Meta)
}
