package paymentscases

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
)

// BillManager has the use cases of the provider's bill manager. Safe for concurrent use.
type BillManager struct {
	Bus      *bus.Bus
	Secrets  *vault.Secrets
	Invoices billingviews.InvoicesQuery
	Bills    paymentsviews.BillsQuery
	// Shortcode and Environment are the platform's at the bill manager, which is given Email, Phone and CallbackURL at
	// the opt-in. Missing names the settings without which there is none.
	Shortcode, Environment string
	Email, Phone           string
	CallbackURL            func() (string, error)
	Missing                []string
	// Ask opts in and gives the key of later calls.
	Ask func(ctx context.Context, reminders bool) (secrets.Text, error)
	// Alone waits until nobody else opts in, and gives what ends that.
	Alone func(ctx context.Context) (release func(), err error)
}

// OptInState is how the bill manager knows the platform.
type OptInState struct {
	State     string // "not_configured", "not_opted_in" or "opted_in"
	Shortcode string
	Reminders bool       // the bill manager reminds customers
	Since     *time.Time // when the platform has opted in last; nil = never
	// RefusedSince is since when the bill manager refuses the key of the last opt-in, or the platform's credentials:
	// all bills wait. Nil = it does not, as far as is known.
	RefusedSince *time.Time
	// The next opt-in gives Email, Phone and CallbackURL; without the Missing settings there is none.
	Email, Phone, CallbackURL string
	Missing                   []string
}

// OptIn reads how the bill manager knows the platform.
func (m BillManager) OptIn(ctx context.Context) (OptInState, error) {
	known, _, err := bus.LoadUnchecked[payments.BillOptIn](ctx, m.Bus, m.optIn())
	state := OptInState{
		State: "not_opted_in", Shortcode: m.Shortcode, Reminders: known.Reminders, Email: m.Email, Phone: m.Phone,
		Missing: m.Missing,
	}
	if address, err := m.CallbackURL(); err == nil {
		state.CallbackURL = address
	}
	if err == nil && !known.Key.IsZero() {
		state.Since = &known.At
		state.RefusedSince, err = m.Secrets.RefusedSince(ctx, known.Key)
	}
	switch {
	case len(m.Missing) > 0:
		state.State = "not_configured"
	case !known.Key.IsZero():
		state.State = "opted_in"
	}
	return state, err
}

// optIn is the id of the platform's opt-in.
func (m BillManager) optIn() id.Shortcode { return commands.BillOptInID(m.Environment, m.Shortcode) }

// AskToOptIn opts in, also again: the bill manager gives another key each time, and the former one may be of no use any
// more. The key is in the vault before the record names it; nothing else has it. Fails: bill_manager_not_configured,
// provider_refused, provider_unavailable.
func (m BillManager) AskToOptIn(ctx context.Context, asked usecases.Asked, reminders bool) (OptInState, error) {
	if len(m.Missing) > 0 {
		return OptInState{}, failure.NewConflict("bill_manager_not_configured",
			"The platform has no credentials for the bill manager.")
	}
	release, err := m.Alone(ctx)
	if err != nil {
		return OptInState{}, err
	}
	defer release()
	before, _, err := bus.LoadUnchecked[payments.BillOptIn](ctx, m.Bus, m.optIn())
	if err != nil {
		return OptInState{}, err
	}
	key, err := m.Ask(ctx, reminders)
	if err != nil {
		return OptInState{}, err
	}
	after := context.WithoutCancel(ctx) // the former key may be dead by now
	ref := id.New[id.Secret]()
	err = m.Secrets.Put(after, vault.Secret{Ref: ref, Purpose: commands.BillKeyPurpose}, []byte(key.Reveal()))
	if err != nil {
		return OptInState{}, err
	}
	done, err := m.Bus.Execute(after, commands.RecordBillOptIn{
		OptInID: m.optIn(), Environment: m.Environment, Shortcode: m.Shortcode, Reminders: reminders, KeyRef: ref,
	}, asked.Meta)
	switch {
	case err != nil: // it may have been recorded all the same
		return OptInState{}, err
	case !done.Changed:
		err = m.Secrets.Delete(after, ref)
	case !before.Key.IsZero():
		err = m.Secrets.Delete(after, before.Key)
	}
	if err != nil {
		return OptInState{}, err
	}
	return m.OptIn(ctx)
}

// BillSettings are those of an organization.
type BillSettings struct {
	On        bool
	Reminders bool
	// ProviderReminds says that the bill manager reminds the customers of all organizations: it has one switch.
	ProviderReminds bool
	Revision        int64 // -1 = it never made any
}

// Settings are those of an organization. Fails: bill_manager_centralized_only.
func (m BillManager) Settings(ctx context.Context, org id.Organization) (BillSettings, error) {
	if err := m.Serves(ctx, org); err != nil {
		return BillSettings{}, err
	}
	optIn, err := m.OptIn(ctx)
	if err != nil {
		return BillSettings{}, err
	}
	row, err := m.Bills.Settings(ctx, org)
	if err != nil || row == nil {
		return BillSettings{ProviderReminds: optIn.Reminders, Revision: -1}, err
	}
	return BillSettings{
		On: row.On, Reminders: row.Reminders, ProviderReminds: optIn.Reminders, Revision: row.Revision,
	}, nil
}

// Serves fails for an organization that takes money on a shortcode of its own: the bill manager knows the platform's
// alone. Fails: bill_manager_centralized_only.
func (m BillManager) Serves(ctx context.Context, org id.Organization) error {
	gateway, _, err := bus.LoadUnchecked[payments.Gateway](ctx, m.Bus, org) // the id is the organization's own
	if err == nil && gateway.Direct {
		return failure.NewConflict("bill_manager_centralized_only",
			"The bill manager works on the platform's shortcode only, and this organization has its own.")
	}
	return err
}

