package paymentsjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// reportPatienceDays is how long a payment that the bill manager reported may wait in suspense for its bill to be
// acknowledged there.
const reportPatienceDays = 7 * 24 * time.Hour

// Report finds the bill of a payment that the bill manager reported. The payment names the invoice, so matching has
// found it; what still waits is looked at again, less and less often.
func (b *Bills) Report(ctx context.Context, args commands.ReportBill, cause jobs.Cause) error {
	receipt, _, err := bus.LoadUnchecked[payments.Receipt](ctx, b.cfg.Bus, args.ReceiptID)
	if err != nil {
		return err
	}
	switch receipt.Standing {
	case payments.StandingMatched:
	case payments.StandingNone, payments.StandingRecorded, payments.StandingHeld:
		age := b.cfg.Clock.Now().Sub(args.At)
		if age > reportPatienceDays {
			return nil
		}
		return jobrunner.Snooze(min(max(age.Abs()/2, time.Second), time.Hour)) // a clock may have been put back
	case payments.StandingAbsorbed, payments.StandingReversed, payments.StandingRefunded:
		return nil
	}
	if receipt.Invoice.IsZero() {
		return nil
	}
	meta := cause.Meta(commands.PayBill{}.CommandName())
	meta.OrgID, meta.Actor = id.Organization{}, platformActor
	_, err = b.cfg.Bus.Execute(ctx, commands.PayBill{
		InvoiceID: receipt.Invoice, ReceiptID: args.ReceiptID, ReceiptNumber: receipt.Number, Amount: receipt.Amount,
		PaidAt: receipt.PaidAt,
	}, meta)
	if failure.KindOf(err) == failure.NotFound { // the invoice never was at the bill manager
		return nil
	}
	return err
}
