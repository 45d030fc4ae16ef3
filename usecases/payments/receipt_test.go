package paymentscases_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// held is a paybill receipt of 100 shillings in an organization's suspense; the zero organization = of no organization.
func (k *kit) held(t *testing.T, number string, org id.Organization) id.Receipt {
	t.Helper()
	receipt := commands.ReceiptID(commands.EnvironmentSandbox, number)
	k.run(t, commands.RecordReceipt{
		ReceiptID: receipt, OrgID: org, Provider: commands.ProviderMobileMoney, ReceiptNumber: number,
		Channel: commands.ChannelPaybill, Shortcode: platformShortcode, Amount: money.Major(100, money.KES),
		PaidAt: k.clock.Now(), Sighting: commands.SightingConfirmation,
	})
	k.run(t, commands.HoldReceipt{ReceiptID: receipt, Reason: commands.HeldNoMatch})
	return receipt
}

// receipt is a receipt as the log has it; unchecked, because one of no organization is wanted, too.
func (k *kit) receipt(t *testing.T, r id.Receipt) payments.Receipt {
	t.Helper()
	state, _, err := bus.LoadUnchecked[payments.Receipt](t.Context(), k.Bus, r)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestRecordCash_IsMatchedToTheSubscriberOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := paymentscases.CashInput{SubscriberID: k.dollar, Amount: "12.50", Reference: " rb-7 "}
	asked := coretest.Keyed(k.org)
	first, err := k.receipts.RecordCash(t.Context(), asked, in)
	if err != nil || !slices.Equal(first.Accounts, []id.Subscriber{k.dollar}) {
		t.Fatalf("%+v, %v", first, err)
	}
	if r := k.receipt(t, first.ReceiptID); r.Amount != money.Of(1250, "USD") || r.Subscriber != k.dollar ||
		r.Number != "rb-7" {
		t.Errorf("recorded %+v", r)
	}
	again, err := k.receipts.RecordCash(t.Context(), asked, in)
	if err != nil || again.ReceiptID != first.ReceiptID || again.Done.Position != first.Done.Position {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	in.Reference = "RB-7"
	_, err = k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), in)
	coretest.Refused(t, "the reference again", err, "reference_used")
	_, err = k.receipts.RecordCash(t.Context(), coretest.Keyed(k.other), paymentscases.CashInput{
		SubscriberID: k.brian, Amount: "1", Reference: "RB-7",
	})
	coretest.Refused(t, "another organization's cash book", err, "")
}

