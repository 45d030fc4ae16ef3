package main

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// TestUnreadable_AnEventLeavesTheBooksAndCapsOfOthers: a subscription of acme cannot be read. The books of beta are
// checked all the same, caps of beta are counted, and /readyz says whose are not.
func TestUnreadable_AnEventLeavesTheBooksAndCapsOfOthers(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	plan := k.plan("home", 1500)
	customer, _ := k.subscriber("254712000001")
	k.subscribe(customer, plan)
	k.organization("beta", "admin@beta.test")
	acme, beta := k.organizationID("acme"), k.organizationID("beta")
	k.settled()
	k.app.Stop()
	done, err := k.db.Owner.Exec(t.Context(), storetest.SetData(k.db.Namespace.Schema("eventstore"), `'{'`,
		`type like '%SubscriptionCreated%'`))
	if err != nil || done.RowsAffected() != 1 {
		t.Fatal(err, done)
	}
	k.start()
	doctor := newDoctor(k.app.storage, k.app.clock)
	doctor.Patience = 0
	checked := map[id.Organization]error{}
	err = doctor.Check(t.Context(), []id.Organization{acme, beta, {}}, func(r bookscases.Report) error {
		checked[r.Org] = r.Err
		return nil
	})
	if err != nil || checked[acme] == nil || checked[beta] != nil || checked[id.Organization{}] != nil {
		t.Errorf("checked %v, %v", checked, err)
	}
	got := k.errorOf(k.client(""), "GET", "/readyz", nil)
	if got.Status != 503 || !strings.Contains(got.Body, `"access_meter":{"status":"down"`) {
		t.Errorf("readiness: %+v", got)
	}
}
