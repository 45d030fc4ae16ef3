package paymentsjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
)

// Asker prompts the first of some subscribers who owes something; a refusal has a kind of its own in failure.
type Asker func(ctx context.Context, meta commands.Meta, subscribers []id.Subscriber) error

// staleRequest is the age from which a request of the payment page is dropped: nobody expects the prompt any more.
const staleRequest = 2 * time.Minute

// AskToPay prompts whoever asked for it on the payment page. That nobody is to be asked, or that the phone was asked
// too often, is told to nobody.
func (w *Workers) AskToPay(ctx context.Context, args commands.AskToPay, cause jobs.Cause) error {
	if w.cfg.Ask == nil || w.cfg.Clock.Now().Sub(args.At) > staleRequest {
		return nil
	}
	err := w.cfg.Ask(ctx, cause.Meta("ask"), args.Subscribers)
	again := failure.KindOf(err) == failure.Internal || failure.KindOf(err) == failure.Unavailable
	switch {
	case err == nil:
		return nil
	case again && !cause.Last:
		return err
	}
	w.cfg.Logger.InfoContext(ctx, "payment page asked no phone", "org_id", cause.OrgID, "code", failure.CodeOf(err),
		"error", err)
	return nil
}
