package main

import (
	"context"
	"testing"
	"time"
)

// TestPlanChange_UpgradesAtOnceAndDowngradesWithTheNextPeriod changes the plan of a paid month up and down again, as it
// was previewed.
func TestPlanChange_UpgradesAtOnceAndDowngradesWithTheNextPeriod(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.dunningDays(nil)
	home, fast := k.plan("home", 1500), k.plan("fast", 3100)
	customer, account := k.subscriber("254711000901")
	line := k.subscribe(customer, home)
	k.issued(customer, 1)
	k.pay("254711000901", account, 1500)
	until := k.paidUntil(line, "")
	path := "/subscriptions/" + line + "/change-plan"
	preview := k.must(k.admin, "POST", path+"/preview", map[string]string{"planId": fast})
	lines := preview.list("lines")
	if len(lines) != 2 || number(lines[0], "amount") != "-1500.00" || number(preview, "amountDue") != "1600.00" ||
		preview["atOnce"] != true {
		t.Fatalf("the upgrade on the first day: %v", preview)
	}
	other := k.organization("beta", "ada@beta.example")
	k.refused(other, "POST "+path+"/preview", map[string]string{"planId": fast}, 404, "plan_not_found")
	token := map[string]any{"previewToken": preview["previewToken"]}
	k.refused(other, "POST "+path, token, 404, "subscription_not_found")
	k.refused(k.admin, "POST "+path, map[string]any{"previewToken": "none"}, 422, "invalid_input")

	changed := k.must(k.admin, "POST", path, token)
	if changed.text("planName") != "Plan fast" || k.paidUntil(line, "") != until {
		t.Errorf("changed %v", changed)
	}
	invoices := k.issued(customer, 2)
	if number(invoices[0], "total") != "1600.00" || len(invoices[0].list("lines")) != 2 {
		t.Errorf("invoice %v", invoices[0])
	}
	k.refused(k.admin, "POST "+path, token, 409, "preview_stale")
	k.pay("254711000901", account, 1600)

	preview = k.must(k.admin, "POST", path+"/preview", map[string]string{"planId": home})
	if number(preview, "amountDue") != "0.00" || preview["atOnce"] != false || preview.text("effective") != until {
		t.Fatalf("the downgrade: %v", preview)
	}
	planned := k.must(k.admin, "POST", path, map[string]any{"previewToken": preview["previewToken"]})
	if planned.text("planName") != "Plan fast" || planned.at("plannedPlan.planName") != "Plan home" {
		t.Errorf("planned %v", planned)
	}
	ends, err := time.Parse(time.RFC3339Nano, until)
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": ends.AddDate(0, 0, -2)})
	if next := k.issued(customer, 3)[0]; number(next, "total") != "1500.00" {
		t.Errorf("the next month %v", next)
	}
	k.pay("254711000901", account, 1500)
	k.advance(map[string]any{"to": ends.Add(time.Hour)})
	k.eventually("the other plan", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscriptions/"+line, "", nil)
		return s.text("planName") == "Plan home" && s["plannedPlan"] == nil, err
	})
}

// TestPlanChange_ThePreviewTellsTheInvoiceInThePlaceOfAnUnpaidOne: who has not paid pays the new plan instead.
func TestPlanChange_ThePreviewTellsTheInvoiceInThePlaceOfAnUnpaidOne(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	home, fast := k.plan("home", 1500), k.plan("fast", 3100)
	customer, _ := k.subscriber("254711000902")
	line := k.subscribe(customer, home)
	k.issued(customer, 1)
	path := "/subscriptions/" + line + "/change-plan"
	preview := k.must(k.admin, "POST", path+"/preview", map[string]string{"planId": fast})
	periods, replaced := preview.list("periods"), preview["replaced"]
	if number(preview, "amountDue") != "0.00" || len(periods) != 1 || number(periods[0], "amount") != "3100.00" ||
		len(preview.list("lines")) != 0 || len(replaced.([]any)) != 1 {
		t.Fatalf("preview %v", preview)
	}
	k.must(k.admin, "POST", path, map[string]any{"previewToken": preview["previewToken"]})
	made := k.issued(customer, 2)[0]
	if number(made, "total") != "3100.00" || made.text("dueDate") != periods[0].text("dueDate") {
		t.Errorf("invoice %v, previewed %v", made, periods[0])
	}
}
