package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/taxauthority"
)

// taxPIN is that of acme.
const taxPIN = "P051234567A"

// startTax starts a tax authority that stops with the test.
func startTax(t testing.TB) *taxauthority.Simulator {
	t.Helper()
	sim := taxauthority.New(taxauthority.Config{Secret: "device-secret"})
	if err := sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = sim.Stop(context.Background()) })
	return sim
}

// turnTax turns acme's tax gateway on or off.
func (k *kit) turnTax(sim *taxauthority.Simulator, on bool) {
	k.t.Helper()
	k.must(k.admin, "PUT", "/settings/organization", map[string]any{"taxPin": taxPIN})
	k.must(k.admin, "PUT", "/settings/tax-gateway", map[string]any{
		"on": on, "address": sim.URL(), "serial": "KRA1", "branch": "00", "secret": "device-secret", "messages": true,
	})
}

// billedByHand invoices a customer by hand, and gives the invoice when it has its number.
func (k *kit) billedByHand(customer string, price int) (invoice answer) {
	k.t.Helper()
	made := k.must(k.admin, "POST", "/invoices", map[string]any{
		"subscriberId": customer, "lines": []map[string]any{
			{"description": "Router", "quantity": 1, "unitPrice": price},
		},
	})
	k.eventually("the invoice to be issued", func(ctx context.Context) (issued bool, err error) {
		invoice, err = k.admin.call(ctx, "GET", "/invoices/"+made.text("id"), "", nil)
		return invoice.text("number") != "", err
	})
	return invoice
}

// taxState waits until the tax authority's word about an invoice or a credit note has a state.
func (k *kit) taxState(document, want string) (row answer) {
	k.t.Helper()
	k.eventually("document "+document+" to be "+want, func(ctx context.Context) (found bool, err error) {
		row, err = k.admin.call(ctx, "GET", "/tax-documents/"+document, "", nil)
		if failed := asAPIError(err); failed != nil && failed.Status == 404 {
			return false, nil
		}
		return row.text("state") == want, err
	})
	return row
}

// TestTax_AnInvoiceIsSentOnlySigned takes invoices through the gateway: off by default, signed, refused until the
// customer's PIN is mended while money is taken all the same, and credit notes after their invoice.
func TestTax_AnInvoiceIsSentOnlySigned(t *testing.T) {
	t.Parallel()
	const phone = "+254711000901"
	sim := startTax(t)
	k := newKit(t).start().signIn()
	k.paybillReady()
	k.messageHours("00:00", "24:00")
	k.withoutText("receipt")
	customer, account := k.subscriber(phone[1:])
	k.billedByHand(customer, 100)
	k.turnTax(sim, true)

	first := k.billedByHand(customer, 1160)
	signed := k.taxState(first.text("id"), "signed")
	list := sim.Documents()
	if len(list) != 1 || list[0].ControlNumber != signed.text("controlNumber") || list[0].Total != "1160.00" ||
		list[0].SellerPIN != taxPIN || list[0].Number != first.text("number") {
		t.Errorf("the authority has %+v, we have %v", list, signed)
	}
	k.templates(phone, "invoice_signed")
	if status := k.statusOf(k.admin, "/invoices/"+first.text("id")+"/pdf"); status != 200 {
		t.Errorf("the signed document: %d", status)
	}

	k.must(k.admin, "PATCH", "/subscribers/"+customer, map[string]any{"taxPin": "WRONG"})
	second := k.billedByHand(customer, 580)
	refused := k.taxState(second.text("id"), "refused")
	if refused.text("code") != "buyer_pin_invalid" || refused.text("message") == "" {
		t.Errorf("refused %v", refused)
	}
	k.refused(k.admin, "GET /invoices/"+second.text("id")+"/pdf", nil, 409, "document_not_signed")
	k.pay(phone[1:], account, 1840) // all three
	k.eventually("money to be taken all the same", func(ctx context.Context) (bool, error) {
		i, err := k.admin.call(ctx, "GET", "/invoices/"+second.text("id"), "", nil)
		return i.text("state") == "paid", err
	})
	note := k.must(k.admin, "POST", "/invoices/"+second.text("id")+"/credit-note", map[string]any{
		"amount": 100, "reason": "slow",
	})
	if waits := k.taxState(note.text("id"), "queued"); waits["waits"] != true {
		t.Errorf("a note does not wait for its invoice: %v", waits)
	}
	k.must(k.admin, "PATCH", "/subscribers/"+customer, map[string]any{"taxPin": "A012345678Z"})
	k.must(k.admin, "POST", "/tax-documents/"+second.text("id")+"/retry", map[string]any{"reason": "PIN mended"})
	k.taxState(second.text("id"), "signed")
	k.taxState(note.text("id"), "signed")
	k.templates(phone, "invoice_signed", "invoice_signed")
	list = sim.Documents()
	if len(list) != 3 || list[1].BuyerPIN != "A012345678Z" || list[2].Original != list[1].ControlNumber {
		t.Errorf("the authority has %+v", list)
	}
	k.audited("billing.RetrySignature")
	k.soundBooks()
}

