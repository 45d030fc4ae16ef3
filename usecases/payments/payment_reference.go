package paymentscases

import (
	"context"
	"crypto/rand"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Form of an account reference (docs/rules/payments.md#account-reference). referenceWindow with a limit of one call
// makes the limiter refuse a reference for two windows, which are commands.ReceiptPatience.
const (
	maxAccountReference = 12
	referenceWindow     = commands.ReceiptPatience / 2
	shortSuffix         = 2
	longSuffix          = 3
	suffixTries         = 8
)

// reference is the text that the customer reads on the phone: the number of the invoice, or else the account number,
// both as the log has them. An invoice number that is too long gives way to the account number. The account decides
// later whether the invoice can be paid; one that it does not know has no number here.
func (p Prompts) reference(ctx context.Context, s subscribers.Subscriber, invoice id.Invoice) (string, error) {
	if invoice.IsZero() {
		return s.AccountNumber, nil
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, p.Bus, s.Owner, s.ID)
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return "", err
	}
	number := account.NumberOf(invoice)
	if number == "" || len(number) > maxAccountReference {
		return s.AccountNumber, nil
	}
	return number, nil
}

// distinguish gives the reference a suffix when another attempt of the last 48 hours on the same shortcode has it, so
// that money that names it leads to one attempt. It is never cut: where number and suffix are too long together, the
// account number takes the place of the invoice number.
func (p Prompts) distinguish(ctx context.Context, command *commands.InitiatePayment) error {
	free, err := p.free(ctx, *command, command.AccountReference)
	if err != nil || free {
		return err
	}
	length := shortSuffix
	for try := range suffixTries {
		if try == suffixTries/2 {
			length = longSuffix
		}
		reference, err := p.suffixed(ctx, *command, length)
		if err != nil {
			return err
		}
		free, err = p.free(ctx, *command, reference)
		if err != nil || free || try == suffixTries-1 {
			command.AccountReference = reference // hundreds of prompts in two days may share the last one
			return err
		}
	}
	return nil
}

// suffixed is the reference with as many random letters behind a dash.
func (p Prompts) suffixed(ctx context.Context, command commands.InitiatePayment, letters int) (string, error) {
	base := command.AccountReference
	if len(base)+1+letters > maxAccountReference {
		s, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, p.Bus, command.OrgID, command.SubscriberID)
		if err != nil {
			return "", err
		}
		base = s.AccountNumber
	}
	return base + "-" + lettersOf(letters), nil
}

// lettersOf are random capitals, without those that are easily read as digits.
func lettersOf(n int) string {
	const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ"
	out := make([]byte, n)
	_, _ = rand.Read(out) // never fails
	for i := range out {
		out[i] = alphabet[int(out[i])%len(alphabet)]
	}
	return string(out)
}

// free takes a reference on the attempt's shortcode, and reports false when another attempt has it. The same number in
// the other environment may be another organization's, which must not decide what customers read.
func (p Prompts) free(ctx context.Context, command commands.InitiatePayment, reference string) (bool, error) {
	key := "reference:" + command.Environment + ":" + command.Shortcode + ":" + reference
	ok, _, err := p.Limiter.Allow(ctx, key, 1, referenceWindow)
	return ok, err
}
