package main

import (
	"context"
	"fmt"
	"testing"
)

// toldOf waits until so many customers were told of an outage, and of its end.
func (k *kit) toldOf(outage string, began, over int) {
	k.t.Helper()
	k.eventually(fmt.Sprintf("%d told of %s, and %d of its end", began, outage, over),
		func(ctx context.Context) (bool, error) {
			o, err := k.admin.call(ctx, "GET", outage, "", nil)
			done := o.at("told.began.sent") == fmt.Sprint(began) && o.at("told.over.sent") == fmt.Sprint(over)
			return done, fmt.Errorf("%v %w", o["told"], err)
		})
}

// TestOutages_CustomersAreToldOfWhatAPersonSays: at once, unless that person says no; then when somebody says so, once
// however often, and not after the end.
func TestOutages_CustomersAreToldOfWhatAPersonSays(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.withoutText("invoice", "receipt")
	k.payingAt("hillside", 2)
	begin := func(body map[string]any) string {
		t.Helper()
		body["tag"] = "hillside"
		return "/outages/" + k.must(k.admin, "POST", "/outages", body).text("id")
	}
	end := func(at string) { k.must(k.admin, "POST", at+"/end", map[string]any{}) }

	at := begin(map[string]any{})
	k.toldOf(at, 2, 0)
	k.must(k.admin, "POST", at+"/tell", nil)
	end(at)
	k.toldOf(at, 2, 2)

	at = begin(map[string]any{"tell": false})
	k.settled()
	if o := k.must(k.admin, "GET", at, nil); o["tellAfter"] != nil || o.at("told.began.asked") != "0" {
		t.Errorf("they are told although nobody wants it: %v", o)
	}
	for range 2 {
		if o := k.must(k.admin, "POST", at+"/tell", nil); o["tellAfter"] == nil {
			t.Errorf("nobody is told: %v", o)
		}
	}
	k.toldOf(at, 2, 0)
	end(at)
	k.toldOf(at, 2, 2)
	k.must(k.admin, "POST", at+"/tell", nil)
	k.settled()
	for n := range 2 {
		k.templates(fmt.Sprintf("+2547110%05d", n), "outage", "outage_over", "outage", "outage_over")
	}

	at = begin(map[string]any{"tell": false})
	end(at)
	k.refused(k.admin, "POST "+at+"/tell", nil, 409, "outage_over")
	k.settled()
	if o := k.must(k.admin, "GET", at, nil); o.at("told.began.asked") != "0" || o.at("told.over.asked") != "0" {
		t.Errorf("they are told although nobody wants it: %v", o)
	}
}