// One page of the cash book is one payment, however many spaces a clerk types, also where it was recorded when spaces
// still made a difference.
func TestRecordCash_AReferenceInOtherSpacesIsTheSameMoney(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	record := func(asked usecases.Asked, reference string) (paymentscases.Booked, error) {
		return k.receipts.RecordCash(t.Context(), asked, paymentscases.CashInput{
			SubscriberID: k.amina, Amount: "100", Reference: reference,
		})
	}
	first, err := record(coretest.Keyed(k.org), " Book\t 17/3 ")
	if err != nil || k.receipt(t, first.ReceiptID).Number != "Book 17/3" {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, again := range []string{"Book 17/3", "book  17/3", "Book\u00a017/3"} {
		_, err = record(coretest.Keyed(k.org), again)
		coretest.Refused(t, again, err, "reference_used")
	}
	const old = "Book  18/1"
	asked, former := coretest.Keyed(k.org), commands.LegacyCashReceiptID(k.org, old)
	k.Run(t, asked.Meta, commands.RecordCash{
		ReceiptID: former, OrgID: k.org, SubscriberID: k.amina, Amount: money.Major(100, money.KES), Reference: old,
	})
	if again, err := record(asked, old); err != nil || again.ReceiptID != former {
		t.Errorf("a repeat of what was recorded before: %+v, %v", again, err)
	}
	_, err = record(coretest.Keyed(k.org), old)
	coretest.Refused(t, "the former reference", err, "reference_used")
}

// The account does not change: it has the money since the status query.
func TestAttribute_ConfirmsUnclaimedMoneyForTheAccountThatHasIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	receipt, attempt := commands.ProvisionalReceiptID("ws_CO_1"), id.New[id.Payment]()
	k.run(t, commands.RecordReceipt{
		ReceiptID: receipt, OrgID: k.org, Provider: commands.ProviderProvisional, Channel: commands.ChannelPrompt,
		Shortcode: platformShortcode, Amount: money.Major(100, money.KES), PaidAt: k.clock.Now(),
		CheckoutRequestID: "ws_CO_1", PaymentID: attempt, Provisional: true, Sighting: commands.SightingQuery,
	})
	k.run(t, commands.MatchReceipt{
		ReceiptID: receipt, OrgID: k.org, SubscriberID: k.amina, PaymentID: attempt, By: commands.MatchedByPrompt,
	})
	k.run(t, commands.MarkUnclaimed{ReceiptID: receipt})
	confirm := func(who id.Subscriber) error {
		_, err := k.receipts.Attribute(t.Context(), coretest.Keyed(k.org), paymentscases.AttributeInput{
			ReceiptID: receipt, SubscriberID: who,
		})
		return err
	}
	coretest.Refused(t, "another account", confirm(k.chege), "receipt_matched")
	coretest.Refused(t, "its account", confirm(k.amina), "")
	coretest.Refused(t, "once more", confirm(k.amina), "")
	said := recorded[events.ReceiptMatched](t, k, commands.ReceiptCategory, receipt.String())
	if len(said) != 2 || !said[1].Confirms || said[1].SubscriberID != k.amina {
		t.Errorf("recorded %+v", said)
	}
}

func TestRecordCash_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for name, c := range map[string]struct {
		in   paymentscases.CashInput
		code string
	}{
		"another organization's": {
			paymentscases.CashInput{SubscriberID: k.brian, Amount: "1", Reference: "B"}, "subscriber_not_found",
		},
		"no amount":    {paymentscases.CashInput{SubscriberID: k.amina, Reference: "B"}, "invalid_input"},
		"no reference": {paymentscases.CashInput{SubscriberID: k.amina, Amount: "1", Reference: " "}, "invalid_input"},
		"too many decimals": {
			paymentscases.CashInput{SubscriberID: k.amina, Amount: "1.005", Reference: "B"}, "invalid_input",
		},
		"too much": {
			paymentscases.CashInput{SubscriberID: k.amina, Amount: "10000000000.01", Reference: "B"}, "invalid_input",
		},
		"mobile money": {
			paymentscases.CashInput{SubscriberID: k.amina, Amount: "1", Reference: "sjk4x7q2a0"},
			"looks_like_mobile_money",
		},
	} {
		_, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), c.in)
		coretest.Refused(t, name, err, c.code)
	}
	cash := func(reference, code string) {
		t.Helper()
		_, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), paymentscases.CashInput{
			SubscriberID: k.amina, Amount: "1", Reference: reference,
		})
		coretest.Refused(t, reference, err, code)
	}
	for _, of := range []string{
		"MPESA SJK4H7L2MN", "SJK4H7L2MN.", "sjk4 h7l2 mn", "mpesa:sjk4-h7l2-mn", "SJK4H7L2MN/254712345678",
		"0712345678", "SJKAHBLCMN", "Code SJK4H7L2 MN of Jane",
		"CASH001234", "Desk CB0042", "RB20261124",
	} {
		cash(of, "looks_like_mobile_money")
	}
	for _, of := range []string{
		"tel 0712345678", "INV 2026 0042", "BOOK 17 2026", "cashreceipt", "From Wilberforce", "ACME-00042", "RB-7",
		"SJK4H7L2MN1", "072-345-6789", "Book 7 page 12", // the last as the refusal advises
	} {
		cash(of, "")
	}
	failed := atOnce(4, func(int) error {
		_, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), paymentscases.CashInput{
			SubscriberID: k.amina, Amount: "1", Reference: "B",
		})
		return err
	})
	if !slices.Equal(failed, slices.Repeat([]string{"reference_used"}, 3)) {
		t.Errorf("four at once: %v", failed)
	}
}