// TestTax_ADocumentThatWaitsTellsWhy: while the gateway does not accept the secret, and until it takes documents again.
func TestTax_ADocumentThatWaitsTellsWhy(t *testing.T) {
	t.Parallel()
	sim := startTax(t)
	k := newKit(t).start().signIn()
	customer, _ := k.subscriber("254711000908")
	k.turnTax(sim, true)
	settings := map[string]any{"on": true, "address": sim.URL(), "serial": "KRA1", "branch": "00", "secret": "wrong"}
	k.must(k.admin, "PUT", "/settings/tax-gateway", settings)
	invoice := k.billedByHand(customer, 100).text("id")
	k.eventually("the reason to be told", func(ctx context.Context) (bool, error) {
		d, err := k.admin.call(ctx, "GET", "/tax-documents/"+invoice, "", nil)
		if failed := asAPIError(err); failed != nil && failed.Status == 404 {
			return false, nil
		}
		return d.text("state") == "queued" && d["fault"] == "tax_gateway_denied" && d["faultSince"] != nil, err
	})
	settings["secret"] = "device-secret"
	k.must(k.admin, "PUT", "/settings/tax-gateway", settings)
	if d := k.taxState(invoice, "signed"); d["fault"] != nil || d["faultSince"] != nil {
		t.Errorf("a signed document has a fault: %v", d)
	}
	other := k.billedByHand(customer, 200).text("id")
	k.taxState(other, "signed")
	stream := commands.TaxContactCategory + "-" + k.organizationID("acme").String()
	history, err := k.app.storage.store.Read(t.Context(), stream, 0)
	if err != nil || len(history) != 2 {
		t.Errorf("the log has %d changes of the contact, %v", len(history), err)
	}
}

// TestTax_IsOffUnlessItIsTurnedOn: what is issued before and after is not signed, and the secret is nowhere.
func TestTax_IsOffUnlessItIsTurnedOn(t *testing.T) {
	t.Parallel()
	sim := startTax(t)
	k := newKit(t).start().signIn()
	customer, _ := k.subscriber("254711000904")
	before := k.billedByHand(customer, 100)
	if _, there := before["taxSignature"]; !there || before["taxSignature"] != nil {
		t.Errorf("without a gateway: %v", before)
	}
	k.turnTax(sim, true)
	between := k.billedByHand(customer, 200)
	k.turnTax(sim, false)
	k.taxState(between.text("id"), "signed")
	last := k.billedByHand(customer, 290)
	k.settled()
	if row := k.must(k.admin, "GET", "/invoices/"+last.text("id"), nil); row["taxSignature"] != nil {
		t.Errorf("a document after the end: %v", row["taxSignature"])
	}
	if n := len(sim.Documents()); n != 1 {
		t.Errorf("the authority has %d documents", n)
	}
	k.audited("billing.ConfigureTaxGateway")
	if strings.Contains(k.log.String(), "device-secret") {
		t.Error("the secret is in the log")
	}
}

// TestTax_AVoidedInvoiceIsTakenBackThere: what the authority has gets a document of its own, and what it has not is
// never handed over.
func TestTax_AVoidedInvoiceIsTakenBackThere(t *testing.T) {
	t.Parallel()
	sim := startTax(t)
	k := newKit(t).start().signIn()
	customer, _ := k.subscriber("254711000902")
	k.turnTax(sim, true)
	has := k.billedByHand(customer, 1160)
	k.taxState(has.text("id"), "signed")
	k.must(k.admin, "POST", "/invoices/"+has.text("id")+"/void", map[string]any{"reason": "twice"})
	k.eventually("the cancellation to be signed", func(context.Context) (bool, error) {
		list := sim.Documents()
		return len(list) == 2 && list[1].Kind == "cancellation" && list[1].Original == list[0].ControlNumber &&
			list[1].Total == list[0].Total, nil
	})
	if err := sim.SetFaults(taxauthority.Faults{RefuseCode: "closed"}); err != nil {
		t.Fatal(err)
	}
	never := k.billedByHand(customer, 580)
	k.taxState(never.text("id"), "refused")
	k.eventually("Home to tell of it", func(ctx context.Context) (bool, error) {
		today, err := k.admin.call(ctx, "GET", "/reports/today", "", nil)
		for _, f := range today.list("faults") {
			if f.text("kind") == "tax_refused" {
				return true, err
			}
		}
		return false, err
	})
	k.must(k.admin, "POST", "/invoices/"+never.text("id")+"/void", map[string]any{"reason": "twice"})
	k.taxState(never.text("id"), "withdrawn")
	if err := sim.SetFaults(taxauthority.Faults{}); err != nil {
		t.Fatal(err)
	}
	k.refused(k.admin, "POST /tax-documents/"+never.text("id")+"/retry", map[string]any{"reason": "x"}, 409,
		"signature_not_refused")
	k.settled()
	if n := len(sim.Documents()); n != 2 {
		t.Errorf("the authority has %d documents", n)
	}
}

