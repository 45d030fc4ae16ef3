package paymentscases

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Page is the payment page, where anybody may ask for a prompt with an account number or a phone number. It never tells
// that it knows an account (docs/rules/access-walled-garden.md#payment-page). All fields are required. Safe for
// concurrent use.
type Page struct {
	Prompts  Prompts
	Matching paymentsviews.MatchingQuery
	// Later has Ask called with these subscribers soon, by a job.
	Later func(ctx context.Context, asked usecases.Asked, subscribers []id.Subscriber) error
}

// Request takes an account number or phone as somebody typed it. It does the same work whether or not the organization
// has such an account, so that the time of the answer tells nothing either: the prompt is made later.
func (p Page) Request(ctx context.Context, asked usecases.Asked, account string) error {
	found, err := p.Matching.AccountsOf(ctx, asked.Org(), account)
	if err != nil {
		return err
	}
	return p.Later(ctx, asked, found)
}

// Ask prompts the first of the subscribers who owes something, on the subscriber's own phone and for all that is owed.
// A refusal, such as too many prompts, is final and told to nobody: it is the error given back for the log, with the
// kind of a refusal. A repeat with the same command id asks no phone twice.
func (p Page) Ask(ctx context.Context, asked usecases.Asked, subscribers []id.Subscriber) error {
	var refused error
	for _, subscriber := range subscribers {
		amount, err := p.due(ctx, asked.Org(), subscriber)
		if err != nil || !amount.Positive() {
			refused = errors.Join(refused, err)
			continue
		}
		meta := asked.Step("prompt " + subscriber.String())
		_, err = p.Prompts.Initiate(ctx, usecases.Asked{Meta: meta, Keyed: true}, PromptInput{
			SubscriberID: subscriber, Amount: usecases.Figure(amount.Decimal()),
		})
		if err == nil || failure.KindOf(err) == failure.Limited || failure.CodeOf(err) == "payment_in_progress" {
			return err // the phone has been asked, now or before
		}
		refused = errors.Join(refused, err)
	}
	return refused
}

// due gives the money that a subscriber owes after credit, as the log has it: for unpaid invoices, of which the next
// prepaid period has one as soon as it can be paid, and not for orders. A prompt takes commands.MaxPrompt shillings at
// most; the rest stays due.
func (p Page) due(ctx context.Context, org id.Organization, subscriber id.Subscriber) (money.Amount, error) {
	account, _, err := bus.LoadOwned[billing.Account](ctx, p.Prompts.Bus, org, subscriber)
	if err != nil {
		if failure.KindOf(err) == failure.NotFound { // nothing was ever invoiced
			return money.Of(0, money.KES), nil
		}
		return money.Amount{}, err
	}
	most := money.Major(commands.MaxPrompt, account.Currency)
	return account.Owed().Sub(account.Credit()).Min(most), nil
}
