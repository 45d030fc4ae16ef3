// Package paymentscases has the use cases of payments: asking a phone to pay, and the provider about it (Prompts),
// money taken by hand and the corrections of receipts (Receipts), how an organization takes mobile money (Gateways),
// and the wait until the books show it (Books). Decisions are made from the log; read models are used only to wait.
package paymentscases

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
)

// promptWindow is the time in which Prompts.Limit counts. Source: docs/rules/payments.md#prompt-limits.
const promptWindow = 10 * time.Minute

// Prompts asks phones to pay, and asks the provider about the result. Safe for concurrent use.
type Prompts struct {
	Bus      *bus.Bus
	Payments paymentsviews.PaymentsQuery // for AwaitAnswer alone
	Platform PlatformGateway
	// Limiter counts the prompts of a phone. It stores HMACs instead of phone numbers.
	Limiter vault.SeveralLimiter
	// Limit is how many prompts one phone gets from an organization in ten minutes: 3, more in load tests. From all
	// organizations together it gets twice as many.
	Limit int
	// Ready gives failure.Unavailable while the provider of an environment cannot be called.
	Ready func(environment string) error
}

// PromptInput says who is asked to pay which amount, on which phone.
type PromptInput struct {
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice      // to be paid first; zero = the oldest due
	Amount       usecases.Figure // rounded up to whole shillings
	Phone        personal.Text   // zero = the subscriber's own
	Customer     *Customer       // who asks for the own account; nil = staff
}

// Customer asks for money on the own account. No other phone than the subscriber's contact and the own one may be
// named, and there is a limit for a day, so that no phone is asked day and night because somebody's contact was
// mistyped.
type Customer struct {
	UserID id.User
	Phone  personal.Text // with which the customer signs in, proven by codes; zero = none
}

// promptsADay is how many times Prompts.Limit one customer may ask in a day.
const promptsADay = 10

// Pending is an attempt about which the provider was asked.
type Pending struct {
	OrgID     id.Organization
	PaymentID id.Payment
	Amount    money.Amount // what the phone is asked for, in whole units
	Asked     bool         // false: there is nothing to wait for
	// Revision is the attempt's revision when the provider was asked; an answer makes a later one.
	Revision uint64
}

// Initiate asks a phone to pay (docs/rules/payments.md#initiate). First the account reserves the attempt, so that the
// account decides about a second one of the same amount (docs/rules/payments.md#one-open-prompt); then the prompt
// counts against the phone's limit; last the attempt begins, which a process sends to the provider. A crash before the
// attempt begins leaves a reservation, which ends by itself after five minutes. Initiate does not wait for the
// provider: see AwaitAnswer. A repeat under the same key goes on where the first try ended, and asks no phone twice.
//
// Fails: subscriber_not_found, phone_not_yours, currency_not_supported, invalid_input, payment_gateway_missing,
// payment_gateway_inactive, the failures of Ready, invoice_not_found, invoice_not_issued, invoice_not_payable,
// amount_above_loss, payment_in_progress, too_many_prompts (the reservation is then given back).
func (p Prompts) Initiate(ctx context.Context, asked usecases.Asked, in PromptInput) (Pending, error) {
	command, err := p.command(ctx, asked, in)
	if err != nil {
		return Pending{}, err
	}
	if err := p.Ready(command.Environment); err != nil {
		return Pending{}, err
	}
	if err := p.reserve(ctx, asked, command, in.Customer); err != nil {
		return Pending{}, err
	}
	if err := p.distinguish(ctx, &command); err != nil {
		return Pending{}, err
	}
	begun, err := p.Bus.Execute(ctx, command, asked.Meta)
	if err != nil {
		return Pending{}, err // the reservation ends by itself: the outcome may be unknown
	}
	return Pending{
		OrgID: command.OrgID, PaymentID: command.PaymentID, Amount: command.Amount, Asked: true,
		Revision: begun.Revision,
	}, nil
}

// command makes the command from the subscriber and the gateway's settings, both as the log has them.
func (p Prompts) command(
	ctx context.Context, asked usecases.Asked, in PromptInput,
) (commands.InitiatePayment, error) {
	none := commands.InitiatePayment{}
	subscriber, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, p.Bus, asked.Org(), in.SubscriberID)
	if err != nil {
		return none, err
	}
	phone, err := in.phone(subscriber)
	if err != nil {
		return none, err
	}
	if subscriber.Currency != money.KES {
		return none, failure.NewConflict("currency_not_supported",
			"Mobile money is paid in KES, and this account is kept in %s.", subscriber.Currency)
	}
	var faults failure.Faults
	amount := in.Amount.In(money.KES, "amount", &faults)
	if err := faults.Err(); err != nil {
		return none, err
	}
	command := commands.InitiatePayment{
		PaymentID: usecases.NewID[id.Payment](asked, "payment"), OrgID: asked.Org(), SubscriberID: in.SubscriberID,
		InvoiceID: in.InvoiceID, Amount: amount.CeilMajor(), Phone: phone,
	}
	if command.AccountReference, err = p.reference(ctx, subscriber, in.InvoiceID); err != nil {
		return none, err
	}
	if err := p.route(ctx, &command); err != nil {
		return none, err
	}
	return command, command.Validate()
}