func TestAttribute_GivesSuspenseToASubscriberInItsCurrency(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	own, nobodys := k.held(t, "SJK4X7Q2A0", k.org), k.held(t, "SJK4X7Q2A1", id.Organization{})
	try := func(org id.Organization, r id.Receipt, s id.Subscriber, code string) {
		t.Helper()
		_, err := k.receipts.Attribute(t.Context(), coretest.Keyed(org), paymentscases.AttributeInput{
			ReceiptID: r, SubscriberID: s,
		})
		coretest.Refused(t, "attribute", err, code)
	}
	try(k.org, own, id.Subscriber{}, "invalid_input")
	try(k.org, own, k.brian, "subscriber_not_found")
	try(k.other, own, k.brian, "receipt_not_found")
	try(k.org, nobodys, k.amina, "receipt_not_found")
	try(k.org, id.New[id.Receipt](), k.amina, "receipt_not_found")
	try(k.org, own, k.dollar, "currency_mismatch")
	asked, in := coretest.Keyed(k.org), paymentscases.AttributeInput{ReceiptID: own, SubscriberID: k.amina}
	booked, err := k.receipts.Attribute(t.Context(), asked, in)
	if err != nil || !slices.Equal(booked.Accounts, []id.Subscriber{k.amina}) {
		t.Fatalf("%+v, %v", booked, err)
	}
	again, err := k.receipts.Attribute(t.Context(), asked, in)
	if err != nil || again.Accounts != nil || again.Done.Revision != booked.Done.Revision {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	if n := len(recorded[events.ReceiptMatched](t, k, commands.ReceiptCategory, own.String())); n != 1 {
		t.Errorf("matched %d times", n)
	}
	try(k.org, own, k.chege, "receipt_matched")
}

func TestReverse_TakesTheMoneyFromWhereItIs(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	receipt := k.held(t, "SJK4X7Q2A0", k.org)
	k.run(t, commands.AttributeReceipt{ReceiptID: receipt, OrgID: k.org, SubscriberID: k.amina})
	in := paymentscases.ReverseInput{ReceiptID: receipt, Reason: "typing error"}
	_, err := k.receipts.Reverse(t.Context(), coretest.Keyed(k.other), in)
	coretest.Refused(t, "another organization", err, "receipt_not_found")
	_, err = k.receipts.Reverse(t.Context(), coretest.Keyed(k.org), paymentscases.ReverseInput{ReceiptID: receipt})
	coretest.Refused(t, "no reason", err, "invalid_input")
	stale, old := coretest.Keyed(k.org), uint64(1)
	stale.Meta.ExpectedRevision = &old
	if _, err := k.receipts.Reverse(t.Context(), stale, in); failure.KindOf(err) != failure.Stale {
		t.Errorf("a failed If-Match: %v", err)
	}
	asked := coretest.Keyed(k.org)
	booked, err := k.receipts.Reverse(t.Context(), asked, in)
	if err != nil || !slices.Equal(booked.Accounts, []id.Subscriber{k.amina}) {
		t.Fatalf("%+v, %v", booked, err)
	}
	again, err := k.receipts.Reverse(t.Context(), asked, in)
	if err != nil || again.Accounts != nil {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	list := recorded[events.ReceiptReversed](t, k, commands.ReceiptCategory, receipt.String())
	if len(list) != 1 || list[0].SubscriberID != k.amina || list[0].Reason.Reveal() != in.Reason {
		t.Errorf("reversed %+v", list)
	}
	_, err = k.receipts.Reattribute(t.Context(), coretest.Keyed(k.org), paymentscases.ReattributeInput{
		ReceiptID: receipt, SubscriberID: k.chege, Reason: "too late",
	})
	coretest.Refused(t, "reversed money", err, "receipt_reversed")
}

func TestReattribute_AtOnceEachMoveLeavesTheAccountThatHasTheMoney(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	receipt := k.held(t, "SJK4X7Q2A0", k.org)
	k.run(t, commands.AttributeReceipt{ReceiptID: receipt, OrgID: k.org, SubscriberID: k.amina})
	move := func(org id.Organization, to id.Subscriber, reason string) (paymentscases.Booked, error) {
		return k.receipts.Reattribute(t.Context(), coretest.Keyed(org), paymentscases.ReattributeInput{
			ReceiptID: receipt, SubscriberID: to, Reason: reason,
		})
	}
	for name, c := range map[string]struct {
		org          id.Organization
		to           id.Subscriber
		reason, code string
	}{
		"no reason":              {k.org, k.chege, " ", "invalid_input"},
		"to somebody elsewhere":  {k.org, k.brian, "x", "subscriber_not_found"},
		"of somebody elsewhere":  {k.other, k.brian, "x", "receipt_not_found"},
		"into another currency":  {k.org, k.dollar, "x", "currency_mismatch"},
		"to whom it has already": {k.org, k.amina, "x", ""},
	} {
		_, err := move(c.org, c.to, c.reason)
		coretest.Refused(t, name, err, c.code)
	}
	people := []id.Subscriber{k.amina, k.chege}
	failed := atOnce(6, func(n int) error {
		_, err := move(k.org, people[n%2], "raced")
		return err
	})
	if slices.ContainsFunc(failed, func(code string) bool { return code != "concurrent_change" }) {
		t.Errorf("at once: %v", failed)
	}
	at := k.amina
	for n, e := range recorded[events.ReceiptReattributed](t, k, commands.ReceiptCategory, receipt.String()) {
		if e.From != at || e.Move != n+1 {
			t.Errorf("move %d from %s, want %s", e.Move, e.From, at)
		}
		at = e.To
	}
	if r := k.receipt(t, receipt); r.Subscriber != at {
		t.Errorf("it is at %s, want %s", r.Subscriber, at)
	}
}

func TestCorrections_MoneyThatTheAccountHasArchivedStays(t *testing.T) {
	t.Parallel()
	archived := func(r id.Receipt) []id.Any { return []id.Any{id.Any(r)} }
	t.Run("archived", func(t *testing.T) { t.Parallel(); archivedMoneyStays(t, archived) })
	t.Run("forgotten", func(t *testing.T) {
		t.Parallel()
		archivedMoneyStays(t, func(id.Receipt) (newer []id.Any) {
			for range 4000 {
				newer = append(newer, id.New[id.Any]())
			}
			return newer
		})
	})
}

// archivedMoneyStays corrects a receipt whose account keeps these ids of archived receipts, not what it paid.
func archivedMoneyStays(t *testing.T, ids func(id.Receipt) []id.Any) {
	k := newKit(t)
	receipt := k.held(t, "SJK4X7Q2A0", k.org)
	k.run(t, commands.AttributeReceipt{ReceiptID: receipt, OrgID: k.org, SubscriberID: k.amina})
	closing := billing.Accounts().Close(billing.Account{
		SubscriberID: k.amina, OrgID: k.org, Currency: money.KES, Archived: ids(receipt),
	})
	_, err := k.Store.Append(t.Context(), commands.AccountCategory+"-"+k.amina.String(), eventstore.NoStream,
		[]eventstore.New{{Event: closing, Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.Any(k.amina), OrgID: k.org,
			Actor: events.Actor{Kind: events.ActorProcess, ID: "bus"}, At: k.clock.Now(),
		}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.receipts.Reverse(t.Context(), coretest.Keyed(k.org), paymentscases.ReverseInput{
		ReceiptID: receipt, Reason: "x",
	})
	coretest.Refused(t, "reverse", err, "receipt_archived")
	_, err = k.receipts.Reattribute(t.Context(), coretest.Keyed(k.org), paymentscases.ReattributeInput{
		ReceiptID: receipt, SubscriberID: k.chege, Reason: "x",
	})
	coretest.Refused(t, "reattribute", err, "receipt_archived")
	if r := k.receipt(t, receipt); r.Subscriber != k.amina {
		t.Errorf("it left: %+v", r)
	}
}

func TestAssign_GivesNobodysMoneyToOneOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	receipt, platform := k.held(t, "SJK4X7Q2A0", id.Organization{}), coretest.Keyed(id.Organization{})
	platform.Meta.Actor = events.Actor{Kind: events.ActorOperator}
	_, err := k.receipts.Assign(t.Context(), platform, receipt, id.New[id.Organization]())
	coretest.Refused(t, "no such organization", err, "invalid_input")
	_, err = k.receipts.Assign(t.Context(), platform, id.New[id.Receipt](), k.org)
	coretest.Refused(t, "no such receipt", err, "receipt_not_found")
	for range 2 {
		if _, err := k.receipts.Assign(t.Context(), platform, receipt, k.org); err != nil {
			t.Fatal(err)
		}
	}
	_, err = k.receipts.Assign(t.Context(), coretest.Keyed(id.Organization{}), receipt, k.org)
	coretest.Refused(t, "by somebody of an organization", err, "organization_required")
	platform.Meta.CommandID = id.New[id.Command]()
	for _, to := range []id.Organization{k.other, k.org} { // by mistake, and back
		platform.Meta.CommandID = id.New[id.Command]()
		if _, err := k.receipts.Assign(t.Context(), platform, receipt, to); err != nil {
			t.Fatal(err)
		}
	}
	_, err = k.receipts.Attribute(t.Context(), coretest.Keyed(k.org), paymentscases.AttributeInput{
		ReceiptID: receipt, SubscriberID: k.amina,
	})
	coretest.Refused(t, "attribute then", err, "")
	platform.Meta.CommandID = id.New[id.Command]()
	_, err = k.receipts.Assign(t.Context(), platform, receipt, k.other)
	coretest.Refused(t, "to another one", err, "receipt_matched")
	own := k.held(t, "SJK4X7Q2A1", k.org)
	_, err = k.receipts.Assign(t.Context(), platform, own, k.other)
	coretest.Refused(t, "money of its own shortcode", err, "receipt_assigned")
}

func TestBooks_WaitUntilTheStatementShowsTheReceipt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	statement := billingviews.StatementQuery{Views: k.show(t)}
	books := paymentscases.Books{Statement: statement}
	booked, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), paymentscases.CashInput{
		SubscriberID: k.amina, Amount: "10", Reference: "B",
	})
	if err != nil {
		t.Fatal(err)
	}
	k.run(t, commands.CreditReceipt{ // the process would do this
		SubscriberID: k.amina, OrgID: k.org, ReceiptID: booked.ReceiptID, Number: "B", Channel: commands.ChannelCash,
		Amount: money.Major(10, money.KES), PaidAt: k.clock.Now(),
	})
	if err := books.Await(t.Context(), booked); err != nil {
		t.Fatal(err)
	}
	line, err := statement.Since(t.Context(), k.org, k.amina, id.Any(booked.ReceiptID), booked.Done.Position)
	if err != nil || line == 0 {
		t.Errorf("it is not on the statement: %d, %v", line, err)
	}
	if err := (paymentscases.Books{}).Await(t.Context(), paymentscases.Booked{}); err != nil {
		t.Errorf("nothing to wait for: %v", err)
	}
}

