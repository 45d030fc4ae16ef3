package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// soundBooks waits until the books of every organization and of the platform have no fault, with patience for nothing:
// the test must have let the program come to rest.
func (k *kit) soundBooks() {
	k.t.Helper()
	doctor := newDoctor(k.app.storage, k.app.clock)
	doctor.Patience = 0
	k.eventually("books without a fault", func(ctx context.Context) (bool, error) {
		tenants, err := doctor.Tenants(ctx, &bookscases.Register{})
		if err != nil {
			return false, err
		}
		var faults []error
		err = doctor.Check(ctx, append(orgsOf(tenants), id.Organization{}), func(r bookscases.Report) error {
			for _, f := range r.Faults {
				faults = append(faults, errors.New(f.String()))
			}
			return r.Err
		})
		if err != nil {
			return false, err
		}
		return len(faults) == 0, errors.Join(faults...)
	})
}

// receiptOf waits until a receipt number is on a subscriber's account, and gives its id.
func (k *kit) receiptOf(number, subscriber string) (receipt string) {
	k.t.Helper()
	k.eventually("receipt "+number, func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, http.MethodGet, "/receipts?subscriberId="+subscriber, "", nil)
		for _, r := range page.list("data") {
			if r.text("receiptNumber") == number && r.text("state") == "allocated" {
				receipt = r.text("id")
			}
		}
		return receipt != "", err
	})
	return receipt
}

// TestDoctorBooks_FindsNothingAfterEveryCorrection: invoices, prompts, paybill and cash, then every correction that
// people can make, by the program's own processes.
func TestDoctorBooks_FindsNothingAfterEveryCorrection(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	plan := k.plan("home", 1000)
	amina, account := k.subscriber("254711000801")
	brian, _ := k.subscriber("254711000802")
	subscription := k.must(k.admin, "POST", "/subscriptions",
		map[string]string{"subscriberId": amina, "planId": plan}).text("id")
	first := k.issued(amina, 1)[0].text("id")
	k.paid(k.prompt(amina, 1000), "SUCCESS")
	until := k.paidUntil(subscription, "")
	second := k.receiptOf(k.pay("254711000801", account, 1000), amina)
	k.paidUntil(subscription, until)
	k.must(k.admin, "POST", "/subscriptions/"+subscription+"/pause", map[string]string{"reason": "holiday"})
	k.must(k.admin, "POST", "/receipts/"+second+"/reverse", map[string]string{"reason": "fraud"})
	k.must(k.admin, "POST", "/subscriptions/"+subscription+"/resume", map[string]string{"reason": "back"})
	cash := k.must(k.admin, "POST", "/payments/cash",
		map[string]any{"subscriberId": brian, "amount": 300, "reference": "slip 7"}).text("receiptId")
	k.must(k.admin, "POST", "/receipts/"+cash+"/reattribute",
		map[string]string{"subscriberId": amina, "reason": "wrong customer"})
	k.must(k.admin, "POST", "/invoices/"+first+"/credit-note", map[string]string{"reason": "outage"})
	manual := func(who string) string {
		return k.must(k.admin, "POST", "/invoices", map[string]any{"subscriberId": who, "lines": []map[string]any{
			{"description": "Cable", "quantity": 1, "unitPrice": 200},
		}}).text("id")
	}
	part := manual(brian)
	k.must(k.admin, "POST", "/invoices/"+part+"/credit-note", map[string]any{"reason": "late", "amount": 50})
	k.must(k.admin, "POST", "/invoices/"+manual(brian)+"/void", map[string]string{"reason": "mistake"})
	k.pay("254711000999", "nobody", 70)
	k.settled()
	k.soundBooks()
	if out := k.command("doctor", "books", "--settled", "0s"); !strings.Contains(out, "acme: 0 faults") ||
		!strings.Contains(out, "nobody's money") {
		t.Errorf("doctor books says:\n%s", out)
	}
	k.brokenBooks()
}

// brokenBooks breaks a series of numbers, as no command can, and runs the doctor.
func (k *kit) brokenBooks() {
	k.t.Helper()
	org, err := id.Parse[id.Organization](k.org())
	if err != nil {
		k.t.Fatal(err)
	}
	series := id.New[id.Series]()
	_, err = k.app.storage.store.Append(k.t.Context(), "numbering-"+series.String(), eventstore.NoStream,
		[]eventstore.New{{
			Event: events.NumberGranted{
				SeriesID: series, OrgID: org, Document: "invoice", DocumentID: id.New[id.Any](), Seq: 2,
				Number: "OLD-0002", At: time.Now(),
			},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.As[id.Any](series),
				OrgID: org, Actor: events.Actor{Kind: events.ActorOperator}, At: time.Now(),
			},
		}})
	if err != nil {
		k.t.Fatal(err)
	}
	for line, want := range map[string]int{
		"--org acme": exitFailed, "--org nobody": exitUnchecked, "--org": exitUsage,
	} {
		var out, errs logBuffer
		code := program{environ: k.environ, out: &out, err: &errs}.run(k.t.Context(),
			append([]string{"doctor", "books"}, strings.Fields(line)...))
		if code != want {
			k.t.Errorf("doctor books %s: exit code %d, want %d: %s", line, code, want, errs.String())
		}
		if found := fmt.Sprintf("number_gap: series %s", series); want == exitFailed &&
			!strings.Contains(out.String(), found) {
			k.t.Errorf("no %q in:\n%s", found, out.String())
		}
	}
}
