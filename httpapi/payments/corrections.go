package paymentsapi

import (
	"cmp"
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// attributeRequest is api.md's body of POST /receipts/:id/attribute.
type attributeRequest struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	InvoiceID    id.Invoice    `json:"invoiceId,omitzero" doc:"to be paid first; the oldest due when absent"`
}

// reattributeRequest is api.md's body of POST /receipts/:id/reattribute.
type reattributeRequest struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	Reason       string        `json:"reason"`
}

// assignRequest is rules.md 9's body of POST /receipts/:id/assign.
type assignRequest struct {
	OrgID id.Organization `json:"orgId"`
}

// attribute gives money in suspense to a subscriber: it does everything that a matched payment does.
func (a Receipts) attribute(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[attributeRequest](c)
	if err != nil {
		return err
	}
	return a.correct(ctx, c, in.SubscriberID, "", func(r id.Receipt) commands.Command {
		return commands.AttributeReceipt{
			ReceiptID: r, OrgID: c.Org.ID, SubscriberID: in.SubscriberID, InvoiceID: in.InvoiceID,
		}
	})
}

// reverse takes a payment back (rules.md 12).
func (a Receipts) reverse(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	if err := a.leaves(ctx, c); err != nil {
		return err
	}
	return a.correct(ctx, c, id.Subscriber{}, in.Reason, func(r id.Receipt) commands.Command {
		return commands.ReverseReceipt{ReceiptID: r, OrgID: c.Org.ID, Reason: in.Reason}
	})
}

// reattribute moves a payment to another subscriber (rules.md 12).
func (a Receipts) reattribute(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[reattributeRequest](c)
	if err != nil {
		return err
	}
	if err := a.leaves(ctx, c); err != nil {
		return err
	}
	return a.correct(ctx, c, in.SubscriberID, in.Reason, func(r id.Receipt) commands.Command {
		return commands.ReattributeReceipt{
			ReceiptID: r, OrgID: c.Org.ID, SubscriberID: in.SubscriberID, Reason: in.Reason,
		}
	})
}

// correct executes a correction and answers with the receipt. The subscriber, when one is named, must be the
// organization's, and be billed in the currency of the money.
func (a Receipts) correct(
	ctx context.Context, c *httpapi.Call, subscriber id.Subscriber, reason string,
	command func(id.Receipt) commands.Command,
) error {
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	if !subscriber.IsZero() {
		if err := a.takes(ctx, c.Org.ID, subscriber, receipt); err != nil {
			return err
		}
	}
	before, _, err := bus.LoadUnchecked[payments.Receipt](ctx, a.Bus, receipt)
	if err != nil {
		return err
	}
	meta := c.Meta()
	meta.Reason = reason
	done, err := a.Bus.Execute(ctx, command(receipt), meta)
	if err != nil {
		return err
	}
	if done.Changed {
		for _, party := range []id.Subscriber{before.Subscriber, subscriber} {
			if err := a.Books.await(ctx, c.Org.ID, party, receipt, done.Position); err != nil {
				return err
			}
		}
	}
	v := httpapi.Visible{Projection: paymentsviews.ReceiptsName, ID: receipt.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 200, v, func(ctx context.Context) (receiptDetailResponse, error) {
		out, _, err := a.read(ctx, c.Org.ID, receipt)
		return out, err
	})
}

// leaves tells whether the account that has the money can give it up. Whether there is such a receipt, and whose it is,
// is for the receipt to say.
func (a Receipts) leaves(ctx context.Context, c *httpapi.Call) error {
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	r, _, err := bus.LoadUnchecked[payments.Receipt](ctx, a.Bus, receipt)
	if err != nil || r.Org != c.Org.ID || r.Subscriber.IsZero() {
		return err
	}
	account, _, err := bus.LoadUnchecked[billing.Account](ctx, a.Bus, r.Subscriber)
	if err != nil {
		return err
	}
	return account.MayWithdraw(receipt)
}

// takes tells whether a subscriber's account can take the money.
func (a Receipts) takes(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, receipt id.Receipt,
) error {
	s, err := loadSubscriber(ctx, a.Bus, org, subscriber)
	if err != nil {
		return err
	}
	row, err := a.Receipts.Get(ctx, org, receipt)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoReceipt())
	}
	if row.Currency != s.Currency {
		return failure.NewConflict("currency_mismatch", "This account is kept in %s.", s.Currency)
	}
	return nil
}

// assign gives unmatched money on a platform shortcode to an organization, whose staff then attribute it.
func (a Receipts) assign(ctx context.Context, c *httpapi.Call) error {
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[assignRequest](c)
	if err != nil {
		return err
	}
	org, _, err := bus.LoadUnchecked[identity.Organization](ctx, a.Bus, in.OrgID)
	if err != nil {
		return err
	}
	if org.ID.IsZero() {
		return failure.NewInvalid("invalid_input", "orgId names no organization")
	}
	done, err := a.Bus.Execute(ctx, commands.AssignReceipt{ReceiptID: receipt, OrgID: in.OrgID}, c.Meta())
	if err != nil {
		return err
	}
	v := httpapi.Visible{Projection: paymentsviews.ReceiptsName, ID: receipt.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 200, v, func(ctx context.Context) (receiptResponse, error) {
		row, err := a.Receipts.Any(ctx, receipt)
		if err != nil || row == nil {
			return receiptResponse{}, cmp.Or(err, commands.ErrNoReceipt())
		}
		return showReceipt(*row), nil
	})
}