// phone is the phone to ask, in the provider's form without "+": the subscriber's own, or the one that was named.
// Fails: phone_not_yours.
func (in PromptInput) phone(s subscribers.Subscriber) (personal.Text, error) {
	own, second := s.Details.Phone.Reveal(), s.Details.SecondPhone.Reveal()
	phone := own
	if given := in.Phone.Reveal(); given != "" {
		phone = commands.NormalizeContactPhone(given)
	}
	if in.Customer != nil && phone != own && phone != in.Customer.Phone.Reveal() && (second == "" || phone != second) {
		return personal.Text{}, failure.NewDenied("phone_not_yours",
			"You can ask for a payment on your own phone only.")
	}
	return personal.Of(strings.TrimPrefix(phone, "+")), nil
}

// route chooses shortcode and credentials: the organization's own when they are active, else the platform's
// (docs/rules/payments.md#gateway-settings). The attempt records the choice, so that later changes of the settings do
// not affect it. An organization in direct mode never gets the platform's shortcode, also while its own is not active:
// its customers would pay into the wrong till. Fails: payment_gateway_missing, payment_gateway_inactive.
func (p Prompts) route(ctx context.Context, command *commands.InitiatePayment) error {
	g, _, err := bus.LoadOwned[payments.Gateway](ctx, p.Bus, command.OrgID, command.OrgID)
	switch {
	case err != nil && failure.KindOf(err) != failure.NotFound: // not found: never configured
		return err
	case g.Active():
		command.Direct, command.Environment, command.Shortcode, command.CredentialsRef = true, g.Environment,
			g.Shortcode,
			g.Credentials
	case g.Direct:
		return commands.ErrGatewayInactive()
	case p.Platform.Shortcode == "":
		return commands.ErrGatewayMissing()
	default:
		command.Environment, command.Shortcode = p.Platform.Environment, p.Platform.Shortcode
	}
	return nil
}

// reserve opens the attempt on the account, then counts it against the phone's limit. An attempt that the account
// refuses asks no phone, so it does not count; a reservation over the limit is given back. Fails: too_many_prompts.
func (p Prompts) reserve(
	ctx context.Context, asked usecases.Asked, command commands.InitiatePayment, by *Customer,
) error {
	_, _, err := bus.LoadOwned[payments.Payment](ctx, p.Bus, command.OrgID, command.PaymentID)
	if failure.KindOf(err) != failure.NotFound {
		return err // nil: a repeat, whose first try has begun the attempt
	}
	// A new command id at each try: a reservation that was given back since has to be made again.
	meta := asked.Step("reserve " + id.New[id.Request]().String())
	reserved, err := p.Bus.Execute(ctx, commands.ReservePrompt{
		SubscriberID: command.SubscriberID, OrgID: command.OrgID, PaymentID: command.PaymentID,
		InvoiceID: command.InvoiceID, Amount: command.Amount,
	}, meta)
	if err != nil || !reserved.Changed {
		return err // nil: a first try that was cut off has reserved it
	}
	over := p.count(ctx, command, by)
	if over == nil {
		return nil
	}
	meta = asked.Step("release " + meta.CommandID.String())
	_, err = p.Bus.Execute(ctx, commands.ReleasePrompt{
		SubscriberID: command.SubscriberID, PaymentID: command.PaymentID,
	}, meta)
	return errors.Join(over, err)
}

// count counts one prompt of a phone: against what the organization may ask of it, and against what all organizations
// together may in an environment of the provider, so that a phone which several know is not pestered, and tries in the
// sandbox take no real customer's prompts. One that a customer asks for counts against the customer's day, too. A
// refused prompt counts against none of them: otherwise an organization could use up everybody's prompts with prompts
// that no phone gets. Fails: too_many_prompts.
func (p Prompts) count(ctx context.Context, command commands.InitiatePayment, by *Customer) error {
	org, phone := command.OrgID.String(), command.Phone.Reveal()
	quotas := []vault.Quota{
		{Key: "prompt:" + org + ":" + phone, Limit: p.Limit, Window: promptWindow},
		{Key: "prompt:" + command.Environment + ":" + phone, Limit: 2 * p.Limit, Window: promptWindow},
	}
	if by != nil {
		quotas = append(quotas, vault.Quota{
			Key: "prompts of " + by.UserID.String(), Limit: promptsADay * p.Limit, Window: 24 * time.Hour,
		})
	}
	ok, wait, err := p.Limiter.AllowAll(ctx, quotas...)
	if err != nil {
		return err
	}
	if !ok {
		return failure.NewLimited("too_many_prompts",
			"This phone was asked to pay too often. Paying by the paybill works meanwhile.", max(wait, time.Second))
	}
	return nil
}