// holdQueue stops the commands of acme's queue of documents, as one that cannot be executed does. The answer lets them
// go on.
func (k *kit) holdQueue() (goOn func()) {
	k.t.Helper()
	const process = "signature_queue"
	key, table := k.organizationID("acme").String(), k.app.storage.db.Namespace.Schema("processes")+".commands"
	_, err := k.app.storage.db.Owner.Exec(k.t.Context(), `insert into `+table+
		` (id, process, key, name, body, cause, error, stopped_at)
		values (gen_random_uuid(), $1, $2, 'test.Stopped', '{}', '{}', 'stopped by a test', now())`, process, key)
	if err != nil {
		k.t.Fatal(err)
	}
	return func() {
		k.t.Helper()
		_, err := k.app.storage.db.Owner.Exec(k.t.Context(), `delete from `+table+` where name = 'test.Stopped'`)
		if err == nil {
			err = k.app.engines.processes.Retry(k.t.Context(), process, key)
		}
		if err != nil {
			k.t.Fatal(err)
		}
	}
}

// TestTax_AnInvoiceThatIsVoidedBeforeItIsQueuedIsNeverHandedOver: the queue is held up while it is issued and voided.
// Meanwhile nobody gets what is not signed.
func TestTax_AnInvoiceThatIsVoidedBeforeItIsQueuedIsNeverHandedOver(t *testing.T) {
	t.Parallel()
	sim := startTax(t)
	k := newKit(t).start().signIn()
	customer, _ := k.subscriber("254711000909")
	k.turnTax(sim, true)
	goOn := k.holdQueue()
	voided, kept := k.billedByHand(customer, 1160), k.billedByHand(customer, 580)
	for _, i := range []answer{voided, kept} {
		k.refused(k.admin, "GET /invoices/"+i.text("id")+"/pdf", nil, 409, "document_not_signed")
	}
	k.must(k.admin, "POST", "/invoices/"+voided.text("id")+"/void", map[string]any{"reason": "twice"})
	goOn()
	k.taxState(voided.text("id"), "withdrawn")
	k.taxState(kept.text("id"), "signed")
	if list := sim.Documents(); len(list) != 1 || list[0].ID != kept.text("id") {
		t.Errorf("the authority has %+v", list)
	}
}

// TestTax_ABillIsSentOnlySigned, also by hand, and while the invoice is not queued for its signature yet.
func TestTax_ABillIsSentOnlySigned(t *testing.T) {
	t.Parallel()
	sim := startTax(t)
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000910")
	k.turnBills()
	k.turnTax(sim, true)
	goOn := k.holdQueue()
	invoice := k.billedByHand(customer, 1160)
	byHand := map[string]any{"invoiceIds": []string{invoice.text("id")}}
	out := k.must(k.admin, "POST", "/bill-manager/invoices", byHand)
	if items := out.list("data"); items[0].text("error") != "document_not_signed" || len(k.sim.Bills()) > 0 {
		t.Errorf("sent by hand: %v, %+v", out, k.sim.Bills())
	}
	goOn()
	k.taxState(invoice.text("id"), "signed")
	k.billState(invoice.text("id"), "sent")
}

