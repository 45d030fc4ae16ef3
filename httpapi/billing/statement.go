package billingapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Statements serves /subscribers/:id/statement.
type Statements struct {
	Statement   billingviews.StatementQuery
	Subscribers subscribersviews.SubscribersQuery
}

// Routes lists the endpoints of statements.
func (a Statements) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/subscribers/:id/statement", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSubscriber, Own: httpapi.OwnPath,
			Summary: "Every line of a subscriber's account, newest first",
			Row:     statementLine{}, Handle: a.list,
		},
	}
}

// statementLine is one line of an account (docs/rules/money.md#statement). Debit is a charge, credit a payment, in
// major units; each is negative when it is taken back.
type statementLine struct {
	At          time.Time      `json:"at"`
	Kind        statementKind  `json:"kind" doc:"more can be added"`
	Number      *string        `json:"number" doc:"of the invoice, credit note or receipt; null: it has none yet"`
	Invoice     *string        `json:"invoice" doc:"number of the invoice that a credit note is for"`
	Channel     *string        `json:"channel" doc:"of a payment" enum:"stk,c2b,cash,bill_manager"`
	Remark      *string        `json:"remark" doc:"the reason that somebody gave; null: none, or forgotten"`
	Outcome     *refundOutcome `json:"outcome" doc:"of a refund; null: it waits"`
	Reference   *string        `json:"reference" doc:"of a completed refund: the number of the payment to the payer"`
	Description string         `json:"description" doc:"all of this in English"`
	Debit       httpapi.Number `json:"debit"`
	Credit      httpapi.Number `json:"credit"`
	Balance     httpapi.Number `json:"balance"` // owed after this line
	Currency    money.Currency `json:"currency"`
	Cause       statementCause `json:"cause"`
}

// ForCustomer implements httpapi.StaffSees: a customer gets the same lines as a document.
func (*statementLine) ForCustomer() {}

// statementKind is one of billingviews.StatementKinds.
type statementKind string

// Texts implements httpapi.Enumerated.
func (statementKind) Texts() []string { return billingviews.StatementKinds() }

// refundOutcome says what became of the money that was set aside for a refund.
type refundOutcome string

// Texts implements httpapi.Enumerated.
func (refundOutcome) Texts() []string { return []string{"completed", "failed"} }

// statementCause names the document or receipt that made the line.
type statementCause struct {
	Type string `json:"type" enum:"invoice,receipt,credit_note,refund,write_off,opening_balance"`
	ID   id.Any `json:"id"`
}

// list answers with a page of lines, newest first. An unknown subscriber is 404; one without lines has an empty list.
func (a Statements) list(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showStatementLine, func(
		ctx context.Context, after billingviews.StatementKey, max int,
	) ([]billingviews.StatementRow, error) {
		known, err := a.Subscribers.Get(ctx, c.Org.ID, subscriber)
		if err != nil || known == nil {
			return nil, cmp.Or(err, commands.ErrNoSubscriber())
		}
		return a.Statement.Lines(ctx, c.Org.ID, subscriber, after, max)
	})
}

// showStatementLine writes amounts in major units; the side that is not used is 0.
func showStatementLine(r billingviews.StatementRow) statementLine {
	return statementLine{
		At: r.At, Kind: statementKind(r.Kind), Number: null.Of(r.Number), Invoice: null.Of(r.Invoice),
		Channel: null.Of(r.Channel), Remark: r.Remark, Description: r.Description(),
		Outcome: null.Of(refundOutcome(r.Outcome)), Reference: null.Of(r.Reference),
		Debit: r.Debit().Number(), Credit: r.Credit().Number(), Balance: r.Balance().Number(), Currency: r.Currency,
		Cause: statementCause{Type: r.CauseType, ID: r.CauseID},
	}
}