// Configure adopts settings. What is on needs the opt-in of the platform. Fails: bill_manager_centralized_only,
// bill_manager_not_ready, concurrent_change.
func (m BillManager) Configure(ctx context.Context, asked usecases.Asked, on, reminders bool) (bus.Result, error) {
	if err := m.Serves(ctx, asked.Org()); err != nil {
		return bus.Result{}, err
	}
	if on {
		optIn, err := m.OptIn(ctx)
		if err != nil {
			return bus.Result{}, err
		}
		if optIn.State != "opted_in" {
			return bus.Result{}, errBillsNotReady()
		}
	}
	return m.Bus.Execute(ctx, commands.ConfigureBillManager{OrgID: asked.Org(), On: on, Reminders: reminders},
		asked.Meta)
}

// errBillsNotReady is the failure while the platform has not opted in.
func errBillsNotReady() error {
	return failure.NewConflict("bill_manager_not_ready",
		"The platform has not opted in to the bill manager yet. Ask its operator.")
}

// billsCrew is how many bills are queued side by side.
const billsCrew = 8

// QueuedBill is an invoice that somebody wants to send.
type QueuedBill struct {
	InvoiceID    id.Invoice
	SubscriberID id.Subscriber
	Number       string
	State        string // of paymentsviews.BillStates; "" = it has no bill
	Code         string // why it does not go; "" = it goes, or is there
}

// Queue has invoices wait to be sent, also those that failed or were cancelled. One that is no issued invoice with
// money due stays as it is, and is told with a code. Nothing is queued when one of them is not the organization's. It
// gives the position of the last change. Fails: bill_manager_centralized_only, bill_manager_off, invoice_not_found.
func (m BillManager) Queue(
	ctx context.Context, asked usecases.Asked, invoices []id.Invoice,
) (list []QueuedBill, position uint64, err error) {
	if err := m.Serves(ctx, asked.Org()); err != nil {
		return nil, 0, err
	}
	settings, _, err := bus.LoadUnchecked[payments.BillManager](ctx, m.Bus, asked.Org()) // its own id
	if err != nil {
		return nil, 0, err
	}
	if !settings.On {
		return nil, 0, failure.NewConflict("bill_manager_off", "Turn the bill manager on first.")
	}
	rows, err := m.Invoices.Payables(ctx, asked.Org(), invoices)
	if err != nil {
		return nil, 0, err
	}
	for _, invoice := range invoices {
		if _, found := rows[invoice]; !found {
			return nil, 0, commands.ErrNoInvoice()
		}
	}
	list = make([]QueuedBill, len(invoices))
	positions := make([]uint64, len(invoices))
	err = loop.Each(ctx, billsCrew, len(invoices), func(i int) (err error) {
		list[i], positions[i], err = m.queue(ctx, asked, rows[invoices[i]])
		return err
	})
	for _, p := range positions {
		position = max(position, p)
	}
	return list, position, err
}

// queue has one invoice wait to be sent.
func (m BillManager) queue(
	ctx context.Context, asked usecases.Asked, row billingviews.Payable,
) (QueuedBill, uint64, error) {
	out := QueuedBill{InvoiceID: row.ID, SubscriberID: row.SubscriberID, Number: row.Number}
	meta := asked.Meta
	meta.CommandID = id.Derive[id.Command]("queue bill", asked.Meta.CommandID.String(), row.ID.String())
	meta.ExpectedRevision = nil
	var done bus.Result
	var err error
	signature, _, err := bus.LoadUnchecked[billing.Signature](ctx, m.Bus, id.As[id.Signature](row.ID)) // of the row
	switch {
	case err != nil:
		return out, 0, err
	case row.Number == "" || row.DueMinor <= 0:
		out.Code = "invoice_not_open"
	case !signature.Given(row.ToBeSigned):
		out.Code = "document_not_signed"
	default:
		done, err = m.Bus.Execute(ctx, commands.QueueBill{Again: true, BillSubject: events.BillSubject{
			OrgID: asked.Org(), SubscriberID: row.SubscriberID, InvoiceID: row.ID, Number: row.Number,
		}}, meta)
		if failure.CodeOf(err) == "bill_over" {
			out.Code, err = "bill_over", nil
		}
	}
	if err != nil {
		return out, 0, fmt.Errorf("queue bill of invoice %s: %w", row.ID, err)
	}
	bill, _, err := bus.LoadUnchecked[payments.Bill](ctx, m.Bus, row.ID)
	out.State = string(bill.State())
	return out, done.Position, err
}

// Cancel takes a bill back, also one of an organization that takes money on a shortcode of its own by now. One that the
// bill manager never got is cancelled at once. Fails: bill_not_found, bill_over.
func (m BillManager) Cancel(ctx context.Context, asked usecases.Asked, invoice id.Invoice) (bus.Result, error) {
	bill, _, err := bus.LoadOwned[payments.Bill](ctx, m.Bus, asked.Org(), invoice)
	switch {
	case failure.KindOf(err) == failure.NotFound, err == nil && bill.InvoiceID.IsZero():
		return bus.Result{}, commands.ErrNoBill()
	case err != nil:
		return bus.Result{}, err
	case bill.State() == payments.BillPaid || bill.State() == payments.BillAcknowledged:
		return bus.Result{}, failure.NewConflict("bill_over", "This bill is paid.")
	}
	return m.Bus.Execute(ctx, commands.RecallBill{InvoiceID: invoice, Reason: events.BillByPerson}, asked.Meta)
}