// TestTax_ABillThatWaitsForItsSignatureTellsSo, as one of an order that was paid and is due again, and goes when it is
// there.
func TestTax_ABillThatWaitsForItsSignatureTellsSo(t *testing.T) {
	t.Parallel()
	sim := startTax(t)
	k := newBillKit(t).start().signIn()
	customer, _ := k.subscriber("254711000923")
	k.turnBills()
	k.turnTax(sim, true)
	goOn := k.holdQueue()
	invoice := k.billedByHand(customer, 1160)
	org := k.organizationID("acme")
	_, err := k.app.engines.bus.Execute(t.Context(), commands.QueueBill{BillSubject: events.BillSubject{
		OrgID: org, SubscriberID: id.Must[id.Subscriber](customer), InvoiceID: id.Must[id.Invoice](invoice.text("id")),
		Number: invoice.text("number"),
	}}, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	k.eventually("the bill to tell why it waits", func(ctx context.Context) (bool, error) {
		list, err := k.admin.call(ctx, "GET", "/bill-manager/invoices?state=queued", "", nil)
		rows := list.list("data")
		return len(rows) == 1 && rows[0].text("code") == "document_not_signed" && rows[0].text("error") != "", err
	})
	goOn()
	k.taxState(invoice.text("id"), "signed")
	if row := k.billState(invoice.text("id"), "sent"); row["code"] != nil || row["error"] != nil {
		t.Errorf("sent it tells %v", row)
	}
}

// TestTax_OneSignatureForEachDocumentThroughKills: the program is killed again and again while documents are handed
// over to a gateway that is slow, loses answers and answers nonsense.
func TestTax_OneSignatureForEachDocumentThroughKills(t *testing.T) {
	t.Parallel()
	sim := startTax(t)
	k := newKit(t)
	c := k.spawn(freePort(t))
	k.signIn()
	customer, _ := k.subscriber("254711000903")
	k.turnTax(sim, true)
	documents := map[string]bool{}
	for round := range 4 {
		err := sim.SetFaults(taxauthority.Faults{LoseAnswers: 2, Garble: 1, LatencyMs: 100 * round})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			i := k.billedByHand(customer, 100*(round+1)+n)
			documents[i.text("id")] = true
		}
		c.kill9()
		c = k.spawn(c.addr)
	}
	if err := sim.SetFaults(taxauthority.Faults{}); err != nil {
		t.Fatal(err)
	}
	controls := map[string]bool{}
	for document := range documents {
		row := k.taxState(document, "signed")
		controls[row.text("controlNumber")] = true
	}
	list := sim.Documents()
	if len(list) != len(documents) || len(controls) != len(documents) {
		t.Errorf("%d documents, %d signed there, %d control numbers here", len(documents), len(list), len(controls))
	}
	for _, d := range list {
		if !documents[d.ID] || !controls[d.ControlNumber] {
			t.Errorf("the authority has %+v, of which we know nothing", d)
		}
	}
}

func TestTaxGateway_TheDemosAddressAndSecretAreRefusedOutsideTheDemo(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	for _, c := range []map[string]any{
		{"address": "https://gateway.example", "secret": demoTaxSecret.Reveal()},
		{"address": "http://gateway.example", "secret": "device-secret"},
		{"address": "https://192.168.1.1", "secret": "device-secret"},
	} {
		c["on"], c["serial"], c["branch"] = false, "KRA1", "00"
		k.refused(k.admin, "PUT /settings/tax-gateway", c, 422, "invalid_input")
	}
	production := &App{cfg: Config{AppEnv: "production"}}
	err := production.allowsTaxGateway(nil, "http://"+usualTaxSimulatorAddr, "")
	if err == nil || !strings.Contains(fmt.Sprint(err), "simulator") {
		t.Errorf("the address of the simulator: %v", err)
	}
	if text, err := json.Marshal(k.must(k.admin, "GET", "/settings/tax-gateway", nil)); err != nil ||
		!strings.Contains(string(text), `"on":false`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestTax_ACreditNoteOverAnOrderIsDeclaredBehindItsInvoice: neither is a document before the order is paid.
func TestTax_ACreditNoteOverAnOrderIsDeclaredBehindItsInvoice(t *testing.T) {
	t.Parallel()
	sim := startTax(t)
	k := newKit(t).start().signIn()
	k.paybillReady()
	c := k.connect(k.admin, "secret-of-acme", "amina")
	k.must(k.admin, "POST", "/subscriptions/"+c.subscription+"/end", map[string]any{"reason": "another plan"})
	c = k.cappedLine(k.admin, c, "prepaid")
	k.pay("254711000077", "capped", 1000)
	k.eventually("nothing to be due", func(context.Context) (bool, error) {
		return k.must(k.admin, "GET", "/subscribers/"+c.subscriber, nil)["balance"] == 0.0, nil
	})
	k.turnTax(sim, true)
	order := k.must(k.admin, "POST", "/subscriptions/"+c.subscription+"/top-ups", map[string]any{
		"bytes": 500, "price": 250,
	}).text("invoiceId")
	var number string
	k.eventually("the order", func(ctx context.Context) (bool, error) {
		got, err := k.admin.call(ctx, "GET", "/invoices/"+order, "", nil)
		if err == nil {
			number = got.text("number")
		}
		return number != "", err
	})
	note := k.must(k.admin, "POST", "/invoices/"+order+"/credit-note", map[string]any{
		"amount": 50, "reason": "a discount",
	}).text("id")
	for _, path := range []string{"/invoices/" + order + "/pdf", "/credit-notes/" + note + "/pdf"} {
		k.eventually("the paper of an order", func(context.Context) (bool, error) {
			return k.statusOf(k.admin, path) == 200, nil
		})
	}
	k.pay("254711000077", number, 200)
	k.taxState(order, "signed")
	k.taxState(note, "signed")
	list := sim.Documents()
	if len(list) != 2 || list[0].Total != "250.00" || list[1].Total != "50.00" ||
		list[1].Original != list[0].ControlNumber {
		t.Errorf("the authority has %+v", list)
	}
}
