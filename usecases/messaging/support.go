package messagingcases

import (
	"context"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// supportADay is how many texts one customer may write in 24 hours, over all requests.
const supportADay = 20

// Support takes what customers and staff write to each other. All fields are required. Safe for concurrent use.
type Support struct {
	Bus     *bus.Bus
	Limiter vault.Limiter
}

// SupportOpening is a new request. A customer asks for a subscriber that is the own; the caller has made sure of that.
type SupportOpening struct {
	SubscriberID id.Subscriber
	ByCustomer   bool
	Subject      personal.Text
	Text         personal.Text
}

// Open begins a request. Fails: invalid_input, subscriber_not_found, too_many_support_texts.
func (u Support) Open(ctx context.Context, asked usecases.Asked, in SupportOpening) (id.Support, bus.Result, error) {
	request := usecases.NewID[id.Support](asked, "support request")
	command := commands.OpenSupportRequest{
		RequestID: request, OrgID: asked.Org(), SubscriberID: in.SubscriberID, ByCustomer: in.ByCustomer,
		Subject: trimmed(in.Subject), Text: trimmed(in.Text),
	}
	done, err := u.write(ctx, asked, command, in.SubscriberID, in.ByCustomer)
	return request, done, err
}

// SupportText is one more text of a request. A customer writes to a request of the own; the caller has made sure of
// that.
type SupportText struct {
	RequestID  id.Support
	ByCustomer bool
	Internal   bool // for staff alone
	Text       personal.Text
}

// Write adds a text. Fails: invalid_input, support_request_not_found, support_request_closed, support_request_full,
// subscriber_not_found, too_many_support_texts.
func (u Support) Write(ctx context.Context, asked usecases.Asked, in SupportText) (bus.Result, error) {
	request, _, err := bus.LoadOwned[messaging.SupportRequest](ctx, u.Bus, asked.Org(), in.RequestID)
	if err != nil {
		return bus.Result{}, err
	}
	text := trimmed(in.Text)
	var command commands.Command
	switch {
	case in.ByCustomer:
		command = commands.ContinueSupportRequest{RequestID: in.RequestID, Text: text}
	case in.Internal:
		command = commands.NoteSupportRequest{RequestID: in.RequestID, Text: text}
	default:
		command = commands.AnswerSupportRequest{RequestID: in.RequestID, Text: text}
	}
	return u.write(ctx, asked, command, request.Subscriber, in.ByCustomer)
}

// write executes a command with a text. The text is sealed with the key of its customer, so there is one only while the
// customer is known. Texts of a customer are counted when they have the right form.
func (u Support) write(
	ctx context.Context, asked usecases.Asked, c commands.Command, of id.Subscriber, counts bool,
) (bus.Result, error) {
	if err := c.Validate(); err != nil {
		return bus.Result{}, err
	}
	customer, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, asked.Org(), of)
	if err != nil {
		return bus.Result{}, err
	}
	if customer.Forgotten {
		return bus.Result{}, commands.ErrNoSubscriber()
	}
	if counts {
		ok, wait, err := u.Limiter.Allow(ctx, "support texts of "+of.String(), supportADay, 24*time.Hour)
		if err != nil {
			return bus.Result{}, err
		}
		if !ok {
			return bus.Result{}, failure.NewLimited("too_many_support_texts",
				"You have written a lot today. Please wait for an answer, or call.", max(wait, time.Second))
		}
	}
	return u.Bus.Execute(ctx, c, asked.Meta)
}

// Assign gives a request to a member of staff, or to nobody in particular. Fails: support_request_not_found,
// support_request_full, user_not_found for whoever is no staff of the organization.
func (u Support) Assign(
	ctx context.Context, asked usecases.Asked, request id.Support, to id.User,
) (bus.Result, error) {
	if _, _, err := bus.LoadOwned[messaging.SupportRequest](ctx, u.Bus, asked.Org(), request); err != nil {
		return bus.Result{}, err
	}
	if !to.IsZero() {
		user, _, err := bus.LoadUnchecked[identity.User](ctx, u.Bus, to) // the membership is of the organization
		if err != nil {
			return bus.Result{}, err
		}
		m, member := user.MemberAt(asked.Org())
		if !member || user.Forgotten || m.Pending || m.Disabled || !m.Role.AtLeast(events.RoleSupport) {
			return bus.Result{}, commands.ErrNoUser()
		}
	}
	return u.Bus.Execute(ctx, commands.AssignSupportRequest{RequestID: request, UserID: to}, asked.Meta)
}

// Close ends a request, with an optional reason. Fails: invalid_input, support_request_not_found.
func (u Support) Close(
	ctx context.Context, asked usecases.Asked, request id.Support, byCustomer bool, reason string,
) (bus.Result, error) {
	meta := asked.Meta
	meta.Reason = strings.TrimSpace(reason)
	return u.Bus.Execute(ctx, commands.CloseSupportRequest{
		RequestID: request, ByCustomer: byCustomer, Reason: meta.Reason,
	}, meta)
}

// trimmed cuts the space around a text.
func trimmed(text personal.Text) personal.Text { return personal.Of(strings.TrimSpace(text.Reveal())) }
