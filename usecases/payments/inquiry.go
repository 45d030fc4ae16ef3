package paymentscases

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Inquiries asks the provider about a receipt number that a customer names
// (docs/rules/payments.md#questions-about-transactions). Safe for concurrent use.
type Inquiries struct {
	Bus      *bus.Bus
	Platform PlatformGateway
	Receipts paymentsviews.ReceiptsQuery
	Limiter  vault.SeveralLimiter
	// MayAsk reports whether the provider can be asked about the money of a shortcode.
	MayAsk func(ctx context.Context, org id.Organization, environment, shortcode string) (bool, error)
	Ask    func(ctx context.Context, job commands.AskReceipt) error
}

// Inquiry tells what became of the question.
type Inquiry struct {
	ReceiptID id.Receipt // under which the money is found, once the provider has told of it
	Known     bool       // the organization has it already: nothing was asked
}

// receiptShape is the form of the provider's receipt numbers.
var receiptShape = regexp.MustCompile(`^[A-Z0-9]{10}$`)

// How many questions an organization may ask in a time.
const (
	inquiriesMost   = 30
	inquiriesWindow = 10 * time.Minute
)

// Request asks about a number on the organization's own shortcode while it has one, else on the platform's. Whether
// another organization has the money is not told. Fails: invalid_input, initiator_missing, rate_limited.
func (q Inquiries) Request(ctx context.Context, asked usecases.Asked, number string) (Inquiry, error) {
	number = strings.ToUpper(inputtext.Code(number))
	if !receiptShape.MatchString(number) {
		return Inquiry{}, failure.NewInvalid("invalid_input",
			"receiptNumber must be the provider's: ten letters and digits")
	}
	job := commands.AskReceipt{
		Environment: q.Platform.Environment, Shortcode: q.Platform.Shortcode, ReceiptNumber: number,
	}
	if org := asked.Org(); !org.IsZero() {
		g, _, err := bus.LoadUnchecked[payments.Gateway](ctx, q.Bus, org)
		if err != nil {
			return Inquiry{}, err
		}
		if g.Direct {
			job.OrgID, job.Environment, job.Shortcode = org, g.Environment, g.Shortcode
		}
	}
	out := Inquiry{ReceiptID: commands.ReceiptID(job.Environment, number)}
	row, err := q.Receipts.Any(ctx, out.ReceiptID)
	if err != nil || row != nil && row.OrgID == asked.Org() {
		out.Known = err == nil
		return out, err
	}
	return out, q.ask(ctx, asked.Org(), job)
}

// ask counts the question and sends it.
func (q Inquiries) ask(ctx context.Context, org id.Organization, job commands.AskReceipt) error {
	may, err := q.MayAsk(ctx, job.OrgID, job.Environment, job.Shortcode)
	switch {
	case err != nil:
		return err
	case !may:
		return failure.NewConflict("initiator_missing",
			"The provider cannot be asked about this money: no initiator is set up for its shortcode.")
	}
	ok, wait, err := q.Limiter.Allow(ctx, "inquiry:"+org.String(), inquiriesMost, inquiriesWindow)
	switch {
	case err != nil:
		return err
	case !ok:
		return failure.NewLimited("rate_limited", "Too many requests. Please wait.", wait)
	}
	return q.Ask(ctx, job)
}