// A mistaken invoice is told before the money is anywhere: afterwards it would be credit, and nobody would look for it.
func TestNamedInvoice_MustBeTheSubscribersAndDue(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	invoices := map[id.Subscriber]id.Invoice{k.amina: id.New[id.Invoice](), k.chege: id.New[id.Invoice]()}
	draft := func(s id.Subscriber, invoice id.Invoice) {
		k.run(t, commands.DraftInvoice{
			SubscriberID: s, OrgID: k.org, InvoiceID: invoice, Currency: money.KES, Prefix: "ACME",
			Lines: []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: money.Major(100, money.KES)}},
			DueOn: calendar.On(k.clock.Now(), time.UTC),
		})
	}
	n := 0
	for s, invoice := range invoices {
		draft(s, invoice)
		n++
		k.run(t, commands.IssueInvoice{SubscriberID: s, InvoiceID: invoice, Number: fmt.Sprintf("ACME-000%d", n)})
	}
	waiting := id.New[id.Invoice]()
	draft(k.amina, waiting)
	receipt := k.held(t, "SJK4X7Q2A0", k.org)
	attribute := func(invoice id.Invoice) error {
		_, err := k.receipts.Attribute(t.Context(), coretest.Keyed(k.org), paymentscases.AttributeInput{
			ReceiptID: receipt, SubscriberID: k.amina, InvoiceID: invoice,
		})
		return err
	}
	cash := func(invoice id.Invoice) error {
		_, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), paymentscases.CashInput{
			SubscriberID: k.amina, InvoiceID: invoice, Amount: "100", Reference: "Book 17",
		})
		return err
	}
	for name, give := range map[string]func(id.Invoice) error{"attribute": attribute, "cash": cash} {
		coretest.Refused(t, name+": a neighbour's", give(invoices[k.chege]), "invoice_not_found")
		coretest.Refused(t, name+": nobody's", give(id.New[id.Invoice]()), "invoice_not_found")
		coretest.Refused(t, name+": without a number", give(waiting), "invoice_not_issued")
	}
	if r := k.receipt(t, receipt); r.Standing != payments.StandingHeld {
		t.Errorf("the refused attribution left %+v", r)
	}
	for range 2 { // the repeat finds the invoice paid, by this money
		if err := attribute(invoices[k.amina]); err != nil {
			t.Errorf("her own: %v", err)
		}
		k.run(t, commands.CreditReceipt{
			SubscriberID: k.amina, OrgID: k.org, ReceiptID: receipt, InvoiceID: invoices[k.amina],
			Amount: money.Major(100, money.KES), Number: "SJK4X7Q2A0", Channel: commands.ChannelPaybill,
			PaidAt: k.clock.Now(),
		})
	}
	coretest.Refused(t, "cash on a paid one", cash(invoices[k.amina]), "invoice_not_payable")
	if err := cash(id.Invoice{}); err != nil {
		t.Errorf("cash for no invoice: %v", err)
	}
	coretest.Refused(t, "the same cash again", cash(invoices[k.amina]), "reference_used")
}

func TestCorrections_MoneyOfAnArchivedPeriodStaysWhereItIs(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	invoice, subscription := id.New[id.Invoice](), k.Archived(t, k.org, k.amina)
	k.run(t, commands.DraftInvoice{
		SubscriberID: k.amina, OrgID: k.org, InvoiceID: invoice, SubscriptionID: subscription, Currency: money.KES,
		Lines:  []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: money.Major(100, money.KES)}},
		Prefix: "ACME", DueOn: calendar.On(k.clock.Now(), time.UTC),
	})
	k.run(t, commands.IssueInvoice{SubscriberID: k.amina, InvoiceID: invoice, Number: "ACME-0001"})
	receipt := k.held(t, "SJK4X7Q2A0", k.org)
	k.run(t, commands.AttributeReceipt{ReceiptID: receipt, OrgID: k.org, SubscriberID: k.amina})
	k.run(t, commands.CreditReceipt{
		SubscriberID: k.amina, OrgID: k.org, ReceiptID: receipt, Amount: money.Major(100, money.KES),
		Number: "SJK4X7Q2A0", Channel: commands.ChannelPaybill, PaidAt: k.clock.Now(),
	})
	_, err := k.receipts.Reverse(t.Context(), coretest.Keyed(k.org), paymentscases.ReverseInput{
		ReceiptID: receipt, Reason: "typing error",
	})
	coretest.Refused(t, "reverse", err, "period_archived")
	_, err = k.receipts.Reattribute(t.Context(), coretest.Keyed(k.org), paymentscases.ReattributeInput{
		ReceiptID: receipt, SubscriberID: k.chege, Reason: "the neighbour's",
	})
	coretest.Refused(t, "reattribute", err, "period_archived")
	if r := k.receipt(t, receipt); r.Standing != payments.StandingMatched || r.Subscriber != k.amina {
		t.Errorf("the refused corrections left %+v", r)
	}
}
